/* file.h - the file at a database's path, before SQLite opens it. */
#pragma once

#include "runner/record/connection.h"

/* Of the file beside a shard that says why there is none, or no newer one: "NODE-UUID.failed". */
#define DATABASE_FAILURE_SUFFIX ".failed"
bool database_file_is_failure(const char *path);

struct database_file {
  bool fresh;                      /* absent or empty: to be made */
  bool write_ahead;                /* the file is in WAL mode */
  const char *network_file_system; /* static; NULL = a local file system */
};

/* Look at path. For writing, make its folder where there is none. Errors say what is there instead
 * of a database that this user may use so; nothing but the directory is changed. */
enum status database_file_examine(const char *path, enum database_access access,
                                  struct database_file *file, struct error *err) CHECK_RESULT;

/* What the first bytes of an open file say. */
struct database_file_header {
  bool empty;
  bool sqlite;             /* else some other file */
  bool write_ahead;        /* in WAL mode */
  unsigned change_counter; /* every transaction raises it, but in WAL mode */
};
/* STATUS_IO with errno. */
enum status database_file_read_header(int fd, struct database_file_header *header) CHECK_RESULT;

/* From now on SQLite opens only regular files in this process, and never waits for a FIFO. */
void database_file_guard_opening(void);

/* Copy a database that nobody writes to, with the journals that a killed writer left beside it. The
 * copy must not exist. */
enum status database_file_copy(const char *path, const char *copy, struct error *err) CHECK_RESULT;
/* A path for a database that is not to stay: in a folder of its own on a local disk, else in
 * memory. To be freed; database_file_remove_scratch() removes folder, database and journals. */
enum status database_file_make_scratch(char **path, struct error *err) CHECK_RESULT;
void database_file_remove_scratch(const char *path);

/* The name of the network file system that a path is on; NULL = a local one. */
const char *database_file_network_file_system(const char *path);
/* Copy a database that nobody writes to to that place, as a new file (engine/base/new_file.h).
 * replaces: as there. */
enum status database_file_publish(const char *path, const char *place, bool replaces,
                                  struct error *err) CHECK_RESULT;
