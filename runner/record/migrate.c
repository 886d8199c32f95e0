#include "runner/record/migrate.h"

#include "schema/results/results_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSIONS_PER_MAJOR = 1000 };
#define MIGRATION_FOLDER "migrations/"

/* The version a file leads to; 0: not a migration. */
static int version_of_file(const struct embedded_file *file) {
  size_t length = strlen(MIGRATION_FOLDER);
  if (strncmp(file->name, MIGRATION_FOLDER, length) != 0) {
    return 0;
  }
  return (int)strtol(file->name + length, NULL, 10);
}

int migrate_latest_version(void) {
  int latest = 0;
  for (size_t i = 0; i < results_sql_count; i++) {
    int version = version_of_file(&results_sql[i]);
    latest = version > latest ? version : latest;
  }
  return latest;
}

static enum status read_version(struct database *database, int *application_id, int *objects,
                                struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "database/version", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  if (row) {
    *application_id = sqlite3_column_int(statement.stmt, 0);
    database->version = sqlite3_column_int(statement.stmt, 1);
    *objects = sqlite3_column_int(statement.stmt, 2);
  }
  statement_finalize(&statement);
  return status;
}

static enum status refuse_newer(const struct database *database, const char *what,
                                struct error *err) {
  int latest = migrate_latest_version();
  return error_set(err, STATUS_UNSUPPORTED,
                   "%s was made by a newer haul (schema %d.%d, this one knows %d.%d) and cannot be "
                   "%s; use the newer haul, or name another database with --db",
                   database->path, database->version / VERSIONS_PER_MAJOR,
                   database->version % VERSIONS_PER_MAJOR, latest / VERSIONS_PER_MAJOR,
                   latest % VERSIONS_PER_MAJOR, what);
}

enum status migrate_check(struct database *database, enum database_access access,
                          struct error *err) {
  int application_id = 0;
  int objects = 0;
  enum status status = read_version(database, &application_id, &objects, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool empty = application_id == 0 && database->version == 0 && objects == 0;
  if (empty && access == DATABASE_WRITE) {
    return STATUS_OK;
  }
  if (empty) {
    return error_set(err, STATUS_NOT_FOUND,
                     "there are no results in %s yet: \"haul run\" makes some, --db names another "
                     "database",
                     database->path);
  }
  if (application_id != DATABASE_APPLICATION_ID || database->version < VERSIONS_PER_MAJOR) {
    return error_set(err, STATUS_INVALID,
                     "%s is another program's SQLite database (application id %d), and is left as "
                     "it is; name another with --db",
                     database->path, application_id);
  }
  int latest = migrate_latest_version();
  if (database->version / VERSIONS_PER_MAJOR > latest / VERSIONS_PER_MAJOR) {
    return refuse_newer(database, "used", err);
  }
  if (database->version > latest && access == DATABASE_WRITE) {
    return refuse_newer(database, "added to, only queried", err);
  }
  return STATUS_OK;
}

/* Runs the statements that the rows of a statement spell out. */
static enum status run_generated(struct database *database, const char *name, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, name, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  char *script = sqlite3_mprintf("");
  bool row = true;
  while (status == STATUS_OK && row) {
    status = statement_step(&statement, &row, err);
    if (row) {
      script = sqlite3_mprintf("%z%s;", script, sqlite3_column_text(statement.stmt, 0));
    }
  }
  statement_finalize(&statement);
  if (status == STATUS_OK &&
      sqlite3_exec(database->handle, script, NULL, NULL, NULL) != SQLITE_OK) {
    status = database_error(database, name, err);
  }
  sqlite3_free(script);
  return status;
}

static enum status check_references(struct database *database, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "database/broken_references", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  if (row) {
    status = error_set(err, STATUS_CORRUPT,
                       "%s: %lld rows of %s refer to rows that are not there; it was changed by "
                       "other means and is not migrated",
                       database->path, (long long)sqlite3_column_int64(statement.stmt, 1),
                       (const char *)sqlite3_column_text(statement.stmt, 0));
  }
  statement_finalize(&statement);
  return status;
}

/* Embedded files are in alphabetical order, and so migrations in that of their versions. */
static enum status apply_missing(struct database *database, struct error *err) {
  enum status status = run_generated(database, "database/drop_views", err);
  for (size_t i = 0; i < results_sql_count && status == STATUS_OK; i++) {
    int version = version_of_file(&results_sql[i]);
    if (version <= database->version) {
      continue;
    }
    status = database_script(database, results_sql[i].name, err);
    database->version = version;
  }
  if (status == STATUS_OK) {
    status = database_script(database, "views.sql", err);
  }
  if (status == STATUS_OK) {
    status = check_references(database, err);
  }
  return status;
}

static enum status migrate_locked(struct database *database, struct error *err) {
  enum status status = database_begin(database, err);
  if (status != STATUS_OK) {
    return status;
  }
  /* Another process may have been faster. */
  status = migrate_check(database, DATABASE_WRITE, err);
  if (status == STATUS_OK && database->version < migrate_latest_version()) {
    status = apply_missing(database, err);
  }
  if (status != STATUS_OK) {
    database_rollback(database);
    return status;
  }
  return database_commit(database, err);
}

enum status migrate_run(struct database *database, struct error *err) {
  if (database->version >= migrate_latest_version()) {
    return STATUS_OK;
  }
  enum status status = database_script(database, "database/migration_start", err);
  if (status != STATUS_OK) {
    return status;
  }
  status = migrate_locked(database, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "setting up the results database: ");
  }
  return database_script(database, "database/migration_end", err);
}
