/* site.c - what is known of machines over years, and the pages of runs and drivers beside it. */
#include "engine/base/strings.h"
#include "runner/render/page/page.h"
#include "runner/render/page/page_site.h"
#include "runner/report/report.h"

#include <stdlib.h>

/* Runs with a page: the latest, and those after the first steps. */
enum { SITE_RUN_PAGES = 60, SITE_STEP_PAGES = 20 };

struct site {
  struct arena arena;
  struct query *query;
  const char *haul_version;
  struct measured *measured;
  struct machines *machines;
  struct result_set changes;
  struct site_file *files; /* of runs, then of upgrades */
  size_t file_count, run_file_count;
};

/* Runs of haul itself, all real or all simulated, as the latest is. */
static bool site_keeps(const struct measured *measured, size_t run, const void *context) {
  const bool *simulated = context;
  return measured_run_is_own(measured, run, NULL) &&
         measured->environments[measured->runs[run].environment].simulated == *simulated;
}

static enum status site_load(struct site *site, struct error *err) {
  struct measured *measured = site->measured;
  struct database *database = query_database(site->query);
  RETURN_ON_ERROR(measured_add_all_runs(measured, database, err));
  if (measured->run_count > 0) {
    const struct measured_run *last = &measured->runs[measured->run_count - 1];
    const bool simulated = measured->environments[last->environment].simulated;
    measured_keep_runs(measured, site_keeps, &simulated);
  }
  if (measured->run_count == 0) {
    return error_set(err, STATUS_NOT_FOUND, "the database has no runs yet that haul measured");
  }
  RETURN_ON_ERROR(measured_load(measured, database, NULL, err));
  return query_run_saved(site->query, "changes", NULL, 0, NULL, &site->changes.sink, err);
}

static const char *site_run_file(struct site *site, size_t run) {
  return arena_format(&site->arena, "run-%s.html", site->measured->runs[run].ref.uuid);
}

static size_t site_count_runs(const struct site *site, const char *driver) {
  size_t count = 0;
  for (size_t r = 0; r < site->measured->run_count; r++) {
    const size_t environment = site->measured->runs[r].environment;
    count += strings_equal(site->measured->environments[environment].driver_version, driver);
  }
  return count;
}

/* More runs under either driver are another title, and a new page. */
static struct site_file site_upgrade_file(struct site *site, size_t u) {
  const struct machines_upgrade *upgrade = &site->machines->upgrades[u];
  return (struct site_file){
      .name = arena_format(&site->arena, "driver-%s-%s.html", upgrade->from, upgrade->to),
      .title = arena_format(&site->arena, "driver %s (%zu runs) compared with %s (%zu runs)",
                            upgrade->to, site_count_runs(site, upgrade->to), upgrade->from,
                            site_count_runs(site, upgrade->from)),
      .of = u};
}

static void site_add_run(struct site *site, bool *added, size_t run) {
  if (!added[run]) {
    added[run] = true;
    site->files[site->file_count++] = (struct site_file){site_run_file(site, run), NULL, run};
  }
}

static void site_list_files(struct site *site) {
  const struct machines *m = site->machines;
  const size_t runs = site->measured->run_count;
  bool *added = arena_array(&site->arena, runs, sizeof *added);
  site->files = arena_array(&site->arena, SITE_RUN_PAGES + SITE_STEP_PAGES + m->upgrade_count,
                            sizeof *site->files);
  for (size_t i = 0; i < runs && i < SITE_RUN_PAGES; i++) {
    site_add_run(site, added, runs - 1 - i);
  }
  for (size_t i = 0; i < m->step_count && i < SITE_STEP_PAGES; i++) {
    site_add_run(site, added, m->steps[i].run);
  }
  site->run_file_count = site->file_count;
  for (size_t u = 0; u < m->upgrade_count; u++) {
    site->files[site->file_count++] = site_upgrade_file(site, u);
  }
}

enum status site_new(struct query *query, const char *haul_version, struct site **site,
                     struct error *err) {
  struct site *made = calloc(1, sizeof *made);
  if (made == NULL) {
    abort(); /* as arena.h does */
  }
  *made = (struct site){.query = query, .haul_version = haul_version, .measured = measured_new()};
  result_set_init(&made->changes, SIZE_MAX);
  const enum status status = site_load(made, err);
  if (status != STATUS_OK) {
    site_free(made);
    return status;
  }
  made->machines = machines_new(made->measured);
  site_list_files(made);
  *site = made;
  return STATUS_OK;
}

void site_free(struct site *site) {
  if (site != NULL) {
    machines_free(site->machines);
    measured_free(site->measured);
    result_set_fini(&site->changes);
    arena_fini(&site->arena);
    free(site);
  }
}

const struct site_file *site_files(const struct site *site, size_t *count) {
  *count = site->file_count;
  return site->files;
}

/* What changed from one driver to the next, as haul diff has it. */
static enum status site_write_upgrade(struct site *site, const struct site_file *file, FILE *page,
                                      struct error *err) {
  const struct machines_upgrade *upgrade = &site->machines->upgrades[file->of];
  struct compare_request sides = {0};
  struct compare_result compared = {0};
  compare_request_init(&sides);
  sides.name_count = SIDES;
  sides.names[SIDE_A] = arena_format(&site->arena, "driver:%s", upgrade->from);
  sides.names[SIDE_B] = arena_format(&site->arena, "driver:%s", upgrade->to);
  const enum status status = compare_runs(query_database(site->query), &sides, &compared, err);
  if (status == STATUS_OK) {
    page_begin(page, file->title, "", NULL, 0);
    page_diff(page, compared.measured, compared.comparison, sides.names);
    page_diff_end(page);
    page_end(page, site->haul_version);
  }
  compare_result_fini(&compared);
  compare_request_fini(&sides);
  return status;
}

enum status site_write_file(struct site *site, const struct site_file *file,
                            const struct expect_set *expected, FILE *page, struct error *err) {
  if (file->title != NULL) {
    return site_write_upgrade(site, file, page, err);
  }
  const struct report_request request = {.expected = expected,
                                         .haul_version = site->haul_version,
                                         .query = site->query,
                                         .runs = &site->measured->runs[file->of].ref,
                                         .run_count = 1};
  return report_write(&request, page, err);
}

enum status site_write_index(struct site *site, bool (*has_page)(void *context, const char *name),
                             void *context, FILE *page, struct error *err) {
  const size_t runs = site->measured->run_count;
  const size_t upgrades = site->machines->upgrade_count;
  const char **run_files = arena_array(&site->arena, runs, sizeof *run_files);
  const char **upgrade_files = arena_array(&site->arena, upgrades, sizeof *upgrade_files);
  for (size_t i = 0; i < site->file_count; i++) {
    const struct site_file *file = &site->files[i];
    const char *name = has_page(context, file->name) ? file->name : NULL;
    (i < site->run_file_count ? run_files : upgrade_files)[file->of] = name;
  }
  const struct site_findings found = {.measured = site->measured,
                                      .machines = site->machines,
                                      .changes = &site->changes,
                                      .run_files = run_files,
                                      .upgrade_files = upgrade_files};
  return page_site(page, &found, site->haul_version, err);
}
