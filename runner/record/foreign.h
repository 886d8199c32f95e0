/* foreign.h - objects of a file that are not haul's schema: triggers, views, tables and indexes of
 * others, and haul's own under other text.
 *
 * The text of all objects is compared with what the migrations of the file's version make; of the
 * latest version that stands in schema/results/objects.txt. A file that differs is not written. It
 * is read, and the user is told: without its views (haul's own take their place for as long as it
 * is open), and only where every table of haul's is one whose columns are stored. Triggers run
 * nowhere (database.h). */
#pragma once

#include "runner/record/connection.h"

#include <stdio.h>

/* For a database whose version was judged (migrate.h). Fills database->foreign. STATUS_INVALID: it
 * cannot be used so. */
enum status foreign_check(struct database *database, enum database_access access,
                          struct error *err) CHECK_RESULT;
/* STATUS_INVALID: a table of haul's is a view, or has columns that are computed, or, in a file
 * without the text of its schema (from before 1.4), is not that of its version. The error
 * does not name the file. */
enum status foreign_check_tables(struct database *database, struct error *err) CHECK_RESULT;

/* Its objects as schema/results/objects.txt has them, one per line: for the test of that. */
enum status foreign_print(struct database *database, FILE *stream, struct error *err) CHECK_RESULT;
