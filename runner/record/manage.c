#include "runner/record/manage.h"

#include <stdio.h>
#include <string.h>

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
                                      .started_at = statement_column_text(&statement, 5, arena),
                                      .measured = sqlite3_column_int(statement.stmt, 6) != 0};
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

enum status run_words_read(struct database *database, struct arena *arena,
                           const char *const **words, struct error *err) {
  struct statement statement;
  const char **list = NULL;
  size_t count = 0;
  size_t capacity = 0;
  enum status status = statement_prepare(database, "manage/run_words", &statement, err);
  while (statement_next(&statement, &status, err)) {
    list = arena_grow(arena, list, count, &capacity, sizeof *list);
    list[count++] = statement_column_text(&statement, 0, arena);
  }
  statement_finalize(&statement);
  list = arena_grow(arena, list, count, &capacity, sizeof *list);
  list[count] = NULL;
  *words = list;
  return status;
}

static enum status manage_tag_each(struct database *database, const struct run_list *runs,
                                   const char *tag, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "manage/set_tag", &statement, err);
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    statement_bind_text(&statement, ":tag", tag);
    status = statement_run(&statement, err);
  }
  statement_finalize(&statement);
  return status;
}

enum status run_tag_set(struct database *database, const struct run_list *runs, const char *tag,
                        struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  return database_end(database, manage_tag_each(database, runs, tag, err), err);
}

enum status run_to_delete_read(struct database *database, int64_t run, struct arena *arena,
                               struct run_to_delete *found, struct error *err) {
  struct statement statement;
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
  statement_finalize(&statement);
  return status;
}

enum status running_runs_read(struct database *database, const char *host, struct arena *arena,
                              struct run_list *runs, struct error *err) {
  struct statement statement;
  size_t capacity = 0;
  *runs = (struct run_list){0};
  enum status status = statement_prepare(database, "manage/running_runs", &statement, err);
  statement_bind_text(&statement, ":host", host);
  while (statement_next(&statement, &status, err)) {
    runs->runs = arena_grow(arena, runs->runs, runs->count, &capacity, sizeof *runs->runs);
    struct run_ref *run = &runs->runs[runs->count++];
    run->id = sqlite3_column_int64(statement.stmt, 0);
    (void)snprintf(run->uuid, sizeof run->uuid, "%s", statement_text(&statement, 1));
  }
  statement_finalize(&statement);
  return status;
}

static enum status manage_add_deleted(struct database *database, const struct run_list *runs,
                                      struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "delete/add_run", &statement, err);
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    status = statement_run(&statement, err);
  }
  statement_finalize(&statement);
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

enum status database_shrink(struct database *database, bool *shrunk, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "manage/free_share", &statement, err);
  *shrunk = statement_next(&statement, &status, err) &&
            sqlite3_column_int(statement.stmt, 0) >= SHRINK_FROM_PERCENT;
  statement_finalize(&statement);
  return *shrunk ? THEN(status, database_script(database, "manage/shrink", err)) : status;
}
