#include "runner/plan/kind.h"

#include <math.h>

/* Overheads of one trial, in ns: enqueueing behind a gate and reading the events, or waking host
 * threads. */
#define TRIAL_OVERHEAD_NS 60000.0
/* A case besides its bytes, in ns: streams, events, messages, a transaction. */
#define CASE_OVERHEAD_NS 2e6
/* Bytes per second of one pass over a buffer: writing the pattern, poisoning, comparing. */
#define HOST_PASS_RATE    5e9
#define GPU_PASS_RATE     4e11
#define GPU_ALLOCATION_NS 1e6
/* Spread of the trials, relative. */
#define SPREAD_GPU  0.003
#define SPREAD_HOST 0.02

/* Trials until the 95 % interval of the median is within precision: its half-width is about
 * 1.96 x 1.2533 x cv / sqrt(n), the median's asymptotic standard error for normal values. */
static double estimate_trials_to_settle(const struct measure *measure, double spread) {
  double trials = measure->trials_max;
  if (measure->precision > 0) {
    const double ratio = 1.96 * 1.2533 * spread / measure->precision;
    trials = ratio * ratio;
  }
  return fmax(fmin(trials, measure->trials_max), measure->trials_min);
}

static double estimate_iterations_of(const struct measure *measure, const struct cost *cost) {
  if (measure->iterations > 0) {
    return measure->iterations;
  }
  const double wanted = (double)measure->min_trial_ns / cost->work_ns;
  return fmin(fmax(wanted, 1), cost->iterations_max);
}

double estimate_pass_ns(enum place place, uint64_t size_bytes) {
  return (double)size_bytes * 1e9 / (place == PLACE_GPU ? GPU_PASS_RATE : HOST_PASS_RATE);
}

void estimate_case(const struct bench_case *bench, const struct machine *machine,
                   struct estimate *estimate) {
  const struct measure *measure = &bench->measure;
  struct cost cost = {0};
  plan_kinds[bench->kind]->cost(bench, machine, &cost);
  if (bench->kind != CASE_TRANSFER && bench->flow_count > 0) { /* loads, which outlast the work */
    const double loads_ns =
        bound_typical_ns(bench->flows, bench->flow_count, machine) / ESTIMATE_TYPICAL_SHARE;
    cost.work_ns = fmax(cost.work_ns, 2 * loads_ns);
  }
  const double timed_ns = cost.work_ns * estimate_iterations_of(measure, &cost);
  const double trial_ns = timed_ns + TRIAL_OVERHEAD_NS + cost.flush_ns +
                          (measure->verify == VERIFY_EVERY ? cost.check_ns : 0);
  const double usual =
      estimate_trials_to_settle(measure, cost.host_spread ? SPREAD_HOST : SPREAD_GPU);
  const double time_limit_ns = fmax((double)measure->max_time_ns, trial_ns * measure->trials_min);
  const double usual_ns = fmin(usual * trial_ns, time_limit_ns);
  const double longest_ns = fmin(measure->trials_max * trial_ns, time_limit_ns);

  double other_ns = CASE_OVERHEAD_NS + cost.fill_ns + measure->warmup * trial_ns;
  other_ns += measure->verify == VERIFY_ONCE ? cost.check_ns : 0;
  estimate->usual_ns = (uint64_t)(usual_ns + other_ns);
  estimate->longest_ns = (uint64_t)(longest_ns + other_ns);
}

static uint64_t estimate_hold(struct estimate_pool *pool, const struct endpoint *endpoint,
                              uint64_t size_bytes) {
  size_t i = 0;
  while (i < pool->count && (pool->held[i].endpoint.place != endpoint->place ||
                             pool->held[i].endpoint.index != endpoint->index ||
                             pool->held[i].endpoint.memory != endpoint->memory)) {
    i++;
  }
  if (i == ESTIMATE_ENDPOINTS_MAX) {
    return 0;
  }
  if (i == pool->count) {
    pool->held[pool->count++].endpoint = *endpoint;
    pool->held[i].size_bytes = 0;
  }
  if (pool->held[i].size_bytes >= size_bytes) {
    return 0;
  }
  pool->held[i].size_bytes = size_bytes;
  if (endpoint->place == PLACE_GPU) {
    return (uint64_t)GPU_ALLOCATION_NS;
  }
  return (uint64_t)((double)size_bytes * 1e9 / ESTIMATE_HOST_ALLOCATION_RATE);
}

uint64_t estimate_allocation(struct estimate_pool *pool, const struct bench_case *bench) {
  struct endpoint endpoint;
  uint64_t size_bytes = 0;
  uint64_t total_ns = 0;
  for (uint32_t i = 0; plan_case_memory(bench, i, &endpoint, &size_bytes); i++) {
    total_ns += size_bytes > 0 ? estimate_hold(pool, &endpoint, size_bytes) : 0;
  }
  return total_ns;
}

uint64_t estimate_process_start(const struct machine *machine) {
  return UINT64_C(20000000) + machine->gpu_count * UINT64_C(250000000);
}
