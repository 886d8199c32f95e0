/* report_file.h - the file of a report: it replaces nothing but an earlier report. */
#ifndef HAUL_RUNNER_CLI_REPORT_FILE_H
#define HAUL_RUNNER_CLI_REPORT_FILE_H

#include "engine/base/error.h"

#include <stddef.h>

/* Whether a report may be written there; "-" is standard output. */
enum status report_file_check(const char *path, struct error *err) CHECK_RESULT;
/* The page is complete in memory: a later error cannot leave half of it behind, and the cause of a
 * failed write is known. */
enum status report_file_write(const char *output, const char *text, size_t length,
                              struct error *err) CHECK_RESULT;

#endif
