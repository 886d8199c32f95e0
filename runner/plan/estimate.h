/* estimate.h - how long a case takes, before it is measured.
 *
 * From the least window of its bytes (bound.h) and the settings of [measure]: repeats in a trial so
 * that it lasts min_trial; trials until the interval of the median is within precision, for the
 * spread that is usual (0.1 % of what GPUs do alone, 0.3 % of latencies, 2 % where processors or
 * the driver's paging have a part in it); cache flushes; pattern, poison and comparison of
 * verification; allocation of buffers that the pool does not hold yet. Meant to be within a factor
 * of two on a machine that is not slow for its kind; figures without another source are of H200s
 * under driver 580, of which tests/runner/plan/test_scenario.c has runs. */
#pragma once

#include "engine/case/case.h"

struct machine;

/* One copy or kernel behind a gate besides its bytes, in ns, and the most of them: more would fill
 * the hardware queue. */
#define ESTIMATE_GPU_ITERATION_NS     2000.0
#define ESTIMATE_GATED_ITERATIONS_MAX 128.0
/* The share of the bound that is usual. */
#define ESTIMATE_TYPICAL_SHARE 0.85
/* Flushing caches: bytes per second on the host, ns on a GPU. */
#define ESTIMATE_HOST_FLUSH_RATE 1e10
#define ESTIMATE_GPU_FLUSH_NS    1e5
/* Allocating, bytes per second: 182 ms for 512 MiB of pinned memory. Device memory costs little.
 * Pages of other host memory are touched for the first time as fast. */
#define ESTIMATE_HOST_ALLOCATION_RATE 3e9
/* One pass of a GPU over the host's memory, bytes per second. */
#define ESTIMATE_LINK_PASS_RATE 5e10

/* What a case costs, in ns; filled in by its kind (kind.h). */
struct cost {
  double work_ns;        /* one iteration */
  double iterations_max; /* INFINITY: as many as fill a trial */
  double fill_ns;        /* once, before the first trial */
  double check_ns;       /* a verification */
  double flush_ns;       /* before a trial */
  double turns;          /* a trial's time is the mean of so many turns; 0 = one */
  bool host_spread;      /* processors, or the driver's paging, have a part in it */
};

struct estimate {
  uint64_t usual_ns;   /* wall time, buffers there already */
  uint64_t longest_ns; /* wall time without its precision: every trial, or max_time */
};

void estimate_case(const struct case_def *def, const struct machine *machine,
                   struct estimate *estimate);

/* One pass over a buffer there, in ns. */
double estimate_pass_ns(enum place place, uint64_t size_bytes);
/* Bytes that a load has under way, about: others on its way wait behind them. */
double estimate_in_flight(const struct flow *flow, const struct machine *machine);

/* What the pool holds while cases go by. */
enum { ESTIMATE_ENDPOINTS_MAX = 1024 };
struct estimate_memory {
  struct endpoint endpoint;
  uint64_t held_bytes;
  uint64_t case_bytes; /* of all buffers that the case at hand has there at once */
};
struct estimate_pool {
  size_t count;
  struct estimate_memory held[ESTIMATE_ENDPOINTS_MAX];
};
/* Time to allocate what this case needs beyond what is held; then it is held. */
uint64_t estimate_allocation(struct estimate_pool *pool, const struct case_def *def);
/* Starting a worker on that machine, whose cases use these GPUs (bit i: GPU i): contexts, kernels.
 */
uint64_t estimate_process_start(const struct machine *machine, uint32_t gpus);
