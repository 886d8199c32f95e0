#include "runner/plan/estimate.h"

#include "engine/machine/machine.h"
#include "runner/plan/kind.h"

#include <math.h>

/* Overheads of one trial, in ns: enqueueing behind a gate and reading the events, or waking host
 * threads. */
#define TRIAL_OVERHEAD_NS 60000.0
/* A case besides its bytes, in ns: streams, events, messages, a transaction. */
#define CASE_OVERHEAD_NS 2e6
/* Bytes per second of one pass over a buffer by those who are next to it: writing the pattern,
 * poisoning, comparing. */
#define HOST_PASS_RATE    5e9
#define GPU_PASS_RATE     2e12
#define GPU_ALLOCATION_NS 1e6
/* Managed memory is not pinned, only touched: bytes per second. */
#define MANAGED_ALLOCATION_RATE 6e9
/* Spread of the trials, relative: nvbandwidth on H200s has 0.01 to 0.1 % of copies by GPUs, and 0.2
 * to 0.3 % of latencies. */
#define SPREAD_GPU     0.001
#define SPREAD_LATENCY 0.003
#define SPREAD_HOST    0.02
/* The iterations that fill a trial, and some more. */
#define CALIBRATION_MARGIN 1.05
/* Of a kernel that copies: its accesses, and how long one of them is under way with nobody else's,
 * in ns; threads of a block, and blocks of an SM. What a copy engine has under way, in bytes. */
#define ACCESS_BYTES     16.0
#define ACCESS_NS        500.0
#define USUAL_BLOCK      512.0
#define BLOCKS_PER_SM    2.0
#define ENGINE_IN_FLIGHT 65536.0
/* A trial beside loads is repeated, with twice as much of them, until they outlast it. */
#define LOAD_ROUNDS 3
/* A worker: its start and a look at each GPU; a context and kernels where one is used. */
#define START_NS         1e8
#define START_GPU_NS     2.5e8
#define START_CONTEXT_NS 1.25e8

/* Trials until the 95 % interval of the median is within precision: its half-width is about
 * 1.96 x 1.2533 x cv / sqrt(n), the median's asymptotic standard error for normal values. */
static double estimate_trials_to_precision(const struct measure *measure, double spread) {
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
  return wanted <= 1 ? 1 : fmin(ceil(CALIBRATION_MARGIN * wanted), cost->iterations_max);
}

double estimate_pass_ns(enum place place, uint64_t size_bytes) {
  return (double)size_bytes * 1e9 / (place == PLACE_GPU ? GPU_PASS_RATE : HOST_PASS_RATE);
}

double estimate_in_flight(const struct flow *flow, const struct machine *machine) {
  const struct kernel_shape *shape = &flow->kernel;
  if (flow->method != METHOD_SM) {
    return ENGINE_IN_FLIGHT;
  }
  const int32_t gpu = flow->source.place == PLACE_GPU   ? flow->source.index
                      : flow->target.place == PLACE_GPU ? flow->target.index
                                                        : 0;
  const double blocks =
      shape->grid > 0 ? shape->grid : fmax(1, machine->gpus[gpu].sm_count * BLOCKS_PER_SM);
  return blocks * (shape->block > 0 ? shape->block : USUAL_BLOCK) * ACCESS_BYTES;
}

/* One round of the loads: as the links and their own threads let them. */
static double estimate_loads_ns(const struct case_def *def, const struct machine *machine) {
  double loads_ns = bound_typical_ns(def->flows, def->flow_count, machine) / ESTIMATE_TYPICAL_SHARE;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    const double rounds = (double)flow_bytes(flow) / estimate_in_flight(flow, machine);
    loads_ns = fmax(loads_ns, flow->method == METHOD_SM ? rounds * ACCESS_NS : 0);
  }
  return loads_ns;
}

void estimate_case(const struct case_def *def, const struct machine *machine,
                   struct estimate *estimate) {
  const struct measure *measure = &def->measure;
  struct cost cost = {0};
  plan_kinds[def->kind]->cost(def, machine, &cost);
  const bool loaded = !case_kind_is_of_flows(def->kind) && def->flow_count > 0;
  double timed_ns = cost.work_ns * estimate_iterations_of(measure, &cost);
  timed_ns = loaded ? fmax(timed_ns, estimate_loads_ns(def, machine)) : timed_ns;
  const double trial_ns = timed_ns * fmax(cost.turns, 1) + TRIAL_OVERHEAD_NS + cost.flush_ns +
                          (measure->verify == VERIFY_EVERY ? cost.check_ns : 0);
  const double spread = cost.host_spread          ? SPREAD_HOST
                        : def->kind == CASE_CHASE ? SPREAD_LATENCY
                                                  : SPREAD_GPU;
  const double usual =
      measure->min_time_ns > 0 && timed_ns > 0
          ? fmin(fmax(measure->trials_min, (double)measure->min_time_ns / timed_ns),
                 measure->trials_max)
          : estimate_trials_to_precision(measure, spread);
  const double time_limit_ns = fmax((double)measure->max_time_ns, trial_ns * measure->trials_min);
  const double usual_ns = fmin(usual * trial_ns, time_limit_ns);
  const double longest_ns = fmin(measure->trials_max * trial_ns, time_limit_ns);

  double other_ns =
      CASE_OVERHEAD_NS + cost.fill_ns + (measure->warmup + (loaded ? LOAD_ROUNDS : 0)) * trial_ns;
  other_ns += measure->verify == VERIFY_ONCE ? cost.check_ns : 0;
  estimate->usual_ns = (uint64_t)(usual_ns + other_ns);
  estimate->longest_ns = (uint64_t)(longest_ns + other_ns);
}

/* The pool's entry of that memory; NULL: it is full. */
static struct estimate_memory *estimate_find(struct estimate_pool *pool,
                                             const struct endpoint *endpoint) {
  const size_t i = FIRST_OF(h, pool->count,
                            pool->held[h].endpoint.place == endpoint->place &&
                                pool->held[h].endpoint.index == endpoint->index &&
                                pool->held[h].endpoint.memory == endpoint->memory);
  if (i == ESTIMATE_ENDPOINTS_MAX) {
    return NULL;
  }
  if (i == pool->count) {
    pool->held[pool->count++] = (struct estimate_memory){.endpoint = *endpoint};
  }
  return &pool->held[i];
}

static double estimate_allocate_ns(const struct estimate_memory *memory) {
  if (memory->endpoint.place == PLACE_GPU) {
    return GPU_ALLOCATION_NS;
  }
  return (double)memory->case_bytes * 1e9 /
         (memory->endpoint.memory == MEMORY_MANAGED ? MANAGED_ALLOCATION_RATE
                                                    : ESTIMATE_HOST_ALLOCATION_RATE);
}

uint64_t estimate_allocation(struct estimate_pool *pool, const struct case_def *def) {
  struct endpoint endpoint;
  uint64_t size_bytes = 0;
  double total_ns = 0;
  for (uint32_t i = 0; plan_case_memory(def, i, &endpoint, &size_bytes); i++) {
    struct estimate_memory *memory = size_bytes > 0 ? estimate_find(pool, &endpoint) : NULL;
    if (memory != NULL) {
      memory->case_bytes += size_bytes;
    }
  }
  for (size_t i = 0; i < pool->count; i++) {
    struct estimate_memory *memory = &pool->held[i];
    if (memory->case_bytes > memory->held_bytes) {
      total_ns += estimate_allocate_ns(memory);
      memory->held_bytes = memory->case_bytes;
    }
    memory->case_bytes = 0;
  }
  return (uint64_t)total_ns;
}

uint64_t estimate_process_start(const struct machine *machine, uint32_t gpus) {
  return (uint64_t)(START_NS + machine->gpu_count * START_GPU_NS +
                    __builtin_popcount(gpus) * START_CONTEXT_NS);
}
