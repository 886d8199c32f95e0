/* An [[overhead]]: what a call of the driver costs the host, in ns per call on the host's clock.
 *
 * A trial is many calls in a row. The queue is drained before and after, outside the time, and a
 * trial never queues more than fits it, so that no call waits for the GPU. Memory that is not the
 * driver's (pageable, huge) is allocated the way this tool allocates it: mapped, placed on its
 * node, faulted in and its placement checked. */
#include "engine/base/clock.h"
#include "engine/case/work.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"
#include "engine/trial/event_trial.h"
#include "engine/workload/overhead_gpu.h"
#include "engine/workload/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS_MAX = 1 << 16, MADE_MAX = 64, QUEUED_NODES_MAX = 1024 };
/* All allocations of one trial together, unless a single one is larger. */
static const uint64_t ALLOCATED_BYTES = UINT64_C(1) << 30;
static const uint64_t HANDLE_BYTES = UINT64_C(2) << 20;

struct overhead_state {
  struct engine *engine;
  const struct overhead *overhead;
  struct case_outcome *outcome;
  struct overhead_gpu *gpu; /* calls of the driver; NULL: memory of the host alone */
  struct buffer *buffers;   /* of that */
  uint32_t operations_max;
  bool bound; /* the calling thread runs where the memory shall be */
  struct numa_binding before;
};

static bool is_allocation(const struct overhead *overhead) {
  return overhead->operation == OVERHEAD_ALLOCATE || overhead->operation == OVERHEAD_FREE;
}

/* Of pages of a NUMA node. */
static bool is_on_node(const struct overhead *overhead) {
  const bool pages = (overhead_traits_of(overhead->operation) & OVERHEAD_PAGES) != 0;
  return pages || (is_allocation(overhead) && overhead->memory.place == PLACE_NUMA);
}

/* Memory that needs no driver. */
static bool is_host_alone(const struct overhead *overhead) {
  return is_allocation(overhead) &&
         (overhead->memory.memory == MEMORY_PAGEABLE || overhead->memory.memory == MEMORY_HUGE ||
          overhead->memory.memory == MEMORY_SHARED);
}

static uint32_t overhead_threads(const struct overhead *overhead) {
  return overhead->threads > 1 ? overhead->threads : 1;
}

/* Of one trial, by each thread. */
static uint32_t operations_max(const struct overhead *overhead) {
  const enum overhead_traits traits = overhead_traits_of(overhead->operation);
  if ((traits & OVERHEAD_ALONE) != 0) {
    return 1;
  }
  if ((traits & OVERHEAD_QUEUED) != 0) {
    return EVENT_ITERATIONS_MAX;
  }
  if ((traits & OVERHEAD_MAKING) == 0) {
    return CALLS_MAX;
  }
  if (overhead->operation == OVERHEAD_GRAPH_LAUNCH && overhead->nodes > 1) {
    const uint32_t fit = QUEUED_NODES_MAX / overhead->nodes;
    return fit == 0 ? 1 : fit < MADE_MAX ? fit : MADE_MAX;
  }
  if ((traits & OVERHEAD_SIZED) == 0 || overhead->size_bytes == 0) {
    return MADE_MAX;
  }
  const uint64_t page_bytes = overhead_pages_bytes(overhead->pages);
  const uint64_t each = overhead->size_bytes > page_bytes ? overhead->size_bytes : page_bytes;
  const uint64_t fit = ALLOCATED_BYTES / each / overhead_threads(overhead);
  return fit == 0 ? 1 : fit < MADE_MAX ? (uint32_t)fit : MADE_MAX;
}

/* Managed memory of the case on its GPU. */
static uint64_t managed_bytes(const struct overhead *overhead) {
  const bool allocates = is_allocation(overhead) && overhead->memory.memory == MEMORY_MANAGED;
  const bool moves =
      overhead->operation == OVERHEAD_PREFETCH || overhead->operation == OVERHEAD_ADVISE;
  return (allocates ? operations_max(overhead) : moves) * (uint64_t)overhead_threads(overhead) *
         overhead->size_bytes;
}

static const char *allocation_unsupported_reason(const struct case_def *def,
                                                 const struct machine *machine,
                                                 char reason[CASE_REASON_MAX]) {
  const struct overhead *overhead = &def->work->overhead;
  const struct endpoint *memory = &overhead->memory;
  const struct memory_ops *kind = memory_kinds[memory->memory];
  if (overhead->size_bytes == 0) {
    return "an allocation has at least one byte";
  }
  if (kind->place != memory->place) {
    return CASE_REASON(reason, "%s memory cannot be at a %s", memory_kind_text(memory->memory),
                       memory->place == PLACE_GPU ? "GPU" : "NUMA node");
  }
  if (memory->place == PLACE_NUMA && machine_node_index(machine, memory->index) < 0) {
    return CASE_REASON(reason, "there is no NUMA node %" PRId32, memory->index);
  }
  if (memory->place == PLACE_GPU && memory->index != overhead->gpu) {
    return "memory of a GPU is allocated in that GPU's own context";
  }
  return NULL;
}

static const char *overhead_unsupported_reason(const struct case_def *def,
                                               const struct machine *machine,
                                               char reason[CASE_REASON_MAX]) {
  const struct overhead *overhead = &def->work->overhead;
  if (!is_host_alone(overhead) &&
      (overhead->gpu < 0 || (uint32_t)overhead->gpu >= machine->gpu_count)) {
    return CASE_REASON(reason, "%s is a call of a GPU's driver: %.450s",
                       overhead_operation_text(overhead->operation),
                       machine->gpu_count == 0 ? machine->cuda_state : "there is no such GPU");
  }
  const char *unsupported =
      is_allocation(overhead) ? allocation_unsupported_reason(def, machine, reason) : NULL;
  if (unsupported == NULL && managed_bytes(overhead) > 0) {
    uint64_t managed[MACHINE_GPUS_MAX] = {0};
    managed[overhead->gpu] = managed_bytes(overhead);
    unsupported = managed_share_unsupported_reason(&def->measure, machine, managed, reason);
  }
  return unsupported;
}

static void overhead_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                                  uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct overhead *overhead = &def->work->overhead;
  const enum overhead_traits traits = overhead_traits_of(overhead->operation);
  const uint64_t page_bytes = overhead_pages_bytes(overhead->pages);
  const uint64_t each = (overhead->size_bytes > page_bytes ? overhead->size_bytes : page_bytes) *
                        ((traits & OVERHEAD_MAKING) != 0 ? operations_max(overhead) : 2);
  const uint64_t bytes = overhead_threads(overhead) * each;
  if (overhead->gpu >= 0) {
    gpu_bytes[overhead->gpu] += overhead->alive * OVERHEAD_ALIVE_BYTES;
    /* An allocation of a GPU's own takes 2 MiB at least once it is exported. */
    const uint64_t lent_bytes =
        overhead->size_bytes > HANDLE_BYTES ? overhead->size_bytes : HANDLE_BYTES;
    if (overhead->operation == OVERHEAD_SHARED_OPEN ||
        overhead->operation == OVERHEAD_SHARED_CLOSE) {
      *host_bytes += overhead->handles * overhead->size_bytes;
    } else {
      gpu_bytes[overhead->gpu] += overhead->handles * lent_bytes;
    }
  }
  if (!is_allocation(overhead) && !is_on_node(overhead)) {
    gpu_bytes[overhead->gpu < 0 ? 0 : overhead->gpu] += bytes;
    *host_bytes += bytes;
  } else if (overhead->memory.place == PLACE_GPU) {
    gpu_bytes[overhead->memory.index] += bytes;
  } else {
    *host_bytes += bytes;
  }
}

/* A processor makes the calls. */
static bool overhead_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  const struct overhead *overhead = &def->work->overhead;
  const struct endpoint host = {.place = PLACE_NUMA};
  const struct endpoint gpu = {.place = PLACE_GPU, .index = overhead->gpu};
  *path = (struct case_path){.from = host, .to = overhead->gpu >= 0 ? gpu : host};
  return i == 0;
}

static enum clock overhead_clock(const struct case_def *def) {
  (void)def;
  return CLOCK_HOST;
}

/* Pages of ours that are registered one slot at a time. */
static enum status take_slots(const struct overhead_state *state,
                              struct overhead_gpu_request *request, struct error *err) {
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  const struct endpoint pageable = {
      .place = PLACE_NUMA, .index = state->overhead->memory.index, .memory = MEMORY_PAGEABLE};
  const struct buffer *buffer = NULL;
  request->slot_bytes = (state->overhead->size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  enum status status =
      pool_take(state->engine->pool, &pageable,
                request->slot_bytes * request->operations_max * overhead_threads(state->overhead),
                &buffer, err);
  if (status == STATUS_OK) {
    request->host = buffer->host;
  }
  return status;
}

static enum status make_driver_calls(struct overhead_state *state, const struct measure *measure,
                                     struct error *err) {
  const struct overhead *overhead = state->overhead;
  const bool allocation = is_allocation(overhead);
  struct overhead_gpu_request request = {.overhead = overhead,
                                         .memory = &state->engine->context,
                                         .operations_max = state->operations_max};
  enum status status = STATUS_OK;
  if (managed_bytes(overhead) > 0) {
    uint64_t managed[MACHINE_GPUS_MAX] = {0};
    managed[overhead->gpu] = managed_bytes(overhead);
    status = managed_share_admit(state->engine, measure, managed, err);
  } else if (is_on_node(overhead)) {
    status = numa_check_available(
        state->engine->context.machine, overhead->memory.index,
        (uint64_t)overhead_threads(overhead) * state->operations_max * overhead->size_bytes, err);
  }
  if (status == STATUS_OK && allocation && overhead->memory.memory == MEMORY_REGISTERED) {
    status = take_slots(state, &request, err);
  }
  return THEN(status, overhead_gpu_new(state->engine->context.cuda, &request, &state->gpu, err));
}

static enum status overhead_set_up(struct engine *engine, const struct case_def *def,
                                   struct case_outcome *outcome, void **opaque, struct error *err) {
  const struct overhead *overhead = &def->work->overhead;
  const uint64_t start_ns = clock_now_ns();
  struct overhead_state *state = calloc(1, sizeof *state);
  *opaque = state;
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  state->engine = engine;
  state->overhead = overhead;
  state->outcome = outcome;
  state->operations_max = operations_max(overhead);
  /* The driver takes pages where the calling thread runs. */
  if (is_on_node(overhead)) {
    state->bound = numa_bind_thread(engine->context.machine, overhead->memory.index, &state->before,
                                    NULL) == STATUS_OK;
  }
  enum status status = STATUS_OK;
  if (!is_host_alone(overhead)) {
    status = make_driver_calls(state, &def->measure, err);
  } else {
    state->buffers = calloc(state->operations_max, sizeof *state->buffers);
    if (state->buffers == NULL) {
      status = error_set(err, STATUS_NO_MEMORY, "no memory for a case");
    }
    notes_add_kinds(&outcome->notes, NOTE_BIT(NOTE_PLACING_TIMED));
  }
  if (status == STATUS_UNSUPPORTED) {
    outcome->status = CASE_SKIPPED; /* the driver, or this machine, has no such thing */
  }
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t overhead_iterations_max(const void *opaque) {
  const struct overhead_state *state = opaque;
  return state->operations_max;
}

/* Allocate and free that many; only the wanted one of the two is timed. */
static enum status overhead_run_on_host(const struct overhead_state *state, uint32_t operations,
                                        uint64_t *elapsed_ns, struct error *err) {
  const struct memory_context *context = &state->engine->context;
  const struct memory_ops *kind = memory_kinds[state->overhead->memory.memory];
  enum status status = STATUS_OK;
  uint32_t made = 0;
  for (uint32_t i = 0; i < operations; i++) {
    state->buffers[i] = (struct buffer){.endpoint = state->overhead->memory,
                                        .size_bytes = state->overhead->size_bytes};
  }
  const uint64_t start_ns = clock_now_ns();
  while (status == STATUS_OK && made < operations) {
    status = kind->allocate(context, &state->buffers[made], err);
    made += status == STATUS_OK;
  }
  const uint64_t made_ns = clock_now_ns();
  for (uint32_t i = 0; i < made; i++) {
    kind->release(context, &state->buffers[i]);
  }
  const uint64_t end_ns = clock_now_ns();
  *elapsed_ns =
      state->overhead->operation == OVERHEAD_ALLOCATE ? made_ns - start_ns : end_ns - made_ns;
  return status;
}

static enum status overhead_run(void *opaque, uint32_t iterations, struct trial_times *times,
                                struct error *err) {
  const struct overhead_state *state = opaque;
  times->gate_timed_out = false;
  return state->gpu != NULL ? overhead_gpu_run(state->gpu, iterations, &times->window_ns, err)
                            : overhead_run_on_host(state, iterations, &times->window_ns, err);
}

static void overhead_tear_down(void *opaque) {
  struct overhead_state *state = opaque;
  if (state->gpu != NULL) {
    overhead_gpu_calls(state->gpu, state->outcome);
  }
  overhead_gpu_free(state->gpu);
  if (state->bound) {
    numa_restore_thread(&state->before);
  }
  pool_give_back_all(state->engine->pool);
  free(state->buffers);
  free(state);
}

/* Declared in workloads.c, which lists all. */
extern const struct workload_ops workload_overhead;
const struct workload_ops workload_overhead = {
    .kind = CASE_OVERHEAD,
    .unsupported_reason = overhead_unsupported_reason,
    .memory_needs = overhead_memory_needs,
    .path = overhead_path,
    .clock = overhead_clock,
    .set_up = overhead_set_up,
    .iterations_max = overhead_iterations_max,
    .run = overhead_run,
    .tear_down = overhead_tear_down,
};
