#include "runner/record/migrate.h"

#include "schema/results/results_sql.h"

#include <stdlib.h>
#include <string.h>

#define MIGRATION_FOLDER "migrations/"

/* The version a file leads to; 0: not a migration. */
static int migrate_version_of(const struct embedded_file *file) {
  size_t length = strlen(MIGRATION_FOLDER);
  if (strncmp(file->name, MIGRATION_FOLDER, length) != 0) {
    return 0;
  }
  return (int)strtol(file->name + length, NULL, 10);
}

/* Of the newest migration. */
static int migrate_last_of(const struct embedded_file *files, size_t count) {
  int latest = 0;
  for (size_t i = 0; i < count; i++) {
    int version = migrate_version_of(&files[i]);
    latest = version > latest ? version : latest;
  }
  return latest;
}

int migrate_latest_version(void) {
  return migrate_last_of(results_sql, results_sql_count);
}

int migrate_first_version(void) {
  int version = 0; /* files are in alphabetical order, and so migrations in that of versions */
  for (size_t i = 0; i < results_sql_count && version == 0; i++) {
    version = migrate_version_of(&results_sql[i]);
  }
  return version;
}

enum status migrate_read_version(struct database *database, int *application_id, int *objects,
                                 struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "database/version", &statement, err);
  if (statement_next(&statement, &status, err)) {
    *application_id = sqlite3_column_int(statement.stmt, 0);
    database->version = sqlite3_column_int(statement.stmt, 1);
    *objects = sqlite3_column_int(statement.stmt, 2);
  }
  statement_finalize(&statement);
  return status;
}

static enum status migrate_refuse_newer(const struct database *database, int latest,
                                        const char *what, struct error *err) {
  return error_set(err, STATUS_UNSUPPORTED,
                   "%s was made by a newer haul (schema %d.%d, this one knows %d.%d) and cannot be "
                   "%s; use the newer haul, or name another database with --db",
                   database->path, database->version / MIGRATE_VERSIONS_PER_MAJOR,
                   database->version % MIGRATE_VERSIONS_PER_MAJOR,
                   latest / MIGRATE_VERSIONS_PER_MAJOR, latest % MIGRATE_VERSIONS_PER_MAJOR, what);
}

static enum status migrate_refuse_older(const struct database *database, struct error *err) {
  return error_set(err, STATUS_UNSUPPORTED,
                   "%s was made by a haul from before 0.2.0 (schema %d.%d), whose schema was never "
                   "released; read it with the haul that made it (\"haul export\" writes CSV), and "
                   "name another database with --db",
                   database->path, database->version / MIGRATE_VERSIONS_PER_MAJOR,
                   database->version % MIGRATE_VERSIONS_PER_MAJOR);
}

enum status migrate_refuse_virtual(struct database *database, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "database/virtual_table", &statement, err);
  if (statement_next(&statement, &status, err)) {
    status = error_set(err, STATUS_INVALID,
                       "it has a virtual table (%s), which haul never makes and does not open; "
                       "\"haul merge\" and \"haul query\" need a file without one",
                       (const char *)sqlite3_column_text(statement.stmt, 0));
  }
  statement_finalize(&statement);
  return status;
}

static enum status migrate_judge(struct database *database, enum database_access access, int latest,
                                 struct error *err) {
  int application_id = 0;
  int objects = 0;
  enum status status = migrate_read_version(database, &application_id, &objects, err);
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
  if (application_id != DATABASE_APPLICATION_ID || database->version < MIGRATE_VERSIONS_PER_MAJOR) {
    return error_set(err, STATUS_INVALID,
                     "%s is another program's SQLite database (application id %d), and is left as "
                     "it is; name another with --db",
                     database->path, application_id);
  }
  if (database->version < migrate_first_version()) {
    return migrate_refuse_older(database, err);
  }
  if (migrate_refuse_virtual(database, err) != STATUS_OK) {
    return error_prefix(err, "%s: ", database->path);
  }
  if (database->version / MIGRATE_VERSIONS_PER_MAJOR > latest / MIGRATE_VERSIONS_PER_MAJOR) {
    return migrate_refuse_newer(database, latest, "used", err);
  }
  if (database->version > latest && access == DATABASE_WRITE) {
    return migrate_refuse_newer(database, latest, "added to, only queried", err);
  }
  return STATUS_OK;
}

enum status migrate_check(struct database *database, enum database_access access,
                          struct error *err) {
  return migrate_judge(database, access, migrate_latest_version(), err);
}

static enum status migrate_check_references(struct database *database, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "database/broken_references", &statement, err);
  if (statement_next(&statement, &status, err)) {
    status = error_set(err, STATUS_CORRUPT,
                       "%s: %lld rows of %s refer to rows that are not there; it was changed by "
                       "other means and is not migrated",
                       database->path, (long long)sqlite3_column_int64(statement.stmt, 1),
                       (const char *)sqlite3_column_text(statement.stmt, 0));
  }
  statement_finalize(&statement);
  return status;
}

static enum status migrate_apply_missing(struct database *database,
                                         const struct embedded_file *files, size_t count,
                                         struct error *err) {
  enum status status = database_run_generated(database, "database/drop_views", err);
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    int version = migrate_version_of(&files[i]);
    if (version > database->version) {
      status = database_run_sql(database, (const char *)files[i].data, files[i].name, err);
      database->version = version;
    }
  }
  if (status == STATUS_OK) {
    status = database_script(database, "views.sql", err);
  }
  status = THEN(status, database_script(database, "views_machine.sql", err));
  if (status == STATUS_OK) {
    status = migrate_check_references(database, err);
  }
  return status;
}

static enum status migrate_locked(struct database *database, const struct embedded_file *files,
                                  size_t count, struct error *err) {
  const int latest = migrate_last_of(files, count);
  enum status status = database_begin(database, err);
  if (status != STATUS_OK) {
    return status;
  }
  /* Another process may have been faster. */
  status = migrate_judge(database, DATABASE_WRITE, latest, err);
  if (status == STATUS_OK && database->version < latest) {
    status = migrate_apply_missing(database, files, count, err);
  }
  return database_end(database, status, err);
}

enum status migrate_run_files(struct database *database, const struct embedded_file *files,
                              size_t count, struct error *err) {
  if (database->version >= migrate_last_of(files, count)) {
    return STATUS_OK;
  }
  enum status status = database_script(database, "database/migration_start", err);
  if (status != STATUS_OK) {
    return status;
  }
  status = migrate_locked(database, files, count, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "setting up the results database: ");
  }
  return database_script(database, "database/migration_end", err);
}

enum status migrate_run(struct database *database, struct error *err) {
  return migrate_run_files(database, results_sql, results_sql_count, err);
}
