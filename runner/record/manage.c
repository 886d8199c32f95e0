#include "runner/record/manage.h"

#include "engine/base/clock.h"
#include "runner/record/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHRINK_FROM_PERCENT = 25 };

enum status run_scenario_read(struct database *database, int64_t run, struct arena *arena,
                              struct run_scenario *scenario, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "manage/scenario_of_run", &statement, err);
  statement_bind_int(&statement, ":run", run);
  bool found = false;
  if (statement_next(&statement, &status, err)) {
    *scenario = (struct run_scenario){.name = statement_column_text(&statement, 0, arena),
                                      .text = statement_column_text(&statement, 1, arena),
                                      .resolved = statement_column_text(&statement, 2, arena),
                                      .path = statement_column_text(&statement, 3, arena),
                                      .command_line = statement_column_text(&statement, 4, arena),
                                      .started_at_ns = sqlite3_column_int64(statement.stmt, 5),
                                      .measured = sqlite3_column_int(statement.stmt, 6) != 0,
                                      .host = statement_column_optional(&statement, 7, arena),
                                      .driver = statement_column_optional(&statement, 8, arena),
                                      .simulated = sqlite3_column_int(statement.stmt, 9) != 0};
    found = true;
  }
  statement_finalize(&statement);
  return status == STATUS_OK && !found
             ? error_set(err, STATUS_CORRUPT,
                         "%s: run %lld has no scenario; it was changed by "
                         "other means",
                         database->path, (long long)run)
             : status;
}

enum status run_failure_read(struct database *database, int64_t run, struct arena *arena,
                             const char **reason, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "manage/failure_of_run", &statement, err);
  *reason = NULL;
  statement_bind_int(&statement, ":run", run);
  if (statement_next(&statement, &status, err)) {
    *reason = statement_column_text(&statement, 0, arena);
  }
  return status;
}

enum status run_words_read(struct database *database, struct arena *arena,
                           const char *const **words, struct error *err) {
  struct statement statement;
  const char **list = NULL;
  size_t count = 0;
  size_t capacity = 0;
  enum status status = statement_prepare(database, "manage/run_words", &statement, err);
  while (statement_next(&statement, &status, err)) {
    *ARENA_ADD(arena, list, count, &capacity) = statement_column_text(&statement, 0, arena);
  }
  statement_finalize(&statement);
  list = arena_grow(arena, list, count, &capacity, sizeof *list);
  list[count] = NULL;
  *words = list;
  return status;
}

static enum status manage_tag_each(struct database *database, const struct run_list *runs,
                                   const char *tag, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "manage/set_tag", &statement, err);
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    statement_bind_text(&statement, ":tag", tag);
    status = statement_run(&statement, err);
  }
  return status;
}

enum status run_tag_set(struct database *database, const struct run_list *runs, const char *tag,
                        struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  return database_end(database, manage_tag_each(database, runs, tag, err), err);
}

enum status run_to_delete_read(struct database *database, int64_t run, struct arena *arena,
                               struct run_to_delete *found, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "manage/run_to_delete", &statement, err);
  statement_bind_int(&statement, ":run", run);
  *found = (struct run_to_delete){.scenario = "?", .started_at = "?"};
  if (statement_next(&statement, &status, err)) {
    const char *recorded = statement_column_text(&statement, 2, arena);
    *found = (struct run_to_delete){.scenario = statement_column_text(&statement, 0, arena),
                                    .tag = statement_column_optional(&statement, 1, arena),
                                    .started_at = statement_column_text(&statement, 3, arena),
                                    .baselines = statement_column_optional(&statement, 4, arena),
                                    .running = strcmp(recorded, "running") == 0,
                                    .results = sqlite3_column_int64(statement.stmt, 5)};
  }
  return status;
}

/* Every row of the statement, which is finalized. */
static enum status manage_read_runs(struct statement *statement, struct arena *arena,
                                    struct run_list *runs, enum status status, struct error *err) {
  size_t capacity = 0;
  *runs = (struct run_list){0};
  while (statement_next(statement, &status, err)) {
    struct run_ref *run = ARENA_ADD(arena, runs->runs, runs->count, &capacity);
    run->id = sqlite3_column_int64(statement->stmt, 0);
    (void)snprintf(run->uuid, sizeof run->uuid, "%s", statement_text(statement, 1));
  }
  statement_finalize(statement);
  return status;
}

enum status running_runs_read(struct database *database, const char *host, struct arena *arena,
                              struct run_list *runs, struct error *err) {
  struct statement statement;
  const enum status status = statement_prepare(database, "manage/running_runs", &statement, err);
  statement_bind_text(&statement, ":host", host);
  return manage_read_runs(&statement, arena, runs, status, err);
}

enum status old_health_runs_read(struct database *database, const char *scenario, int64_t before_ns,
                                 size_t limit, struct arena *arena, struct run_list *runs,
                                 struct error *err) {
  struct statement statement;
  const enum status status = statement_prepare(database, "manage/old_health_runs", &statement, err);
  statement_bind_text(&statement, ":scenario", scenario);
  statement_bind_int(&statement, ":before", before_ns);
  statement_bind_int(&statement, ":limit", (int64_t)limit);
  return manage_read_runs(&statement, arena, runs, status, err);
}

static enum status manage_add_deleted(struct database *database, const struct run_list *runs,
                                      struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "delete/add_run", &statement, err);
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    status = statement_run(&statement, err);
  }
  return status;
}

enum status runs_delete(struct database *database, const struct run_list *runs, struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  enum status status = database_script(database, "delete/begin", err);
  status = THEN(status, manage_add_deleted(database, runs, err));
  status = THEN(status, database_script(database, "delete/delete_runs", err));
  status = THEN(status, database_run_generated(database, "delete/delete_kinds", err));
  status = THEN(status, database_script(database, "delete/delete_unused", err));
  return database_end(database, status, err);
}

static enum status manage_choose_pruned(struct database *database,
                                        const struct trials_to_prune *prune, struct error *err) {
  SCOPED(statement_finalize) struct statement choose = {0};
  struct statement keep;
  enum status status = statement_prepare(database, "upkeep/choose", &choose, err);
  status = THEN(status, statement_prepare(database, "upkeep/keep", &keep, err));
  if (status == STATUS_OK) {
    statement_bind_int(&choose, ":before", prune->before_ns);
    statement_bind_int(&choose, ":keep_baselines", prune->keep_baselines);
    status = statement_run(&choose, err);
    for (size_t i = 0; i < prune->kept->count && status == STATUS_OK; i++) {
      statement_bind_int(&keep, ":run", prune->kept->runs[i].id);
      status = statement_run(&keep, err);
    }
    statement_finalize(&keep);
  }
  return status;
}

static enum status manage_count_pruned(struct database *database, struct trials_to_prune *prune,
                                       struct error *err) {
  SCOPED(statement_finalize) struct statement count = {0};
  enum status status = statement_prepare(database, "upkeep/count", &count, err);
  if (statement_next(&count, &status, err)) {
    prune->runs = sqlite3_column_int64(count.stmt, 0);
    prune->trials = sqlite3_column_int64(count.stmt, 1);
  }
  return status;
}

static enum status manage_prune(struct database *database, struct error *err) {
  SCOPED(statement_finalize) struct statement mark = {0};
  RETURN_ON_ERROR(database_script(database, "upkeep/prune", err));
  enum status status = statement_prepare(database, "upkeep/mark", &mark, err);
  statement_bind_int(&mark, ":now", (int64_t)clock_read_ns(CLOCK_REALTIME));
  return THEN(status, statement_run(&mark, err));
}

enum status trials_prune(struct database *database, struct trials_to_prune *prune,
                         struct error *err) {
  database_limit_time(database, 0, NULL);
  RETURN_ON_ERROR(database_begin(database, err));
  enum status status = database_script(database, "upkeep/begin", err);
  status = THEN(status, manage_choose_pruned(database, prune, err));
  status = THEN(status, manage_count_pruned(database, prune, err));
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
  char *plain = NULL;
  if (asprintf(&plain, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
    abort();
  }
  const int code = sqlite3_open_v2(plain, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  enum status status = code == SQLITE_OK
                           ? database_copy_pages(database, copy, err)
                           : error_set_native(err, STATUS_IO, code, "cannot be opened");
  (void)sqlite3_close(copy);
  if (status != STATUS_OK) {
    (void)unlink(plain);
    status = error_prefix(err, "%s: ", path);
  }
  free(plain);
  return status;
}

enum status database_shrink(struct database *database, bool *shrunk, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "manage/free_share", &statement, err);
  *shrunk = statement_next(&statement, &status, err) &&
            sqlite3_column_int(statement.stmt, 0) >= SHRINK_FROM_PERCENT;
  statement_finalize(&statement);
  return *shrunk ? THEN(status, database_script(database, "manage/shrink", err)) : status;
}
