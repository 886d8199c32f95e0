/* Loops over arrays of numbers. */
#include "engine/machine/machine.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

#include <math.h>

/* Of a GPU: latencies of memory under load, of the L2 and of the L1; bytes of an access and of what
 * it brings along, and accesses that a thread has under way; what an SM holds; and the rate of the
 * caches in bytes per second. */
#define MEMORY_NS      700.0
#define L2_NS          250.0
#define L1_NS          20.0
#define USUAL_ACCESS   16.0
#define SECTOR_BYTES   32.0
#define USUAL_UNROLL   2.0
#define WARP_THREADS   32.0
#define BLOCK_START_NS 0.6 /* of a full grid: however little one does */
#define USUAL_BLOCK    256.0
#define BLOCKS_PER_SM  32.0
#define THREADS_PER_SM 2048.0
#define CACHE_RATE     5e12
/* No SM has a larger L1 cache. */
#define L1_BYTES_MOST (UINT64_C(256) << 10)
/* Of a node: bytes per second of one thread, and of all together. */
#define THREAD_RATE 1e10
#define NODE_RATE   1e11
/* An element of a sum, added on the host, in ns. */
#define SUM_NS 2.0

static void plan_stream_expand(struct expander *x, const struct setting *setting) {
  struct place_list places;
  expand_resolve_loads(x, setting);
  expand_resolve_end(x, &setting->at, NULL, &places);
  for (size_t i = 0; i < places.count; i++) {
    const char *reason = NULL;
    union work work = {.stream = setting->work.stream};
    struct case_def def = {.work = &work};
    struct stream *stream = &work.stream;
    stream->memory = endpoint_own(setting->at.place, places.indices[i], setting->at.memory);
    if (setting->at.place == PLACE_GPU) {
      const uint32_t sm_count = x->machine->gpus[places.indices[i]].sm_count;
      stream->grid = expand_grid(&setting->grid, x->machine, places.indices[i], &reason);
      stream->size_bytes *= setting->per_sm && sm_count > 0 ? sm_count : 1;
      if (setting->per_sm && sm_count == 0) {
        reason = "how many SMs the GPU has is not known: give the size of the array";
      }
    }
    expand_emit_beside(x, setting, stream->memory, stream->memory, &def, reason);
  }
}

static unsigned plan_stream_method_version(const struct case_def *def) {
  const struct stream *stream = &def->work->stream;
  return stream->passes > 1 && stream->memory.place == PLACE_GPU ? STREAM_PASSES_METHOD_VERSION
                                                                 : STREAM_METHOD_VERSION;
}

static void plan_stream_path(const struct case_def *def, struct strbuf *text) {
  name_append_endpoint(text, &def->work->stream.memory);
}

static uint64_t plan_stream_size(const struct case_def *def) {
  return def->work->stream.size_bytes;
}

static bool plan_stream_has_caches(const struct case_def *def, enum place place) {
  return def->work->stream.memory.place == place;
}

/* In sequence an operation shares the caches with the arrays of all. */
static unsigned plan_stream_arrays(const struct stream *stream) {
  return stream->order == STREAM_SEQUENCE ? 3 : stream_op_arrays(stream->op);
}

static bool plan_stream_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                               uint64_t *size_bytes) {
  *memory = def->work->stream.memory;
  *size_bytes = plan_stream_arrays(&def->work->stream) * def->work->stream.size_bytes;
  return i == 0;
}

/* Whether caches may serve what a pass reads and writes, in place of the memory: the L2 cache, or
 * the L1 caches of all SMs where a kernel passes several times. What several blocks read at about
 * the same time comes from memory once. What only reads, once after a flush, comes from memory;
 * what is written may stay. */
static bool plan_stream_is_cached(const struct case_def *def, const struct gpu *gpu) {
  const struct stream *stream = &def->work->stream;
  const uint64_t footprint_bytes = plan_stream_arrays(stream) * stream->size_bytes;
  const bool reads_alone = stream->op == STREAM_READ || stream->op == STREAM_DOT;
  if (stream->passes == 1 && stream->parts == 0 && reads_alone &&
      def->measure.device_cache == CACHE_FLUSHED) {
    return false;
  }
  return stream->parts > 0 || bound_l2_may_serve(gpu, footprint_bytes) ||
         (stream->passes > 1 && footprint_bytes <= gpu->sm_count * L1_BYTES_MOST);
}

/* Every array once per pass, and a GPU's memory as the limit; none is known where caches serve. */
static void plan_stream_bound(const struct case_def *def, const struct machine *machine,
                              struct bound *bound) {
  const struct stream *stream = &def->work->stream;
  const uint64_t arrays_bytes = stream_op_arrays(stream->op) * stream->size_bytes;
  bound->payload_bytes = arrays_bytes * stream_sweeps(stream);
  bound->traffic_bytes = bound->payload_bytes;
  if (stream->memory.place != PLACE_GPU) {
    return;
  }
  const struct gpu *gpu = &machine->gpus[stream->memory.index];
  const uint64_t peak = peak_dram(gpu);
  if (peak > 0 && !plan_stream_is_cached(def, gpu)) {
    bound->limit = LIMIT_DRAM;
    bound->peak_bytes_per_second = peak;
  }
}

/* Bytes of an array that a thread has under way. */
static double plan_stream_step_bytes(const struct stream *stream) {
  return (stream->vector_bytes > 0 ? stream->vector_bytes : USUAL_ACCESS) *
         (stream->unroll > 0 ? stream->unroll : USUAL_UNROLL);
}

static double plan_stream_block(const struct stream *stream) {
  return stream->block > 0 ? stream->block : USUAL_BLOCK;
}

/* Bytes per second of one thread: all its accesses to all arrays that are under way together, by
 * the time that they take. What neighbours or it itself brought along is in the L1. */
static double plan_stream_thread_rate(const struct stream *stream, const struct gpu *gpu) {
  const double bytes = plan_stream_step_bytes(stream);
  const bool cached = plan_stream_arrays(stream) * stream->size_bytes <= gpu->l2_bytes;
  const double missed =
      fmin(1, bytes * fmin(plan_stream_block(stream), WARP_THREADS) / SECTOR_BYTES);
  const double step_ns = missed * (cached ? L2_NS : MEMORY_NS) + (1 - missed) * L1_NS;
  return plan_stream_arrays(stream) * bytes * 1e9 / step_ns;
}

/* Bytes per second that the threads can have under way, as far as the hardware carries them. */
static double plan_stream_rate(const struct case_def *def, const struct machine *machine) {
  const struct stream *stream = &def->work->stream;
  if (stream->memory.place == PLACE_NUMA) {
    const int node = machine_node_index(machine, stream->memory.index);
    const double all = node >= 0 ? machine->nodes[node].cpu_count : 1;
    const double rate = THREAD_RATE * (stream->threads > 0 ? stream->threads : all);
    return fmin(rate, NODE_RATE);
  }
  const struct gpu *gpu = &machine->gpus[stream->memory.index];
  const double peak =
      ESTIMATE_TYPICAL_SHARE *
      (def->peak_bytes_per_second > 0 ? (double)def->peak_bytes_per_second : CACHE_RATE);
  const double block = plan_stream_block(stream);
  double threads = (double)stream->grid * block;
  if (stream->grid == 0 || stream->grid == STREAM_GRID_FULL) {
    threads = fmin(block * BLOCKS_PER_SM, THREADS_PER_SM) * gpu->sm_count;
  }
  return fmin(peak, threads * plan_stream_thread_rate(stream, gpu));
}

static void plan_stream_cost(const struct case_def *def, const struct machine *machine,
                             struct cost *cost) {
  const struct stream *stream = &def->work->stream;
  const bool host = stream->memory.place == PLACE_NUMA;
  const unsigned arrays = plan_stream_arrays(stream);
  const double array_ns = estimate_pass_ns(stream->memory.place, stream->size_bytes);
  cost->work_ns =
      (double)def->payload_bytes * 1e9 / plan_stream_rate(def, machine) + ESTIMATE_GPU_ITERATION_NS;
  if (!host && stream->grid == STREAM_GRID_FULL) {
    const double block_bytes = plan_stream_step_bytes(stream) * plan_stream_block(stream);
    cost->work_ns = fmax(cost->work_ns, (double)stream->size_bytes / block_bytes * BLOCK_START_NS);
  }
  cost->iterations_max = host ? INFINITY : ESTIMATE_GATED_ITERATIONS_MAX;
  cost->fill_ns = arrays * array_ns;
  cost->check_ns = stream->op == STREAM_DOT
                       ? (double)stream->size_bytes / (stream->type == NUMBER_F64 ? 8 : 4) * SUM_NS
                       : 2 * array_ns;
  if (stream->order == STREAM_SEQUENCE) { /* before each trial: to fill, and the other operations */
    cost->iterations_max = 1;
    cost->flush_ns = 2 * arrays * array_ns;
  }
  cost->host_spread = host;
  if (host && def->measure.host_cache != HOST_CACHE_AS_IS) {
    cost->flush_ns = arrays * (double)stream->size_bytes * 1e9 / ESTIMATE_HOST_FLUSH_RATE;
  }
  if (!host && def->measure.device_cache == CACHE_FLUSHED) {
    cost->flush_ns = ESTIMATE_GPU_FLUSH_NS;
  }
}

const struct plan_kind plan_kind_stream = {
    .expand = plan_stream_expand,
    .path = plan_stream_path,
    .size_bytes = plan_stream_size,
    .method_version_of = plan_stream_method_version,
    .has_caches = plan_stream_has_caches,
    .memory = plan_stream_memory,
    .bound = plan_stream_bound,
    .cost = plan_stream_cost,
};
