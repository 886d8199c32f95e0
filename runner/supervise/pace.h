/* pace.h - how long a run still takes: the plan's estimates, corrected by how the cases measured so
 * far compared with theirs. */
#ifndef HAUL_RUNNER_SUPERVISE_PACE_H
#define HAUL_RUNNER_SUPERVISE_PACE_H

#include <stdint.h>

struct pace {
  uint64_t estimated_left_ns; /* of the cases that did not end yet */
  uint64_t estimated_done_ns;
  uint64_t observed_done_ns;
};

void pace_add(struct pace *pace, uint64_t estimate_ns);
/* A case that was added has ended. */
void pace_finish(struct pace *pace, uint64_t estimate_ns, uint64_t observed_ns);
/* running_ns: how long the case that is being measured has run; 0 = none is. */
uint64_t pace_left_ns(const struct pace *pace, uint64_t running_ns);

#endif
