#include "runner/record/migrate.h"

#include "engine/base/strings.h"

#include "runner/record/content.h"
#include "runner/record/rows.h"
#include "schema/results/results_sql.h"

#include <stdlib.h>
#include <string.h>

#define MIGRATION_FOLDER "migrations/"

const char *const migrate_views[] = {"views_note.sql", "views.sql", "views_trial.sql",
                                     "views_machine.sql", NULL};

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

struct version_row {
  int application_id, user_version, objects;
};

static const struct row_member VERSION_MEMBERS[] = {ROW_MEMBER(struct version_row, application_id),
                                                    ROW_MEMBER(struct version_row, user_version),
                                                    ROW_MEMBER(struct version_row, objects),
                                                    {0}};

static enum status migrate_read_version(struct database *database, int *application_id,
                                        int *objects, struct error *err) {
  struct version_row row = {*application_id, database->version, *objects};
  const enum status status =
      database_read(database, "database/version", NULL, VERSION_MEMBERS, &row, NULL, NULL, err);
  *application_id = row.application_id;
  database->version = row.user_version;
  *objects = row.objects;
  return status;
}

/* Its module would run code. */
static enum status migrate_refuse_virtual(struct database *database, struct error *err) {
  return database_refuse_row(
      database, "database/virtual_table", STATUS_INVALID,
      "it has a virtual table (%s), which haul never makes and does not open; \"haul merge\" and "
      "\"haul query\" need a file without one",
      err);
}

struct schema_text {
  char migrations[CONTENT_KEY_MAX]; /* up to a version */
  char views[CONTENT_KEY_MAX];
};

static struct schema_text migrate_text_of(const struct embedded_file *files, size_t count,
                                          int version) {
  struct schema_text text;
  struct content *migrations = content_new();
  for (size_t i = 0; i < count; i++) {
    const int leads_to = migrate_version_of(&files[i]);
    if (leads_to > 0 && leads_to <= version) {
      content_text(migrations, (const char *)files[i].data);
    }
  }
  content_finish(migrations, text.migrations);
  struct content *views = content_new();
  for (size_t i = 0; migrate_views[i] != NULL; i++) {
    char *sql = database_sql(migrate_views[i]);
    content_text(views, sql);
    free(sql);
  }
  content_finish(views, text.views);
  return text;
}

enum status migrate_refuse_schema(const struct database *database, const char *what,
                                  struct error *err) {
  return error_set(err, STATUS_INVALID,
                   "it says that it has schema %d.%d, but %s: a haul between two releases made it, "
                   "or other means changed it; use the haul that made it, or another database",
                   MIGRATE_MAJOR_MINOR(database->version), what);
}

/* As its own text says. Views are those of the latest version alone: a migration makes them anew.
 */
static enum status migrate_check_text(struct database *database, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const int version = database->version;
  const struct schema_text text = migrate_text_of(results_sql, results_sql_count, version);
  const char *found[ROW_WORDS]; /* migrations, views */
  RETURN_ON_ERROR(database_read_words(database, "database/schema_text",
                                      PARAMETERS(PARAMETER(":version", version)), &arena, found,
                                      err));
  const bool same = strings_equal(found[0], text.migrations) &&
                    (version < migrate_latest_version() || strings_equal(found[1], text.views));
  return same ? STATUS_OK
              : migrate_refuse_schema(database, "its tables or views are not those of that schema",
                                      err);
}

enum status migrate_make(struct database *made, int version, struct error *err) {
  *made = (struct database){.path = ":memory:"};
  enum status status = sqlite3_open(made->path, &made->handle) == SQLITE_OK
                           ? STATUS_OK
                           : error_set(err, STATUS_NO_MEMORY, "out of memory");
  if (status == STATUS_OK) {
    database_add_functions(made->handle);
  }
  for (size_t i = 0; i < results_sql_count && status == STATUS_OK; i++) {
    const int leads_to = migrate_version_of(&results_sql[i]);
    if (leads_to > 0 && leads_to <= version) {
      status = database_run_sql(made, (const char *)results_sql[i].data, err);
    }
  }
  return status;
}

static enum status migrate_check_schema(struct database *database, struct error *err) {
  bool has_text = false;
  const enum status status =
      database_read(database, "database/has_schema_text", NULL, NULL, NULL, NULL, &has_text, err);
  if (status != STATUS_OK || database->version > migrate_latest_version()) {
    return status;
  }
  return has_text ? migrate_check_text(database, err) : STATUS_OK;
}

/* What its version says; the error does not name the file. */
static enum status migrate_judge_version(struct database *database, enum database_access access,
                                         int latest, int application_id, struct error *err) {
  if (application_id != DATABASE_APPLICATION_ID || database->version < MIGRATE_VERSIONS_PER_MAJOR) {
    return error_set(err, STATUS_INVALID,
                     "it is another program's SQLite database (application id %d), and is left as "
                     "it is; name another file",
                     application_id);
  }
  if (database->version < migrate_first_version()) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "it was made by a haul from before 0.2.0 (schema %d.%d), whose schema was "
                     "never released; read it with the haul that made it (\"haul export\" writes "
                     "CSV), or name another file",
                     MIGRATE_MAJOR_MINOR(database->version));
  }
  RETURN_ON_ERROR(migrate_refuse_virtual(database, err));
  const bool is_major =
      database->version / MIGRATE_VERSIONS_PER_MAJOR > latest / MIGRATE_VERSIONS_PER_MAJOR;
  if (is_major || (database->version > latest && access == DATABASE_WRITE)) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "it was made by a newer haul (schema %d.%d, this one knows %d.%d) and cannot "
                     "be %s; use the newer haul, or name another file",
                     MIGRATE_MAJOR_MINOR(database->version), MIGRATE_MAJOR_MINOR(latest),
                     is_major ? "used" : "added to or merged, only queried");
  }
  return migrate_check_schema(database, err);
}

static enum status migrate_judge(struct database *database, enum database_access access, int latest,
                                 struct error *err) {
  int application_id = 0;
  int objects = 0;
  RETURN_ON_ERROR(migrate_read_version(database, &application_id, &objects, err));
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
  return migrate_judge_version(database, access, latest, application_id, err) == STATUS_OK
             ? STATUS_OK
             : error_prefix(err, "%s: ", database->path);
}

enum status migrate_check(struct database *database, enum database_access access,
                          struct error *err) {
  return migrate_judge(database, access, migrate_latest_version(), err);
}

static enum status migrate_check_references(struct database *database, struct error *err) {
  const enum status status =
      database_refuse_row(database, "database/broken_references", STATUS_CORRUPT,
                          "%2$s rows of %1$s refer to rows that are not there; it was changed by "
                          "other means and is not migrated",
                          err);
  return status == STATUS_CORRUPT && err->native_code == 0 /* SQLite's own errors name the file */
             ? error_prefix(err, "%s: ", database->path)
             : status;
}

static enum status migrate_write_text(struct database *database, const struct embedded_file *files,
                                      size_t count, struct error *err) {
  const struct schema_text text = migrate_text_of(files, count, database->version);
  return database_do(database, "database/insert_schema_text",
                     PARAMETERS(PARAMETER(":version", database->version),
                                PARAMETER(":migrations", text.migrations),
                                PARAMETER(":views", text.views)),
                     err);
}

static enum status migrate_apply_missing(struct database *database,
                                         const struct embedded_file *files, size_t count,
                                         struct error *err) {
  enum status status = database_run_generated(database, "database/drop_views", err);
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    int version = migrate_version_of(&files[i]);
    if (version > database->version) {
      status = database_run_sql(database, (const char *)files[i].data, err);
      database->version = version;
    }
  }
  for (size_t i = 0; migrate_views[i] != NULL && status == STATUS_OK; i++) {
    status = database_script(database, migrate_views[i], err);
  }
  status = THEN(status, database_run_generated(database, "database/settings", err));
  status = THEN(status, migrate_write_text(database, files, count, err));
  return THEN(status, migrate_check_references(database, err));
}

static enum status migrate_locked(struct database *database, const struct embedded_file *files,
                                  size_t count, struct error *err) {
  const int latest = migrate_last_of(files, count);
  RETURN_ON_ERROR(database_begin(database, err));
  /* Another process may have been faster. */
  enum status status = migrate_judge(database, DATABASE_WRITE, latest, err);
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
  RETURN_ON_ERROR(database_script(database, "database/migration_start", err));
  enum status status = migrate_locked(database, files, count, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "setting up the results database: ");
  }
  return database_script(database, "database/migration_end", err);
}

enum status migrate_run(struct database *database, struct error *err) {
  return migrate_run_files(database, results_sql, results_sql_count, err);
}
