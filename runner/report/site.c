/* site.c - what is known of machines over years, and the pages of runs and drivers beside it. */
#include "engine/base/strings.h"
#include "runner/render/diff_format.h"
#include "runner/render/page/page.h"
#include "runner/render/page/page_site.h"
#include "runner/report/report.h"

#include <ctype.h>
#include <stdlib.h>

/* Runs with a page: the latest, and those after the first steps. NAME_PART_MAX: characters of a
 * driver's version in the name of a file. */
enum { SITE_RUN_PAGES = 60, SITE_STEP_PAGES = 20, UUID_DIGITS = 32, NAME_PART_MAX = 64 };

/* What is in the database of some runs. */
struct site_sum {
  size_t runs, results;
  bool incomplete; /* a run was interrupted, failed or has not ended */
};

struct site {
  struct arena arena;
  struct site_verdict *verdicts; /* by upgrade; words NULL = not compared yet */
  struct query *query;
  const char *haul_version;
  const char *db_option;
  struct results *results;
  struct machines *machines;
  struct site_sum *sums; /* by run in measured */
  struct result_set changes;
  struct site_file *files; /* of runs, then of upgrades */
  size_t file_count, run_file_count;
};

/* Runs of haul itself, all real or all simulated, as the latest is. */
static bool site_keeps(const struct results *results, size_t run, const void *context) {
  const bool *simulated = context;
  return results_run_is_own(results, run, NULL) &&
         results_run_is_simulated(results, run) == *simulated;
}

static enum status site_load(struct site *site, struct error *err) {
  struct results *results = site->results;
  struct database *database = query_database(site->query);
  RETURN_ON_ERROR(results_add_all_runs(results, database, err));
  if (results->run_count > 0) {
    const bool simulated = results_run_is_simulated(results, results->run_count - 1);
    results_keep_runs(results, site_keeps, &simulated);
  }
  if (results->run_count == 0) {
    return error_set(err, STATUS_NOT_FOUND, "the database has no runs yet that haul measured");
  }
  RETURN_ON_ERROR(results_load(results, database, NULL, err));
  return query_run_saved(site->query, "changes", NULL, 0, NULL, &site->changes.sink, err);
}

/* ---- what was measured ---- */

static void site_count_results(struct site *site) {
  const struct results *results = site->results;
  site->sums = arena_array(&site->arena, results->run_count, sizeof *site->sums);
  for (size_t r = 0; r < results->run_count; r++) {
    site->sums[r].runs = 1;
  }
  for (size_t i = 0; i < results->median_count; i++) {
    site->sums[results->medians[i].run].results++;
  }
  for (size_t i = 0; i < results->condition_count; i++) {
    const struct results_condition *condition = &results->conditions[i];
    site->sums[condition->run].incomplete |= condition->kind == CONDITION_INCOMPLETE;
  }
}

static struct site_sum site_sum_driver(const struct site *site, const char *driver) {
  struct site_sum sum = {0};
  for (size_t r = 0; r < site->results->run_count; r++) {
    const size_t environment = site->results->runs[r].environment;
    if (strings_equal(site->results->environments[environment].driver_version, driver)) {
      sum.runs++;
      sum.results += site->sums[r].results;
      sum.incomplete |= site->sums[r].incomplete;
    }
  }
  return sum;
}

/* "1 run, 20 results so far" */
static const char *site_describe(struct site *site, struct site_sum sum) {
  return arena_format(&site->arena, "%zu %s, %zu %s%s", sum.runs,
                      strings_plural(sum.runs, "run", "runs"), sum.results,
                      strings_plural(sum.results, "result", "results"),
                      sum.incomplete ? " so far" : "");
}

/* ---- files ---- */

/* A database that others wrote may have any text there: none of it leaves the folder or ends a
 * link. */
static const char *site_name_part(struct site *site, const char *text) {
  char *part = arena_strndup(&site->arena, text, NAME_PART_MAX);
  for (char *at = part; *at != '\0'; at++) {
    const bool plain = isalnum((unsigned char)*at) || *at == '_' || *at == '-';
    if (!plain && (*at != '.' || at == part)) {
      *at = '_';
    }
  }
  return part;
}

static struct site_file site_upgrade_file(struct site *site, size_t u) {
  const struct machines_upgrade *upgrade = &site->machines->upgrades[u];
  const struct site_sum from = site_sum_driver(site, upgrade->from);
  const struct site_sum to = site_sum_driver(site, upgrade->to);
  return (struct site_file){
      .name = arena_format(&site->arena, "driver-%s-%s.html", site_name_part(site, upgrade->from),
                           site_name_part(site, upgrade->to)),
      .mark =
          arena_format(&site->arena, "%s; %s", site_describe(site, from), site_describe(site, to)),
      .title = arena_format(&site->arena, "driver %s (%zu %s) compared with %s (%zu %s)",
                            upgrade->to, to.runs, strings_plural(to.runs, "run", "runs"),
                            upgrade->from, from.runs, strings_plural(from.runs, "run", "runs")),
      .of = u};
}

/* Only a run whose UUID has 32 hex digits, as haul makes them, has a page. */
static void site_add_run(struct site *site, bool *added, size_t run) {
  const char *uuid = site->results->runs[run].ref.uuid;
  if (!added[run] && strspn(uuid, "0123456789abcdefABCDEF") == UUID_DIGITS) {
    added[run] = true;
    site->files[site->file_count++] =
        (struct site_file){.name = arena_format(&site->arena, "run-%.32s.html", uuid),
                           .mark = site_describe(site, site->sums[run]),
                           .of = run};
  }
}

static void site_list_files(struct site *site) {
  const struct machines *m = site->machines;
  const size_t runs = site->results->run_count;
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
  site->verdicts = arena_array(&site->arena, m->upgrade_count, sizeof *site->verdicts);
  for (size_t u = 0; u < m->upgrade_count; u++) {
    site->files[site->file_count++] = site_upgrade_file(site, u);
  }
}

enum status site_new(struct query *query, const char *haul_version, const char *db_option,
                     struct site **site, struct error *err) {
  struct site *made = memory_new(1, sizeof *made);
  *made = (struct site){.query = query,
                        .haul_version = haul_version,
                        .db_option = db_option,
                        .results = results_new()};
  result_set_init(&made->changes, SIZE_MAX);
  const enum status status = site_load(made, err);
  if (status != STATUS_OK) {
    site_free(made);
    return status;
  }
  made->machines = machines_new(made->results);
  site_count_results(made);
  site_list_files(made);
  *site = made;
  return STATUS_OK;
}

void site_free(struct site *site) {
  if (site != NULL) {
    machines_free(site->machines);
    results_free(site->results);
    result_set_fini(&site->changes);
    arena_fini(&site->arena);
    free(site);
  }
}

struct site_file *site_files(const struct site *site, size_t *count) {
  *count = site->file_count;
  return site->files;
}

/* "1 regressed, 77 same: gpu2, -20 %" */
static void site_keep_verdict(struct site *site, size_t u, const struct compare_result *compared) {
  const struct comparison *comparison = compared->comparison;
  const struct diff_summary *summary = &comparison->summary;
  site->verdicts[u] = (struct site_verdict){
      arena_format(
          &site->arena, "%s%s", diff_found_words(&site->arena, comparison),
          arena_around(&site->arena, ": ", diff_cause_words(&site->arena, comparison), "")),
      summary->verdicts[VERDICT_REGRESSED] + comparison->alone_count > 0};
}

/* What changed from one driver to the next, as haul diff has it, of the runs that site_keeps().
 * page: NULL = only its verdict is kept. */
static enum status site_compare_upgrade(struct site *site, const struct site_file *file, FILE *page,
                                        struct error *err) {
  const struct machines_upgrade *upgrade = &site->machines->upgrades[file->of];
  struct compare_request sides = {0};
  SCOPED(compare_result_fini) struct compare_result compared = {0};
  const bool simulated = results_run_is_simulated(site->results, 0);
  struct filter *filter = &sides.filter;
  compare_request_init(&sides);
  *ARENA_ADD(&filter->arena, filter->wheres, filter->where_count) =
      (struct where){"origin", "measured"};
  *ARENA_ADD(&filter->arena, filter->wheres, filter->where_count) =
      (struct where){"simulated", simulated ? "1" : "0"};
  sides.name_count = SIDES;
  sides.names[SIDE_A] = arena_format(&site->arena, "driver:%s", upgrade->from);
  sides.names[SIDE_B] = arena_format(&site->arena, "driver:%s", upgrade->to);
  const enum status status = compare_runs(query_database(site->query), &sides, &compared, err);
  if (status == STATUS_OK) {
    site_keep_verdict(site, file->of, &compared);
  }
  if (status == STATUS_OK && page != NULL) {
    page_begin(page, file->title, "", NULL, 0);
    page_diff(page, compared.comparison, sides.names);
    page_diff_end(page);
    page_end(page, site->haul_version);
  }
  compare_request_fini(&sides);
  return status;
}

enum status site_print_file(struct site *site, const struct site_file *file,
                            const struct expect_set *expected, FILE *page, struct error *err) {
  if (file->title == NULL) {
    const struct report_request request = {.expected = expected,
                                           .haul_version = site->haul_version,
                                           .db_option = site->db_option,
                                           .query = site->query,
                                           .runs = &site->results->runs[file->of].ref,
                                           .run_count = 1};
    RETURN_ON_ERROR(report_print(&request, page, err));
  } else {
    RETURN_ON_ERROR(site_compare_upgrade(site, file, page, err));
  }
  (void)fprintf(page, "<!-- %s -->\n", file->mark);
  return STATUS_OK;
}

enum status site_print_index(struct site *site, FILE *page, struct error *err) {
  const size_t runs = site->results->run_count;
  const size_t upgrades = site->machines->upgrade_count;
  const char **run_files = arena_array(&site->arena, runs, sizeof *run_files);
  const char **upgrade_files = arena_array(&site->arena, upgrades, sizeof *upgrade_files);
  for (size_t i = 0; i < site->file_count; i++) {
    const struct site_file *file = &site->files[i];
    (i < site->run_file_count ? run_files : upgrade_files)[file->of] =
        file->left_out ? NULL : file->name;
    if (i >= site->run_file_count && !file->left_out && site->verdicts[file->of].words == NULL) {
      RETURN_ON_ERROR(site_compare_upgrade(site, file, NULL, err));
    }
  }
  const struct site_findings found = {.results = site->results,
                                      .machines = site->machines,
                                      .changes = &site->changes,
                                      .run_files = run_files,
                                      .upgrade_files = upgrade_files,
                                      .verdicts = site->verdicts};
  return page_site(page, &found, site->haul_version, err);
}
