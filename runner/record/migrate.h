/* migrate.h - the schema's version: judged, and brought up to date.
 *
 * schema/results/migrations/NNNN_*.sql leads to user_version NNNN = major * 1000 + minor, which it
 * sets itself; the first of them makes the tables of an empty file. Whatever a database lacks, and
 * the views after that, are applied in one transaction, so that nobody meets a version in between.
 * The promise about versions is written above the first migration. */
#pragma once

#include "engine/base/embed.h"
#include "runner/record/connection.h"

enum { MIGRATE_VERSIONS_PER_MAJOR = 1000 };
/* Of a version, for "%d.%d". */
#define MIGRATE_MAJOR_MINOR(version)                                                               \
  (version) / MIGRATE_VERSIONS_PER_MAJOR, (version) % MIGRATE_VERSIONS_PER_MAJOR

/* The version that this build writes: that of the last migration. */
int migrate_latest_version(void);
/* The files of views, in the order in which they are made; NULL ends them. */
extern const char *const migrate_views[];
/* The oldest version that this build knows: that of the first migration. */
int migrate_first_version(void);
/* An empty database of a version, in memory and without views; for database_close_handle(). */
enum status migrate_make(struct database *made, int version, struct error *err) CHECK_RESULT;
/* STATUS_INVALID: it is not of the schema that its version stands for, made between two releases or
 * changed by other means: "it says that it has schema 1.3, but WHAT". */
enum status migrate_refuse_schema(const struct database *database, const char *what,
                                  struct error *err) CHECK_RESULT;
/* Reads the version, and judges it. STATUS_INVALID: another program's database, or the hash of its
 * schema, which files have from 1.4 on, is of no release (foreign_check_tables() judges a file
 * without one); STATUS_UNSUPPORTED: too new or too old to be used so. The error begins with the
 * path and ": ". A file that is to be merged is judged as one that is to be written. */
enum status migrate_check(struct database *database, enum database_access access,
                          struct error *err) CHECK_RESULT;
/* Apply what is missing, if anything. On failure the database is as it was. */
enum status migrate_run(struct database *database, struct error *err) CHECK_RESULT;
/* The same with other migrations ("migrations/NNNN_X", in that order) than those of this build: so
 * that tests can add one. */
enum status migrate_run_files(struct database *database, const struct embedded_file *files,
                              size_t count, struct error *err) CHECK_RESULT;
