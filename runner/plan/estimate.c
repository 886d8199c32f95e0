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
/* A dependent load: 0.8 us from another GPU, 1.2 us from the host; through the own memory by where
 * the footprint fits. */
#define CHASE_HOP_NS         1000.0
#define CHASE_DRAM_HOP_NS    500.0
#define CHASE_L2_HOP_NS      150.0
#define CHASE_L1_HOP_NS      20.0
#define CHASE_L1_BYTES       (UINT64_C(128) << 10)
#define CHASE_ITERATIONS_MAX 4096.0
/* A stream: accesses of a GPU's thread under way, memory's latency, blocks of an SM, the caches'
 * rate; of a node's threads and all of them together; an element of a sum, added on the host. */
#define STREAM_THREAD_BYTES   32.0
#define STREAM_LATENCY_NS     700.0
#define STREAM_BLOCK          256.0
#define STREAM_BLOCKS_PER_SM  32.0
#define STREAM_THREADS_PER_SM 2048.0
#define STREAM_CACHE_RATE     5e12
#define STREAM_THREAD_RATE    1e10
#define STREAM_NODE_RATE      1e11
#define STREAM_SUM_NS         2.0
/* Instructions: clocks of a dependent one, and so many a clock and SM. */
#define ARITHMETIC_CLOCKS    4.5
#define ARITHMETIC_PER_CLOCK 64.0
#define ARITHMETIC_GHZ       1.5
/* Calls of the driver. */
#define CALL_NS       3000.0
#define ALLOCATION_NS 100000.0
#define SPREAD_GPU    0.003
#define SPREAD_HOST   0.02

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

static double hop_ns(const struct chase *chase, const struct machine *machine) {
  switch (chase->space) {
  case CHASE_SHARED:
    return CHASE_L1_HOP_NS;
  case CHASE_GLOBAL:
    if (chase->footprint_bytes <= CHASE_L1_BYTES && chase->cache == CACHE_L1) {
      return CHASE_L1_HOP_NS;
    }
    return chase->footprint_bytes <= machine->gpus[chase->gpu].l2_bytes ? CHASE_L2_HOP_NS
                                                                        : CHASE_DRAM_HOP_NS;
  case CHASE_HOST:
  case CHASE_PEER:
  case chase_space_name_count:
    break;
  }
  return CHASE_HOP_NS;
}

static struct costs costs_of_chase(const struct chase *chase, const struct machine *machine) {
  return (struct costs){
      .work_ns = (double)chase->hops * hop_ns(chase, machine),
      .iterations_max = CHASE_ITERATIONS_MAX,
      .fill_ns = pass_ns(&(struct endpoint){.place = PLACE_NUMA}, chase->footprint_bytes)};
}

/* Bytes a second that the threads of a stream can have under way: by the latency of memory. */
static double stream_rate(const struct bench_case *bench, const struct machine *machine) {
  const struct stream *stream = &bench->work.stream;
  if (stream->memory.place == PLACE_NUMA) {
    const int node = machine_node_index(machine, stream->memory.index);
    const double all = node >= 0 ? machine->nodes[node].cpu_count : 1;
    const double rate = STREAM_THREAD_RATE * (stream->threads > 0 ? stream->threads : all);
    return fmin(rate, STREAM_NODE_RATE);
  }
  const struct gpu *gpu = &machine->gpus[stream->memory.index];
  const double peak =
      TYPICAL_SHARE *
      (bench->peak_bytes_per_second > 0 ? (double)bench->peak_bytes_per_second : STREAM_CACHE_RATE);
  if (stream->grid == 0 || stream->grid == STREAM_GRID_FULL) {
    const double threads = stream->block > 0 ? stream->block : STREAM_BLOCK;
    const double resident = fmin(threads * STREAM_BLOCKS_PER_SM, STREAM_THREADS_PER_SM);
    return fmin(peak, resident * gpu->sm_count * STREAM_THREAD_BYTES * 1e9 / STREAM_LATENCY_NS);
  }
  const double threads = (double)stream->grid * (stream->block > 0 ? stream->block : STREAM_BLOCK);
  return fmin(peak, threads * STREAM_THREAD_BYTES * 1e9 / STREAM_LATENCY_NS);
}

static struct costs costs_of_stream(const struct bench_case *bench, const struct machine *machine) {
  const struct stream *stream = &bench->work.stream;
  const struct measure *measure = &bench->measure;
  const bool host = stream->memory.place == PLACE_NUMA;
  const bool sums = stream->op == STREAM_DOT || stream->op == STREAM_READ;
  const unsigned arrays = stream_op_arrays(stream->op);
  const double array_ns = pass_ns(&stream->memory, stream->size_bytes);
  struct costs costs = {
      .work_ns =
          (double)bench->payload_bytes * 1e9 / stream_rate(bench, machine) + GPU_COPY_OVERHEAD_NS,
      .iterations_max = host ? INFINITY : ITERATIONS_MAX,
      .fill_ns = arrays * array_ns,
      .check_ns = sums ? (double)stream->size_bytes / 4 * STREAM_SUM_NS : 2 * array_ns,
      .host_clock = host};
  if (host && measure->host_cache == CACHE_FLUSHED) {
    costs.flush_ns = arrays * (double)stream->size_bytes * 1e9 / HOST_FLUSH_RATE;
  }
  if (!host && measure->device_cache == CACHE_FLUSHED) {
    costs.flush_ns = GPU_FLUSH_NS;
  }
  return costs;
}

/* An instruction takes a warp at least so many clocks, and an SM does so many a clock. */
static struct costs costs_of_arithmetic(const struct bench_case *bench) {
  const struct arithmetic *arithmetic = &bench->work.arithmetic;
  const double chained = (double)arithmetic->instructions * ARITHMETIC_CLOCKS / arithmetic->ilp;
  const double filled = (double)bench->operations_per_sm / ARITHMETIC_PER_CLOCK;
  return (struct costs){.work_ns = fmax(chained, filled) / ARITHMETIC_GHZ + GPU_COPY_OVERHEAD_NS,
                        .iterations_max = ITERATIONS_MAX};
}

static struct costs costs_of_overhead(const struct overhead *overhead) {
  const bool host = overhead->size_bytes > 0 && overhead->memory.place == PLACE_NUMA;
  const double size_ns = host ? (double)overhead->size_bytes * 1e9 / HOST_ALLOCATION_RATE : 0;
  return (struct costs){.work_ns =
                            CALL_NS + (overhead->size_bytes > 0 ? ALLOCATION_NS : 0) + size_ns,
                        .iterations_max = INFINITY,
                        .host_clock = true};
}

static struct costs costs_of(const struct bench_case *bench, const struct machine *machine) {
  switch (bench->kind) {
  case CASE_CHASE:
    return costs_of_chase(&bench->work.chase, machine);
  case CASE_OVERHEAD:
    return costs_of_overhead(&bench->work.overhead);
  case CASE_STREAM:
    return costs_of_stream(bench, machine);
  case CASE_ARITHMETIC:
    return costs_of_arithmetic(bench);
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  }
  return costs_of_flows(bench, machine);
}

void estimate_case(const struct bench_case *bench, const struct machine *machine,
                   struct estimate *estimate) {
  const struct measure *measure = &bench->measure;
  const struct costs costs = costs_of(bench, machine);
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
  if (bench->kind == CASE_CHASE && bench->work.chase.space != CHASE_SHARED) {
    return hold(pool, &bench->work.chase.memory, bench->work.chase.footprint_bytes);
  }
  if (bench->kind == CASE_STREAM) {
    const struct stream *stream = &bench->work.stream;
    return hold(pool, &stream->memory, stream_op_arrays(stream->op) * stream->size_bytes);
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
