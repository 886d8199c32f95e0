/* file.h - what lies at a database's path, before SQLite touches it. */
#ifndef HAUL_RUNNER_RECORD_FILE_H
#define HAUL_RUNNER_RECORD_FILE_H

#include "runner/record/database.h"

struct database_file {
  bool fresh;                      /* absent or empty: to be made */
  bool write_ahead;                /* the file is in WAL mode */
  const char *network_file_system; /* static; NULL = a local file system */
};

/* Look at path. For writing, make its folder where there is none. Errors say what is there instead
 * of a database that this user may use so; nothing but the folder is changed. */
enum status database_file_examine(const char *path, enum database_access access,
                                  struct database_file *file, struct error *err) CHECK_RESULT;

#endif
