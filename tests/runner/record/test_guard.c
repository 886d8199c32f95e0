/* What SQL of users can reach: every function and module of the linked SQLite is tried. */
#include "runner/record/guard.h"

#include "runner/record/companion.h"
#include "runner/record/merge.h"
#include "runner/record/migrate.h"
#include "runner/record/query.h"
#include "tests/runner/record/fixture.h"

struct opened {
  struct fixture *fixture;
  struct query *query;
  sqlite3 *plain; /* whatever SQLite brings along */
};

static int set_up(void **state) {
  static struct opened opened;
  struct error err = {0};
  opened.fixture = fixture_new();
  fixture_record_run(opened.fixture, 1);
  *state = &opened;
  return sqlite3_open(":memory:", &opened.plain) == SQLITE_OK &&
                 query_open(opened.fixture->path, &opened.query, &err) == STATUS_OK
             ? 0
             : -1;
}

static int tear_down(void **state) {
  struct opened *opened = *state;
  query_close(opened->query);
  (void)sqlite3_close(opened->plain);
  fixture_free(opened->fixture);
  return 0;
}

TEST_GROUP(set_up, tear_down);

static enum status run(struct query *query, const char *sql, struct error *err) {
  FILE *stream = fopen("/dev/null", "w");
  const struct table_options options = {.format = OUTPUT_CSV, .stream = stream};
  const struct query_options limits = {.time_limit_ns = UINT64_C(2000000000)};
  struct table *rows = table_new(&options);
  const enum status status = query_run(query, sql, NULL, 0, &limits, table_sink(rows), err);
  table_free(rows);
  (void)fclose(stream);
  return status;
}

/* Calls it with up to four arguments that it may not expect: pointers, sizes, formats. */
static void call_every_way(struct query *query, const char *function, bool allowed) {
  static const char *const VALUES[] = {"NULL",           "4611686018427387904", "-1",
                                       "'%9999999s'",    "x'4141414141414141'", "1e308",
                                       "'[1,{\"a\":2}]'"};
  const size_t count = COUNT_OF(VALUES);
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t arguments = 0; arguments <= 4; arguments++) {
    for (size_t first = 0; first < (arguments > 0 ? count : 1); first++) {
      const char *list = "";
      for (size_t i = 0; i < arguments; i++) {
        list = arena_format(&arena, "%s%s%s", list, i > 0 ? ", " : "",
                            VALUES[(first + i * (i + first)) % count]);
      }
      struct error err = {0};
      const char *sql = arena_format(&arena, "SELECT length(\"%s\"(%s))", function, list);
      const enum status status = run(query, sql, &err);
      if (!allowed && status == STATUS_OK) {
        fail_msg("%s is not refused", sql);
      }
      if (status == STATUS_DENIED && allowed) {
        fail_msg("%s: %s", sql, err.message);
      }
    }
  }
}

TEST(every_function_is_safe_or_refused, struct opened *opened) {
  sqlite3_stmt *names = NULL;
  size_t refused = 0;
  size_t count = 0;
  const char *sql = "SELECT DISTINCT name FROM pragma_function_list ORDER BY name";
  assert_int_equal(sqlite3_prepare_v2(opened->plain, sql, -1, &names, NULL), SQLITE_OK);
  for (; sqlite3_step(names) == SQLITE_ROW; count++) {
    const char *name = (const char *)sqlite3_column_text(names, 0);
    const bool allowed = guard_allows_function(name);
    refused += !allowed;
    call_every_way(opened->query, name, allowed);
  }
  (void)sqlite3_finalize(names);
  assert_true(count > 60 && refused > 0 && refused < count);
  static const char *const NEVER[] = {"load_extension", "fts3_tokenizer", "readfile",   "writefile",
                                      "edit",           "fts5",           "sqlite_log", "match"};
  for (size_t i = 0; i < COUNT_OF(NEVER); i++) {
    assert_false(guard_allows_function(NEVER[i]));
  }
}

TEST(rows_are_gathered_for_haul_alone, struct opened *opened) {
  assert_int_not_equal(run(opened->query, "SELECT gather(1, 2)", err), STATUS_OK);
  assert_contains(err->message, "gather() is for the statements of haul alone");
}

TEST(every_module_is_gone_but_those_of_json, struct opened *opened) {
  sqlite3_stmt *names = NULL;
  size_t count = 0;
  SCOPED(arena_fini) struct arena arena = {0};
  const char *sql = "SELECT DISTINCT name FROM pragma_module_list";
  assert_int_equal(sqlite3_prepare_v2(opened->plain, sql, -1, &names, NULL), SQLITE_OK);
  for (; sqlite3_step(names) == SQLITE_ROW; count++) {
    const char *name = (const char *)sqlite3_column_text(names, 0);
    static const char *const CALLS[] = {"", "()", "('[1]')", "(1, 2)", "(x'41', 'main', 7)"};
    const bool json = strncmp(name, "json_", 5) == 0;
    const bool pragma = strncmp(name, "pragma_", 7) == 0;
    for (size_t i = 0; i < COUNT_OF(CALLS); i++) {
      const enum status status =
          run(opened->query, arena_format(&arena, "SELECT * FROM \"%s\"%s", name, CALLS[i]), err);
      if (status == STATUS_OK && !json && !pragma) {
        fail_msg("the module %s can be used", name);
      }
    }
  }
  (void)sqlite3_finalize(names);
  assert_true(count >= 2);
  assert_ok(run(opened->query, "SELECT value FROM json_each('[1, 2]')", err), err);
}

TEST(sizes_are_bounded, struct opened *opened) {
  static const char *const HUGE[] = {
      "SELECT zeroblob(1 << 30)", "SELECT randomblob(1 << 30)",
      "SELECT group_concat(hex(zeroblob(20 << 20))) FROM (VALUES (1), (2), (3))"};
  for (size_t i = 0; i < COUNT_OF(HUGE); i++) {
    assert_int_not_equal(run(opened->query, HUGE[i], err), STATUS_OK);
  }
}

/* A file of somebody else: the statement of the table is not even looked at. */
TEST(virtual_tables_are_refused, struct opened *opened) {
  struct fixture *fixture = opened->fixture;
  struct query *query = NULL;
  struct database *database = NULL;
  PRINTED(copy, 96, "%s/foreign.db", fixture->folder);
  PRINTED(sql, 256, "VACUUM INTO '%s'", copy);
  fixture_execute(fixture->path, sql);
  fixture_execute(copy, "PRAGMA writable_schema = ON; "
                        "INSERT INTO sqlite_master VALUES ('table', 'words', 'words', 0, "
                        "'CREATE VIRTUAL TABLE words USING fts3(x, tokenize=simple)');");
  assert_fails(query_open(copy, &query, err), STATUS_INVALID, err,
               "foreign.db: it has a virtual table (words)");
  assert_int_equal(database_open(copy, DATABASE_WRITE, &database, err), STATUS_INVALID);
  struct merge *merge = merge_new(fixture->path, NULL);
  struct merge_result result = {0};
  bool fatal = true;
  assert_int_equal(merge_add(merge, copy, &result, &fatal, err), STATUS_INVALID);
  assert_false(fatal);
  assert_int_equal(strncmp(err->message, "it has a virtual table (words)", 30), 0);
  merge_free(merge);
}

/* A view of the file is SQL of somebody else, too. */
TEST(views_of_the_file_call_no_other_function, struct opened *opened) {
  fixture_execute(opened->fixture->path,
                  "CREATE VIEW bad AS SELECT fts3_tokenizer('simple', x'4141414141414141') AS x");
  const enum status status = run(opened->query, "SELECT * FROM bad", err);
  assert_true(status == STATUS_DENIED || status == STATUS_INVALID);
  fixture_execute(opened->fixture->path, "DROP VIEW bad");
}

/* A file that takes its time is read no longer than that. */
TEST(reading_is_limited_in_time, struct opened *opened) {
  SCOPED(database_close_at)
  struct database *database = fixture_open(opened->fixture, DATABASE_READ);
  assert_true(database->limit_ns >= UINT64_C(60000000000));
  database_limit_time(database, 1000000, NULL);
  static const char ENDLESS[] = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                "SELECT count(*) FROM n";
  assert_fails(database_run_sql(database, ENDLESS, err), STATUS_INVALID, err,
               "reading takes longer than");
}

/* A journal, planted after the file was judged, that names another file. */
TEST(no_super_journal_is_opened, struct opened *opened) {
  sqlite3_vfs *vfs = sqlite3_vfs_find(companion_vfs());
  SCOPED(memory_free) sqlite3_file *file = memory_new(1, (size_t)vfs->szOsFile);
  int flags = 0;
  assert_int_equal(vfs->xOpen(vfs, opened->fixture->path, file,
                              SQLITE_OPEN_READONLY | SQLITE_OPEN_SUPER_JOURNAL, &flags),
                   SQLITE_CANTOPEN);
}
