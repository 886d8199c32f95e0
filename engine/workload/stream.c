/* A [[stream]]: a loop over arrays of numbers, on a GPU or by host threads.
 *
 * Elements differ by place and every operation is exact in its type (kernels/stream_values.h), so
 * that outputs are compared bit by bit. A dot product is held against the exact sum, within the
 * roundings that its additions can have had; the words of a read are added modulo 2^32, where each
 * load counts. */
#include "engine/workload/stream.h"
#include "engine/base/clock.h"
#include "engine/base/macros.h"
#include "engine/case/work.h"
#include "engine/host/cache.h"
#include "engine/machine/machine.h"
#include "engine/workload/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAP_BLOCK = 256, SUM_BLOCK = 512, SM_THREADS = 2048, GRID_MAX = 0x7fffffff };
/* So many an SM of any GPU holds, whatever registers they take: the kernels are made for blocks of
 * 1024 (__launch_bounds__). */
enum { SWEEP_THREADS = 1024 };

bool stream_op_sums(enum stream_op op) {
  return op == STREAM_DOT || op == STREAM_READ;
}

/* Operations that only move bits have no type. */
static bool has_type(enum stream_op op) {
  return op != STREAM_COPY && op != STREAM_READ && op != STREAM_WRITE;
}

static bool stream_find_kernel(const struct stream *stream, struct stream_shape *shape) {
  char name[64];
  (void)snprintf(name, sizeof name, "haul_stream_%s%s%s%s_%u_u%u", stream_op_text(stream->op),
                 has_type(stream->op) ? "_" : "",
                 has_type(stream->op) ? number_type_text(stream->type) : "",
                 stream->cache == CACHE_L2 ? "_l2" : "", shape->vector_bytes, shape->unroll);
  return kernel_parse(name, &shape->kernel);
}

static uint32_t stream_covering_grid(const struct stream *stream,
                                     const struct stream_shape *shape) {
  const uint64_t tile = (uint64_t)shape->block * shape->unroll * shape->vector_bytes;
  const uint64_t tiles = (stream->size_bytes + tile - 1) / tile;
  return tiles < GRID_MAX ? (uint32_t)tiles : GRID_MAX;
}

/* Blocks that a GPU holds at once, where its SMs hold so many threads. */
static uint32_t stream_resident_grid(const struct gpu *gpu, uint32_t block, uint32_t sm_threads) {
  const uint32_t whole_warps = (block + 31) / 32 * 32;
  return gpu->sm_count * (whole_warps < sm_threads ? sm_threads / whole_warps : 1);
}

bool stream_shape_of(const struct stream *stream, const struct gpu *gpu,
                     struct stream_shape *shape) {
  const bool several = stream->passes > 1;
  const bool sum = stream_op_sums(stream->op) || several;
  shape->vector_bytes = stream->vector_bytes != 0 ? stream->vector_bytes : 16;
  shape->unroll = stream->unroll != 0 ? stream->unroll : sum ? 4 : 1;
  shape->block = stream->block != 0 ? stream->block : sum ? SUM_BLOCK : MAP_BLOCK;
  shape->grid = stream->grid;
  if (shape->grid == 0 || shape->grid == STREAM_GRID_FULL) {
    const uint32_t covering = stream_covering_grid(stream, shape);
    const uint32_t usual =
        gpu->sm_count * (shape->block < SM_THREADS ? SM_THREADS / shape->block : 1);
    const uint32_t resident =
        several ? stream_resident_grid(gpu, shape->block, SWEEP_THREADS) : usual;
    shape->grid = sum && shape->grid == 0 && resident < covering ? resident : covering;
  }
  return stream_find_kernel(stream, shape);
}

bool stream_times_itself(const struct stream *stream) {
  return stream->clock == STREAM_CLOCK_CYCLES && stream->passes > 1;
}

/* The blocks of a sum leave one word each: at most this many are read back after a trial. */
enum { SUM_BLOCKS_MAX = 1 << 22, BLOCK_MAX = 1024, ROUNDING_BITS = 53 };

__extension__ typedef unsigned __int128 uint128;

/* STREAM's arrays, and which of them each operation of the sequence writes and reads (McCalpin,
 * "Sustainable Memory Bandwidth in Current High Performance Computers", 1995). */
enum { ARRAY_A, ARRAY_B, ARRAY_C, ARRAY_COUNT, ARRAY_NONE = ARRAY_COUNT };
static const struct {
  unsigned out, a, b;
} operands[STREAM_SEQUENCE_COUNT] = {
    [STREAM_COPY] = {ARRAY_C, ARRAY_A, ARRAY_NONE},
    [STREAM_MUL] = {ARRAY_B, ARRAY_C, ARRAY_NONE},
    [STREAM_ADD] = {ARRAY_C, ARRAY_A, ARRAY_B},
    [STREAM_TRIAD] = {ARRAY_A, ARRAY_B, ARRAY_C},
};

struct stream_state {
  struct engine *engine;
  const struct case_def *def;
  const struct stream_place *place;
  void *work;          /* of the place */
  struct loads *loads; /* NULL = none */
  struct stream_arrays arrays;
  const struct buffer *shared[ARRAY_COUNT]; /* in sequence */
};

static bool has_second_input(enum stream_op op) {
  return op == STREAM_ADD || op == STREAM_TRIAD || op == STREAM_DOT;
}

static uint32_t element_bytes_of(const struct stream *stream) {
  return stream->type == NUMBER_F64 ? 8 : 4;
}

static const struct stream_place *place_of(const struct stream *stream) {
  return stream->memory.place == PLACE_GPU ? &stream_gpu : &stream_host;
}

static bool is_in_sequence(const struct stream *stream) {
  return stream->order == STREAM_SEQUENCE;
}

static const char *stream_shape_unsupported_reason(const struct stream *stream,
                                                   const struct gpu *gpu,
                                                   char reason[CASE_REASON_MAX]) {
  struct stream_shape shape;
  if (!stream_shape_of(stream, gpu, &shape)) {
    return CASE_REASON(reason,
                       "there is no kernel for %s of %s with vector_bytes = %" PRIu32
                       " and unroll = %" PRIu32 " (4, 8 or 16, not less than the type; 1 or 4)",
                       stream_op_text(stream->op), number_type_text(stream->type),
                       shape.vector_bytes, shape.unroll);
  }
  if (shape.block > BLOCK_MAX || shape.grid > INT32_MAX) {
    return "a block has at most 1024 threads, and a grid at most 2147483647 blocks";
  }
  if (stream->parts > 0 && (stream->op != STREAM_READ || stream->grid == STREAM_GRID_FULL ||
                            stream->grid == 0 || stream->grid % stream->parts != 0)) {
    return "parts are those of a read, whose grid is a multiple of them";
  }
  const uint32_t resident = stream_resident_grid(gpu, shape.block, SM_THREADS);
  if (stream->passes > 1 && resident > 0 && shape.grid > resident) {
    return CASE_REASON(
        reason,
        "the GPU holds at most %" PRIu32 " blocks of %" PRIu32
        " threads at once, and each of %" PRIu32
        " would make all its passes over its own part of the arrays: leave grid out, or "
        "set passes = 1",
        resident, shape.block, shape.grid);
  }
  if (stream_op_sums(stream->op) && shape.grid > SUM_BLOCKS_MAX) {
    return CASE_REASON(reason, "%" PRIu32 " blocks each with a sum of its own are more than %d",
                       shape.grid, SUM_BLOCKS_MAX);
  }
  return NULL;
}

static const char *gpu_unsupported_reason(const struct stream *stream,
                                          const struct machine *machine,
                                          char reason[CASE_REASON_MAX]) {
  if (stream->memory.index < 0 || stream->memory.index >= (int32_t)machine->gpu_count) {
    return CASE_REASON(reason, "there is no GPU %" PRId32, stream->memory.index);
  }
  if (!memory_is_gpus_own(stream->memory.memory)) {
    return "the arrays of a stream on a GPU are in its own memory (device, pool or vmm)";
  }
  if (is_in_sequence(stream) && (stream->op > STREAM_TRIAD || stream->type != NUMBER_F64)) {
    return "the sequence is copy, mul, add and triad of f64";
  }
  if (stream->cache == CACHE_L2 &&
      ((stream->op != STREAM_COPY && stream->op != STREAM_READ) || is_in_sequence(stream))) {
    return "only copy and read, not in sequence, have loads past the L1 cache";
  }
  if (stream->vector_bytes != 0 && stream->vector_bytes < element_bytes_of(stream)) {
    return CASE_REASON(reason, "vector_bytes = %" PRIu32 " is less than one %s",
                       stream->vector_bytes, number_type_text(stream->type));
  }
  return stream_shape_unsupported_reason(stream, &machine->gpus[stream->memory.index], reason);
}

static const char *host_unsupported_reason(const struct stream *stream,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  const int node = machine_node_index(machine, stream->memory.index);
  if (node < 0) {
    return CASE_REASON(reason, "there is no NUMA node %" PRId32, stream->memory.index);
  }
  const struct memory_ops *kind = memory_kinds[stream->memory.memory];
  if (kind == NULL || stream->memory.memory == MEMORY_MANAGED || kind->place != PLACE_NUMA) {
    return CASE_REASON(reason, "a stream of host threads does not work on %s memory",
                       memory_kind_text(stream->memory.memory));
  }
  if (kind->needs_cuda && machine->gpu_count == 0) {
    return CASE_REASON(reason, "%s memory needs a GPU driver: %.450s",
                       memory_kind_text(stream->memory.memory), machine->cuda_state);
  }
  const uint32_t cpus = machine->nodes[node].cpu_count;
  if (cpus == 0 || stream->threads > cpus) {
    return CASE_REASON(reason,
                       "%" PRIu32 " threads are wanted on NUMA node %" PRId32 ", which has %" PRIu32
                       " processors",
                       stream->threads > 0 ? stream->threads : 1, stream->memory.index, cpus);
  }
  if (stream->block != 0 || stream->grid != 0 || stream->vector_bytes != 0 || stream->unroll != 0 ||
      stream->clock != STREAM_CLOCK_EVENT || is_in_sequence(stream) || stream->cache != CACHE_L1 ||
      stream->parts != 0) {
    return "block, grid, vector_bytes, unroll, clock = \"cycles\", order = \"sequence\", cache and "
           "parts are a GPU's: host threads have none";
  }
  return NULL;
}

static const char *stream_unsupported_reason(const struct case_def *def,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  const struct stream *stream = &def->work->stream;
  if (stream->type != NUMBER_F32 && stream->type != NUMBER_F64) {
    return "the numbers of a stream are f32 or f64";
  }
  if (stream->size_bytes == 0 || stream->size_bytes % element_bytes_of(stream) != 0) {
    return CASE_REASON(reason, "%" PRIu64 " bytes are not an array of whole %s", stream->size_bytes,
                       number_type_text(stream->type));
  }
  return stream->memory.place == PLACE_GPU ? gpu_unsupported_reason(stream, machine, reason)
                                           : host_unsupported_reason(stream, machine, reason);
}

static void stream_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                                uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct stream *stream = &def->work->stream;
  const uint64_t arrays = is_in_sequence(stream) ? ARRAY_COUNT : stream_op_arrays(stream->op);
  const uint64_t bytes = arrays * stream->size_bytes;
  if (stream->memory.place == PLACE_GPU) {
    gpu_bytes[stream->memory.index] += bytes;
  } else {
    *host_bytes += bytes;
  }
}

static bool stream_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  const struct endpoint memory = def->work->stream.memory;
  *path = (struct case_path){.from = memory, .to = memory};
  return i == 0;
}

static enum clock stream_clock(const struct case_def *def) {
  const struct stream *stream = &def->work->stream;
  return stream->memory.place != PLACE_GPU                     ? CLOCK_HOST
         : stream_times_itself(stream) && def->flow_count == 0 ? CLOCK_KERNEL
                                                               : CLOCK_EVENT;
}

/* What the output holds when all is right; the inputs are copies of one number each. */
static struct stream_values output_values(const struct stream *stream) {
  struct stream_values values = {
      .seed_a = STREAM_SEED_A, .seed_b = STREAM_SEED_B, .element_bytes = element_bytes_of(stream)};
  switch (stream->op) {
  case STREAM_COPY:
    values.factor_a = 1;
    break;
  case STREAM_MUL:
    values.factor_a = STREAM_SCALAR;
    break;
  case STREAM_ADD:
    values.factor_a = 1;
    values.factor_b = 1;
    break;
  case STREAM_TRIAD:
    values.factor_a = 1;
    values.factor_b = STREAM_SCALAR;
    break;
  case STREAM_WRITE: /* both 0: words made from their place */
  case STREAM_DOT:
  case STREAM_READ:
  case stream_op_name_count:
    break;
  }
  return values;
}

static struct stream_values input_values(const struct stream *stream, uint64_t seed) {
  const bool summed = stream->op == STREAM_READ;
  return (struct stream_values){.seed_a = seed,
                                .factor_a = summed ? 0 : 1,
                                .element_bytes = element_bytes_of(stream),
                                .summed = summed};
}

/* Array A begins as one number, B as another and C as the first: then every operation is exact, at
 * most 21 times one of 47 bits. */
static struct stream_values first_values(const struct stream *stream, unsigned array) {
  return input_values(stream, array == ARRAY_B ? STREAM_SEED_B : STREAM_SEED_A);
}

/* The operation `after` places behind that of the stream. */
static enum stream_op step_op(const struct stream *stream, unsigned after) {
  return (enum stream_op)(((unsigned)stream->op + after) % STREAM_SEQUENCE_COUNT);
}

/* What the operation leaves after the other three. */
static struct stream_values sequence_values(const struct stream *stream) {
  uint32_t factors[ARRAY_COUNT + 1][2] = {
      [ARRAY_A] = {1, 0}, [ARRAY_B] = {0, 1}, [ARRAY_C] = {1, 0}};
  struct stream step = *stream;
  struct stream_values values = {0};
  for (unsigned after = 1; after <= STREAM_SEQUENCE_COUNT; after++) {
    step.op = step_op(stream, after);
    values = output_values(&step);
    uint32_t *out = factors[operands[step.op].out];
    const uint32_t *a = factors[operands[step.op].a];
    const uint32_t *b = factors[operands[step.op].b];
    const uint32_t sums[2] = {values.factor_a * a[0] + values.factor_b * b[0],
                              values.factor_a * a[1] + values.factor_b * b[1]};
    memcpy(out, sums, sizeof sums);
    values.factor_a = sums[0];
    values.factor_b = sums[1];
  }
  return values;
}

static struct stream_values expected_values(const struct stream *stream) {
  return is_in_sequence(stream) ? sequence_values(stream) : output_values(stream);
}

static struct stream_arrays sequence_arrays(const struct stream_state *state, enum stream_op op) {
  const unsigned b = operands[op].b;
  return (struct stream_arrays){.out = state->shared[operands[op].out],
                                .a = state->shared[operands[op].a],
                                .b = b == ARRAY_NONE ? NULL : state->shared[b]};
}

static enum status take_shared(struct stream_state *state, struct case_outcome *outcome,
                               struct error *err) {
  const struct stream *stream = &state->def->work->stream;
  enum status status = STATUS_OK;
  for (unsigned i = 0; status == STATUS_OK && i < ARRAY_COUNT; i++) {
    status =
        pool_take(state->engine->pool, &stream->memory, stream->size_bytes, &state->shared[i], err);
    if (status == STATUS_OK) {
      workload_note_buffer(outcome, state->shared[i]);
    }
  }
  state->arrays = sequence_arrays(state, stream->op);
  return status;
}

static enum status take_arrays(struct stream_state *state, struct case_outcome *outcome,
                               struct error *err) {
  const struct stream *stream = &state->def->work->stream;
  struct {
    bool wanted;
    const struct buffer **buffer;
  } arrays[] = {{!stream_op_sums(stream->op), &state->arrays.out},
                {stream->op != STREAM_WRITE, &state->arrays.a},
                {has_second_input(stream->op), &state->arrays.b}};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(arrays); i++) {
    if (arrays[i].wanted) {
      status = pool_take(state->engine->pool, &stream->memory, stream->size_bytes, arrays[i].buffer,
                         err);
    }
    if (status == STATUS_OK && arrays[i].wanted) {
      workload_note_buffer(outcome, *arrays[i].buffer);
    }
  }
  return status;
}

/* What each trial does before the operation that is timed. */
static enum status prepare_sequence(const struct stream_state *state, struct error *err) {
  const struct stream *stream = &state->def->work->stream;
  enum status status = STATUS_OK;
  for (unsigned after = 1; status == STATUS_OK && after < STREAM_SEQUENCE_COUNT; after++) {
    const enum stream_op op = step_op(stream, after);
    const struct stream_arrays arrays = sequence_arrays(state, op);
    status = state->place->do_before(state->work, op, &arrays, err);
  }
  return status;
}

static enum status fill_inputs(const struct stream_state *state, struct error *err) {
  const struct stream *stream = &state->def->work->stream;
  enum status status = STATUS_OK;
  if (is_in_sequence(stream)) {
    for (unsigned i = 0; status == STATUS_OK && i < ARRAY_COUNT; i++) {
      const struct stream_values values = first_values(stream, i);
      status = state->place->fill(state->work, state->shared[i], &values, err);
    }
    return status;
  }
  if (state->arrays.a != NULL) {
    const struct stream_values values = input_values(stream, STREAM_SEED_A);
    status = state->place->fill(state->work, state->arrays.a, &values, err);
  }
  if (status == STATUS_OK && state->arrays.b != NULL) {
    const struct stream_values values = input_values(stream, STREAM_SEED_B);
    status = state->place->fill(state->work, state->arrays.b, &values, err);
  }
  return status;
}

static enum status stream_set_up(struct engine *engine, const struct case_def *def,
                                 struct case_outcome *outcome, void **out, struct error *err) {
  const uint64_t start_ns = clock_now_ns();
  struct stream_state *state = calloc(1, sizeof *state);
  *out = state;
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  state->engine = engine;
  state->def = def;
  state->place = place_of(&def->work->stream);
  const bool sequence = is_in_sequence(&def->work->stream);
  enum status status =
      sequence ? take_shared(state, outcome, err) : take_arrays(state, outcome, err);
  status = THEN(status, state->place->create(&engine->context, &def->work->stream, &state->arrays,
                                             &state->work, err));
  if (status == STATUS_OK && state->place->cpus != NULL) {
    workload_set_cpus(outcome, state->place->cpus(state->work));
  }
  if (status == STATUS_OK && sequence) {
    status = prepare_sequence(state, err);
  }
  outcome->gated = status == STATUS_OK && def->work->stream.memory.place == PLACE_GPU;
  if (status == STATUS_OK && def->flow_count > 0) {
    status = loads_new(engine, def, outcome, state->place->own(state->work), &state->loads, err);
  }
  const uint64_t ready_ns = clock_now_ns();
  outcome->allocate_ns += ready_ns - start_ns;
  if (status == STATUS_OK) {
    workload_prove_caches(engine, def->measure.host_cache, outcome);
    status = fill_inputs(state, err);
  }
  outcome->verify_ns += clock_now_ns() - ready_ns;
  return status;
}

static void stream_tear_down(void *opaque) {
  struct stream_state *state = opaque;
  loads_free(state->loads);
  if (state->work != NULL) {
    state->place->destroy(state->work);
  }
  pool_give_back_all(state->engine->pool);
  free(state);
}

static uint32_t stream_iterations_max(const void *opaque) {
  const struct stream_state *state = opaque;
  const uint32_t most = state->place->iterations_max(state->work);
  return state->loads != NULL && most > LOAD_SHARE ? most / LOAD_SHARE : most;
}

/* size_bytes: the array's; the pool's buffer may be larger. */
static void stream_flush_host_cache(const struct buffer *buffer, uint64_t size_bytes) {
  if (buffer != NULL && buffer->host != NULL) {
    (void)cache_flush(buffer->host, size_bytes); /* the note says what it can do */
  }
}

static enum status stream_before_trial(void *opaque, struct error *err) {
  const struct stream_state *state = opaque;
  const struct measure *measure = &state->def->measure;
  const struct stream *stream = &state->def->work->stream;
  if (measure->host_cache == HOST_CACHE_WARM && stream->memory.place == PLACE_NUMA) {
    RETURN_ON_ERROR(fill_inputs(state, err)); /* by the threads that read them */
  }
  if (is_in_sequence(stream)) {
    RETURN_ON_ERROR(fill_inputs(state, err)); /* numbers grow from operation to operation */
  }
  if (measure->host_cache == HOST_CACHE_FLUSHED) {
    stream_flush_host_cache(state->arrays.out, stream->size_bytes);
    stream_flush_host_cache(state->arrays.a, stream->size_bytes);
    stream_flush_host_cache(state->arrays.b, stream->size_bytes);
  }
  if (state->loads != NULL) {
    RETURN_ON_ERROR(loads_before_trial(state->loads, err));
  }
  return measure->device_cache == CACHE_FLUSHED && stream->memory.place == PLACE_GPU
             ? data_flush_gpu_cache(state->engine->data, stream->memory.index, err)
             : STATUS_OK;
}

static enum status stream_run(void *opaque, uint32_t iterations, struct trial_times *times,
                              struct error *err) {
  const struct stream_state *state = opaque;
  return state->place->run(state->work, state->loads, iterations, times, err);
}

static enum status stream_poison(void *opaque, struct error *err) {
  const struct stream_state *state = opaque;
  const struct stream *stream = &state->def->work->stream;
  if (stream_op_sums(stream->op)) {
    return state->place->invalidate_parts(state->work, err);
  }
  struct stream_values values = expected_values(stream);
  values.invert = 1;
  return state->place->fill(state->work, state->arrays.out, &values, err);
}

static long double expected_dot(const struct stream_state *state) {
  const struct stream *stream = &state->def->work->stream;
  struct stream_dot *dot = &state->engine->stream_dot;
  const uint32_t element_bytes = element_bytes_of(stream);
  if (dot->size_bytes != stream->size_bytes || dot->type != stream->type) {
    uint128 products = 0;
    for (uint64_t i = 0; i < stream->size_bytes / element_bytes; i++) {
      products += (uint128)stream_number(STREAM_SEED_A, i, element_bytes) *
                  stream_number(STREAM_SEED_B, i, element_bytes);
    }
    *dot = (struct stream_dot){stream->size_bytes, stream->type, (long double)products};
  }
  return dot->product;
}

static enum status verify_dot(const struct stream_state *state, const struct stream_parts *parts,
                              struct error *err) {
  const long double expected =
      expected_dot(state) * (long double)stream_sweeps(&state->def->work->stream);
  const long double tolerance = ldexpl((long double)parts->depth, -ROUNDING_BITS) * expected;
  long double sum = 0;
  for (size_t i = 0; i < parts->count; i++) {
    double part;
    memcpy(&part, &parts->bits[i], sizeof part);
    sum += (long double)part;
  }
  if (fabsl(sum - expected) <= tolerance) { /* false for a sum that is no number */
    return STATUS_OK;
  }
  return error_set(err, STATUS_CORRUPT,
                   "the dot product is %.20Lg, not %.20Lg: more than rounding makes (%.3Lg)", sum,
                   expected, tolerance);
}

static enum status verify_read(const struct stream_state *state, const struct stream_parts *parts,
                               struct error *err) {
  const struct stream *stream = &state->def->work->stream;
  const uint32_t expected =
      stream_words_sum(stream->size_bytes / sizeof(uint32_t)) * (uint32_t)stream_sweeps(stream);
  uint32_t sum = 0;
  for (size_t i = 0; i < parts->count; i++) {
    sum += (uint32_t)parts->bits[i];
  }
  return sum == expected ? STATUS_OK
                         : error_set(err, STATUS_CORRUPT,
                                     "the words that were read add up to 0x%08" PRIx32
                                     ", not 0x%08" PRIx32 ": a load was wrong or not made",
                                     sum, expected);
}

static enum status verify_sum(const struct stream_state *state, struct error *err) {
  struct stream_parts parts;
  RETURN_ON_ERROR(state->place->parts(state->work, &parts, err));
  return state->def->work->stream.op == STREAM_DOT ? verify_dot(state, &parts, err)
                                                   : verify_read(state, &parts, err);
}

static enum status stream_verify(void *opaque, struct error *err) {
  const struct stream_state *state = opaque;
  const struct stream *stream = &state->def->work->stream;
  if (stream_op_sums(stream->op)) {
    return verify_sum(state, err);
  }
  const struct stream_values values = expected_values(stream);
  struct pattern_compare_result result;
  enum status status = state->place->compare(state->work, state->arrays.out, &values, &result, err);
  if (status != STATUS_OK || result.bad_bytes == 0) {
    return status;
  }
  return error_set(err, STATUS_CORRUPT,
                   "%" PRIu64 " of %" PRIu64 " elements are wrong, the first at %" PRIu64
                   ", where 0x%0*" PRIx64 " should be",
                   result.bad_bytes, stream->size_bytes / values.element_bytes, result.first_offset,
                   (int)(2 * values.element_bytes), stream_bits(&values, result.first_offset));
}

const struct workload_ops workload_stream = {
    .kind = CASE_STREAM,
    .kernel_modules = 1 << KERNEL_MODULE_STREAM,
    .unsupported_reason = stream_unsupported_reason,
    .memory_needs = stream_memory_needs,
    .path = stream_path,
    .clock = stream_clock,
    .set_up = stream_set_up,
    .iterations_max = stream_iterations_max,
    .before_trial = stream_before_trial,
    .run = stream_run,
    .poison = stream_poison,
    .verify = stream_verify,
    .tear_down = stream_tear_down,
};
