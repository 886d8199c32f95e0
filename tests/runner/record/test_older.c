/* Databases that earlier versions made, tests/data/results-*.sql, opened for reading. */
#include "runner/record/migrate.h"
#include "runner/record/query.h"
#include "runner/record/results.h"
#include "runner/record/saved.h"
#include "schema/results/results_sql.h"
#include "tests/runner/record/fixture.h"

#include <glob.h>

RELEASE(query_close, struct query)

RELEASE(results_free, struct results)

static const char RECORDED[] = HAUL_SOURCE_DIR "/tests/data/results-*.sql";

/* Calls that for each recorded database, with sanitizers for the oldest, made anew at the fixture's
 * path. */
static void for_each_recorded(struct fixture *fixture,
                              void (*look)(struct fixture *fixture, const char *name)) {
  glob_t files;
  assert_int_equal(glob(RECORDED, 0, NULL, &files), 0);
  for (size_t i = 0; i < ROUNDS(files.gl_pathc, 1); i++) {
    const char *name = strrchr(files.gl_pathv[i], '/') + 1;
    (void)remove(fixture->path);
    fixture_load(fixture, name);
    look(fixture, name);
  }
  globfree(&files);
}

static void query_must_run(struct query *query, const char *sql, const char *saved,
                           const char *name) {
  FILE *stream = fopen("/dev/null", "w");
  const struct table_options options = {.format = OUTPUT_CSV, .stream = stream};
  struct table *rows = table_new(&options);
  struct error err = {0};
  const enum status status =
      sql != NULL ? query_run(query, sql, NULL, 0, NULL, table_sink(rows), &err)
                  : query_run_saved(query, saved, NULL, 0, NULL, table_sink(rows), &err);
  table_free(rows);
  (void)fclose(stream);
  if (status != STATUS_OK) {
    fail_msg("%s: %s: %s", name, sql != NULL ? sql : saved, err.message);
  }
}

/* Statements that stand alone. Those of merge.sql need an attached input, and test_merge.c runs
 * them on the same databases; those of delete.sql, beside.sql, upkeep.sql and of haul explain need
 * temporary tables: tests/cli and test_beside.c run them. */
static bool is_prepared_alone(const char *name) {
  static const char *const OTHERS[] = {"merge.sql",     "delete.sql",    "beside.sql",
                                       "explain.sql",   "rules_gpu.sql", "rules_host.sql",
                                       "rules_run.sql", "upkeep.sql"};
  static const char FOLDER[] = "statements/";
  bool alone = strncmp(name, FOLDER, strlen(FOLDER)) == 0;
  for (size_t i = 0; alone && i < COUNT_OF(OTHERS); i++) {
    alone = strcmp(name + strlen(FOLDER), OTHERS[i]) != 0;
  }
  return alone;
}

/* Each statement of each section. */
static void statements_must_prepare(struct database *database, const struct embedded_file *file,
                                    const char *name) {
  const char *const end = (const char *)file->end;
  for (const char *at = (const char *)file->data; at < end;) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(database->handle, at, (int)(end - at), &stmt, &at) != SQLITE_OK) {
      fail_msg("%s: %s: %s", name, file->name, sqlite3_errmsg(database->handle));
    }
    (void)sqlite3_finalize(stmt);
  }
}

static void look_with_everything(struct fixture *fixture, const char *name) {
  SCOPED(bytes_fini) struct bytes before = bytes_read(fixture->path);
  struct query *query = NULL;
  struct error err = {0};
  SCOPED(arena_fini) struct arena arena = {0};
  assert_ok(query_open(fixture->path, &query, &err), &err);
  struct database *database = query_database(query);
  assert_int_equal(database->version, migrate_latest_version());
  for (size_t i = 0; i < results_sql_count; i++) {
    if (is_prepared_alone(results_sql[i].name)) {
      statements_must_prepare(database, &results_sql[i], name);
    }
  }
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    query_must_run(query, NULL, saved.name, name);
  }
  sqlite3_stmt *views = NULL;
  const char *list = "SELECT 'SELECT * FROM ' || name FROM sqlite_master WHERE type = 'view'";
  assert_int_equal(sqlite3_prepare_v2(database->handle, list, -1, &views, NULL), SQLITE_OK);
  size_t count = 0;
  for (; sqlite3_step(views) == SQLITE_ROW; count++) {
    query_must_run(query, (const char *)sqlite3_column_text(views, 0), NULL, name);
  }
  assert_true(count >= 7);
  (void)sqlite3_finalize(views);
  query_close(query);
  SCOPED(bytes_fini) struct bytes after = bytes_read(fixture->path);
  assert_bytes_equal(after, before);
}

FIXTURE_TEST(everything_reads_every_recorded_database) {
  for_each_recorded(fixture, look_with_everything);
}

FIXTURE_TEST(copy_is_noted_and_not_written) {
  SCOPED(arena_fini) struct arena arena = {0};
  fixture_load(fixture, "results-1002.sql");
  struct database *database = fixture_open(fixture, DATABASE_READ);
  assert_int_equal(database->file_version, 1002);
  assert_contains(database_copy_note(database, &arena),
                  "results.db has the older schema 1.2, so it is read through a temporary copy. To "
                  "change it to ");
  assert_int_equal(database_begin(database, err), STATUS_DENIED);
  database_close(database);
  database = fixture_open(fixture, DATABASE_WRITE);
  assert_null(database_copy_note(database, &arena));
  database_close(database);
  database = fixture_open(fixture, DATABASE_READ);
  assert_null(database_copy_note(database, &arena));
  database_close(database);
}

/* Its pages say so in the copy, too. */
FIXTURE_TEST(write_ahead_mode_is_read) {
  fixture_load(fixture, "results-1002.sql");
  fixture_execute(fixture->path, "pragma journal_mode = wal");
  SCOPED(query_close_at) struct query *query = NULL;
  assert_ok(query_open(fixture->path, &query, err), err);
  query_must_run(query, "select * from v_run_case", NULL, "wal");
}

/* A scenario that an earlier version recorded means what it meant. */
FIXTURE_TEST(warm_caches_of_before_are_as_they_were) {
  fixture_load(fixture, "results-1002.sql");
  fixture_execute(
      fixture->path,
      "update scenario set resolved = 'host_cache = \"warm\", '"
      "  || 'host_cache = [\"warm\", \"flushed\"], host_cache = [\"flushed\", \"warm\"], '"
      "  || 'device_cache = \"warm\"' where id = 1");
  database_close(fixture_open(fixture, DATABASE_WRITE));
  assert_query(fixture, "select resolved from scenario where id = 1",
               "host_cache = \"as_is\", host_cache = [\"as_is\", \"flushed\"], "
               "host_cache = [\"flushed\", \"as_is\"], device_cache = \"warm\"");
}

static void expect_count(const struct fixture *fixture, const char *name, const char *sql,
                         const char *expected) {
  SCOPED(memory_free) char *count = fixture_query(fixture, sql);
  if (strcmp(count, expected) != 0) {
    fail_msg("%s: %s: %s, not %s", name, sql, count, expected);
  }
}

/* Each rate that is more than 1 % above its peak is marked in each view, and no other one; and what
 * comparisons read of it is marked too. */
static void look_at_peaks(struct fixture *fixture, const char *name) {
  static const char *const VIEWS[] = {"v_case", "v_run_case", "v_pair", "v_driver"};
  SCOPED(database_close_at) struct database *database = fixture_open(fixture, DATABASE_WRITE);
  struct error err = {0};
  for (size_t i = 0; i < COUNT_OF(VIEWS); i++) {
    PRINTED(sql, 256, "select count(*) from %s where (percent_of_peak > 101) is not above_peak",
            VIEWS[i]);
    expect_count(fixture, name, sql, "0");
  }
  SCOPED(results_free_at) struct results *results = results_new();
  assert_ok(results_add_all_runs(results, database, &err), &err);
  assert_ok(results_load(results, database, NULL, &err), &err);
  size_t count = 0;
  for (size_t i = 0; i < results->median_count; i++) {
    count += results->medians[i].above_peak;
    assert_true(!results->medians[i].above_peak || !results_counts(&results->medians[i]));
  }
  PRINTED(above, 16, "%zu", count);
  expect_count(fixture, name, "select count(*) from v_case where above_peak", above);
}

static void look_at_peaks_and_wrong_ones(struct fixture *fixture, const char *name) {
  look_at_peaks(fixture, name);
  fixture_execute(fixture->path, "update plan_case set peak_bytes_per_second = 1 + "
                                 "peak_bytes_per_second / 10 where bench_case % 2 = 0");
  assert_query(fixture, "select count(*) > 0 from v_case where above_peak", "1");
  look_at_peaks(fixture, name);
}

FIXTURE_TEST(no_rate_above_its_peak_is_unmarked) {
  for_each_recorded(fixture, look_at_peaks_and_wrong_ones);
}
