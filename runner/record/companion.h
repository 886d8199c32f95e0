/* companion.h - the files beside a database that SQLite reads and deletes of its own accord:
 * FILE-journal, FILE-wal and FILE-shm.
 *
 * A user who may write to the directory can leave them there. A journal may name a super-journal,
 * and SQLite deletes the file of that name once the journal is played back; haul never makes one.
 * They are judged before a database is opened, so that there is a clear error, and by the VFS again
 * when SQLite opens them, so that nobody exchanges them in between. */
#pragma once

#include "engine/base/error.h"

/* STATUS_INVALID: a companion of the database at that path is no regular file, has several names
 * (a hard link), is mostly holes, names a super-journal or, in a directory in which everybody may
 * make files (with the sticky bit), belongs to somebody else than the database. Links in the path
 * are followed, as SQLite does. */
enum status companion_check(const char *path, struct error *err) CHECK_RESULT;
/* Name of a VFS for sqlite3_open_v2(): the default one, but it opens no super-journal and no
 * companion that companion_check() refuses. Registered by the first call. */
const char *companion_vfs(void);
