#include "runner/record/baseline.h"

#include <time.h>

static int64_t now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum status delete_runs(struct database *database, const char *name, bool *any,
                               struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "select/delete_baseline", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, ":name", name);
  status = statement_run(&statement, err);
  *any = status == STATUS_OK && sqlite3_changes(database->handle) > 0;
  statement_finalize(&statement);
  return status;
}

static enum status insert_runs(struct database *database, const char *name,
                               const struct run_list *runs, struct error *err) {
  struct statement statement;
  const int64_t set_at_ns = now_ns();
  enum status status = statement_prepare(database, "select/insert_baseline", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_text(&statement, ":name", name);
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    statement_bind_int(&statement, ":set_at_ns", set_at_ns);
    status = statement_run(&statement, err);
  }
  statement_finalize(&statement);
  return status;
}

enum status baseline_set(struct database *database, const char *name, const struct run_list *runs,
                         bool *replaced, struct error *err) {
  enum status status = database_begin(database, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = delete_runs(database, name, replaced, err);
  if (status == STATUS_OK) {
    status = insert_runs(database, name, runs, err);
  }
  if (status == STATUS_OK) {
    return database_commit(database, err);
  }
  database_rollback(database);
  return status;
}

enum status baseline_remove(struct database *database, const char *name, struct error *err) {
  struct arena arena = {0};
  struct run_list runs = {0};
  const char *selector = arena_format(&arena, "baseline:%s", name);
  bool any = false;
  enum status status = selector_find_all(database, selector, &arena, &runs, err);
  if (status == STATUS_OK) {
    status = delete_runs(database, name, &any, err);
  }
  arena_fini(&arena);
  return status;
}
