/* What the shipped scenarios plan can be merged: each kind of case is what its definition says. And
 * their settings are those that migration 1034 gave to cases of before. */
#include "engine/base/strbuf.h"
#include "runner/record/content.h"
#include "runner/record/database.h"
#include "runner/record/merge.h"
#include "runner/record/record.h"
#include "tests/runner/plan/fixture.h"

#include <glob.h>

RELEASE(record_close, struct record)

enum { PATH_MAX_BYTES = 128 };

static void record_plan(const char *path, const struct planned *planned) {
  struct error err = {0};
  SCOPED(record_close_at) struct record *record = NULL;
  const struct run_info info = {.haul_version = "0.1.0", .command_line = "haul", .processes = 1};
  assert_ok(record_open(path, &record, &err), &err);
  if (record_begin_run(record, &info, planned->machine, planned->plan, NULL, 0, &err) !=
      STATUS_OK) {
    fail_msg("%s", err.message);
  }
}

/* That the migration knows. */
#define KINDS "('transfer', 'chase', 'stream', 'arithmetic', 'overhead', 'compute', 'signal')"

/* What the migration makes of the tables of kinds, in place of what was recorded. */
static void assert_settings_as_migrated(const char *path) {
  struct error err = {0};
  struct database *database = NULL;
  sqlite3_stmt *differing = NULL;
  SCOPED(memory_free) char *migration = database_sql("migrations/1034_settings.sql");
  char *update = strstr(migration, "UPDATE bench_case");
  assert_non_null(update);
  *strstr(update, "PRAGMA") = '\0';
  assert_ok(database_open(path, DATABASE_WRITE, &database, &err), &err);
  assert_ok(
      database_run_sql(database, "CREATE TEMP TABLE recorded AS SELECT * FROM bench_case", &err),
      &err);
  assert_ok(database_run_sql(database, update, &err), &err);
  assert_int_equal(
      sqlite3_prepare_v2(database->handle,
                         "SELECT name, 0 FROM (SELECT * FROM recorded EXCEPT SELECT * FROM "
                         "bench_case) WHERE kind IN " KINDS
                         " UNION ALL SELECT NULL, count(DISTINCT kind) FROM bench_case WHERE kind "
                         "IN " KINDS,
                         -1, &differing, NULL),
      SQLITE_OK);
  assert_int_equal(sqlite3_step(differing), SQLITE_ROW);
  if (sqlite3_column_type(differing, 0) != SQLITE_NULL) {
    fail_msg("%s has other settings than the migration makes",
             (const char *)sqlite3_column_text(differing, 0));
  }
  assert_int_equal(sqlite3_column_int(differing, 1), 7);
  (void)sqlite3_finalize(differing);
  database_close(database);
}

TEST(every_shipped_scenario_is_merged) {
  glob_t found;
  char folder[FOLDER_PATH_MAX];
  struct merge_result result;
  bool fatal = false;
  folder_make(folder);
  PRINTED(input, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  assert_int_equal(glob(HAUL_SOURCE_DIR "/scenarios/*.toml", 0, NULL, &found), 0);
  assert_true(found.gl_pathc >= 20);
  struct database *made = NULL;
  assert_ok(database_open(input, DATABASE_WRITE, &made, err), err);
  database_close(made);
  SCOPED(bytes_fini) struct bytes empty = bytes_read(input);
  struct merge *merge = merge_new(output, NULL);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char *name = strrchr(found.gl_pathv[i], '/') + 1;
    name[strlen(name) - strlen(".toml")] = '\0';
    SCOPED(planned_fini) struct planned planned = planned_shipped("h200x4.toml", name, NULL, 0);
    record_plan(input, &planned);
    if (merge_add(merge, input, &result, &fatal, err) != STATUS_OK) {
      fail_msg("%s: %s", name, err->message);
    }
    assert_int_equal(result.added, 1);
    bytes_write(input, empty); /* faster than a new one */
  }
  merge_free(merge);
  globfree(&found);
  assert_settings_as_migrated(output);
  folder_remove_only(folder, (const char *const[]){"in.db", "out.db", NULL});
}

/* After that change the operations of a case are not what the file says besides: it is refused. */
static void assert_not_believed(const char *input, const char *output, const char *lie) {
  struct error err = {0};
  struct database *database = NULL;
  struct merge_result result;
  bool fatal = false;
  assert_ok(database_open(input, DATABASE_WRITE, &database, &err), &err);
  assert_ok(database_run_sql(database, lie, &err), &err);
  database_close(database);
  struct merge *merge = merge_new(output, NULL);
  if (merge_add(merge, input, &result, &fatal, &err) == STATUS_OK ||
      strstr(err.message, "has a operations that is not") == NULL) {
    fail_msg("believed: %s: %s", lie, err.message);
  }
  merge_free(merge);
}

TEST(no_count_of_operations_is_believed) {
  glob_t found;
  char folder[FOLDER_PATH_MAX];
  bool known[case_kind_name_count] = {0};
  folder_make(folder);
  PRINTED(input, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  assert_int_equal(glob(HAUL_SOURCE_DIR "/scenarios/*.toml", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char *name = strrchr(found.gl_pathv[i], '/') + 1;
    name[strlen(name) - strlen(".toml")] = '\0';
    SCOPED(planned_fini) struct planned planned = planned_shipped("h200x4.toml", name, NULL, 0);
    for (size_t c = 0; c < planned.plan->case_count; c++) {
      const enum case_kind kind = planned.plan->cases[c].def.kind;
      if (!known[kind]) {
        known[kind] = true;
        PRINTED(lie, 128, "UPDATE bench_case SET operations = operations + 1 WHERE kind = '%s'",
                case_kind_text(kind));
        record_plan(input, &planned);
        assert_not_believed(input, output, lie);
        assert_int_equal(unlink(input), 0);
      }
    }
  }
  globfree(&found);
  folder_remove(folder);
  for (size_t k = 0; k < case_kind_name_count; k++) {
    assert_true(known[k]);
  }
}

/* The keys that such cases had before 1.36, without their operations. */
static void give_old_keys(struct database *database, struct error *err) {
  sqlite3_stmt *rows = NULL;
  SCOPED(strbuf_fini) struct strbuf update = STRBUF(1 << 20);
  assert_int_equal(sqlite3_prepare_v2(database->handle,
                                      "SELECT id, case_key, block, name, axes, path, host_cache, "
                                      "device_cache FROM bench_case "
                                      "WHERE kind = 'compute' AND operation = 'fma'",
                                      -1, &rows, NULL),
                   SQLITE_OK);
  while (sqlite3_step(rows) == SQLITE_ROW) {
    char key[CONTENT_KEY_MAX];
    struct content *content = content_new();
    for (int i = 1; i < sqlite3_column_count(rows); i++) {
      content_text(content, (const char *)sqlite3_column_text(rows, i));
    }
    content_finish(content, key);
    strbuf_printf(&update, "UPDATE bench_case SET key = '%s' WHERE id = %d;", key,
                  sqlite3_column_int(rows, 0));
  }
  (void)sqlite3_finalize(rows);
  assert_true(update.length > 0);
  assert_ok(database_run_sql(database, update.text, err), err);
}

TEST(multiply_adds_of_before_are_merged) {
  struct database *database = NULL;
  struct merge_result result;
  bool fatal = false;
  char folder[FOLDER_PATH_MAX];
  folder_make(folder);
  PRINTED(input, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  SCOPED(planned_fini)
  struct planned planned = planned_shipped("h200x4.toml", "interference", NULL, 0);
  record_plan(input, &planned);
  assert_ok(database_open(input, DATABASE_WRITE, &database, err), err);
  give_old_keys(database, err);
  database_close(database);
  struct merge *merge = merge_new(output, NULL);
  assert_ok(merge_add(merge, input, &result, &fatal, err), err);
  merge_free(merge);
  folder_remove(folder);
}

/* A GPU with more SMs does more of them: of the same case, it is a row of its own. */
TEST(multiply_adds_are_those_of_the_gpu) {
  static const char *const MACHINES[] = {"h200x4.toml", "l40sx4-pcie.toml"};
  struct database *database = NULL;
  sqlite3_stmt *found = NULL;
  char folder[FOLDER_PATH_MAX];
  folder_make(folder);
  PRINTED(path, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  for (size_t i = 0; i < COUNT_OF(MACHINES); i++) {
    SCOPED(planned_fini)
    struct planned planned = planned_shipped(MACHINES[i], "interference", NULL, 0);
    record_plan(path, &planned);
  }
  assert_ok(database_open(path, DATABASE_READ, &database, err), err);
  assert_int_equal(sqlite3_prepare_v2(database->handle,
                                      "SELECT group_concat(DISTINCT operations / 33554432), "
                                      "count(*) - 2 * count(DISTINCT case_key) FROM bench_case "
                                      "WHERE kind = 'compute' AND operation = 'fma'",
                                      -1, &found, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(found), SQLITE_ROW);
  assert_string_equal((const char *)sqlite3_column_text(found, 0), "132,142"); /* SMs */
  assert_int_equal(sqlite3_column_int(found, 1), 0);
  (void)sqlite3_finalize(found);
  database_close(database);
  assert_not_believed(path, output, "UPDATE device SET sm_count = sm_count + 1");
  folder_remove(folder);
}
