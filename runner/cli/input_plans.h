/* input_plans.h - the plans of the scenarios that a command line names, for run and plan. --only
 * and --test both end as a list of globs (engine/base/globs.h) in request.filter.only, which a run
 * records. */
#pragma once

#include "runner/cli/options.h"
#include "runner/plan/plan.h"

/* "-t 0 -t device_local_copy", "-t 0,1", "-t 0 1": tests of nvbandwidth. */
option_take option_take_test;
#define INPUT_OPTION_TEST                                                                          \
  {"test", "NAME",                                                                                 \
   "only that test of nvbandwidth, by its name or its number in nvbandwidth -l; not with --only",  \
   .take = option_take_test, .letter = 't'},                                                       \
  {                                                                                                \
    "testcase", "NAME", NULL, .take = option_take_test                                             \
  }

/* Plan the i-th scenario of the inputs for command->target. Where several are read and this one has
 * nothing that --only selects, that is said, and *plan is NULL. At the last one globs that selected
 * nothing anywhere are said; STATUS_INVALID: no glob did. */
enum status input_plan_new(struct command *command, size_t i, struct plan **plan,
                           struct error *err) CHECK_RESULT;

/* Of the i-th scenario every case is skipped, for that reason. */
void input_plan_note_nothing(struct command *command, size_t i, const char *reason);
/* After the last scenario: say which had nothing to measure beside others, and why. The exit code
 * is EXIT_NOT_MEASURED where none had anything. */
void input_plans_end(struct command *command);

/* Plan and show each scenario of the inputs for command->target. */
enum status input_plans_show(struct command *command, struct error *err) CHECK_RESULT;
