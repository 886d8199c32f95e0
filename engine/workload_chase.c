/* A [[chase]]: one thread of a GPU follows a chain of addresses through memory elsewhere. The
 * thread times itself, so that the launch is outside; where the chain ended proves that every load
 * was made.
 *
 * A random order is one cycle through all elements (Sattolo 1986), so that neither prefetching nor
 * a constant stride flatters the number. */
#include "engine/cuda/chase_gpu.h"
#include "engine/host/clock.h"
#include "engine/method/method.h"
#include "engine/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A trial of up to 2^24 hops: seconds at the slowest memory there is. */
enum { CHASE_ITERATIONS_MAX = 1 << 12 };

struct chase_state {
  struct engine *engine;
  const struct chase *chase;
  const struct buffer *buffer;
  uint64_t count;     /* elements */
  uint32_t *sequence; /* element visited at each step of the cycle, from element 0 */
  struct chase_slot slot;
};

static uint64_t element_count(const struct chase *chase) {
  return chase->footprint_bytes / chase->stride_bytes;
}

static const char *chase_refusal(const struct bench_case *bench_case, const struct machine *machine,
                                 char reason[CASE_REASON_MAX]) {
  const struct chase *chase = &bench_case->chase;
  const struct memory_ops *kind = memory_kinds[chase->memory.memory];
  if (kind == NULL) {
    (void)snprintf(reason, CASE_REASON_MAX, "%s memory is not part of this build",
                   memory_kind_text(chase->memory.memory));
    return reason;
  }
  if (chase->memory.memory == MEMORY_MANAGED) {
    return "a chase of managed memory would measure page faults; use method um";
  }
  if (chase->stride_bytes < 8 || chase->stride_bytes % 8 != 0 || element_count(chase) < 2 ||
      element_count(chase) > UINT32_MAX) {
    return "a chase needs a stride that is a multiple of 8 bytes and a footprint of at least two "
           "strides";
  }
  if (chase->space == CHASE_PEER) {
    if (chase->memory.index == chase->gpu) {
      return "the peer of a chase is another GPU";
    }
    if (!machine->links[chase->gpu][chase->memory.index].peer_access) {
      (void)snprintf(reason, CASE_REASON_MAX, "GPU %d has no peer access to GPU %d", chase->gpu,
                     chase->memory.index);
      return reason;
    }
  } else if (chase->memory.memory == MEMORY_PAGEABLE &&
             !machine->gpus[chase->gpu].host_page_tables) {
    return "a kernel cannot reach pageable memory on this machine; use pinned or registered";
  }
  return NULL;
}

static void chase_memory_needs(const struct bench_case *bench_case, uint64_t *host_bytes,
                               uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct chase *chase = &bench_case->chase;
  if (chase->memory.place == PLACE_GPU) {
    gpu_bytes[chase->memory.index] += chase->footprint_bytes;
  } else {
    *host_bytes += chase->footprint_bytes;
  }
}

static enum clock chase_clock(const struct bench_case *bench_case) {
  (void)bench_case;
  return CLOCK_KERNEL;
}

/* xorshift64* (Vigna 2016): the same cycle in every run. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* next[i] = the element after i; sequence[step] = where step hops from element 0 lead. */
static void make_cycle(const struct chase_state *state, uint32_t *next) {
  const uint32_t count = (uint32_t)state->count;
  for (uint32_t i = 0; i < count; i++) {
    next[i] = i;
  }
  if (state->chase->order == CHASE_RANDOM) {
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = count - 1; i > 0; i--) {
      uint32_t j = (uint32_t)(next_random(&random) % i);
      uint32_t swap = next[i];
      next[i] = next[j];
      next[j] = swap;
    }
  } else {
    for (uint32_t i = 0; i < count; i++) {
      next[i] = i + 1 < count ? i + 1 : 0;
    }
  }
  uint32_t element = 0;
  for (uint32_t step = 0; step < count; step++) {
    state->sequence[step] = element;
    element = next[element];
  }
}

static uint64_t address_of(const struct chase_state *state, uint64_t element) {
  return state->buffer->device + element * state->chase->stride_bytes;
}

static enum status write_elements(const struct chase_state *state, const uint32_t *next,
                                  struct error *err) {
  const struct chase *chase = state->chase;
  const uint64_t size_bytes = state->count * chase->stride_bytes;
  unsigned char *image = state->buffer->host != NULL ? state->buffer->host : malloc(size_bytes);
  if (image == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the elements of a chase");
  }
  memset(image, 0, size_bytes);
  for (uint64_t i = 0; i < state->count; i++) {
    uint64_t address = address_of(state, next[i]);
    memcpy(image + i * chase->stride_bytes, &address, sizeof address);
  }
  enum status status = STATUS_OK;
  if (state->buffer->host == NULL) {
    status = chase_gpu_upload(state->engine->context.cuda, state->buffer->endpoint.index,
                              state->buffer->device, image, size_bytes, err);
    free(image);
  }
  return status;
}

static enum status lay_out(struct chase_state *state, struct error *err) {
  uint32_t *next = calloc(state->count, sizeof *next);
  state->sequence = calloc(state->count, sizeof *state->sequence);
  enum status status = STATUS_OK;
  if (next == NULL || state->sequence == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for %llu elements",
                       (unsigned long long)state->count);
  } else {
    make_cycle(state, next);
    status = write_elements(state, next, err);
  }
  free(next);
  return status;
}

static enum status chase_set_up(struct engine *engine, const struct bench_case *bench_case,
                                struct case_outcome *outcome, void **state, struct error *err) {
  const struct chase *chase = &bench_case->chase;
  uint64_t start_ns = clock_now_ns();
  struct chase_state *made = calloc(1, sizeof *made);
  *state = made;
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  made->engine = engine;
  made->chase = chase;
  made->count = element_count(chase);
  enum status status =
      pool_take(engine->pool, &chase->memory, chase->footprint_bytes, &made->buffer, err);
  if (status == STATUS_OK) {
    workload_note(outcome, made->buffer->note);
    status =
        chase_gpu_prepare(engine->context.cuda, chase->gpu,
                          chase->space == CHASE_PEER ? chase->memory.index : -1, &made->slot, err);
  }
  if (status == STATUS_OK) {
    status = lay_out(made, err);
  }
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t chase_iterations_max(const void *state) {
  (void)state;
  return CHASE_ITERATIONS_MAX;
}

static enum status chase_run(void *opaque, uint32_t iterations, struct trial_times *times,
                             struct error *err) {
  const struct chase_state *state = opaque;
  const uint64_t hops = state->chase->hops * iterations;
  enum status status = chase_gpu_run(state->engine->context.cuda, state->chase->gpu,
                                     address_of(state, 0), hops, &state->slot, err);
  if (status != STATUS_OK) {
    return status;
  }
  const uint64_t expected = address_of(state, state->sequence[hops % state->count]);
  if (state->slot.host->last != expected) {
    return error_set(err, STATUS_CORRUPT,
                     "after %llu hops the chain is at 0x%llx, not at 0x%llx: a load was wrong or "
                     "not made",
                     (unsigned long long)hops, (unsigned long long)state->slot.host->last,
                     (unsigned long long)expected);
  }
  times->window_ns = state->slot.host->elapsed_ns;
  times->cycles = state->slot.host->cycles;
  times->gate_timed_out = false;
  return STATUS_OK;
}

static void chase_tear_down(void *opaque) {
  struct chase_state *state = opaque;
  chase_gpu_release(state->engine->context.cuda, &state->slot);
  pool_give_back_all(state->engine->pool);
  free(state->sequence);
  free(state);
}

const struct workload_ops workload_chase = {
    .kind = CASE_CHASE,
    .refusal = chase_refusal,
    .memory_needs = chase_memory_needs,
    .clock = chase_clock,
    .set_up = chase_set_up,
    .iterations_max = chase_iterations_max,
    .run = chase_run,
    .verifies_itself = true,
    .tear_down = chase_tear_down,
};
