/* plan_power.h - haul plan --detect: how many runs find a change, and how long they take. */
#ifndef HAUL_RUNNER_CLI_PLAN_POWER_H
#define HAUL_RUNNER_CLI_PLAN_POWER_H

#include "runner/cli/options.h"

#define PLAN_POWER_OPTIONS                                                                         \
  {"detect", "PERCENT",                                                                            \
   "instead of the plan: how many runs find a change of that size in 80 % of the cases, and how "  \
   "long they take",                                                                               \
   option_take_detect, .needs = "a percentage above 0 and below 100, such as 1"},                  \
  {                                                                                                \
    "compare", "A", "with --detect: the runs of side A, which say how cases spread here",          \
        OPTION_TEXT(against)                                                                       \
  }
option_take option_take_detect;

/* Prints a row per number of processes, cheapest first. */
enum status plan_power_show(struct command *command, struct error *err) CHECK_RESULT;

#endif
