/* filter.h - which runs and cases a question is asked of: what --only and --where say. */
#pragma once

#include "runner/record/results.h"

/* --where FACT=VALUE */
struct where {
  const char *fact, *pattern; /* pattern: a glob, as of a shell, or several with commas between */
};

struct filter {
  const char *only; /* globs of case and block names, or case_keys; NULL = all cases */
  struct where *wheres;
  size_t where_count;
  bool latest_of_each; /* only the latest run of each host and scenario (and its own --only) */
  struct arena arena;
};

void filter_fini(struct filter *filter);

/* Add the runs of the selectors (none: all runs), and keep those that every --where matches.
 * results_run.selector says which selector named a run (the first that does). STATUS_NOT_FOUND
 * when no run is left. */
enum status filter_runs(struct filter *filter, struct database *database, struct results *results,
                        const char *const *selectors, size_t selector_count,
                        struct error *err) CHECK_RESULT;
/* STATUS_NOT_FOUND with the nearest name when no run has such a fact. */
enum status filter_check_fact(struct results *results, const char *fact,
                              struct error *err) CHECK_RESULT;
