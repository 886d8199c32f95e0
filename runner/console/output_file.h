/* output_file.h - a file that a user named with --output or --save: a stream to a new file
 * (engine/base/new_file.h) that replaces what was there, but no database. */
#pragma once

#include "engine/base/new_file.h"

#include <stdio.h>

struct output_file {
  FILE *stream;     /* stdout where no path was given */
  const char *path; /* borrowed; NULL = stdout */
  struct new_file file;
};

/* path: NULL or "-" for stdout. */
enum status output_file_open(const char *path, struct output_file *file,
                             struct error *err) CHECK_RESULT;
/* status: of what wrote to it; only after STATUS_OK is the file put into its place. Always closes.
 */
enum status output_file_close(struct output_file *file, enum status status,
                              struct error *err) CHECK_RESULT;
