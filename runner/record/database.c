#include "runner/record/database.h"

#include "engine/base/clock.h"
#include "engine/base/strbuf.h"
#include "runner/record/companion.h"
#include "runner/record/file.h"
#include "runner/record/foreign.h"
#include "runner/record/guard.h"
#include "runner/record/migrate.h"
#include "schema/results/results_sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    return "it is damaged; \"sqlite3 FILE .recover\" saves what can be read";
  case SQLITE_NOMEM:
    *status = STATUS_NO_MEMORY;
    return "out of memory";
  case SQLITE_INTERRUPT:
    *status = STATUS_INTERRUPTED;
    return "interrupted";
  case SQLITE_MISMATCH: /* what comes after the highest number is no whole number */
    *status = STATUS_INVALID;
    return "no number is left for what is added (it was changed by other means); \"haul merge "
           "NEW.db "
           "FILE\" gives others";
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

enum status database_error(const struct database *database, const char *what, struct error *err) {
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
                            "explains; it was changed by other means, or is damaged (%s)",
                            database->path, (double)database->limit_ns / 1e9, what);
  }
  int system_errno = sqlite3_system_errno(database->handle);
  enum status status = STATUS_DATABASE;
  const char *meaning = database_explain(code, &status);
  return error_set_native(err, status, code, "%s: %s%s%s: %s (SQLite code %d%s%s)", database->path,
                          meaning != NULL ? meaning : "", meaning != NULL ? ": " : "", what,
                          sqlite3_errmsg(database->handle), code, system_errno != 0 ? ", " : "",
                          system_errno != 0 ? strerror(system_errno) : "");
}

enum status database_run_sql(struct database *database, const char *sql, const char *what,
                             struct error *err) {
  database->step_started_ns = clock_read_ns(CLOCK_MONOTONIC_COARSE);
  const int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
  database->used_ns += clock_read_ns(CLOCK_MONOTONIC_COARSE) - database->step_started_ns;
  return code == SQLITE_OK ? STATUS_OK : database_error(database, what, err);
}

enum status database_script(struct database *database, const char *name, struct error *err) {
  char *sql = database_sql(name);
  enum status status = database_run_sql(database, sql, name, err);
  free(sql);
  return status;
}

enum status database_generate(struct database *database, const char *name, char **sql,
                              struct error *err) {
  struct statement statement;
  SCOPED(strbuf_fini) struct strbuf script = STRBUF(GENERATED_MAX);
  enum status status = statement_prepare(database, name, &statement, err);
  while (statement_next(&statement, &status, err)) {
    strbuf_printf(&script, "%s;\n", statement_text(&statement, 0));
  }
  statement_finalize(&statement);
  *sql = status == STATUS_OK ? strdup(script.text) : NULL;
  return status;
}

enum status database_run_generated(struct database *database, const char *name, struct error *err) {
  char *script = NULL;
  enum status status = database_generate(database, name, &script, err);
  status = THEN(status, database_run_sql(database, script, name, err));
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
  *statement = (struct statement){database, NULL, name};
  if (sqlite3_prepare_v3(database->handle, text.begin, (int)(text.end - text.begin),
                         SQLITE_PREPARE_PERSISTENT, &statement->stmt, NULL) != SQLITE_OK) {
    return database_error(database, name, err);
  }
  return STATUS_OK;
}

void statement_finalize(struct statement *statement) {
  (void)sqlite3_finalize(statement->stmt);
  statement->stmt = NULL;
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
    *status = database_error(statement->database, statement->name, err);
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

const char *statement_text(const struct statement *statement, int i) {
  const char *text = (const char *)sqlite3_column_text(statement->stmt, i);
  return text != NULL ? text : "";
}

char *statement_column_text(const struct statement *statement, int i, struct arena *arena) {
  return arena_strdup(arena, statement_text(statement, i));
}

char *statement_column_optional(const struct statement *statement, int i, struct arena *arena) {
  const bool known = sqlite3_column_type(statement->stmt, i) != SQLITE_NULL;
  return known ? statement_column_text(statement, i, arena) : NULL;
}

int statement_column_number(const struct statement *statement, int i) {
  const bool known = sqlite3_column_type(statement->stmt, i) != SQLITE_NULL;
  return known ? sqlite3_column_int(statement->stmt, i) : -1;
}

double statement_column_real(const struct statement *statement, int i) {
  const bool known = sqlite3_column_type(statement->stmt, i) != SQLITE_NULL;
  return known ? sqlite3_column_double(statement->stmt, i) : NAN;
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

static enum status database_configure(struct database *database, int busy_ms, struct error *err) {
  sqlite3 *handle = database->handle;
  (void)sqlite3_extended_result_codes(handle, 1);
  (void)sqlite3_busy_timeout(handle, busy_ms);
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  /* "text" in double quotes is a column, never quietly a string. */
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL); /* haul has none */
  /* Views of others that name one another twice each take for ever to be prepared, which no limit
   * of time ends: database_use_views() once they are known to be haul's. */
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
  guard_connection(handle);
  return database_script(database, "database/set_up", err);
}

static void database_use_views(struct database *database) {
  (void)sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
}

static struct database *database_new(const char *path) {
  struct database *database = calloc(1, sizeof *database);
  /* "./" prevents SQLite from giving ":memory:" or "file:..." a meaning of their own. */
  if (database == NULL || asprintf(&database->path, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
    abort();
  }
  return database;
}

static enum status database_open_handle(struct database *database, int flags, int busy_ms,
                                        struct error *err) {
  database_file_guard_opening();
  RETURN_ON_ERROR(companion_check(database->path, err));
  /* One thread alone uses a database. */
  int code = sqlite3_open_v2(database->path, &database->handle, flags | SQLITE_OPEN_NOMUTEX,
                             companion_vfs());
  if (code == SQLITE_OK) {
    struct stat info;
    const int64_t size_bytes = stat(database->path, &info) == 0 ? info.st_size : 0;
    database_limit_time(database, database_time_for(size_bytes), NULL);
    return database_configure(database, busy_ms, err);
  }
  if (database->handle != NULL) {
    return database_error(database, "open", err);
  }
  return error_set_native(err, STATUS_NO_MEMORY, code, "%s: out of memory", database->path);
}

/* A writer that was killed left a journal, which only a connection that may write can play back. */
static enum status database_open_to_recover(struct database *database, int busy_ms,
                                            struct error *err) {
  (void)sqlite3_close(database->handle);
  database->handle = NULL;
  const enum status status = database_open_handle(database, SQLITE_OPEN_READWRITE, busy_ms, err);
  return THEN(status, migrate_check(database, DATABASE_READ, err));
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

/* A temporary file of SQLite's own, of which a small one stays in memory; it is gone when it is
 * closed, however that comes. from: what is copied into it; NULL = it is empty. On failure the
 * handle is closed. */
static enum status database_make_temporary(struct database *made, const struct database *from,
                                           struct error *err) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  enum status status = STATUS_OK;
  if (sqlite3_open_v2("", &made->handle, flags, NULL) != SQLITE_OK) {
    status = error_set(err, STATUS_NO_MEMORY, "out of memory");
  }
  status = THEN(status, database_configure(made, DATABASE_BUSY_MS, err));
  status = THEN(status, from != NULL ? database_copy_pages(from, made->handle, err) : STATUS_OK);
  status = THEN(status, migrate_check(made, DATABASE_WRITE, err));
  status = THEN(status, migrate_run(made, err));
  if (status != STATUS_OK) {
    (void)sqlite3_close(made->handle);
    made->handle = NULL;
    return status;
  }
  if (from == NULL) {
    database_use_views(made);
  }
  return STATUS_OK;
}

static enum status database_copy_and_migrate(struct database *database, struct error *err) {
  struct database copy = {.path = database->path};
  const enum status status = database_make_temporary(&copy, database, err);
  if (status != STATUS_OK) {
    (void)sqlite3_close(copy.handle);
    return status;
  }
  (void)sqlite3_close(database->handle);
  database->handle = copy.handle;
  database->file_version = database->version;
  database->version = copy.version;
  database_watch_time(database);
  return STATUS_OK;
}

enum status database_open_temporary(struct database **database, struct error *err) {
  struct database *made = calloc(1, sizeof *made);
  if (made == NULL || (made->path = strdup("temporary database")) == NULL) {
    abort();
  }
  enum status status = database_make_temporary(made, NULL, err);
  if (status != STATUS_OK) {
    database_close(made);
    return status;
  }
  *database = made;
  return STATUS_OK;
}

/* Statements, views and saved queries are those of the latest schema. */
static enum status database_bring_up_to_date(struct database *database, struct error *err) {
  if (database->version >= migrate_latest_version()) {
    return STATUS_OK;
  }
  const enum status status = database_copy_and_migrate(database, err);
  return status == STATUS_OK
             ? STATUS_OK
             : error_prefix(err,
                            "%s has schema %d.%d and is read through a temporary copy (in "
                            "SQLITE_TMPDIR, TMPDIR or /var/tmp): ",
                            database->path, database->version / MIGRATE_VERSIONS_PER_MAJOR,
                            database->version % MIGRATE_VERSIONS_PER_MAJOR);
}

const char *database_copy_note(const struct database *database, struct arena *arena) {
  if (database->file_version == 0) {
    return NULL;
  }
  return arena_format(
      arena,
      "%s has schema %d.%d, read through a temporary copy; haul migrate, or the next run "
      "or merge that writes to it, migrates it to %d.%d",
      database->path, database->file_version / MIGRATE_VERSIONS_PER_MAJOR,
      database->file_version % MIGRATE_VERSIONS_PER_MAJOR,
      database->version / MIGRATE_VERSIONS_PER_MAJOR,
      database->version % MIGRATE_VERSIONS_PER_MAJOR);
}

const char *database_foreign_note(const struct database *database, struct arena *arena) {
  return database->foreign == NULL
             ? NULL
             : arena_format(arena,
                            "%s holds more than haul's schema (%s): none of that is used, haul's "
                            "own views take the place of its views, and it is not written",
                            database->path, database->foreign);
}

static enum status database_open_checked(struct database *database, enum database_access access,
                                         int busy_ms, struct error *err) {
  /* URI: another file can be attached read-only. The path itself never reads as one (plain_path).
   */
  int flags = access == DATABASE_READ
                  ? SQLITE_OPEN_READONLY
                  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  enum status status = database_open_handle(database, flags, busy_ms, err);
  status = THEN(status, migrate_check(database, access, err));
  if (access == DATABASE_WRITE) {
    RETURN_ON_ERROR(status);
    guard_allow_attaching(database->handle);
    if (database->version > 0) {
      RETURN_ON_ERROR(foreign_check(database, access, err));
    }
    status = migrate_run(database, err);
    if (status == STATUS_OK) {
      database_use_views(database);
    }
    return status;
  }
  int code = database->handle != NULL ? sqlite3_extended_errcode(database->handle) : SQLITE_NOMEM;
  bool left_over = status != STATUS_OK &&
                   (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY ||
                    code == SQLITE_READONLY_CANTINIT || (code & 0xff) == SQLITE_CANTOPEN);
  if (left_over) {
    status = database_open_to_recover(database, busy_ms, err);
  }
  status = THEN(status, database_bring_up_to_date(database, err));
  status = THEN(status, foreign_check(database, access, err));
  if (status == STATUS_OK && database->foreign == NULL &&
      database->version <= migrate_latest_version()) {
    database_use_views(database);
  }
  if (status == STATUS_OK) {
    guard_limit_length(database->handle, GUARD_READ_MAX);
  }
  return left_over || database->file_version != 0
             ? THEN(status, database_script(database, "database/query_only", err))
             : status;
}

enum status database_migrate_copy(const char *path, struct error *err) {
  struct database *copy = database_new(path);
  enum status status = database_open_handle(copy, SQLITE_OPEN_READWRITE, DATABASE_BUSY_MS, err);
  status = THEN(status, migrate_check(copy, DATABASE_WRITE, err));
  status = THEN(status, migrate_run(copy, err));
  database_close(copy);
  return status;
}

enum status database_open_waiting(const char *path, enum database_access access, int busy_ms,
                                  struct database **database, struct error *err) {
  struct database_file file;
  enum status status = database_file_examine(path, access, &file, err);
  RETURN_ON_ERROR(status);
  struct database *opened = database_new(path);
  opened->network_file_system = file.network_file_system;
  status = database_open_checked(opened, access, busy_ms, err);
  if (status != STATUS_OK) {
    database_close(opened);
    return status;
  }
  *database = opened;
  return STATUS_OK;
}

/* As sqlite3_busy_handler() wants it: not 0 = try again. */
static int database_ask_whether_to_wait(void *context, int asked_before) {
  struct database *database = context;
  if (asked_before == 0) {
    database->wait_started_ns = (int64_t)clock_read_ns(CLOCK_MONOTONIC);
  }
  int64_t waited_ns = (int64_t)clock_read_ns(CLOCK_MONOTONIC) - database->wait_started_ns;
  if (!database->wait(database->wait_context, (uint64_t)waited_ns / 1000000)) {
    return 0;
  }
  struct timespec pause = {.tv_nsec = asked_before < 20 ? 2000000 : 50000000};
  (void)nanosleep(&pause, NULL); /* a signal ends it, so that the next question comes at once */
  return 1;
}

void database_when_locked(struct database *database, database_wait *wait, void *context) {
  database->wait = wait;
  database->wait_context = context;
  (void)sqlite3_busy_handler(database->handle, database_ask_whether_to_wait, database);
}

enum status database_open(const char *path, enum database_access access, struct database **database,
                          struct error *err) {
  return database_open_waiting(path, access, DATABASE_BUSY_MS, database, err);
}

enum status database_open_untouched(const char *path, struct database **database,
                                    struct error *err) {
  struct database *opened = database_new(path);
  enum status status = database_open_handle(opened, SQLITE_OPEN_READONLY, DATABASE_BUSY_MS, err);
  if (status != STATUS_OK) {
    database_close(opened);
    return status;
  }
  *database = opened;
  return STATUS_OK;
}

bool database_is_gone(const struct database *database) {
  int moved = 0;
  return sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
             SQLITE_OK &&
         moved != 0;
}

void database_close(struct database *database) {
  if (database == NULL) {
    return;
  }
  (void)sqlite3_close(database->handle);
  free(database->foreign);
  free(database->path);
  free(database);
}
