/* looking_back.h - what history and outliers have in common: open the database, pick runs, load
 * what was measured, show it, close. */
#ifndef HAUL_RUNNER_CLI_LOOKING_BACK_H
#define HAUL_RUNNER_CLI_LOOKING_BACK_H

#include "runner/cli/selecting.h"

/* The first member of the options of such a verb. */
struct looking_back {
  struct common_options common;
  struct selecting selecting;
  const char *const *selectors; /* runs; none = all */
  size_t selector_count;
};

/* options: what begins with struct looking_back. */
typedef enum status show_measured(const struct looking_back *options, struct measured *measured,
                                  struct error *err);

/* Returns the exit code; says what went wrong. Ends options->selecting. */
int look_back(struct looking_back *options, show_measured *show);

#endif
