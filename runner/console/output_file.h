/* output_file.h - a file that others see whole or not at all: written beside its place, then moved
 * into it. */
#ifndef HAUL_RUNNER_CONSOLE_OUTPUT_FILE_H
#define HAUL_RUNNER_CONSOLE_OUTPUT_FILE_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct output_file {
  FILE *stream;     /* stdout where no path was given */
  const char *path; /* borrowed; NULL = stdout */
  char *temporary;
  bool nameless; /* the file has no name yet, not even that one */
};

/* path may be NULL. */
enum status output_file_open(const char *path, struct output_file *file,
                             struct error *err) CHECK_RESULT;
/* status: of what wrote to it; only after STATUS_OK is the file put into its place. Always closes.
 */
enum status output_file_close(struct output_file *file, enum status status,
                              struct error *err) CHECK_RESULT;

#endif
