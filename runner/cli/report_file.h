/* report_file.h - the file of a report: it replaces nothing but an earlier report. */
#pragma once

#include "engine/base/error.h"

#include <stddef.h>
#include <stdio.h>

/* Whether a report may be written there; "-" is standard output. */
enum status report_file_check(const char *path, struct error *err) CHECK_RESULT;
/* A page that is written to memory first: a later error cannot leave half of it behind, and the
 * cause of a failed write is known. */
struct report_file {
  FILE *page;
  char *text;
  size_t length;
};
void report_file_begin(struct report_file *file);
/* Writes it to that path if the status is STATUS_OK; else returns that. */
enum status report_file_end(struct report_file *file, const char *path, enum status status,
                            struct error *err) CHECK_RESULT;
