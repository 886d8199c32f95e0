#include "runner/record/database.h"

#include "engine/base/clock.h"
#include "runner/record/companion.h"
#include "runner/record/file.h"
#include "runner/record/foreign.h"
#include "runner/record/guard.h"
#include "runner/record/migrate.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

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
  /* A statement that is run with other values is not prepared anew for them. */
  (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
  guard_connection(handle);
  database_add_functions(handle);
  return database_script(database, "database/set_up", err);
}

static void database_use_views(struct database *database) {
  (void)sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
}

static struct database *database_new(const char *path) {
  struct database *database = memory_new(1, sizeof *database);
  /* "./" prevents SQLite from giving ":memory:" or "file:..." a meaning of their own. */
  database->path = memory_format("%s%s", path[0] == '/' ? "" : "./", path);
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
    return database_error(database, err);
  }
  return error_set_native(err, STATUS_NO_MEMORY, code, "%s: out of memory", database->path);
}

/* A writer that was killed left a journal, which only a connection that may write can play back. */
static enum status database_open_to_recover(struct database *database, int busy_ms,
                                            struct error *err) {
  database_close_handle(database);
  const enum status status = database_open_handle(database, SQLITE_OPEN_READWRITE, busy_ms, err);
  return THEN(status, migrate_check(database, DATABASE_READ, err));
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
    database_close_handle(made);
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
    database_close_handle(&copy);
    return status;
  }
  database_close_handle(database);
  database_drop_idle(&copy);
  database->handle = copy.handle;
  database->file_version = database->version;
  database->version = copy.version;
  database_watch_time(database);
  return STATUS_OK;
}

/* Statements, views and saved queries are those of the latest schema. */
static enum status database_bring_up_to_date(struct database *database, struct error *err) {
  if (database->version >= migrate_latest_version()) {
    return STATUS_OK;
  }
  if (foreign_check_tables(database, err) != STATUS_OK) {
    return error_prefix(err, "%s: ", database->path);
  }
  const enum status status = database_copy_and_migrate(database, err);
  return status == STATUS_OK
             ? STATUS_OK
             : error_prefix(err,
                            "%s has schema %d.%d and is read through a temporary copy (in "
                            "SQLITE_TMPDIR, TMPDIR or /var/tmp): ",
                            database->path, MIGRATE_MAJOR_MINOR(database->version));
}

const char *database_copy_note(const struct database *database, struct arena *arena) {
  if (database->file_version == 0) {
    return NULL;
  }
  return arena_format(
      arena,
      "%s has the older schema %d.%d, so it is read through a temporary copy. To change it to "
      "%d.%d once: haul migrate",
      database->path, MIGRATE_MAJOR_MINOR(database->file_version),
      MIGRATE_MAJOR_MINOR(database->version));
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
    RETURN_ON_ERROR(migrate_run(database, err));
    database_use_views(database);
    return STATUS_OK;
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
  status = THEN(status, foreign_check_tables(copy, err));
  status = THEN(status, migrate_run(copy, err));
  database_close(copy);
  return status;
}

/* It is the caller's from now on, or closed where that status says why. */
static enum status database_hand_over(struct database *opened, enum status status,
                                      struct database **database) {
  if (status == STATUS_OK) {
    *database = opened;
  } else {
    database_close(opened);
  }
  return status;
}

enum status database_open_waiting(const char *path, enum database_access access, int busy_ms,
                                  struct database **database, struct error *err) {
  struct database_file file;
  RETURN_ON_ERROR(database_file_examine(path, access, &file, err));
  struct database *opened = database_new(path);
  opened->network_file_system = file.network_file_system;
  return database_hand_over(opened, database_open_checked(opened, access, busy_ms, err), database);
}

enum status database_open_temporary(struct database **database, struct error *err) {
  struct database *made = memory_new(1, sizeof *made);
  made->path = memory_format("temporary database");
  return database_hand_over(made, database_make_temporary(made, NULL, err), database);
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
  const enum status status =
      database_open_handle(opened, SQLITE_OPEN_READONLY, DATABASE_BUSY_MS, err);
  return database_hand_over(opened, status, database);
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
  database_close_handle(database);
  free(database->foreign);
  free(database->path);
  free(database);
}

enum status database_derive_settings(struct database *database, struct error *err) {
  RETURN_ON_ERROR(database_script(database, "case/settings", err));
  return database_run_generated(database, "case/later_settings", err);
}
