#include "runner/record/database.h"
#include "runner/record/rows.h"

#include "tests/runner/record/fixture.h"

#include <math.h>

struct sample {
  int64_t wide;
  uint32_t narrow;
  int number;
  bool flag;
  double real;
  const char *optional, *text;
  char array[4];
  enum database_access access;
};

static const char *const ACCESS_NAMES[] = {"read", "write", NULL};
static const struct row_member MEMBERS[] = {ROW_MEMBER(struct sample, wide),
                                            ROW_MEMBER(struct sample, narrow),
                                            ROW_MEMBER(struct sample, number),
                                            ROW_MEMBER(struct sample, flag),
                                            ROW_MEMBER(struct sample, real),
                                            ROW_MEMBER(struct sample, optional),
                                            ROW_COLUMN_TEXT(struct sample, text, "words"),
                                            ROW_MEMBER(struct sample, array),
                                            ROW_MEMBER_ENUM(struct sample, access, ACCESS_NAMES, 7),
                                            {0}};

static void read_row(const char *sql, struct sample *sample, struct arena *arena) {
  SCOPED(database_close_at) struct database *database = NULL;
  struct error err = {0};
  assert_ok(database_open_temporary(&database, &err), &err);
  struct statement statement = {.database = database, .name = "a test"};
  enum status status = STATUS_OK;
  assert_int_equal(sqlite3_prepare_v2(database->handle, sql, -1, &statement.stmt, NULL), SQLITE_OK);
  assert_true(rows_next(&statement, MEMBERS, sample, arena, &status, &err));
  assert_false(rows_next(&statement, MEMBERS, sample, arena, &status, &err));
  assert_int_equal(status, STATUS_OK);
  statement_finalize(&statement);
}

TEST(columns_are_found_by_name_in_any_order) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct sample sample = {0};
  read_row("SELECT 'write' AS access, 'longer' AS array, 'w' AS words, 'o' AS optional, 1.5 AS "
           "real, 2 AS flag, "
           "-3 AS number, 4294967295 AS narrow, 0 AS other, 9223372036854775807 AS wide",
           &sample, &arena);
  assert_int_equal(sample.wide, INT64_MAX);
  assert_int_equal(sample.narrow, UINT32_MAX);
  assert_int_equal(sample.number, -3);
  assert_true(sample.flag);
  assert_true(sample.real == 1.5);
  assert_string_equal(sample.optional, "o");
  assert_string_equal(sample.text, "w");
  assert_string_equal(sample.array, "lon");
  assert_int_equal(sample.access, DATABASE_WRITE);
}

TEST(nulls_and_unknown_names_have_their_values) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct sample sample = {.wide = 5, .narrow = 5, .flag = true, .access = DATABASE_WRITE};
  read_row("SELECT NULL AS wide, NULL AS narrow, NULL AS number, NULL AS flag, NULL AS real, NULL "
           "AS optional, "
           "NULL AS words, NULL AS array, NULL AS access",
           &sample, &arena);
  assert_int_equal(sample.wide, 0);
  assert_int_equal(sample.narrow, 0);
  assert_int_equal(sample.number, -1);
  assert_false(sample.flag);
  assert_true(isnan(sample.real));
  assert_null(sample.optional);
  assert_string_equal(sample.text, "");
  assert_string_equal(sample.array, "");
  assert_int_equal(sample.access, DATABASE_READ);
  read_row("SELECT 1 AS wide, 1 AS narrow, 1 AS number, 1 AS flag, 1 AS real, 1 AS optional, 1 AS "
           "words, 1 AS array, "
           "'of a newer version' AS access",
           &sample, &arena);
  assert_int_equal(sample.access, 7);
}

TEST(a_finalized_statement_is_used_again_without_its_values) {
  struct database *database = NULL;
  struct statement first = {0};
  struct statement second = {0};
  assert_ok(database_open_temporary(&database, err), err);
  assert_ok(statement_prepare(database, "compare/facts", &first, err), err);
  assert_ok(statement_prepare(database, "compare/facts", &second, err), err);
  assert_ptr_not_equal(first.stmt, second.stmt); /* both are in use */
  const sqlite3_stmt *used = first.stmt;
  statement_bind_int(&first, ":environment", 7);
  statement_finalize(&first);
  assert_null(first.stmt);
  statement_finalize(&first);
  assert_ok(statement_prepare(database, "compare/facts", &first, err), err);
  assert_ptr_equal(first.stmt, used);
  char *sql = sqlite3_expanded_sql(first.stmt);
  assert_contains(sql, "environment = NULL");
  sqlite3_free(sql);
  statement_finalize(&second);
  statement_finalize(&first);
  database_close(database);
}

TEST(reading_sees_one_state_and_may_be_nested) {
  struct database *database = NULL;
  assert_ok(database_open_temporary(&database, err), err);
  assert_ok(database_begin_reading(database, err), err);
  assert_ok(database_begin_reading(database, err), err);
  database_end_reading(database);
  assert_int_equal(sqlite3_get_autocommit(database->handle), 0);
  database_end_reading(database);
  assert_int_not_equal(sqlite3_get_autocommit(database->handle), 0);
  assert_ok(database_begin(database, err), err); /* what writes reads, too, and goes on */
  assert_ok(database_begin_reading(database, err), err);
  database_end_reading(database);
  assert_int_equal(sqlite3_get_autocommit(database->handle), 0);
  assert_ok(database_commit(database, err), err);
  database_close(database);
}
