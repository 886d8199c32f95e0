/* plan_power.h - haul plan --detect: how many runs find a change, and how long they take. */
#pragma once

#include "runner/cli/options.h"

struct power_options {
  double detect; /* 0.01 = 1 %; 0 = not asked */
  const char *against;
};

#define PLAN_POWER_OPTIONS                                                                         \
  {"detect", "PERCENT",                                                                            \
   "instead of the plan: how many runs find a change of that size in 80 % of the cases, and how "  \
   "long they take",                                                                               \
   OPTION_PERCENT(struct power_options, detect)},                                                  \
  {                                                                                                \
    "compare", "A", "with --detect: take the spread of the cases from these runs: tag:before",     \
        OPTION_TEXT(struct power_options, against)                                                 \
  }

/* Prints a row per number of processes, cheapest first. */
enum status plan_power_show(struct command *command, struct error *err) CHECK_RESULT;
