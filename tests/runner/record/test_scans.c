/* No saved query and no question of docs/SQL.md or README.md reads a table that grows with history
 * from end to end, but those that ask about all of it: what is asked of one run, case or machine
 * takes time with its answer. Nor does it take more of SQLite's steps, however it is looked up. */
#include "engine/base/strings.h"
#include "runner/record/saved.h"
#include "tests/runner/record/fixture.h"

#include <sqlite3.h>

RELEASE(sqlite3_free, char)

enum { CURSORS_MAX = 1 << 20, NAME_MAX_BYTES = 64, TEXT_MAX = 1 << 20 };

/* Questions about every result. */
static const char *const OVER_ALL[] = {
    "16. What is the worst host-to-device rate of every GPU under every driver, wherever the card "
    "was?",
    "17. How did each GPU do over time, after cards changed places?", NULL};

static sqlite3 *open_empty(const struct fixture *fixture) {
  struct error err = {0};
  struct record *record = NULL;
  sqlite3 *handle = NULL;
  assert_ok(record_open(fixture->path, &record, &err), &err);
  record_close(record);
  assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
  return handle;
}

/* The table or index with that root page, if it is of a table that grows with the results. */
static bool grows(sqlite3 *handle, int root, char name[NAME_MAX_BYTES]) {
  static const char SQL[] =
      "SELECT name FROM sqlite_master WHERE rootpage = ? AND tbl_name IN ('case_run', 'trial', "
      "'flow_run', "
      "'flow_trial', 'telemetry', 'case_note', 'plan_case', 'plan_alias', 'environment_fact')";
  sqlite3_stmt *stmt = NULL;
  assert_int_equal(sqlite3_prepare_v2(handle, SQL, -1, &stmt, NULL), SQLITE_OK);
  (void)sqlite3_bind_int(stmt, 1, root);
  const bool found = sqlite3_step(stmt) == SQLITE_ROW;
  (void)snprintf(name, NAME_MAX_BYTES, "%s",
                 found ? (const char *)sqlite3_column_text(stmt, 0) : "");
  (void)sqlite3_finalize(stmt);
  return found;
}

/* Whether the query's program goes to the beginning or the end of such a table: a search goes to a
 * key. */
static bool scans(sqlite3 *handle, const char *sql, const char *title, char name[NAME_MAX_BYTES]) {
  static int roots[CURSORS_MAX];
  sqlite3_stmt *stmt = NULL;
  SCOPED(sqlite3_free_at) char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
  bool found = false;
  memset(roots, 0, sizeof roots);
  if (sqlite3_prepare_v2(handle, explain, -1, &stmt, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", title, sqlite3_errmsg(handle));
  }
  while (!found && sqlite3_step(stmt) == SQLITE_ROW) {
    const char *operation = (const char *)sqlite3_column_text(stmt, 1);
    const int cursor = sqlite3_column_int(stmt, 2);
    if (strings_equal(operation, "OpenRead")) {
      assert_true(cursor < CURSORS_MAX);
      roots[cursor] = sqlite3_column_int(stmt, 3);
    } else if (strings_equal(operation, "Rewind") || strings_equal(operation, "Last")) {
      found = roots[cursor] > 0 && grows(handle, roots[cursor], name);
    }
  }
  (void)sqlite3_finalize(stmt);
  return found;
}

/* false: told on stderr. */
static bool check(sqlite3 *handle, const char *sql, const char *title) {
  char name[NAME_MAX_BYTES];
  bool all = false;
  for (size_t i = 0; OVER_ALL[i] != NULL; i++) {
    all = all || strings_equal(OVER_ALL[i], title);
  }
  const bool found = scans(handle, sql, title, name);
  if (found && !all) {
    print_error("%s reads all of %s\n", title, name);
  } else if (!found && all) {
    print_error("%s needs no exception any more\n", title);
  }
  return found == all;
}

TEST(no_saved_query_scans) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  sqlite3 *handle = open_empty(fixture);
  SCOPED(arena_fini) struct arena arena = {0};
  size_t wrong = 0;
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query query;
    saved_query_at(i, &arena, &query);
    wrong += !check(handle, query.sql, query.name);
  }
  assert_int_equal(wrong, 0);
  (void)sqlite3_close(handle);
}

/* "### TITLE", then SQL between "```sql" and "```". */
TEST(no_documented_question_scans) {
  static char text[TEXT_MAX];
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  sqlite3 *handle = open_empty(fixture);
  FILE *file = fopen(HAUL_SOURCE_DIR "/docs/SQL.md", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  size_t count = 0;
  size_t wrong = 0;
  for (char *title = strstr(text, "\n### "); title != NULL; count++) {
    char *next = strstr(title + 1, "\n### ");
    char *sql = strstr(title, "```sql\n");
    char *end = sql != NULL ? strstr(sql, "\n```") : NULL;
    assert_non_null(end);
    *end = '\0';
    title += strlen("\n### ");
    title[strcspn(title, "\n")] = '\0';
    wrong += !check(handle, sql + strlen("```sql\n"), title);
    title = next;
  }
  assert_true(count >= 20);
  assert_int_equal(wrong, 0);
  (void)sqlite3_close(handle);
}

/* Copies of the last run, each later than the one before. */
static void copy_run(sqlite3 *handle, int copies) {
  static const char *const TABLES[] = {"run", "process", "plan_case", "case_run"};
  static const char *const CHANGES[] = {
      "id = id + 1, uuid = printf('%032d', id + 1), started_at_ns = started_at_ns + 1000000000",
      "id = id + 10, run = run + 1", "run = run + 1",
      "id = id + 1000, run = run + 1, process = process + 10"};
  for (int i = 0; i < copies; i++) {
    for (size_t t = 0; t < COUNT_OF(TABLES); t++) {
      SCOPED(sqlite3_free_at)
      char *sql = sqlite3_mprintf(
          "CREATE TEMP TABLE copy AS SELECT * FROM %s WHERE %s = (SELECT max(id) - %d FROM run);"
          "UPDATE copy SET %s; INSERT INTO %s SELECT * FROM copy; DROP TABLE copy",
          TABLES[t], t == 0 ? "id" : "run", t > 0, CHANGES[t], TABLES[t]);
      if (sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", TABLES[t], sqlite3_errmsg(handle));
      }
    }
  }
}

/* Of the latest run, other parameters as they are by default. */
static double steps_of(sqlite3 *handle, const struct saved_query *query, int latest) {
  sqlite3_stmt *stmt = NULL;
  if (sqlite3_prepare_v2(handle, query->sql, -1, &stmt, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", query->name, sqlite3_errmsg(handle));
  }
  for (size_t i = 0; i < query->parameter_count; i++) {
    const struct saved_parameter *parameter = &query->parameters[i];
    const int at = sqlite3_bind_parameter_index(stmt, parameter->name);
    if (parameter->type == PARAMETER_RUN) {
      (void)sqlite3_bind_int(stmt, at, latest);
    } else if (parameter->type == PARAMETER_INTEGER && parameter->standard != NULL) {
      (void)sqlite3_bind_int(stmt, at, atoi(parameter->standard));
    } else if (!strings_equal(parameter->standard, "null")) {
      (void)sqlite3_bind_text(stmt, at, parameter->standard, -1, SQLITE_TRANSIENT);
    }
  }
  while (sqlite3_step(stmt) == SQLITE_ROW) {
  }
  const int steps = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
  (void)sqlite3_finalize(stmt);
  return steps;
}

/* With five times the runs: a question about one of them, or a given number, takes as many steps;
 * one about all earlier ones, or all, five times as many. */
TEST(steps_grow_with_the_answer) {
  enum { FEW = 40, TIMES = 5 };
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(arena_fini) struct arena arena = {0};
  sqlite3 *handle = NULL;
  double *few = arena_array(&arena, saved_query_count(), sizeof *few);
  size_t wrong = 0;
  fixture_record_run(fixture, 2);
  assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
  assert_int_equal(sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
  for (unsigned many = 0; many < 2; many++) {
    copy_run(handle, many > 0 ? (TIMES - 1) * FEW : FEW - 1);
    for (size_t i = 0; i < saved_query_count(); i++) {
      struct saved_query query;
      saved_query_at(i, &arena, &query);
      const bool one =
          strstr(query.sql, "\n-- :run (run, ") != NULL &&
          (strstr(query.sql, "earlier runs") == NULL || strstr(query.sql, "LIMIT :runs") != NULL);
      const double steps = steps_of(handle, &query, many > 0 ? TIMES * FEW : FEW);
      if (many > 0 && steps > (one ? 1.5 : 1.5 * TIMES) * few[i] + 2000) {
        print_error("%s: %.0f steps, with a fifth of the runs %.0f\n", query.name, steps, few[i]);
        wrong++;
      }
      few[i] = steps;
    }
  }
  assert_int_equal(wrong, 0);
  (void)sqlite3_close(handle);
}

/* Nodes of a fleet are judged by what is not ok. Results that are ok are only counted, in an index.
 */
TEST(results_of_a_fleet_are_not_looked_at) {
  enum { RESULTS = 1000, STEPS_PER_RESULT = 8 };
  static const char MORE[] =
      "PRAGMA foreign_keys = OFF;"
      "WITH RECURSIVE i (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM i WHERE i < 1099)"
      "INSERT INTO case_run (run, process, bench_case, status, n)"
      "SELECT c.run, i, c.bench_case, 'ok', 0 FROM i, (SELECT * FROM case_run LIMIT 1) c";
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(arena_fini) struct arena arena = {0};
  struct saved_query query;
  sqlite3 *handle = NULL;
  fixture_record_run(fixture, 1);
  assert_ok(saved_query_find("node-reasons", &arena, &query, err), err);
  assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
  const double before = steps_of(handle, &query, 1);
  assert_int_equal(sqlite3_exec(handle, MORE, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_changes(handle), RESULTS);
  assert_true(steps_of(handle, &query, 1) - before < STEPS_PER_RESULT * RESULTS);
  (void)sqlite3_close(handle);
}
