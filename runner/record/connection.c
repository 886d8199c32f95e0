#include "runner/record/connection.h"

#include "engine/base/clock.h"
#include "engine/base/strbuf.h"
#include "runner/plan/definition.h"
#include "schema/results/results_sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GENERATED_MAX = 1 << 20, PROGRESS_STEPS = 10000 };
static const uint64_t NS_PER_S = 1000000000;

/* Not NUL-terminated: a section is a part of its file. */
struct sql_text {
  const char *begin;
  const char *end;
};

static bool sql_find_file(const char *name, size_t length, struct sql_text *text) {
  for (size_t i = 0; i < results_sql_count; i++) {
    const struct embedded_file *file = &results_sql[i];
    if (strncmp(file->name, name, length) == 0 && file->name[length] == '\0') {
      *text = (struct sql_text){(const char *)file->data, (const char *)file->end};
      return true;
    }
  }
  return false;
}

/* Narrows the text of a file to its section "-- name: SECTION". */
static bool sql_find_section(struct sql_text *text, const char *section) {
  static const char HEAD[] = "\n-- name: ";
  const size_t length = strlen(section);
  for (const char *at = strstr(text->begin, HEAD); at != NULL; at = strstr(at, HEAD)) {
    at += sizeof HEAD - 1;
    if (strncmp(at, section, length) == 0 && at[length] == '\n') {
      const char *next = strstr(at, HEAD);
      *text = (struct sql_text){at + length + 1, next != NULL ? next + 1 : text->end};
      return true;
    }
  }
  return false;
}

/* An unknown name is a mistake in this program, which tests/style/statements.sh finds. */
static struct sql_text sql_find(const char *name) {
  struct sql_text text = {0};
  if (sql_find_file(name, strlen(name), &text)) {
    return text;
  }
  char file[96];
  const char *slash = strchr(name, '/');
  const int stem = slash != NULL ? (int)(slash - name) : 0;
  const int length = snprintf(file, sizeof file, "statements/%.*s.sql", stem, name);
  if (slash == NULL || !sql_find_file(file, (size_t)length, &text) ||
      !sql_find_section(&text, slash + 1)) {
    fprintf(stderr, "haul: schema/results has no SQL of the name %s\n", name);
    abort();
  }
  return text;
}

char *database_sql(const char *name) {
  const struct sql_text text = sql_find(name);
  char *copy = strndup(text.begin, (size_t)(text.end - text.begin));
  if (copy == NULL) {
    abort();
  }
  return copy;
}

const char *database_rescue(struct arena *arena, const char *path) {
  return arena_format(
      arena, "; to save the results that can be read: haul export jsonl --db %s >saved.jsonl",
      shell_word(arena, path));
}

/* The usual cause of an error code of SQLite, and what to do about it. */
static const char *database_explain(int code, enum status *status) {
  *status = STATUS_IO;
  switch (code & 0xff) {
  case SQLITE_FULL:
    return "the disk is full; make room on its file system";
  case SQLITE_IOERR:
    if (code == SQLITE_IOERR_WRITE) {
      return "no room for more (a quota or file size limit is reached), or the disk fails";
    }
    return "the disk or file system failed";
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    *status = STATUS_TIMEOUT;
    return "another program keeps it locked; wait for it or end it";
  case SQLITE_READONLY:
  case SQLITE_PERM:
    if (code == SQLITE_READONLY_DBMOVED) {
      return "it was deleted or replaced while it was in use, and what was recorded is gone with "
             "it";
    }
    *status = STATUS_DENIED;
    return "it or its directory is not writable";
  case SQLITE_CANTOPEN:
    return "it, or its journal beside it, cannot be opened";
  case SQLITE_NOTADB:
    *status = STATUS_INVALID;
    return "it is not an SQLite database, or an encrypted one";
  case SQLITE_CORRUPT:
    *status = STATUS_CORRUPT;
    return "it is damaged";
  case SQLITE_NOMEM:
    *status = STATUS_NO_MEMORY;
    return "out of memory";
  case SQLITE_INTERRUPT:
    *status = STATUS_INTERRUPTED;
    return "interrupted";
  case SQLITE_MISMATCH: /* what comes after the highest number is no whole number */
    *status = STATUS_INVALID;
    return "no number is left for what is added (it was changed by other means); \"haul merge "
           "NEW.db FILE\" gives others";
  case SQLITE_TOOBIG:
    *status = STATUS_INVALID;
    return "it has a longer text than haul reads";
  default:
    *status = STATUS_DATABASE;
    return NULL;
  }
}

const char *database_missing(const struct database *database) {
  static const char NONE[] = "no such ";
  const char *message = sqlite3_errmsg(database->handle);
  const bool missing = sqlite3_errcode(database->handle) == SQLITE_ERROR &&
                       (strncmp(message, "no such table: ", 15) == 0 ||
                        strncmp(message, "no such column: ", 16) == 0);
  return missing ? message + strlen(NONE) : NULL;
}

enum status database_error(const struct database *database, struct error *err) {
  const char *missing = database_missing(database);
  if (missing != NULL) {
    const int kind = (int)strcspn(missing, ":");
    const char *name = missing + kind + 2;
    const char *dot = strrchr(name, '.'); /* behind the name that a statement gives a table */
    return error_set_native(err, STATUS_INVALID, SQLITE_ERROR,
                            "%s: it has no %.*s %s" DATABASE_ALTERED, database->path, kind, missing,
                            dot != NULL ? dot + 1 : name);
  }
  int code = sqlite3_extended_errcode(database->handle);
  if (code == SQLITE_INTERRUPT && database->out_of_time) {
    return error_set_native(err, STATUS_INVALID, code,
                            "%s: reading takes longer than %.0f s, much more than its size "
                            "explains; it was changed by other means, or is damaged",
                            database->path, (double)database->limit_ns / 1e9);
  }
  int system_errno = sqlite3_system_errno(database->handle);
  enum status status = STATUS_DATABASE;
  SCOPED(arena_fini) struct arena arena = {0};
  const char *meaning = database_explain(code, &status);
  return error_set_native(err, status, code, "%s: %s%s%s (SQLite code %d%s%s)%s", database->path,
                          meaning != NULL ? meaning : "", meaning != NULL ? ": " : "",
                          sqlite3_errmsg(database->handle), code, system_errno != 0 ? ", " : "",
                          system_errno != 0 ? strerror(system_errno) : "",
                          status == STATUS_CORRUPT ? database_rescue(&arena, database->path) : "");
}

enum status database_run_sql(struct database *database, const char *sql, struct error *err) {
  database->step_started_ns = clock_read_ns(CLOCK_MONOTONIC_COARSE);
  const int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
  database->used_ns += clock_read_ns(CLOCK_MONOTONIC_COARSE) - database->step_started_ns;
  return code == SQLITE_OK ? STATUS_OK : database_error(database, err);
}

enum status database_script(struct database *database, const char *name, struct error *err) {
  char *sql = database_sql(name);
  const enum status status = database_run_sql(database, sql, err);
  free(sql);
  return status;
}

enum status database_generate(struct database *database, const char *name, char **sql,
                              struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  SCOPED(strbuf_fini) struct strbuf script = STRBUF(GENERATED_MAX);
  enum status status = statement_prepare(database, name, &statement, err);
  while (statement_next(&statement, &status, err)) {
    strbuf_printf(&script, "%s;\n", statement_text(&statement, 0));
  }
  *sql = status == STATUS_OK ? strdup(script.text) : NULL;
  return status;
}

enum status database_run_generated(struct database *database, const char *name, struct error *err) {
  char *script = NULL;
  enum status status = database_generate(database, name, &script, err);
  status = THEN(status, database_run_sql(database, script, err));
  free(script);
  return status;
}

enum status database_begin(struct database *database, struct error *err) {
  return database_script(database, "database/begin", err);
}

enum status database_commit(struct database *database, struct error *err) {
  enum status status = database_script(database, "database/commit", err);
  if (status != STATUS_OK) {
    database_rollback(database);
  }
  return status;
}

void database_rollback(struct database *database) {
  /* SQLite rolls back by itself after some errors. A rollback that fails leaves a hot journal,
   * which the next opening plays back. */
  if (sqlite3_get_autocommit(database->handle) == 0) {
    struct error failed = {0};
    (void)!database_script(database, "database/rollback", &failed);
  }
}

enum status database_begin_reading(struct database *database, struct error *err) {
  if (database->reading == 0 && sqlite3_get_autocommit(database->handle) == 0) {
    return STATUS_OK; /* what writes has it */
  }
  if (database->reading == 0) {
    RETURN_ON_ERROR(database_script(database, "database/begin_reading", err));
  }
  database->reading++;
  return STATUS_OK;
}

void database_end_reading(struct database *database) {
  if (database->reading > 0 && --database->reading == 0) {
    database_rollback(database);
  }
}

enum status database_end(struct database *database, enum status status, struct error *err) {
  if (status == STATUS_OK) {
    return database_commit(database, err);
  }
  database_rollback(database);
  return status;
}

enum status statement_prepare(struct database *database, const char *name,
                              struct statement *statement, struct error *err) {
  const struct sql_text text = sql_find(name);
  for (size_t i = 0; i < database->idle_count; i++) {
    if (database->idle[i].sql == text.begin) {
      *statement = database->idle[i];
      statement->name = name;
      database->idle[i] = database->idle[--database->idle_count];
      return STATUS_OK;
    }
  }
  *statement = (struct statement){.database = database, .name = name, .sql = text.begin};
  if (sqlite3_prepare_v3(database->handle, text.begin, (int)(text.end - text.begin),
                         SQLITE_PREPARE_PERSISTENT, &statement->stmt, NULL) != SQLITE_OK) {
    return database_error(database, err);
  }
  return STATUS_OK;
}

void statement_finalize(struct statement *statement) {
  if (statement->stmt == NULL || statement->sql == NULL) {
    (void)sqlite3_finalize(statement->stmt);
    statement->stmt = NULL;
    return;
  }
  struct database *database = statement->database;
  statement_reset(statement);
  *MEMORY_ADD(database->idle, database->idle_count) = *statement;
  statement->stmt = NULL;
}

void database_drop_idle(struct database *database) {
  for (size_t i = 0; i < database->idle_count; i++) {
    (void)sqlite3_finalize(database->idle[i].stmt);
  }
  free(database->idle);
  database->idle = NULL;
  database->idle_count = 0;
}

void database_close_handle(struct database *database) {
  database_drop_idle(database);
  (void)sqlite3_close(database->handle);
  database->handle = NULL;
}

int statement_parameter(const struct statement *statement, const char *parameter) {
  int index = sqlite3_bind_parameter_index(statement->stmt, parameter);
  if (index == 0 && statement->stmt != NULL) {
    fprintf(stderr, "haul: the statement %s has no parameter %s\n", statement->name, parameter);
    abort();
  }
  return index;
}

void statement_bind_int(struct statement *statement, const char *parameter, int64_t value) {
  (void)sqlite3_bind_int64(statement->stmt, statement_parameter(statement, parameter), value);
}

void statement_bind_real(struct statement *statement, const char *parameter, double value) {
  (void)sqlite3_bind_double(statement->stmt, statement_parameter(statement, parameter), value);
}

void statement_bind_text(struct statement *statement, const char *parameter, const char *text) {
  (void)sqlite3_bind_text(statement->stmt, statement_parameter(statement, parameter), text, -1,
                          SQLITE_STATIC);
}

void statement_reset(struct statement *statement) {
  (void)sqlite3_reset(statement->stmt);
  (void)sqlite3_clear_bindings(statement->stmt);
}

bool statement_next(struct statement *statement, enum status *status, struct error *err) {
  if (*status != STATUS_OK) {
    return false;
  }
  const int code = database_step(statement->database, statement->stmt);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    *status = database_error(statement->database, err);
  }
  statement_reset(statement);
  return false;
}

enum status statement_run(struct statement *statement, struct error *err) {
  enum status status = STATUS_OK;
  if (statement_next(statement, &status, err)) {
    statement_reset(statement);
  }
  return status;
}

/* Of one statement; bound as a pointer, which SQL of others cannot make. */
struct gatherer {
  statement_take *take;
  void *context;
};
static const char GATHERER[] = "gatherer";

static void gather_row(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct gatherer *gatherer = count > 0 ? sqlite3_value_pointer(values[0], GATHERER) : NULL;
  if (gatherer != NULL) {
    gatherer->take(gatherer->context, values + 1);
  } else {
    sqlite3_result_error(context, "gather() is for the statements of haul alone", -1);
  }
}

static void gather_end(sqlite3_context *context) {
  (void)context;
}

static void content_key(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  char key[CASE_KEY_MAX];
  const char *text = (const char *)sqlite3_value_text(values[0]);
  if (text != NULL) {
    definition_key(text, (size_t)sqlite3_value_bytes(values[0]), key);
    sqlite3_result_text(context, key, -1, SQLITE_TRANSIENT);
  }
}

void database_add_functions(sqlite3 *handle) {
  (void)sqlite3_create_function_v2(handle, "gather", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                   NULL, gather_row, gather_end, NULL);
  (void)sqlite3_create_function_v2(handle, "content_key", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                   content_key, NULL, NULL, NULL);
}

enum status statement_gather(struct statement *statement, statement_take *take, void *context,
                             struct error *err) {
  struct gatherer gatherer = {take, context};
  (void)sqlite3_bind_pointer(statement->stmt, statement_parameter(statement, ":take"), &gatherer,
                             GATHERER, NULL);
  return statement_run(statement, err);
}

double value_real(sqlite3_value *value) {
  return sqlite3_value_type(value) != SQLITE_NULL ? sqlite3_value_double(value) : NAN;
}

const char *statement_text(const struct statement *statement, int i) {
  const char *text = (const char *)sqlite3_column_text(statement->stmt, i);
  return text != NULL ? text : "";
}

char *statement_column_optional(const struct statement *statement, int i, struct arena *arena) {
  const bool known = sqlite3_column_type(statement->stmt, i) != SQLITE_NULL;
  return known ? arena_strdup(arena, statement_text(statement, i)) : NULL;
}

int statement_column_count(const struct statement *statement) {
  return sqlite3_column_count(statement->stmt);
}

/* ---- limits of time ---- */

uint64_t database_time_for(int64_t size_bytes) {
  return (uint64_t)(DATABASE_LIMIT_S + (size_bytes >> 20)) * NS_PER_S;
}

bool database_must_stop(struct database *database) {
  const uint64_t running_ns =
      clock_read_ns(CLOCK_MONOTONIC_COARSE) - database->step_started_ns + database->used_ns;
  database->out_of_time = database->limit_ns > 0 && running_ns > database->limit_ns;
  return database->out_of_time || (database->interrupted != NULL && *database->interrupted != 0);
}

static int database_progress(void *context) {
  return database_must_stop(context);
}

void database_watch_time(struct database *database) {
  sqlite3_progress_handler(database->handle, PROGRESS_STEPS, database_progress, database);
}

void database_limit_time(struct database *database, uint64_t limit_ns,
                         const volatile sig_atomic_t *interrupted) {
  database->limit_ns = limit_ns;
  database->used_ns = 0;
  database->interrupted = interrupted;
  database_watch_time(database);
}

int database_step(struct database *database, sqlite3_stmt *stmt) {
  database->step_started_ns = clock_read_ns(CLOCK_MONOTONIC_COARSE);
  const int code = sqlite3_step(stmt);
  database->used_ns += clock_read_ns(CLOCK_MONOTONIC_COARSE) - database->step_started_ns;
  return code;
}

enum status database_copy_pages(const struct database *from, sqlite3 *to, struct error *err) {
  sqlite3_backup *backup = sqlite3_backup_init(to, "main", from->handle, "main");
  int code = sqlite3_errcode(to);
  if (backup != NULL) {
    (void)sqlite3_backup_step(backup, -1);
    code = sqlite3_backup_finish(backup);
  }
  if (code != SQLITE_OK) {
    enum status status = STATUS_IO;
    const char *meaning = database_explain(code, &status);
    return error_set_native(err, status, code, "cannot be copied%s%s: %s",
                            meaning != NULL ? ": " : "", meaning != NULL ? meaning : "",
                            sqlite3_errstr(code));
  }
  return STATUS_OK;
}
