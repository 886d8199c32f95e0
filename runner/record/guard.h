/* guard.h - what SQL can reach in a connection, also where another user wrote the file.
 *
 * Functions are allowed by list: whatever else a build of SQLite brings along (fts3_tokenizer(),
 * which follows a pointer that the statement names; extensions; those that read files) is refused
 * where a statement is prepared, in views of the file as well. Modules of virtual tables are
 * dropped but those of JSON; table-valued pragmas are not among them. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* Drops modules, sets limits and the authorizer that guard_restore() goes back to. */
void guard_connection(sqlite3 *handle);
/* For haul's own merging and shrinking: one database may be attached from now on. */
void guard_allow_attaching(sqlite3 *handle);
/* For an authorizer of one's own: SQLITE_FUNCTION of that name. */
bool guard_allows_function(const char *name);
/* After an authorizer of one's own. */
void guard_restore(sqlite3 *handle);
/* How long a text or row may be: GUARD_LENGTH_MAX from guard_connection() on. */
void guard_limit_length(sqlite3 *handle, int length);
/* Sizes that SQL may reach, and rows of a file: a text or row of GUARD_LENGTH_MAX; no ATTACH. */
enum { GUARD_LENGTH_MAX = 64 << 20, GUARD_SQL_MAX = 1 << 20 };
/* Texts that haul's own statements read: no scenario that anybody wrote comes near that. */
enum { GUARD_READ_MAX = 8 << 20 };
