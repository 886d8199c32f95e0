/* check_expected.h - haul check --expect: runs beside what their machine should reach, and the exit
 * code. */
#pragma once

#include "runner/cli/options.h"

/* Of the words of the command, or of latest. strict: EXIT_UNDECIDED where a case is too noisy to
 * tell. STATUS_UNSUPPORTED: nothing is known of the machine. */
enum status check_expected_run(struct command *command, bool strict,
                               struct error *err) CHECK_RESULT;

/* The columns of its rows. */
void check_expected_describe_json(struct json_shape *shape);
