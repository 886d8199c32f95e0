/* migrate.h - the schema's version: judged, and brought up to date.
 *
 * migrations/NNNN_*.sql leads to user_version NNNN = major * 1000 + minor, which it sets itself. A
 * released migration is never changed; the next one is added. All that are missing, and the views
 * after them, are applied in one transaction, so that nobody meets a version in between. */
#ifndef HAUL_RUNNER_RECORD_MIGRATE_H
#define HAUL_RUNNER_RECORD_MIGRATE_H

#include "runner/record/database.h"

/* The version that this build writes: that of the last migration. */
int migrate_latest_version(void);
/* Reads the version into database->version (0: an empty file). STATUS_INVALID: another program's
 * database; STATUS_UNSUPPORTED: too new to be used so. */
enum status migrate_check(struct database *database, enum database_access access,
                          struct error *err) CHECK_RESULT;
/* Apply what is missing, if anything. On failure the database is as it was. */
enum status migrate_run(struct database *database, struct error *err) CHECK_RESULT;

#endif
