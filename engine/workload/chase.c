/* A [[chase]]: threads of a GPU, or of a node, follow a chain of addresses through memory. They
 * time themselves, so that the launch is outside; where the chains ended proves that every load was
 * made.
 *
 * A random order is one cycle through all elements, so that neither prefetching nor a
 * constant stride flatters the number. A trial goes on where the last one ended, so that no part
 * of the footprint is visited more often than the rest. The caches of the GPU's own memory are in
 * the state that the chain itself leaves: what an L1 could hold is walked once, untimed, before
 * every trial (a launch begins with an empty L1), and what an L2 could hold once before all. A
 * larger footprint is flushed from the L2: a part of the elements as they were written would still
 * be there, and the few that are visited would be found there more often than in any later round.
 * Host memory is flushed from the processor's caches once the elements are written: the GPU's loads
 * do not bring it back, and left alone it goes out in the course of the first trials, during which
 * the latency rises. For a processor's own loads what its caches could hold is walked once before
 * all trials; a larger footprint leaves them as the writing of the elements does. */
#include "engine/base/clock.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/host/cache.h"
#include "engine/machine/machine.h"
#include "engine/memory/data.h"
#include "engine/method/method.h"
#include "engine/workload/chase_gpu.h"
#include "engine/workload/chase_host.h"
#include "engine/workload/chase_lines.h"
#include "engine/workload/chase_shape.h"
#include "engine/workload/loads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  /* A trial of up to 2^24 hops of 4096: seconds at the slowest memory there is. */
  CHASE_ITERATIONS_MAX = 1 << 12,
  WARM_L1_BYTES = 1 << 20, /* more than any L1 holds */
  WARM_HOST_BYTES = 128 << 20,
  IMAGE_BYTES = 16 << 20, /* of memory that the host cannot write: in its caches, and few copies */
};

struct chase_state {
  struct engine *engine;
  const struct chase *chase;
  const struct buffer *buffer;
  uint64_t count;     /* elements */
  uint32_t *sequence; /* element visited at each step, cycle by cycle */
  /* Of all lines one cycle through all elements; else one through the lines of each part. */
  struct chase_cycle {
    uint64_t first, count; /* in sequence */
  } cycles[2];
  struct chase_lines lines; /* zeroed: of all lines */
  uint64_t walked;          /* steps that every thread has gone so far */
  struct chase_gpu *gpu;    /* NULL: by threads of a node */
  struct chase_host *host;  /* NULL: by a GPU's */
  struct case_outcome *outcome;
  /* Beside loads: the chase as one of their trial's flows. */
  struct loads *loads; /* NULL = alone */
  struct flow flow;
};

/* Elements that are written at once where the host cannot write them in place. */
static uint64_t image_elements(const struct chase *chase) {
  const uint64_t most = chase->stride_bytes < IMAGE_BYTES ? IMAGE_BYTES / chase->stride_bytes : 1;
  return most < chase_element_count(chase) ? most : chase_element_count(chase);
}

static void chase_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                               uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct chase *chase = &def->work->chase;
  if (chase->memory.place == PLACE_GPU) {
    gpu_bytes[chase->memory.index] += chase->footprint_bytes;
  }
  /* The elements, or an image of some, and the cycle. */
  *host_bytes += (chase->memory.place != PLACE_GPU ? chase->footprint_bytes
                  : chase_is_sparse(chase)         ? chase_element_count(chase) * CHASE_LINE_BYTES
                                                   : image_elements(chase) * chase->stride_bytes) +
                 2 * sizeof(uint32_t) * chase_element_count(chase);
}

static bool chase_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  const struct chase *chase = &def->work->chase;
  const struct endpoint gpu = {.place = PLACE_GPU, .index = chase->gpu};
  const struct endpoint node = {.place = PLACE_NUMA, .index = chase->node};
  *path = (struct case_path){.from = chase->memory, .to = chase->by_processor ? node : gpu};
  return i == 0;
}

static enum clock chase_clock(const struct case_def *def) {
  return def->work->chase.by_processor ? CLOCK_HOST : CLOCK_KERNEL;
}

/* xorshift64* (Vigna 2016): the same cycle in every run. */
static uint64_t chase_next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* sequence[step] = where step hops from the first element of the cycle lead; next[i] = the element
 * after i. A random order is drawn as a sequence (Fisher and Yates 1938), every cycle being as
 * likely: to follow one through millions of elements would take longer than to measure it. */
static void make_cycle(const struct chase_state *state, const struct chase_cycle *cycle,
                       uint32_t *next) {
  const uint32_t count = (uint32_t)cycle->count;
  uint32_t *sequence = state->sequence + cycle->first;
  if (state->chase->order == CHASE_RANDOM) {
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t step = count - 1; count > 0 && step > 1; step--) {
      const uint32_t other = 1 + (uint32_t)(chase_next_random(&random) % step);
      const uint32_t swap = sequence[step];
      sequence[step] = sequence[other];
      sequence[other] = swap;
    }
  }
  for (uint32_t step = 0; step < count; step++) {
    next[sequence[step]] = sequence[step + 1 < count ? step + 1 : 0];
  }
}

/* The elements of each cycle, ascending. */
static void list_elements(struct chase_state *state) {
  uint64_t listed = 0;
  for (uint8_t part = 0; part < 2; part++) {
    state->cycles[part].first = listed;
    for (uint32_t i = 0; i < state->count; i++) {
      if ((state->lines.line_part == NULL ? 0 : state->lines.line_part[i]) == part) {
        state->sequence[listed++] = i;
      }
    }
    state->cycles[part].count = listed - state->cycles[part].first;
  }
}

/* What a thread's register holds when it is at that element. */
static uint64_t chase_position(const struct chase_state *state, uint64_t element) {
  const uint64_t offset = element * state->chase->stride_bytes;
  if (state->chase->by_processor) {
    return (uint64_t)(uintptr_t)state->buffer->host + offset;
  }
  return state->chase->space == CHASE_SHARED ? offset : buffer_gpu_address(state->buffer) + offset;
}

static uint64_t *chase_positions(const struct chase_state *state) {
  return state->host != NULL ? chase_host_positions(state->host) : chase_gpu_positions(state->gpu);
}

/* `count` elements from `first` on, as they lie in memory. */
static void make_image(const struct chase_state *state, const uint32_t *next, uint64_t first,
                       uint64_t count, unsigned char *image) {
  const struct chase *chase = state->chase;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t position = chase_position(state, next[first + i]);
    memcpy(image + i * chase->stride_bytes, &position, /* words: the lower half of it */
           chase_is_of_words(chase) ? CHASE_WORD_BYTES : sizeof position);
  }
}

/* Far apart: only the line at the beginning of each element is written. */
static enum status upload_lines(const struct chase_state *state, const uint32_t *next,
                                struct error *err) {
  unsigned char *lines = calloc(state->count, CHASE_LINE_BYTES);
  if (lines == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the elements of a chase");
  }
  for (uint64_t i = 0; i < state->count; i++) {
    const uint64_t position = chase_position(state, next[i]);
    memcpy(lines + i * CHASE_LINE_BYTES, &position, sizeof position);
  }
  enum status status = chase_gpu_upload_lines(state->engine->context.cuda,
                                              state->buffer->endpoint.index, state->buffer->device,
                                              state->chase->stride_bytes, lines, state->count, err);
  free(lines);
  return status;
}

/* The host cannot write the GPU's memory: images of parts of it are copied there. */
static enum status upload_elements(const struct chase_state *state, const uint32_t *next,
                                   struct error *err) {
  const uint64_t most = image_elements(state->chase);
  const uint64_t stride_bytes = state->chase->stride_bytes;
  unsigned char *image = calloc(most, stride_bytes);
  if (image == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the elements of a chase");
  }
  enum status status = STATUS_OK;
  for (uint64_t first = 0; first < state->count && status == STATUS_OK; first += most) {
    const uint64_t count = state->count - first < most ? state->count - first : most;
    make_image(state, next, first, count, image);
    status = chase_gpu_upload(state->engine->context.cuda, state->buffer->endpoint.index,
                              state->buffer->device + first * stride_bytes, image,
                              count * stride_bytes, err);
  }
  free(image);
  return status;
}

static enum status write_elements(const struct chase_state *state, const uint32_t *next,
                                  struct error *err) {
  if (state->buffer->host == NULL) {
    return chase_is_sparse(state->chase) ? upload_lines(state, next, err)
                                         : upload_elements(state, next, err);
  }
  memset(state->buffer->host, 0, state->chase->footprint_bytes);
  make_image(state, next, 0, state->count, state->buffer->host);
  return STATUS_OK;
}

/* The cycle that a thread of the grid follows. Of parts of the L2 the place in the grid is the
 * number of the SM. */
static const struct chase_cycle *cycle_of(const struct chase_state *state, uint64_t thread) {
  return state->lines.sm_part == NULL
             ? &state->cycles[0]
             : &state->cycles[state->lines.sm_part[thread] ^
                              (state->chase->lines == CHASE_PART_FAR ? 1 : 0)];
}

/* Step of its cycle at which a thread of the grid starts. */
static uint64_t first_step(const struct chase_state *state, uint64_t thread) {
  const uint64_t sharing = chase_sharing_threads(state->chase);
  const uint64_t own = thread % sharing;
  switch (state->chase->order) {
  case CHASE_STRIDED:
    return own;
  case CHASE_RANDOM:
    return own * cycle_of(state, thread)->count / sharing;
  case chase_order_name_count:
    break;
  }
  return 0;
}

/* Where a thread is after so many steps. */
static uint64_t position_after(const struct chase_state *state, uint64_t thread, uint64_t steps) {
  const struct chase_cycle *cycle = cycle_of(state, thread);
  const uint64_t step = cycle->count > 0 ? (first_step(state, thread) + steps) % cycle->count : 0;
  return chase_position(state, state->sequence[cycle->first + step]);
}

static void place_threads(const struct chase_state *state) {
  uint64_t *positions = chase_positions(state);
  for (uint64_t thread = 0; thread < chase_grid_threads(state->chase); thread++) {
    positions[thread] = position_after(state, thread, 0);
  }
}

/* Which lines are near to which SMs, and in each part as many as a chain needs. */
static enum status find_lines(struct chase_state *state, struct error *err) {
  const struct chase *chase = state->chase;
  struct chase_lines *lines = &state->lines;
  RETURN_ON_ERROR(chase_lines_new(state->engine->context.cuda, chase->gpu, state->buffer->device,
                                  chase->stride_bytes, (uint32_t)state->count, lines, err));
  const double percent = 100.0 / lines->count;
  notes_add(&state->outcome->notes,
            &(struct note){.kind = NOTE_L2_PARTS,
                           .gpu = NOTE_NO_GPU,
                           .amounts = {lines->lines[0] * percent, lines->sms[0],
                                       lines->lines[1] * percent, lines->sms[1]}});
  return lines->lines[0] >= 2 && lines->lines[1] >= 2
             ? STATUS_OK
             : error_set(err, STATUS_UNSUPPORTED, "a part of the L2 cache has no two of the lines");
}

static enum status lay_out(struct chase_state *state, struct error *err) {
  uint32_t *next = calloc(state->count, sizeof *next);
  state->sequence = calloc(state->count, sizeof *state->sequence);
  enum status status = state->chase->lines == CHASE_PART_ALL ? STATUS_OK : find_lines(state, err);
  if (status == STATUS_OK && (next == NULL || state->sequence == NULL)) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for %llu elements",
                       (unsigned long long)state->count);
  }
  if (status == STATUS_OK) {
    list_elements(state);
    make_cycle(state, &state->cycles[0], next);
    make_cycle(state, &state->cycles[1], next);
    status = write_elements(state, next, err);
    place_threads(state);
  }
  free(next);
  return status;
}

static uint64_t table_of(const struct chase_state *state) {
  return state->chase->space == CHASE_SHARED ? state->buffer->device : 0;
}

/* Of a chain per SM: one whose SM ran no block is where it was, and another goes on twice. */
static enum status check_sms(const struct chase_state *state, uint64_t walked_before,
                             struct error *err) {
  const uint64_t *positions = chase_positions(state);
  const uint64_t threads = chase_grid_threads(state->chase);
  uint64_t still = 0;
  uint64_t last = 0;
  for (uint64_t thread = 0; thread < threads; thread++) {
    if (positions[thread] == position_after(state, thread, walked_before) &&
        positions[thread] != position_after(state, thread, state->walked)) {
      still++;
      last = thread;
    }
  }
  return still == 0 || still == threads
             ? STATUS_OK
             : error_set(err, STATUS_UNSUPPORTED,
                         "the driver did not run one block on each SM: none ran on SM %" PRIu64,
                         last * state->chase->blocks / threads);
}

static enum status walk(struct chase_state *state, uint64_t warm_hops, uint64_t hops,
                        struct chase_times *times, struct error *err) {
  const uint64_t walked_before = state->walked;
  state->walked += warm_hops + hops;
  if (state->host != NULL) {
    uint64_t warm_ns = 0;
    chase_host_run(state->host, warm_hops, &warm_ns);
    chase_host_run(state->host, hops, &times->elapsed_ns);
    times->cycles = 0;
    return STATUS_OK;
  }
  enum status status = chase_gpu_run(state->gpu, table_of(state), warm_hops, hops, times, err);
  return status == STATUS_OK && state->chase->lines != CHASE_PART_ALL
             ? check_sms(state, walked_before, err)
             : status;
}

/* Brings a footprint that an L2 could hold into it, and leaves nothing there of a larger one. */
static enum status warm_l2(struct chase_state *state, struct error *err) {
  const struct chase *chase = state->chase;
  const int32_t owner = chase->memory.index;
  struct chase_times unused;
  if (chase->by_processor && chase->footprint_bytes <= WARM_HOST_BYTES) {
    return walk(state, state->count, 0, &unused, err);
  }
  if (chase->space == CHASE_HOST || chase->space == CHASE_SHARED) {
    return STATUS_OK;
  }
  if (chase->footprint_bytes > 2 * state->engine->context.machine->gpus[owner].l2_bytes) {
    return data_flush_gpu_cache(state->engine->data, owner, err);
  }
  return chase->space == CHASE_GLOBAL ? walk(state, state->count, 0, &unused, err) : STATUS_OK;
}

static enum kernel kernel_of(const struct chase *chase) {
  if (chase->access == CHASE_BY_BULK) {
    return KERNEL_CHASE_BULK;
  }
  switch (chase->space) {
  case CHASE_GLOBAL:
    if (chase_is_of_words(chase)) {
      return chase->cache == CACHE_L2 ? KERNEL_CHASE_L2_U32 : KERNEL_CHASE_L1_U32;
    }
    return chase->cache == CACHE_L2 ? KERNEL_CHASE_L2 : KERNEL_CHASE_L1;
  case CHASE_SHARED:
    return KERNEL_CHASE_SHARED;
  case CHASE_HOST:
  case CHASE_PEER:
  case chase_space_name_count:
    break;
  }
  return KERNEL_CHASE_SYS;
}

static struct chase_gpu_request request_of(const struct chase *chase) {
  return (struct chase_gpu_request){
      .kernel = kernel_of(chase),
      .gpu = chase->gpu,
      .peer = chase->space == CHASE_PEER ? chase->memory.index : -1,
      .threads = chase_block_threads(chase),
      .blocks = chase->blocks > 0 ? chase->blocks : 1,
      .in_turn = chase->sm == CHASE_SM_EACH,
      .by_sm = chase->lines != CHASE_PART_ALL,
      .shared_bytes = chase->space == CHASE_SHARED ? (uint32_t)chase->footprint_bytes : 0,
      .l1_size = chase->l1_size,
  };
}

/* Untimed hops before those that are measured: one round for the L1, which every launch finds
 * empty. One hop more where all threads would end where they began, as if nothing had been loaded.
 */
static uint64_t warm_hops_of(const struct chase_state *state, uint64_t hops) {
  const struct chase *chase = state->chase;
  const bool in_l1 = chase->space == CHASE_GLOBAL && chase->cache == CACHE_L1 &&
                     chase->access == CHASE_BY_LOAD && chase->footprint_bytes <= WARM_L1_BYTES;
  const uint64_t warm_hops = in_l1 ? state->count : 0;
  const uint64_t all = warm_hops + hops;
  bool returns = false;
  for (int part = 0; part < 2; part++) {
    const uint64_t count = state->cycles[part].count;
    returns = returns || (count > 0 && all % count == 0);
  }
  return returns ? warm_hops + 1 : warm_hops;
}

/* As often as the trial is repeated because the loads did not outlast it. */
static enum status chase_enqueue(const struct memory_context *context, struct flow_run *run,
                                 uint32_t iterations, struct error *err) {
  struct chase_state *state = run->state;
  const uint64_t hops = state->chase->hops * iterations;
  const uint64_t warm_hops = warm_hops_of(state, hops);
  (void)context;
  state->walked += warm_hops + hops;
  return chase_gpu_enqueue(state->gpu, table_of(state), warm_hops, hops, run->stream, err);
}

static enum status take_loads(struct chase_state *state, const struct case_def *def,
                              struct case_outcome *outcome, struct error *err) {
  state->flow = (struct flow){.role = FLOW_MEASURED, .method = METHOD_SM};
  struct flow_run own = {
      .flow = &state->flow, .gpu = state->chase->gpu, .state = state, .enqueue = chase_enqueue};
  if (state->host != NULL) {
    state->flow.method = METHOD_CPU;
    own = chase_host_own(state->host, &state->flow);
  }
  return loads_new(state->engine, def, outcome, &own, &state->loads, err);
}

static enum status chase_set_up(struct engine *engine, const struct case_def *def,
                                struct case_outcome *outcome, void **state, struct error *err) {
  const struct chase *chase = &def->work->chase;
  uint64_t start_ns = clock_now_ns();
  struct chase_state *made = calloc(1, sizeof *made);
  *state = made;
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  made->engine = engine;
  made->chase = chase;
  made->count = chase_element_count(chase);
  enum status status =
      pool_take(engine->pool, &chase->memory, chase->footprint_bytes, &made->buffer, err);
  made->outcome = outcome;
  if (status == STATUS_OK) {
    workload_note_buffer(outcome, made->buffer);
    const struct chase_gpu_request request = request_of(chase);
    status = chase->by_processor ? chase_host_new(engine->context.machine, chase, &made->host, err)
                                 : chase_gpu_new(engine->context.cuda, &request, &made->gpu, err);
  }
  status = THEN(status, lay_out(made, err));
  if (status == STATUS_OK && made->buffer->host != NULL && !chase->by_processor) {
    workload_prove_caches(engine, HOST_CACHE_FLUSHED, outcome);
    (void)cache_flush(made->buffer->host, chase->footprint_bytes);
  }
  if (status == STATUS_OK && def->flow_count > 0) {
    status = take_loads(made, def, outcome, err);
  }
  status = THEN(status, warm_l2(made, err));
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t chase_iterations_max(const void *state) {
  (void)state;
  return CHASE_ITERATIONS_MAX;
}

static enum status check_positions(const struct chase_state *state, struct error *err) {
  const uint64_t *positions = chase_positions(state);
  for (uint64_t thread = 0; thread < chase_grid_threads(state->chase); thread++) {
    const uint64_t expected = position_after(state, thread, state->walked);
    if (positions[thread] != expected) {
      return error_set(err, STATUS_CORRUPT,
                       "the chain of thread %" PRIu64 " is at 0x%" PRIx64 ", not at 0x%" PRIx64
                       ": a load was wrong or not made",
                       thread, positions[thread], expected);
    }
  }
  return STATUS_OK;
}

static enum status chase_run(void *opaque, uint32_t iterations, struct trial_times *times,
                             struct error *err) {
  struct chase_state *state = opaque;
  struct chase_times walked = {0};
  const uint64_t hops = state->chase->hops * iterations;
  enum status status = STATUS_OK;
  if (state->loads != NULL && state->host != NULL) {
    status = loads_run(state->loads, iterations, times, err);
    walked.elapsed_ns = times->window_ns;
    state->walked += hops;
  } else if (state->loads != NULL) {
    status = loads_run(state->loads, iterations, times, err);
    chase_gpu_times(state->gpu, &walked);
  } else {
    status = walk(state, warm_hops_of(state, hops), hops, &walked, err);
    times->gate_timed_out = false;
  }
  status = THEN(status, check_positions(state, err));
  if (status == STATUS_OK) {
    times->window_ns = walked.elapsed_ns;
    times->cycles = walked.cycles;
  }
  return status;
}

static enum status chase_before_trial(void *opaque, struct error *err) {
  const struct chase_state *state = opaque;
  return state->loads != NULL ? loads_before_trial(state->loads, err) : STATUS_OK;
}

static void chase_tear_down(void *opaque) {
  struct chase_state *state = opaque;
  if (state->host != NULL) {
    workload_set_cpus(state->outcome, chase_host_cpus(state->host));
  }
  loads_free(state->loads);
  chase_gpu_free(state->gpu);
  chase_host_free(state->host);
  chase_lines_fini(&state->lines);
  pool_give_back_all(state->engine->pool);
  free(state->sequence);
  free(state);
}

const struct workload_ops workload_chase = {
    .kind = CASE_CHASE,
    .kernel_modules = 1 << KERNEL_MODULE_CHASE,
    .unsupported_reason = chase_unsupported_reason,
    .memory_needs = chase_memory_needs,
    .path = chase_path,
    .clock = chase_clock,
    .set_up = chase_set_up,
    .iterations_max = chase_iterations_max,
    .before_trial = chase_before_trial,
    .run = chase_run,
    .verifies_itself = true,
    .tear_down = chase_tear_down,
};
