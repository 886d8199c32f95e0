/* latest.h - the latest result of every case: what a machine does now. */
#ifndef HAUL_RUNNER_ANALYSE_LATEST_H
#define HAUL_RUNNER_ANALYSE_LATEST_H

#include "runner/record/measured.h"

/* One host, scenario and name of a case: the run that started last and did not skip it. */
struct latest_case {
  size_t run, bench;   /* in measured */
  unsigned processes;  /* whose result is ok */
  unsigned went_wrong; /* failed, crashed, hung or corrupt */
  double ns;           /* median of the processes' medians; NAN = none is ok */
};

/* Owned by the arena, in the order of hosts, scenarios and names. Real and simulated results are
 * apart. */
struct latest_case *latest_cases(const struct measured *measured, struct arena *arena,
                                 size_t *count);

#endif
