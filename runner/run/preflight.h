/* preflight.h - a scenario's [checks] against the machine: evaluated before the run, and after it
 * those on telemetry and those whose answer may have changed. */
#pragma once

#include "engine/case/case.h"
#include "runner/console/console.h"
#include "schema/scenario/scenario.h"

struct machine;
struct telemetry_extent;

struct preflight {
  const struct common_options *common; /* of the messages */
  struct check_result *results;        /* owned */
  size_t count;
  /* The first check that skips or aborts the run, failed or without an answer, as text; "" = none
   * does. */
  char skip_reason[CASE_REASON_MAX];
  char abort_reason[CASE_REASON_MAX];
};

/* Evaluate the checks that need no telemetry; warnings go to stderr. */
void preflight_check(struct preflight *preflight, const struct common_options *common,
                     const struct scenario *scenario, const struct machine *machine);
/* After the run: the checks on telemetry, from one extent per GPU, and those of the host whose
 * answer is another one than before. now: the host as it is after the run. It is too late to skip
 * or abort, so such failures are warnings too. */
void preflight_check_late(struct preflight *preflight, const struct common_options *common,
                          const struct scenario *scenario, const struct machine *machine,
                          const struct telemetry_extent *extents, const struct machine *now);
void preflight_fini(struct preflight *preflight);
