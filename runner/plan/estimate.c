#include "runner/plan/estimate.h"

#include "runner/plan/bound.h"

#include <math.h>

/* Overheads of one trial, in ns: enqueueing behind a gate and reading the events, or waking host
 * threads. */
#define TRIAL_OVERHEAD_NS 60000.0
/* One copy of no bytes, in ns. */
#define GPU_COPY_OVERHEAD_NS  2000.0
#define HOST_COPY_OVERHEAD_NS 50.0
/* A case besides its bytes: streams, events, messages, a transaction. */
#define CASE_OVERHEAD_NS 2e6
/* A copy reaches this share of the bound. */
#define TYPICAL_SHARE 0.85
/* Bytes a second of one pass over a buffer: writing the pattern, poisoning, comparing, flushing. */
#define HOST_PASS_RATE  5e9
#define GPU_PASS_RATE   4e11
#define HOST_FLUSH_RATE 1e10
#define GPU_FLUSH_NS    1e5
/* Allocating: 182 ms for 512 MiB of pinned memory. Device memory costs little. */
#define HOST_ALLOCATION_RATE 3e9
#define GPU_ALLOCATION_NS    1e6
/* Repeats behind one gate: more would fill the hardware queue. */
#define ITERATIONS_MAX 128.0
/* A dependent load: 0.8 us from another GPU, 1.2 us from the host. */
#define CHASE_HOP_NS         1000.0
#define CHASE_ITERATIONS_MAX 4096.0
#define SPREAD_GPU           0.003
#define SPREAD_HOST          0.02

static bool is_on_host_clock(const struct flow *flow) {
  return flow->method == METHOD_CPU ||
         (flow->source.place == PLACE_NUMA && flow->target.place == PLACE_NUMA);
}

/* Trials until the 95 % interval of the median is within precision: its half-width is about
 * 1.96 x 1.2533 x cv / sqrt(n), the median's asymptotic standard error for normal values. */
static double trials_to_settle(const struct measure *measure, double spread) {
  double trials = measure->trials_max;
  if (measure->precision > 0) {
    const double ratio = 1.96 * 1.2533 * spread / measure->precision;
    trials = ratio * ratio;
  }
  trials = trials > measure->trials_max ? measure->trials_max : trials;
  return trials < measure->trials_min ? measure->trials_min : trials;
}

/* What a case costs besides the work itself, ns. */
struct costs {
  double work_ns;        /* one iteration */
  double iterations_max; /* INFINITY: as many as fill a trial */
  double fill_ns;        /* once, before the first trial */
  double check_ns;       /* a verification */
  double flush_ns;       /* before a trial */
  bool host_clock;
};

static double iterations_of(const struct measure *measure, const struct costs *costs) {
  if (measure->iterations > 0) {
    return measure->iterations;
  }
  const double wanted = (double)measure->min_trial_ns / costs->work_ns;
  if (wanted <= 1) {
    return 1;
  }
  return wanted > costs->iterations_max ? costs->iterations_max : wanted;
}

static double pass_ns(const struct endpoint *endpoint, uint64_t size_bytes) {
  return (double)size_bytes * 1e9 / (endpoint->place == PLACE_GPU ? GPU_PASS_RATE : HOST_PASS_RATE);
}

static struct costs costs_of_flows(const struct bench_case *bench, const struct machine *machine) {
  const struct measure *measure = &bench->measure;
  struct costs costs = {0};
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
    costs.host_clock = costs.host_clock || is_on_host_clock(flow);
    costs.fill_ns += pass_ns(&flow->source, flow->size_bytes);
    costs.check_ns += 2 * pass_ns(&flow->target, flow->size_bytes); /* poison, compare */
    if (measure->host_cache == CACHE_FLUSHED) {
      const double buffers = (flow->source.place == PLACE_NUMA ? 1.0 : 0.0) +
                             (flow->target.place == PLACE_NUMA ? 1.0 : 0.0);
      costs.flush_ns += buffers * (double)flow->size_bytes * 1e9 / HOST_FLUSH_RATE;
    }
  }
  costs.iterations_max = costs.host_clock ? INFINITY : ITERATIONS_MAX;
  costs.flush_ns += measure->device_cache == CACHE_FLUSHED ? GPU_FLUSH_NS : 0;
  costs.work_ns = bound_typical_ns(bench->flows, bench->flow_count, machine) / TYPICAL_SHARE + 2000;
  return costs;
}

static struct costs costs_of_chase(const struct chase *chase) {
  return (struct costs){
      .work_ns = (double)chase->hops * CHASE_HOP_NS,
      .iterations_max = CHASE_ITERATIONS_MAX,
      .fill_ns = pass_ns(&(struct endpoint){.place = PLACE_NUMA}, chase->footprint_bytes)};
}

void estimate_case(const struct bench_case *bench, const struct machine *machine,
                   struct estimate *estimate) {
  const struct measure *measure = &bench->measure;
  const struct costs costs =
      bench->kind == CASE_CHASE ? costs_of_chase(&bench->chase) : costs_of_flows(bench, machine);
  const double timed_ns = costs.work_ns * iterations_of(measure, &costs);
  const double trial_ns = timed_ns + TRIAL_OVERHEAD_NS + costs.flush_ns +
                          (measure->verify == VERIFY_EVERY ? costs.check_ns : 0);
  const double usual = trials_to_settle(measure, costs.host_clock ? SPREAD_HOST : SPREAD_GPU);
  const double least_ns = trial_ns * measure->trials_min;
  const double time_limit_ns =
      (double)measure->max_time_ns > least_ns ? (double)measure->max_time_ns : least_ns;
  double usual_ns = usual * trial_ns;
  usual_ns = usual_ns > time_limit_ns ? time_limit_ns : usual_ns;
  double longest_ns = measure->trials_max * trial_ns;
  longest_ns = longest_ns > time_limit_ns ? time_limit_ns : longest_ns;

  double other_ns = CASE_OVERHEAD_NS + costs.fill_ns + measure->warmup * trial_ns;
  other_ns += measure->verify == VERIFY_ONCE ? costs.check_ns : 0;
  estimate->usual_ns = (uint64_t)(usual_ns + other_ns);
  estimate->longest_ns = (uint64_t)(longest_ns + other_ns);
}

static uint64_t hold(struct estimate_pool *pool, const struct endpoint *endpoint,
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
  return (uint64_t)((double)size_bytes * 1e9 / HOST_ALLOCATION_RATE);
}

uint64_t estimate_allocation(struct estimate_pool *pool, const struct bench_case *bench) {
  uint64_t total_ns = 0;
  if (bench->kind == CASE_CHASE) {
    return hold(pool, &bench->chase.memory, bench->chase.footprint_bytes);
  }
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    total_ns += hold(pool, &bench->flows[i].source, bench->flows[i].size_bytes);
    total_ns += hold(pool, &bench->flows[i].target, bench->flows[i].size_bytes);
  }
  return total_ns;
}

uint64_t estimate_process_start(const struct machine *machine) {
  return UINT64_C(20000000) + machine->gpu_count * UINT64_C(250000000);
}
