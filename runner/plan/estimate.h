/* estimate.h - how long a case takes, before it is measured.
 *
 * From the least window of its bytes (bound.h) and the settings of [measure]: repeats in a trial so
 * that it lasts min_trial; trials until the interval of the median is within precision, for the
 * spread that is usual (0.3 % on a GPU's clock, 2 % on the host's); cache flushes; pattern, poison
 * and comparison of verification; allocation of buffers that the pool does not hold yet. Meant to
 * be within a factor of two on a machine that is not slow for its kind. */
#ifndef HAUL_RUNNER_PLAN_ESTIMATE_H
#define HAUL_RUNNER_PLAN_ESTIMATE_H

#include "engine/case/case.h"
#include "engine/machine/machine.h"

struct estimate {
  uint64_t usual_ns;   /* wall time, buffers there already */
  uint64_t longest_ns; /* wall time when it never settles: every trial, or max_time */
};

void estimate_case(const struct bench_case *bench, const struct machine *machine,
                   struct estimate *estimate);

/* What the pool holds while cases go by. */
enum { ESTIMATE_ENDPOINTS_MAX = 1024 };
struct estimate_pool {
  size_t count;
  struct {
    struct endpoint endpoint;
    uint64_t size_bytes;
  } held[ESTIMATE_ENDPOINTS_MAX];
};
/* Time to allocate what this case needs beyond what is held; then it is held. */
uint64_t estimate_allocation(struct estimate_pool *pool, const struct bench_case *bench);
/* Starting a worker with that machine's GPUs: contexts, kernels. */
uint64_t estimate_process_start(const struct machine *machine);

#endif
