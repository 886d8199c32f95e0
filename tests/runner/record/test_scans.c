/* No saved query and no question of docs/SQL.md or README.md reads a table that grows with history
 * from end to end, but those that ask about all of it: what is asked of one run, case or machine
 * takes time with its answer. */
#include "engine/base/strings.h"
#include "runner/record/saved.h"
#include "tests/cmocka.h"
#include "tests/runner/record/fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { CURSORS_MAX = 1 << 20, NAME_MAX_BYTES = 64, TEXT_MAX = 1 << 20 };

/* Questions about every result. */
static const char *const OVER_ALL[] = {
    "16. What is the worst host-to-device rate of every GPU under every driver, wherever the card "
    "was?",
    "17. How did one GPU do over time, after cards changed places?", NULL};

static sqlite3 *open_empty(const struct fixture *fixture) {
  struct error err = {0};
  struct record *record = NULL;
  sqlite3 *handle = NULL;
  assert_int_equal(record_open(fixture->path, &record, &err), STATUS_OK);
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
  char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
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
  sqlite3_free(explain);
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

static void no_saved_query_scans(void **state) {
  struct fixture *fixture = fixture_new();
  sqlite3 *handle = open_empty(fixture);
  struct arena arena = {0};
  size_t wrong = 0;
  (void)state;
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query query;
    saved_query_at(i, &arena, &query);
    wrong += !check(handle, query.sql, query.name);
  }
  assert_int_equal(wrong, 0);
  arena_fini(&arena);
  (void)sqlite3_close(handle);
  fixture_free(fixture);
}

/* "### TITLE", then SQL between "```sql" and "```". */
static void no_documented_question_scans(void **state) {
  static char text[TEXT_MAX];
  struct fixture *fixture = fixture_new();
  sqlite3 *handle = open_empty(fixture);
  FILE *file = fopen(HAUL_SOURCE_DIR "/docs/SQL.md", "r");
  (void)state;
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
  fixture_free(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_saved_query_scans),
      cmocka_unit_test(no_documented_question_scans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
