/* result.h - what a run measured, read back from the database and shown. */
#ifndef HAUL_RUNNER_CLI_RESULT_H
#define HAUL_RUNNER_CLI_RESULT_H

#include "runner/cli/measuring.h"

/* The run's table to request->result; then, for people, what was skipped and why, and where it all
 * is. Returns the exit code. */
int result_show(const struct run_request *request, const struct plan *plan, const char *uuid);

#endif
