#include "runner/supervise/eta.h"

void eta_add(struct eta *eta, uint64_t estimate_ns) {
  eta->estimated_left_ns += estimate_ns;
}

void eta_finish(struct eta *eta, uint64_t estimate_ns, uint64_t observed_ns) {
  eta->estimated_left_ns -= estimate_ns;
  eta->estimated_done_ns += estimate_ns;
  eta->observed_done_ns += observed_ns;
}

uint64_t eta_left_ns(const struct eta *eta, uint64_t running_ns) {
  double ratio = 1;
  if (eta->estimated_done_ns > 0) {
    ratio = (double)eta->observed_done_ns / (double)eta->estimated_done_ns;
  }
  double left_ns = ratio * (double)eta->estimated_left_ns - (double)running_ns;
  return left_ns > 0 ? (uint64_t)left_ns : 0;
}
