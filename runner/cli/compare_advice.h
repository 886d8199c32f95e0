/* compare_advice.h - what would decide an undecided comparison, as commands to type. */
#pragma once

#include "runner/analysis/compare_runs.h"
#include "runner/console/console.h"

/* A note on stderr: how many more processes each side needs, and the commands that measure them,
 * of what can be measured again. Nothing when no case is undecided for want of processes. */
void compare_advise(const struct common_options *common, struct database *database,
                    struct compare_request *request, const struct compare_result *result);
