#include "runner/cli/selecting.h"

#include "engine/base/strbuf.h"
#include "runner/record/database.h"
#include "schema/scenario/nearest.h"

#include <fnmatch.h>
#include <string.h>

enum { LIST_MAX = 700 };

error_t selecting_parse(int key, char *arg, struct argp_state *state, struct selecting *selecting) {
  switch (key) {
  case OPTION_ONLY:
    selecting->only = arg;
    return 0;
  case OPTION_WHERE: {
    const char *equals = strchr(arg, '=');
    if (equals == NULL || equals == arg) {
      argp_error(state, "--where wants FACT=VALUE, for example --where host_name=node7, not '%s'",
                 arg);
      return 0;
    }
    selecting->wheres = arena_grow(&selecting->arena, selecting->wheres, selecting->where_count,
                                   &selecting->where_capacity, sizeof *selecting->wheres);
    selecting->wheres[selecting->where_count++] =
        (struct where){arena_strndup(&selecting->arena, arg, (size_t)(equals - arg)), equals + 1};
    return 0;
  }
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

void selecting_fini(struct selecting *selecting) {
  arena_fini(&selecting->arena);
}

enum status selecting_open(const struct common_options *common, struct selecting *selecting,
                           struct database **database, struct error *err) {
  const char *path = NULL;
  enum status status = database_path(common, &selecting->arena, &path, err);
  return status == STATUS_OK ? database_open(path, DATABASE_READ, database, err) : status;
}

enum status selecting_check_fact(struct measured *measured, const char *fact, struct error *err) {
  if (measured_knows_fact(measured, fact)) {
    return STATUS_OK;
  }
  const char *const *names = measured_fact_names(measured);
  const char *meant = nearest_word(fact, names);
  if (meant != NULL) {
    return error_set(err, STATUS_NOT_FOUND, "no run has a fact \"%s\": did you mean \"%s\"?", fact,
                     meant);
  }
  struct strbuf list;
  strbuf_init(&list, LIST_MAX);
  for (; *names != NULL; names++) {
    strbuf_printf(&list, "%s%s", list.length > 0 ? ", " : "", *names);
  }
  enum status status =
      error_set(err, STATUS_NOT_FOUND, "no run has a fact \"%s\"; there are: %s", fact, list.text);
  strbuf_fini(&list);
  return status;
}

static bool fits(struct measured *measured, size_t run, const struct selecting *selecting) {
  for (size_t i = 0; i < selecting->where_count; i++) {
    const char *value = measured_run_fact(measured, run, selecting->wheres[i].fact);
    if (fnmatch(selecting->wheres[i].pattern, value != NULL ? value : "", 0) != 0) {
      return false;
    }
  }
  return true;
}

static enum status add_selected(struct selecting *selecting, struct database *database,
                                struct measured *measured, const char *const *selectors,
                                size_t count, struct error *err) {
  if (count == 0) {
    return measured_add_all_runs(measured, database, err);
  }
  enum status status = STATUS_OK;
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    struct run_list list;
    status = selector_find_all(database, selectors[i], &selecting->arena, &list, err);
    for (size_t r = 0; r < list.count && status == STATUS_OK; r++) {
      const size_t before = measured->run_count;
      status = measured_add_run(measured, database, list.runs[r].id, err);
      if (status == STATUS_OK && measured->run_count > before) {
        measured->runs[before].selector = i;
      }
    }
  }
  return status;
}

/* For measured_keep_runs(). */
struct fitting {
  const bool *fits;
};

static bool keep_fitting(const struct measured *measured, size_t run, const void *context) {
  const struct fitting *fitting = context;
  (void)measured;
  return fitting->fits[run];
}

enum status selecting_runs(struct selecting *selecting, struct database *database,
                           struct measured *measured, const char *const *selectors,
                           size_t selector_count, struct error *err) {
  enum status status = add_selected(selecting, database, measured, selectors, selector_count, err);
  for (size_t i = 0; i < selecting->where_count && status == STATUS_OK; i++) {
    status = selecting_check_fact(measured, selecting->wheres[i].fact, err);
  }
  if (status != STATUS_OK) {
    return status;
  }
  bool *fitting_runs = arena_array(&selecting->arena, measured->run_count, sizeof *fitting_runs);
  for (size_t i = 0; i < measured->run_count; i++) {
    fitting_runs[i] = fits(measured, i, selecting);
  }
  measured_keep_runs(measured, keep_fitting, &(struct fitting){fitting_runs});
  if (measured->run_count == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     selecting->where_count > 0 ? "no run fits --where"
                                                : "there are no runs in the database yet");
  }
  return STATUS_OK;
}
