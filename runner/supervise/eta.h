/* eta.h - how long a run still takes: the estimates of the plan, corrected by how long the cases
 * measured so far took compared with theirs. */
#pragma once

#include <stdint.h>

struct eta {
  uint64_t estimated_left_ns; /* of the cases that did not end yet */
  uint64_t estimated_done_ns;
  uint64_t observed_done_ns;
};

void eta_add(struct eta *eta, uint64_t estimate_ns);
/* A case that was added has ended. */
void eta_finish(struct eta *eta, uint64_t estimate_ns, uint64_t observed_ns);
/* running_ns: how long the case that is being measured has run; 0 = none is. */
uint64_t eta_left_ns(const struct eta *eta, uint64_t running_ns);
