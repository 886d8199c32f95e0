/* missing_gpus.h - messages about GPUs that are there and cannot be used, and the exit code then.
 * probe_describe_loss() words the warning (runner/supervise/probe.h). */
#pragma once

#include "runner/cli/cli.h"
#include "runner/plan/plan.h"

/* Warn once of GPUs and a driver of this machine that cannot be used (probe_describe_loss()); never
 * of a machine in a file. */
void missing_gpus_warn(struct command *command);
/* Which GPUs cannot be used, in short, where command->gpus_missing. */
const char *missing_gpus_words(struct command *command);
/* The exit code of what a plan came to: EXIT_NOT_MEASURED, and an error, where the plan is for GPUs
 * and some cannot be used, however well the others did. */
int missing_gpus_code(struct command *command, const struct plan *plan, int code);
