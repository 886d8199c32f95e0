/* baseline.h - runs that others are compared with, under a name: "baseline:NAME" in selector.h. */
#ifndef HAUL_RUNNER_RECORD_BASELINE_H
#define HAUL_RUNNER_RECORD_BASELINE_H

#include "runner/record/selector.h"

/* Give a name to runs, in place of those that had it. *replaced: it had some. The database is open
 * for writing. */
enum status baseline_set(struct database *database, const char *name, const struct run_list *runs,
                         bool *replaced, struct error *err) CHECK_RESULT;
/* STATUS_NOT_FOUND with the names there are. */
enum status baseline_remove(struct database *database, const char *name,
                            struct error *err) CHECK_RESULT;

#endif
