#include "runner/record/manage.h"

#include "engine/base/clock.h"
#include "runner/record/file.h"

#include <unistd.h>

enum { SHRINK_FROM_PERCENT = 25 };

static const struct row_member SCENARIO_MEMBERS[] = {
    ROW_MEMBER_TEXT(struct run_scenario, name),
    ROW_MEMBER_TEXT(struct run_scenario, path),
    ROW_MEMBER_TEXT(struct run_scenario, text),
    ROW_MEMBER_TEXT(struct run_scenario, resolved),
    ROW_MEMBER_TEXT(struct run_scenario, command_line),
    ROW_MEMBER(struct run_scenario, started_at_ns),
    ROW_MEMBER(struct run_scenario, measured),
    ROW_MEMBER(struct run_scenario, host),
    ROW_MEMBER(struct run_scenario, driver),
    ROW_MEMBER(struct run_scenario, simulated),
    ROW_MEMBER_TEXT(struct run_scenario, status),
    ROW_MEMBER(struct run_scenario, reason),
    ROW_MEMBER(struct run_scenario, cases_wanted),
    ROW_MEMBER(struct run_scenario, cases_measured),
    {0}};

enum status run_scenario_read(struct database *database, int64_t run, struct arena *arena,
                              struct run_scenario *scenario, struct error *err) {
  bool found = false;
  RETURN_ON_ERROR(database_read(database, "manage/scenario_of_run",
                                PARAMETERS(PARAMETER(":run", run)), SCENARIO_MEMBERS, scenario,
                                arena, &found, err));
  return found ? STATUS_OK
               : error_set(err, STATUS_CORRUPT,
                           "%s: run %lld has no scenario; it was changed by other means",
                           database->path, (long long)run);
}

enum status run_failure_read(struct database *database, int64_t run, struct arena *arena,
                             const char **reason, struct error *err) {
  *reason = NULL;
  return database_read(database, "manage/failure_of_run", PARAMETERS(PARAMETER(":run", run)),
                       ROW_WORD, reason, arena, NULL, err);
}

enum status run_words_read(struct database *database, struct arena *arena,
                           const char *const **words, struct error *err) {
  const char **list = NULL;
  size_t count = 0;
  RETURN_ON_ERROR(
      DATABASE_READ_ALL(database, "manage/run_words", NULL, ROW_WORD, arena, list, count, err));
  list = arena_grow(arena, list, count, sizeof *list);
  list[count] = NULL;
  *words = list;
  return STATUS_OK;
}

enum status run_tag_set(struct database *database, const struct run_list *runs, const char *tag,
                        struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  return database_end(
      database,
      run_list_do(database, "manage/set_tag", runs, PARAMETERS(PARAMETER(":tag", tag)), err), err);
}

static const struct row_member TO_DELETE_MEMBERS[] = {
    ROW_MEMBER_TEXT(struct run_to_delete, scenario),
    ROW_MEMBER(struct run_to_delete, tag),
    ROW_MEMBER_TEXT(struct run_to_delete, started_at),
    ROW_MEMBER(struct run_to_delete, baselines),
    ROW_MEMBER(struct run_to_delete, running),
    ROW_MEMBER(struct run_to_delete, results),
    {0}};

enum status run_to_delete_read(struct database *database, int64_t run, struct arena *arena,
                               struct run_to_delete *found, struct error *err) {
  *found = (struct run_to_delete){.scenario = "?", .started_at = "?"};
  return database_read(database, "manage/run_to_delete", PARAMETERS(PARAMETER(":run", run)),
                       TO_DELETE_MEMBERS, found, arena, NULL, err);
}

enum status running_runs_read(struct database *database, const char *host, struct arena *arena,
                              struct run_list *runs, struct error *err) {
  return DATABASE_READ_ALL(database, "manage/running_runs", PARAMETERS(PARAMETER(":host", host)),
                           RUN_REF_MEMBERS, arena, runs->runs, runs->count, err);
}

enum status old_health_runs_read(struct database *database, const char *scenario, int64_t before_ns,
                                 size_t limit, struct arena *arena, struct run_list *runs,
                                 struct error *err) {
  return DATABASE_READ_ALL(database, "manage/old_health_runs",
                           PARAMETERS(PARAMETER(":scenario", scenario),
                                      PARAMETER(":before", before_ns),
                                      PARAMETER(":limit", (int64_t)limit)),
                           RUN_REF_MEMBERS, arena, runs->runs, runs->count, err);
}

enum status runs_delete(struct database *database, const struct run_list *runs, struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  enum status status = database_script(database, "delete/begin", err);
  status = THEN(status, run_list_do(database, "delete/add_run", runs, NULL, err));
  status = THEN(status, database_script(database, "delete/delete_runs", err));
  status = THEN(status, database_run_generated(database, "delete/delete_kinds", err));
  status = THEN(status, database_script(database, "delete/delete_unused", err));
  return database_end(database, status, err);
}

static const struct row_member PRUNE_MEMBERS[] = {
    ROW_MEMBER(struct trials_to_prune, runs), ROW_MEMBER(struct trials_to_prune, trials), {0}};

static enum status manage_prune(struct database *database, struct error *err) {
  RETURN_ON_ERROR(database_script(database, "upkeep/prune", err));
  return database_do(database, "upkeep/mark",
                     PARAMETERS(PARAMETER(":now", (int64_t)clock_read_ns(CLOCK_REALTIME))), err);
}

enum status trials_prune(struct database *database, struct trials_to_prune *prune,
                         struct error *err) {
  database_limit_time(database, 0, NULL);
  RETURN_ON_ERROR(database_begin(database, err));
  enum status status = database_script(database, "upkeep/begin", err);
  status = THEN(status, database_do(database, "upkeep/choose",
                                    PARAMETERS(PARAMETER(":before", prune->before_ns),
                                               PARAMETER(":keep_baselines", prune->keep_baselines)),
                                    err));
  status = THEN(status, run_list_do(database, "upkeep/keep", prune->kept, NULL, err));
  status = THEN(
      status, database_read(database, "upkeep/count", NULL, PRUNE_MEMBERS, prune, NULL, NULL, err));
  if (!prune->dry_run) {
    status = THEN(status, manage_prune(database, err));
  }
  status = THEN(status, database_script(database, "upkeep/end", err));
  return database_end(database, status, err);
}

enum status database_compact(struct database *database, struct error *err) {
  database_limit_time(database, 0, NULL);
  return database_script(database, "manage/shrink", err);
}

enum status database_write_copy(const struct database *database, const char *path,
                                struct error *err) {
  struct database_file file;
  RETURN_ON_ERROR(database_file_examine(path, DATABASE_WRITE, &file, err));
  if (!file.fresh) {
    return error_set(err, STATUS_INVALID, "%s is there already, and nothing was written", path);
  }
  sqlite3 *copy = NULL;
  SCOPED(memory_free) char *plain = memory_format("%s%s", path[0] == '/' ? "" : "./", path);
  const int code = sqlite3_open_v2(plain, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  enum status status = code == SQLITE_OK
                           ? database_copy_pages(database, copy, err)
                           : error_set_native(err, STATUS_IO, code, "cannot be opened");
  (void)sqlite3_close(copy);
  if (status != STATUS_OK) {
    (void)unlink(plain);
    status = error_prefix(err, "%s: ", path);
  }
  return status;
}

enum status database_shrink(struct database *database, bool *shrunk, struct error *err) {
  static const struct row_member PERCENT[] = {{.column = "percent", .type = ROW_NUMBER}, {0}};
  int percent = 0;
  const enum status status =
      database_read(database, "manage/free_share", NULL, PERCENT, &percent, NULL, NULL, err);
  *shrunk = percent >= SHRINK_FROM_PERCENT;
  return *shrunk ? THEN(status, database_script(database, "manage/shrink", err)) : status;
}
