/* preflight.h - a scenario's [checks] against the machine: evaluated before the run, and those on
 * telemetry after it. */
#ifndef HAUL_RUNNER_RUN_PREFLIGHT_H
#define HAUL_RUNNER_RUN_PREFLIGHT_H

#include "runner/console/console.h"
#include "schema/scenario/scenario.h"

struct preflight {
  struct check_result *results; /* owned */
  size_t count;
  /* The first check that skips or aborts the run, failed or without an answer, as text; "" = none
   * does. */
  char skip_reason[CASE_REASON_MAX];
  char abort_reason[CASE_REASON_MAX];
};

/* Evaluate the checks; warnings go to stderr. extents NULL: before the run, those that need no
 * telemetry. Else one per GPU, after the run, the rest: it is too late to skip or abort, so such
 * failures are warnings too. */
void preflight_check(struct preflight *preflight, const struct common_options *common,
                     const struct scenario *scenario, const struct machine *machine,
                     const struct telemetry_extent *extents);
void preflight_fini(struct preflight *preflight);

#endif
