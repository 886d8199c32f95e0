/* Databases into one: the same content in any order, whole inputs or nothing of them. */
#include "engine/base/strbuf.h"
#include "runner/record/merge.h"
#include "runner/record/migrate.h"
#include "tests/runner/record/fixture.h"

#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUTS = 3 };

/* What merging writes on its own account. */
#define LOCAL_TABLES "('fleet_node', 'merged_input', 'schema_text')"

/* One query for each table, which gives its rows in an order that does not depend on ids: every
 * column but the id, with the content of the row that a reference means in place of its id.
 * Baselines are local to a database. */
static const char CONTENT[] =
    "SELECT t.name, 'SELECT ' || group_concat(CASE"
    "  WHEN c.name = 'id' THEN NULL"
    "  WHEN f.\"table\" IS NULL THEN 'quote(t.\"' || c.name || '\")'"
    "  WHEN f.\"table\" = 'run' THEN '(SELECT uuid FROM run WHERE id = t.run)'"
    "  WHEN f.\"table\" = 'process' THEN 'ifnull((SELECT r.uuid || p.ordinal FROM process p"
    "    JOIN run r ON r.id = p.run WHERE p.id = t.process), ''none'')'"
    "  WHEN f.\"table\" = 'case_run' THEN '(SELECT b.key || r.uuid || ifnull(p.ordinal, ''none'')"
    "    FROM case_run k JOIN bench_case b ON b.id = k.bench_case JOIN run r ON r.id = k.run"
    "    LEFT JOIN process p ON p.id = k.process WHERE k.id = t.case_run)'"
    "  ELSE 'ifnull((SELECT key FROM ' || f.\"table\" || ' WHERE id = t.' || c.name || '), 0)'"
    "  END, ' || ''|'' || ') || ' AS line FROM ' || t.name || ' t ORDER BY line'"
    "FROM sqlite_master t JOIN pragma_table_info(t.name) c"
    " LEFT JOIN pragma_foreign_key_list(t.name) f ON f.\"from\" = c.name AND f.\"to\" = 'id'"
    "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> 'baseline' AND t.name NOT "
    "IN " LOCAL_TABLES " "
    "GROUP BY t.name";

struct merging {
  struct fixture *fixtures[INPUTS];
  char output[128];
};

static int set_up(void **state) {
  struct merging *merging = memory_new(1, sizeof *merging);
  for (int i = 0; i < INPUTS; i++) {
    merging->fixtures[i] = fixture_new();
    fixture_set_keys(merging->fixtures[i]);
  }
  (void)snprintf(merging->output, sizeof merging->output, "%s/out.db",
                 merging->fixtures[0]->folder);
  *state = merging;
  return 0;
}

static int tear_down(void **state) {
  SCOPED(memory_free) struct merging *merging = *state;
  for (int i = 0; i < INPUTS; i++) {
    fixture_free(merging->fixtures[i]);
  }
  return 0;
}

/* Three machines: the third one differs from the others. */
static void record_all(struct merging *merging) {
  fixture_set_fact(merging->fixtures[2], "kernel", "6.2.0-test");
  for (int i = 0; i < INPUTS; i++) {
    fixture_record_run(merging->fixtures[i], (uint32_t)i + 1);
  }
}

static enum status merge_one(const char *output, const char *input, struct merge_result *result,
                             struct error *err) {
  bool fatal = false;
  struct merge *merge = merge_new(output, NULL);
  *result = (struct merge_result){0};
  enum status status = merge_add(merge, input, result, &fatal, err);
  merge_free(merge);
  assert_false(fatal);
  return status;
}

static struct merge_result merge_well(const char *output, const char *input) {
  struct merge_result result;
  struct error err = {0};
  assert_ok(merge_one(output, input, &result, &err), &err);
  return result;
}

/* The rows of one table; *count: how many. */
static void append_rows(sqlite3 *handle, const char *sql, struct strbuf *text, size_t *count) {
  sqlite3_stmt *stmt = NULL;
  if (sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
  }
  for (*count = 0; sqlite3_step(stmt) == SQLITE_ROW; ++*count) {
    const unsigned char *line = sqlite3_column_text(stmt, 0);
    assert_non_null(line);
    strbuf_printf(text, "%s\n", (const char *)line);
  }
  (void)sqlite3_finalize(stmt);
}

/* *empty: tables without rows. */
static char *content_and_gaps(const char *path, size_t *empty) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 64 << 20);
  sqlite3 *handle = NULL;
  sqlite3_stmt *tables = NULL;
  assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(handle, CONTENT, -1, &tables, NULL), SQLITE_OK);
  for (*empty = 0; sqlite3_step(tables) == SQLITE_ROW;) {
    size_t rows = 0;
    strbuf_printf(&text, "%s\n", (const char *)sqlite3_column_text(tables, 0));
    append_rows(handle, (const char *)sqlite3_column_text(tables, 1), &text, &rows);
    *empty += rows == 0;
  }
  (void)sqlite3_finalize(tables);
  (void)sqlite3_close(handle);
  assert_false(text.truncated);
  char *content = strdup(text.text);
  return content;
}

static char *content_of(const char *path) {
  size_t empty = 0;
  return content_and_gaps(path, &empty);
}

static void assert_same_content(const char *a, const char *b) {
  SCOPED(memory_free) char *first = content_of(a);
  SCOPED(memory_free) char *second = content_of(b);
  assert_string_equal(first, second);
}

static void copy_file(const char *to, const char *from) {
  SCOPED(bytes_fini) struct bytes bytes = bytes_read(from);
  bytes_write(to, bytes);
}

/* Merges the input and asserts that not a byte of it changed. */
static struct merge_result merge_untouched(const char *output, const char *input) {
  SCOPED(bytes_fini) struct bytes before = bytes_read(input);
  struct merge_result result = merge_well(output, input);
  SCOPED(bytes_fini) struct bytes after = bytes_read(input);
  assert_bytes_equal(before, after);
  return result;
}

TEST_WITH(any_order_gives_the_same_content, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  static const int ORDERS[][INPUTS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  char outputs[3][160];
  for (int order = 0; order < 3; order++) {
    (void)snprintf(outputs[order], sizeof outputs[order], "%.100s/out%d.db",
                   merging->fixtures[0]->folder, order);
    for (int i = 0; i < INPUTS; i++) {
      int input = ORDERS[order][i];
      struct merge_result result = merge_untouched(outputs[order], merging->fixtures[input]->path);
      assert_int_equal(result.runs, 1);
      assert_int_equal(result.added, 1);
      /* One skipped case, the others once per process. */
      assert_int_equal(result.results, 1 + (FIXTURE_CASES - 1) * (input + 1));
    }
  }
  assert_same_content(outputs[0], outputs[1]);
  assert_same_content(outputs[0], outputs[2]);
  /* One alone is what it was. */
  merge_well(merging->output, merging->fixtures[1]->path);
  assert_same_content(merging->output, merging->fixtures[1]->path);
}

/* A name means its file, whatever the characters of SQLite's URIs in it mean. */
TEST_WITH(names_like_uris_are_merged, set_up, tear_down, struct merging *merging) {
  fixture_record_run(merging->fixtures[1], 2);
  static const char *const NAMES[] = {"a?mode=memory.db", "b#c.db", "%41.db", "100% of it?.db"};
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    PRINTED(input, 160, "%.100s/%s", merging->fixtures[0]->folder, NAMES[i]);
    PRINTED(output, 160, "%.100s/of-a-name%zu.db", merging->fixtures[0]->folder, i);
    copy_file(input, merging->fixtures[1]->path);
    assert_int_equal(merge_untouched(output, input).added, 1);
    assert_same_content(output, input);
  }
}

TEST_WITH(merging_again_changes_nothing, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  for (int i = 0; i < INPUTS; i++) {
    merge_well(merging->output, merging->fixtures[i]->path);
  }
  SCOPED(memory_free) char *before = content_of(merging->output);
  SCOPED(bytes_fini) struct bytes merged = bytes_read(merging->output);
  for (int i = INPUTS; i-- > 0;) {
    struct merge_result result = merge_untouched(merging->output, merging->fixtures[i]->path);
    assert_int_equal(result.runs, 1);
    assert_int_equal(result.added + result.completed + result.results, 0);
  }
  SCOPED(memory_free) char *after = content_of(merging->output);
  SCOPED(bytes_fini) struct bytes again = bytes_read(merging->output);
  assert_string_equal(before, after);
  assert_int_equal(merged.size, again.size);
  /* A merged database is an input like any other. */
  struct merge_result result = merge_well(merging->fixtures[0]->path, merging->output);
  assert_int_equal(result.added, INPUTS - 1);
  assert_same_content(merging->fixtures[0]->path, merging->output);
}

TEST_WITH(output_as_input_is_skipped, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  merge_well(merging->output, merging->fixtures[0]->path);
  PRINTED(link_path, 160, "%.100s/link.db", merging->fixtures[0]->folder);
  assert_int_equal(symlink(merging->output, link_path), 0);
  assert_true(merge_well(merging->output, link_path).same);
}

/* A run stopped after its second case, copied, and then resumed. */
TEST_WITH(resumed_run_is_completed, set_up, tear_down, struct merging *merging) {
  struct fixture *fixture = merging->fixtures[0];
  struct record *record = fixture_start(fixture);
  PRINTED(early, 160, "%.100s/early.db", fixture->folder);
  fixture_record_case(fixture, record, 0, 20);
  assert_ok(record_end_run(record, "interrupted", "by the user", err), err);
  copy_file(early, fixture->path);
  (void)fixture_resume(fixture, record);
  assert_ok(record_process_started(record, 0, 101, err), err);
  fixture_record_case(fixture, record, 1, 20);
  assert_ok(record_process_ended(record, 0, err), err);
  assert_ok(record_end_run(record, "done", NULL, err), err);
  record_close(record);

  assert_int_equal(merge_well(merging->output, early).added, 1);
  struct merge_result result = merge_well(merging->output, fixture->path);
  assert_int_equal(result.added, 0);
  assert_int_equal(result.completed, 1);
  assert_int_equal(result.results, 1);
  /* The earlier state changes nothing any more, whenever it comes. */
  result = merge_well(merging->output, early);
  assert_int_equal(result.completed + result.results, 0);
  PRINTED(other, 160, "%.100s/other.db", fixture->folder);
  merge_well(other, fixture->path);
  merge_well(other, early);
  assert_same_content(merging->output, fixture->path);
  assert_same_content(other, fixture->path);
  assert_query(fixture,
               "SELECT r.status || ifnull(r.reason, '') || ' pid ' || p.pid || ', workers ' || "
               "p.workers || ', ' || (SELECT count(*) FROM trial) || ' trials of ' || "
               "(SELECT count(*) FROM case_run) FROM run r JOIN process p ON p.run = r.id",
               "done pid 101, workers 2, 40 trials of 3");
}

/* Copied between two visits of a case. */
TEST_WITH(later_visits_replace_earlier_ones, set_up, tear_down, struct merging *merging) {
  struct fixture *fixture = merging->fixtures[0];
  PRINTED(early, 160, "%.100s/early.db", fixture->folder);
  fixture_record_run(fixture, 1);
  copy_file(early, fixture->path);
  fixture_execute(
      fixture->path,
      "UPDATE case_run SET visits = 2, n = n + 1, median_ns = 1 WHERE bench_case = 1;"
      "INSERT INTO trial (case_run, ordinal, phase, status, iterations, start_ns, "
      "elapsed_ns, visit) SELECT id, 50, 1, 0, 1, 1, 1, 1 FROM case_run WHERE visits = 2");
  PRINTED(other, 160, "%.100s/other.db", fixture->folder);
  merge_well(merging->output, early);
  assert_int_equal(merge_well(merging->output, fixture->path).results, 1);
  assert_int_equal(merge_well(merging->output, early).results, 0);
  merge_well(other, fixture->path);
  merge_well(other, early);
  assert_same_content(merging->output, other);
}

TEST_WITH(run_resumed_twice_is_refused, set_up, tear_down, struct merging *merging) {
  struct merge_result result;
  fixture_record_run(merging->fixtures[0], 1);
  merge_well(merging->output, merging->fixtures[0]->path);
  fixture_execute(merging->fixtures[0]->path,
                  "UPDATE case_run SET median_ns = median_ns + 1 WHERE status = 'ok'");
  SCOPED(memory_free) char *before = content_of(merging->output);
  assert_fails(merge_one(merging->output, merging->fixtures[0]->path, &result, err), STATUS_INVALID,
               err, "resumed in two copies");
  SCOPED(memory_free) char *after = content_of(merging->output);
  assert_string_equal(before, after);
}

/* Refused with that text, and the output is as it was. */
static void refused(struct merging *merging, const char *input, const char *text) {
  struct merge_result result;
  struct error err = {0};
  SCOPED(memory_free) char *before = content_of(merging->output);
  assert_int_not_equal(merge_one(merging->output, input, &result, &err), STATUS_OK);
  assert_contains(err.message, text);
  SCOPED(memory_free) char *after = content_of(merging->output);
  assert_string_equal(before, after);
}

TEST_WITH(bad_inputs_leave_nothing, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  merge_well(merging->output, merging->fixtures[0]->path);
  const char *path = merging->fixtures[1]->path;
  SCOPED(bytes_fini) struct bytes bytes = bytes_read(path);

  refused(merging, "/nowhere/x.db", "No such file");
  refused(merging, merging->fixtures[1]->folder, "not a regular file");
  bytes_write(path, (struct bytes){bytes.data, 0});
  refused(merging, path, "empty file");
  bytes_write(path, (struct bytes){bytes.data, bytes.size / 2});
  refused(merging, path, "damaged");
  memset(bytes.data, 'x', 100);
  bytes_write(path, bytes);
  refused(merging, path, "some other file");

  /* A page in the middle; which one is judged by its neighbours. */
  path = merging->fixtures[2]->path;
  SCOPED(bytes_fini) struct bytes whole = bytes_read(path);
  SCOPED(bytes_fini) struct bytes broken = bytes_read(path);
  memset(broken.data + broken.size / 2 / 4096 * 4096, 0x41, 4096);
  bytes_write(path, broken);
  refused(merging, path, "damaged");
  bytes_write(path, whole);
  fixture_execute(path, "PRAGMA foreign_keys = OFF; DELETE FROM bench_case WHERE id = 1");
  refused(merging, path, "refer to rows that are not there");

  path = merging->fixtures[1]->path;
  assert_int_equal(unlink(path), 0);
  fixture_record_run(merging->fixtures[1], 1);
  fixture_execute(path, "UPDATE case_run SET p95_ns = 'slow' WHERE id = 1");
  refused(merging, path, "its table case_run has a text in the column p95_ns");
  fixture_execute(path, "UPDATE case_run SET p95_ns = NULL WHERE id = 1");
  PRINTED(version, 64, "PRAGMA user_version = %d", migrate_latest_version() + 1);
  fixture_execute(path, version);
  refused(merging, path, "newer haul");
  fixture_execute(path, "PRAGMA user_version = 0");
  refused(merging, path, "another program's");
  fixture_execute(path, "PRAGMA application_id = 1");
  refused(merging, path, "another program's");
}

/* Whichever column an input lies about: it is refused, or the output has what an honest one gives.
 */
TEST_WITH(no_column_of_a_case_is_believed, set_up, tear_down, struct merging *merging) {
  struct merge_result result;
  const struct fixture *fixture = merging->fixtures[0];
  database_close(fixture_open(fixture, DATABASE_WRITE));
  SCOPED(bytes_fini) struct bytes empty = bytes_read(fixture->path);
  fixture_record_run(merging->fixtures[0], 1);
  SCOPED(bytes_fini) struct bytes bytes = bytes_read(fixture->path);
  merge_well(merging->output, fixture->path);
  SCOPED(memory_free) char *honest = content_of(merging->output);
  SCOPED(memory_free)
  char *list =
      fixture_query(fixture, "SELECT group_concat(name, ' ') FROM pragma_table_info('bench_case') "
                             "WHERE name <> 'id'");
  char *rest = NULL;
  int lies = 0; /* two of each column: another value, then NULL, where a column may have it */
  for (const char *column = strtok_r(list, " ", &rest); column != NULL;
       column = lies % 2 == 0 ? strtok_r(NULL, " ", &rest) : column) {
    const bool is_null = lies++ % 2 == 1;
    if ((lies - 1) / 2 % ROUNDS(1, 5) != 0) {
      continue;
    }
    PRINTED(lie, 256,
            "PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE bench_case SET %s = CASE "
            "WHEN %d THEN NULL WHEN typeof(%s) = 'text' THEN %s || 'x' ELSE ifnull(%s, 0) + 77 END",
            column, is_null, column, column, column);
    bytes_write(fixture->path, bytes);
    fixture_execute(fixture->path, lie);
    bytes_write(merging->output, empty);
    if (merge_one(merging->output, fixture->path, &result, err) != STATUS_OK) {
      assert_true(strstr(err->message, "it was changed by other means") != NULL ||
                  strstr(err->message, "CHECK constraint") != NULL);
    } else {
      SCOPED(memory_free) char *merged = content_of(merging->output);
      if (strcmp(merged, honest) != 0) {
        fail_msg("%s is believed%s", column, is_null ? " to be NULL" : "");
      }
    }
  }
  assert_true(lies >= 88);
}

/* A column that is gone although the version says that it is there. */
TEST_WITH(schema_lacking_a_column_is_refused, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  merge_well(merging->output, merging->fixtures[0]->path);
  fixture_execute(merging->fixtures[1]->path,
                  "DROP VIEW v_step; DROP VIEW v_result; DROP VIEW v_case; DROP VIEW v_note;"
                  "DROP VIEW v_run_case; DROP VIEW v_trial; DROP VIEW v_flow; DROP VIEW v_pair;"
                  "DROP VIEW v_driver; DROP VIEW v_run; DROP VIEW v_check; DROP VIEW v_gpu;"
                  "DROP VIEW v_telemetry; DROP VIEW v_throttle; DROP VIEW v_fact;"
                  "ALTER TABLE case_run RENAME COLUMN reason TO remark");
  refused(merging, merging->fixtures[1]->path, "case_run.reason");
}

/* A writer that is killed in a transaction leaves a hot journal. */
static void leave_hot_journal(const char *path) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    sqlite3 *handle = NULL;
    (void)sqlite3_open(path, &handle);
    /* Pages that do not fit the cache are written into the file before the transaction ends. */
    (void)sqlite3_exec(handle,
                       "PRAGMA cache_size = 1; PRAGMA synchronous = OFF; BEGIN; UPDATE trial SET "
                       "elapsed_ns = 0; UPDATE flow_trial SET elapsed_ns = 0;",
                       NULL, NULL, NULL);
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_WITH(hot_journal_is_left_unchanged, set_up, tear_down, struct merging *merging) {
  fixture_record_run(merging->fixtures[0], 2);
  const char *path = merging->fixtures[0]->path;
  PRINTED(journal, 160, "%.100s-journal", path);
  PRINTED(clean, 160, "%.100s/clean.db", merging->fixtures[1]->folder);
  copy_file(clean, path);
  leave_hot_journal(path);
  SCOPED(bytes_fini) struct bytes before = bytes_read(journal);
  assert_true(before.size > 512);
  assert_int_equal(merge_untouched(merging->output, path).added, 1);
  SCOPED(bytes_fini) struct bytes after = bytes_read(journal);
  assert_bytes_equal(before, after);
  assert_same_content(merging->output, clean);
  /* The copy is gone. */
  PRINTED(pattern, 256, "%s-merge-*", merging->output);
  glob_t found;
  assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
}

TEST_WITH(write_ahead_log_is_left_unchanged, set_up, tear_down, struct merging *merging) {
  fixture_record_run(merging->fixtures[0], 1);
  const char *path = merging->fixtures[0]->path;
  fixture_execute(path, "PRAGMA journal_mode = WAL");
  merge_untouched(merging->output, path);
  PRINTED(beside, 160, "%.100s-shm", path);
  assert_int_not_equal(access(beside, F_OK), 0);
  assert_same_content(merging->output, path);
}

/* As the file is, not as a newer schema would make it. */
static size_t table_count(const char *path) {
  sqlite3 *handle = NULL;
  sqlite3_stmt *stmt = NULL;
  assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(handle,
                                      "SELECT count(*) FROM sqlite_master WHERE type = 'table' "
                                      "AND name NOT IN " LOCAL_TABLES,
                                      -1, &stmt, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  const size_t count = (size_t)sqlite3_column_int64(stmt, 0);
  (void)sqlite3_finalize(stmt);
  (void)sqlite3_close(handle);
  return count;
}

/* What is measured once and shown at two places is that in the output too. */
TEST_WITH(aliases_are_merged, set_up, tear_down, struct merging *merging) {
  struct fixture *fixture = merging->fixtures[0];
  const struct plan_duplicate again = {.name = "again/numa0:pinned-gpu1/64MiB",
                                       .block = "again",
                                       .axes = "size=64MiB",
                                       .same_as = fixture->cases[0].def.name,
                                       .measured = 0,
                                       .listed = FIXTURE_CASES};
  fixture->plan.duplicates = &again;
  fixture->plan.duplicate_count = 1;
  fixture_record_run(fixture, 1);
  fixture_record_run(merging->fixtures[1], 1);
  merge_well(merging->output, merging->fixtures[1]->path);
  merge_well(merging->output, fixture->path);
  fixture_execute(merging->output, "CREATE TEMP TABLE wrong (place TEXT CHECK (place = ''));"
                                   "INSERT INTO wrong SELECT block || case_name FROM v_place "
                                   "WHERE (same_as IS NOT NULL) <> (block = 'again')"
                                   "  OR same_as <> 'h2d/numa0:pinned-gpu1/64MiB';"
                                   "INSERT INTO wrong SELECT 'places' || count(*) FROM v_place "
                                   "HAVING count(*) <> 13;");
  merge_untouched(merging->output, fixture->path);
}

/* As haul 0.2.0 wrote it, with rows in every table: tables that came later are empty. */
TEST_WITH(recorded_database_is_merged, set_up, tear_down, struct merging *merging) {
  const char *input = merging->fixtures[0]->path;
  fixture_load(merging->fixtures[0], "results-1002.sql");
  const size_t recorded = table_count(input);
  struct merge_result result = merge_untouched(merging->output, input);
  assert_int_equal(result.added, 2);
  assert_true(result.results > 0);
  assert_int_equal(merge_untouched(merging->output, input).results, 0);
  size_t empty = 1;
  free(content_and_gaps(merging->output, &empty));
  assert_int_equal(empty, table_count(merging->output) - recorded);
  database_close(fixture_open(merging->fixtures[0], DATABASE_WRITE));
  assert_same_content(merging->output, input);
}

/* A column or a table that a migration adds needs nothing in merge. */
TEST_WITH(added_columns_and_tables_are_merged, set_up, tear_down, struct merging *merging) {
  static const char ADDED[] =
      "ALTER TABLE trial ADD COLUMN later INTEGER; ALTER TABLE run ADD COLUMN later TEXT;"
      "CREATE TABLE gadget (bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id), size "
      "INTEGER);"
      "CREATE TABLE part (run INTEGER REFERENCES run (id), number INTEGER, bench_case INTEGER "
      "REFERENCES bench_case (id), PRIMARY KEY (run, number)) WITHOUT ROWID;";
  static const char ROWS[] =
      "UPDATE trial SET later = elapsed_ns; UPDATE run SET later = 'so ' || uuid;"
      "INSERT INTO gadget SELECT id, length(name) FROM bench_case;"
      "INSERT INTO part SELECT run, position, bench_case FROM plan_case;";
  struct fixture *first = merging->fixtures[1];
  struct fixture *second = merging->fixtures[2];
  fixture_load(first, "results-1002.sql");
  fixture_record_run(first, 1); /* migrates it */
  fixture_record_run(second, 2);
  struct database *output = fixture_open(second, DATABASE_WRITE);
  struct merge_result result = {0};
  bool fatal = false;
  fixture_execute(first->path, ADDED);
  fixture_execute(first->path, ROWS);
  fixture_execute(second->path, ADDED);
  fixture_execute(second->path, ROWS);
  struct merge *merge = merge_new(second->path, NULL);
  assert_ok(merge_take_output(merge, output, err), err);
  assert_ok(merge_add(merge, first->path, &result, &fatal, err), err);
  merge_free(merge);
  assert_int_equal(result.added, 3);
  assert_query(second, "SELECT count(*) FROM trial WHERE later IS NOT elapsed_ns", "0");
  assert_query(second,
               "SELECT (SELECT count(*) FROM part p JOIN plan_case c USING (run, bench_case) WHERE "
               "p.number = c.position) = (SELECT count(*) FROM plan_case)",
               "1");
}

TEST_WITH(interrupt_skips_the_input, set_up, tear_down, struct merging *merging) {
  record_all(merging);
  volatile sig_atomic_t interrupted = 0;
  struct merge *merge = merge_new(merging->output, &interrupted);
  struct merge_result result = {0};
  bool fatal = false;
  assert_ok(merge_add(merge, merging->fixtures[0]->path, &result, &fatal, err), err);
  SCOPED(memory_free) char *before = content_of(merging->output);
  interrupted = 1;
  assert_int_equal(merge_add(merge, merging->fixtures[2]->path, &result, &fatal, err),
                   STATUS_INTERRUPTED);
  assert_true(fatal);
  merge_free(merge);
  SCOPED(memory_free) char *after = content_of(merging->output);
  assert_string_equal(before, after);
}
