/* trial_times.h - what one execution of the flows of a case took. */
#ifndef HAUL_ENGINE_TRIAL_TIMES_H
#define HAUL_ENGINE_TRIAL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct flow_times {
  uint64_t start_ns;   /* after the window's start; UINT64_MAX: on another GPU's clock, not known */
  uint64_t elapsed_ns; /* 0 = a load flow: not timed */
};

struct trial_times {
  uint64_t window_ns;       /* first measured flow's start to last one's end */
  uint64_t cycles;          /* of the SM, where a kernel times itself; else 0 */
  bool gate_timed_out;      /* the gate opened by itself: the times mean nothing */
  bool load_outlasted;      /* every load flow was still running when the window had closed */
  struct flow_times *flows; /* one a flow of the case; owned by what filled it in */
};

#endif
