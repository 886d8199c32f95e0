/* database.h - a results database: found, verified to be ours, opened, created, migrated.
 *
 * A file is ours when its application_id says so. Its user_version is the schema's major * 1000 +
 * minor (schema/results/README.md has the promise). Opening for writing creates the file and its
 * folder when absent, migrates an older schema in one transaction, and refuses a newer one; opening
 * for reading refuses a newer major, and reads an older schema through a migrated copy: the file
 * itself is never changed by reading. Both refuse what is older than the first released schema.
 * Everything else that may lie at the path (a folder, a text file, another program's database, what
 * this user may not read or write) gives one error that says what it is and what to do, and is left
 * untouched.
 *
 * Every connection has foreign keys on, trusted_schema and triggers off, defensive mode on and the
 * limits of guard.h, and waits up to DATABASE_BUSY_MS for another writer. Objects of a file that
 * are not haul's: foreign.h. */
#pragma once

#include "runner/record/connection.h"

enum { DATABASE_BUSY_MS = 30000 };

/* *database is untouched on failure. STATUS_NOT_FOUND: opening for reading, and there is no file.
 */
enum status database_open(const char *path, enum database_access access, struct database **database,
                          struct error *err) CHECK_RESULT;
/* Where a copy is read, the note to the user that says so, kept by the arena; else NULL. */
const char *database_copy_note(const struct database *database, struct arena *arena);
/* The note that it has objects of others, and what is done about them, the same way; else NULL. */
const char *database_foreign_note(const struct database *database, struct arena *arena);
/* Migrate a file that is a copy of somebody's, and nobody's results: foreign objects stay in it. */
enum status database_migrate_copy(const char *path, struct error *err) CHECK_RESULT;
/* As database_open, waiting busy_ms for other writers. */
enum status database_open_waiting(const char *path, enum database_access access, int busy_ms,
                                  struct database **database, struct error *err) CHECK_RESULT;
/* An empty database of the latest schema, without a file, which is gone when it is closed. */
enum status database_open_temporary(struct database **database, struct error *err) CHECK_RESULT;
/* Read-only, whatever it may be: nothing is looked at yet, version is 0, and nothing at or beside
 * the path is ever changed (a journal that a killed writer left is an error of the first read). */
enum status database_open_untouched(const char *path, struct database **database,
                                    struct error *err) CHECK_RESULT;
/* From now on `wait` says how long to wait for other writers. */
void database_when_locked(struct database *database, database_wait *wait, void *context);
/* The file was deleted, or another one stands at its path, since it was opened. */
bool database_is_gone(const struct database *database);
/* From now on a new case has the settings that its definition says. */
enum status database_derive_settings(struct database *database, struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void database_close(struct database *database);
