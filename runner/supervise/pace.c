#include "runner/supervise/pace.h"

void pace_add(struct pace *pace, uint64_t estimate_ns) {
  pace->estimated_left_ns += estimate_ns;
}

void pace_finish(struct pace *pace, uint64_t estimate_ns, uint64_t observed_ns) {
  pace->estimated_left_ns -= estimate_ns;
  pace->estimated_done_ns += estimate_ns;
  pace->observed_done_ns += observed_ns;
}

uint64_t pace_left_ns(const struct pace *pace, uint64_t running_ns) {
  double ratio = 1;
  if (pace->estimated_done_ns > 0) {
    ratio = (double)pace->observed_done_ns / (double)pace->estimated_done_ns;
  }
  double left_ns = ratio * (double)pace->estimated_left_ns - (double)running_ns;
  return left_ns > 0 ? (uint64_t)left_ns : 0;
}
