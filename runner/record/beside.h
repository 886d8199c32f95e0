/* beside.h - a run whose database another program holds: it is recorded beside it.
 *
 * In a rollback journal, which alone is safe on network file systems, a reader keeps a
 * transaction from being committed. A run waits BESIDE_AFTER_MS for that, then goes on in a
 * database of its own, FILE-run-UUID.db, which begins as a copy of what FILE has of the run. It is
 * merged into FILE after each process and at the end, and removed once the run ended and all of it
 * is there. What stays, because FILE was held until the end or the run was killed, is added by the
 * next run that records in FILE, or by "haul merge FILE FILE-run-UUID.db". */
#pragma once

#include "runner/record/database.h"

enum { BESIDE_AFTER_MS = 100 };

/* Of the run in that database, for the caller to free. */
char *beside_path(const char *path, const char *uuid);
/* A new database at that place with what the one at `path` has of the run, under the same numbers;
 * nothing where run is 0. On failure there is none. */
enum status beside_open(const char *path, const char *place, int64_t run,
                        struct database **database, struct error *err) CHECK_RESULT;
/* Add what is at the place to the database at `path`, waiting busy_ms for it; remove the place if
 * its run ended. STATUS_TIMEOUT: the database is still held, and nothing changed. */
enum status beside_merge(const char *path, const char *place, int busy_ms,
                         struct error *err) CHECK_RESULT;
/* The same with all that earlier runs of this user left, each of them, whether others fail or not:
 * the first failure that is no STATUS_TIMEOUT, else that. *left: how many of them stay. */
enum status beside_take_up(const char *path, size_t *left, struct error *err) CHECK_RESULT;
/* How many wait beside the database. */
size_t beside_count(const char *path);
