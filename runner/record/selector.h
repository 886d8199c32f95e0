/* selector.h - which run is meant.
 *
 *   run:ID      the run with that number, or whose UUID begins so (also without "run:")
 *   tag:NAME    the latest run with that tag
 *   driver:V    the latest run under that driver version or branch ("580.65.06", "r580")
 *   latest      the run that started last
 *   previous    the one before it
 */
#ifndef HAUL_RUNNER_RECORD_SELECTOR_H
#define HAUL_RUNNER_RECORD_SELECTOR_H

#include "runner/record/database.h"

enum { RUN_UUID_MAX = 33 };

struct run_ref {
  int64_t id; /* run.id in this database */
  char uuid[RUN_UUID_MAX];
};

/* STATUS_NOT_FOUND: no such run; STATUS_INVALID: several, or no way to name a run. Both messages
 * list what there is. */
enum status selector_find(struct database *database, const char *selector, struct run_ref *run,
                          struct error *err) CHECK_RESULT;

#endif
