/* What the shipped scenarios plan can be merged: each kind of case is what its definition says. And
 * their settings are those that migration 1034 gave to cases of before. */
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

static const char *const MODELS[] = {"h200x4.toml", "l40sx4-pcie.toml"}; /* 132 and 142 SMs */

/* Two settings, of which the second has two names, and another kind. */
static const char MULTIPLY_ADDS[] = "schema_version = 1\nname = \"fma\"\n"
                                    "[[compute]]\nname = \"a\"\nop = \"fma\"\nat = { gpu = 1 }\n"
                                    "sm_percent = [50, 100]\n"
                                    "[[compute]]\nname = \"b\"\nop = \"fma\"\nat = { gpu = 1 }\n"
                                    "[[compute]]\nname = \"c\"\nop = \"triad\"\nat = { gpu = 1 }\n";

static struct planned planned_multiply_adds(size_t model) {
  return planned_text(MODELS[model], MULTIPLY_ADDS);
}

static char *database_text(struct database *database, const char *sql) {
  sqlite3_stmt *found = NULL;
  assert_int_equal(sqlite3_prepare_v2(database->handle, sql, -1, &found, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(found), SQLITE_ROW);
  char *text = strdup((const char *)sqlite3_column_text(found, 0));
  (void)sqlite3_finalize(found);
  return text;
}

/* A GPU with more SMs does more of them: of the same case, it is a row of its own. */
TEST(multiply_adds_are_those_of_the_gpu) {
  struct database *database = NULL;
  char folder[FOLDER_PATH_MAX];
  folder_make(folder);
  PRINTED(path, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  for (size_t i = 0; i < COUNT_OF(MODELS); i++) {
    SCOPED(planned_fini) struct planned planned = planned_multiply_adds(i);
    record_plan(path, &planned);
  }
  assert_ok(database_open(path, DATABASE_READ, &database, err), err);
  SCOPED(memory_free)
  char *operations = database_text(database, "SELECT group_concat(operations / 33554432) FROM "
                                             "bench_case WHERE operation = 'fma'");
  assert_string_equal(operations, "66,132,132,71,142,142");
  database_close(database);
  assert_not_believed(path, output, "UPDATE device SET sm_count = sm_count + 1");
  folder_remove(folder);
}

/* As before 1.36: their number is no part of the key, so that models share a case. */
static const char OLDER[] =
    "CREATE TEMP TABLE shared AS SELECT b.id AS id, min(b.id) OVER (PARTITION BY case_key, name) "
    "AS first FROM bench_case b WHERE operation = 'fma';"
    "UPDATE plan_case SET bench_case = first FROM shared s WHERE bench_case = s.id;"
    "UPDATE plan_alias SET bench_case = first FROM shared s WHERE bench_case = s.id;"
    "UPDATE plan_alias SET measured_by = first FROM shared s WHERE measured_by = s.id;"
    "UPDATE case_run SET bench_case = first FROM shared s WHERE bench_case = s.id;"
    "DELETE FROM flow WHERE bench_case IN (SELECT id FROM shared WHERE id <> first);"
    "DELETE FROM bench_case WHERE id IN (SELECT id FROM shared WHERE id <> first);"
    "UPDATE bench_case SET key = content_key((SELECT group_concat(length(value) || ':' || value || "
    "',', '') FROM json_each(json_array(case_key, block, name, axes, bench_case.path, "
    "host_cache, device_cache)))) WHERE operation = 'fma'";

static const char RESULTS[] = "INSERT INTO case_run (run, bench_case, status, reason, n) "
                              "SELECT run, bench_case, 'skipped', 'it is a test', 0 FROM plan_case";

static const char CASES[] =
    "SELECT group_concat(text, char(10)) FROM ("
    "SELECT run || ' ' || place || ' ' || b.key || ' ' || b.operations || ' ' || b.figure_amount "
    "|| ' ' || (SELECT group_concat(f.ordinal || f.method) FROM flow f WHERE f.bench_case = b.id) "
    "AS text FROM (SELECT run, bench_case, 'plan' AS place FROM plan_case UNION ALL "
    "SELECT run, bench_case, 'alias' FROM plan_alias UNION ALL "
    "SELECT run, measured_by, 'measured' FROM plan_alias UNION ALL "
    "SELECT run, bench_case, 'result' FROM case_run) JOIN bench_case b ON b.id = bench_case "
    "ORDER BY text)";

/* Makes a file older and migrates it: it is what it was. */
static void assert_made_older_and_migrated(const char *path, const char *cases) {
  struct error err = {0};
  struct database *database = NULL;
  SCOPED(memory_free) char *migration = database_sql("migrations/1037_fma.sql");
  assert_ok(database_open(path, DATABASE_WRITE, &database, &err), &err);
  assert_ok(database_run_sql(database, "PRAGMA foreign_keys = OFF", &err), &err);
  assert_ok(database_run_sql(database, RESULTS, &err), &err);
  SCOPED(memory_free) char *before = database_text(database, CASES);
  assert_ok(database_run_sql(database, OLDER, &err), &err);
  SCOPED(memory_free) char *older = database_text(database, CASES);
  assert_string_not_equal(older, before);
  assert_ok(database_run_sql(database, migration, &err), &err);
  SCOPED(memory_free) char *after = database_text(database, CASES);
  assert_string_equal(after, before);
  SCOPED(memory_free) char *count = database_text(database, "SELECT count(*) FROM bench_case");
  assert_string_equal(count, cases);
  assert_ok(database_run_sql(database, migration, &err), &err); /* of 1.36, nothing */
  SCOPED(memory_free) char *again = database_text(database, CASES);
  assert_string_equal(again, before);
  database_close(database);
}

static void assert_resumed(const char *path, const char *run, const struct planned *planned) {
  struct error err = {0};
  SCOPED(record_close_at) struct record *record = NULL;
  struct resumed_run resumed = {0};
  assert_ok(record_open(path, &record, &err), &err);
  assert_ok(record_resume_find(record, run, &resumed, &err), &err);
  assert_ok(record_resume_run(record, &resumed, planned->machine, planned->plan, &err), &err);
  resumed_run_fini(&resumed);
}

/* Those that were recorded before their number was a part of the key: in one file, and in two. */
TEST(multiply_adds_of_before_are_of_the_gpu_too) {
  struct merge_result result;
  bool fatal = false;
  char folder[FOLDER_PATH_MAX];
  folder_make(folder);
  PRINTED(both, PATH_MAX_BYTES, "%s/both.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  struct merge *merge = merge_new(output, NULL);
  for (size_t i = 0; i < COUNT_OF(MODELS); i++) {
    PRINTED(one, PATH_MAX_BYTES, "%s/%zu.db", folder, i);
    SCOPED(planned_fini) struct planned planned = planned_multiply_adds(i);
    record_plan(one, &planned);
    record_plan(both, &planned);
    assert_made_older_and_migrated(one, "4");
    assert_resumed(one, "1", &planned);
    assert_ok(merge_add(merge, one, &result, &fatal, err), err);
    assert_int_equal(result.added, 1);
  }
  merge_free(merge);
  assert_made_older_and_migrated(both, "7");
  for (size_t i = 0; i < COUNT_OF(MODELS); i++) {
    SCOPED(planned_fini) struct planned planned = planned_multiply_adds(i);
    assert_resumed(both, i == 0 ? "1" : "2", &planned);
  }
  folder_remove(folder);
}
