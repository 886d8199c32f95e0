/* Method cpu: host threads copy from one host memory to another. Method pin: they page-lock the
 * source and unlock it again, which makes a load on the locks of the kernel and the driver.
 *
 * The threads run on the node of the initiating side (the source unless the flow says otherwise),
 * one per processor. Each copies its own page-aligned share of the bytes, `iterations` times over,
 * with the loop that engine/host/copy.h picks; threads do not wait for each other in between. */
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/host/cache.h"
#include "engine/host/copy.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHARE_UNIT_BYTES = 4096 };

struct cpu_state {
  struct thread_team *team;
  const struct host_copy *loop; /* NULL: pages are locked */
  const struct cuda_session *cuda;
  CUcontext context;
  unsigned char *target;
  unsigned char *source;
  uint64_t size_bytes;
  atomic_bool *stop;            /* load flows end when it is set; NULL = after `iterations` */
  atomic_uint_fast64_t repeats; /* of all threads until then */
};

static int32_t initiating_node(const struct flow *flow) {
  return flow->initiator == INITIATOR_TARGET ? flow->target.index : flow->source.index;
}

static const char *endpoint_unsupported_reason(const struct endpoint *endpoint,
                                               const struct machine *machine,
                                               char reason[CASE_REASON_MAX]) {
  if (endpoint->place != PLACE_NUMA) {
    return "method cpu copies between host memories; use ce or sm with a GPU";
  }
  if (endpoint->memory == MEMORY_DEVICE || endpoint->memory == MEMORY_MANAGED) {
    return CASE_REASON(reason, "method cpu does not copy %s memory",
                       memory_kind_text(endpoint->memory));
  }
  for (uint32_t i = 0; i < machine->node_count; i++) {
    if (machine->nodes[i].number == endpoint->index) {
      return NULL;
    }
  }
  return CASE_REASON(reason, "there is no NUMA node %" PRId32, endpoint->index);
}

static const char *cpu_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                          char reason[CASE_REASON_MAX]) {
  const char *refused = endpoint_unsupported_reason(&flow->source, machine, reason);
  if (refused == NULL) {
    refused = endpoint_unsupported_reason(&flow->target, machine, reason);
  }
  if (refused != NULL) {
    return refused;
  }
  if (copy_shape_is_strided(&flow->shape)) {
    return "method cpu copies contiguous bytes only";
  }
  const int32_t number = initiating_node(flow);
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    if (node->number != number) {
      continue;
    }
    if (node->cpu_count == 0) {
      return CASE_REASON(reason, "NUMA node %" PRId32 " has no processors", number);
    }
    if (flow->threads > node->cpu_count) {
      return CASE_REASON(reason,
                         "%" PRIu32 " threads are wanted on NUMA node %" PRId32
                         ", which has %" PRIu32 " processors",
                         flow->threads, number, node->cpu_count);
    }
  }
  return NULL;
}

static const char *pin_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                          char reason[CASE_REASON_MAX]) {
  if (flow->role != FLOW_LOAD) {
    return "method pin locks pages and moves nothing: it is a load beside other flows";
  }
  if (flow->source.memory != MEMORY_PAGEABLE || flow->target.memory != MEMORY_PAGEABLE) {
    return "method pin locks the pages of pageable memory";
  }
  if (machine->gpu_count == 0) {
    return CASE_REASON(reason, "page locking needs a GPU driver: %.450s", machine->cuda_state);
  }
  return cpu_unsupported_reason(flow, machine, reason);
}

static int32_t gpu(const struct flow *flow) {
  (void)flow;
  return -1;
}

static void expect_cpus(const struct flow *flow, const struct machine *machine,
                        struct cpu_reservation *reservation) {
  cpu_reservation_expect(reservation, machine, initiating_node(flow), flow->threads);
}

static enum status cpu_prepare(const struct memory_context *context, struct flow_run *run,
                               struct error *err) {
  struct cpu_state *state = calloc(1, sizeof *state);
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "out of host memory");
  }
  const struct flow *flow = run->flow;
  enum status status = thread_team_new(context->machine, initiating_node(flow), flow->threads,
                                       run->reservation, &state->team, err);
  if (status != STATUS_OK) {
    free(state);
    return status;
  }
  const bool write_combined =
      flow->source.memory == MEMORY_WRITE_COMBINED || flow->target.memory == MEMORY_WRITE_COMBINED;
  state->target = run->target->host;
  state->source = run->source->host;
  state->size_bytes = flow->size_bytes;
  state->loop =
      host_copy_choose(write_combined, 2 * flow->size_bytes, thread_team_cache_bytes(state->team));
  run->state = state;
  return STATUS_OK;
}

static CUresult cpu_pin(const struct cpu_state *state, uint64_t begin, uint64_t end) {
  const struct cuda_driver *driver = &state->cuda->driver;
  const CUresult result =
      driver->cuMemHostRegister(state->source + begin, end - begin,
                                CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  return result != CUDA_SUCCESS ? result : driver->cuMemHostUnregister(state->source + begin);
}

/* Once before the trials, so that what the driver refuses is said. */
static enum status pin_prepare(const struct memory_context *context, struct flow_run *run,
                               struct error *err) {
  const int32_t node = initiating_node(run->flow);
  int32_t gpu = 0; /* whose context the threads use: one near the node, where there is one */
  for (uint32_t i = context->machine->gpu_count; i-- > 0;) {
    gpu = context->machine->gpus[i].numa_node == node ? (int32_t)i : gpu;
  }
  RETURN_ON_ERROR(cuda_session_use(context->cuda, gpu, err));
  RETURN_ON_ERROR(cpu_prepare(context, run, err));
  struct cpu_state *state = run->state;
  state->loop = NULL;
  state->cuda = context->cuda;
  state->context = context->cuda->gpus[gpu].context;
  return cuda_check(&context->cuda->driver, cpu_pin(state, 0, state->size_bytes), err,
                    "locking and unlocking the pages of %llu bytes",
                    (unsigned long long)state->size_bytes);
}

static void cpu_release(const struct memory_context *context, struct flow_run *run) {
  (void)context;
  struct cpu_state *state = run->state;
  if (state != NULL) {
    thread_team_free(state->team);
    free(state);
    run->state = NULL;
  }
}

static uint32_t thread_count(const struct flow_run *run) {
  const struct cpu_state *state = run->state;
  return thread_team_size(state->team);
}

/* Whole units are divided evenly; the last thread also takes what is left of the last unit. */
static uint64_t cpu_share_begin(uint64_t size_bytes, uint32_t thread, uint32_t count) {
  const uint64_t units = size_bytes / SHARE_UNIT_BYTES;
  return (units / count * thread + units % count * thread / count) * SHARE_UNIT_BYTES;
}

static void cpu_once(const struct cpu_state *state, uint64_t begin, uint64_t end) {
  if (state->loop != NULL) {
    state->loop->copy(state->target + begin, state->source + begin, end - begin);
  } else if (end > begin) {
    (void)cpu_pin(state, begin, end); /* pin_prepare() has seen that it works */
  }
}

static void work(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  struct cpu_state *state = context;
  const uint64_t begin = cpu_share_begin(state->size_bytes, thread, count);
  const uint64_t end = thread + 1 == count ? state->size_bytes
                                           : cpu_share_begin(state->size_bytes, thread + 1, count);
  if (state->loop == NULL) {
    (void)state->cuda->driver.cuCtxSetCurrent(state->context);
  }
  if (state->stop == NULL) {
    for (uint32_t i = 0; i < iterations; i++) {
      cpu_once(state, begin, end);
    }
    return;
  }
  uint64_t repeats = 0;
  do {
    cpu_once(state, begin, end);
    repeats++;
  } while (!atomic_load_explicit(state->stop, memory_order_relaxed));
  (void)atomic_fetch_add(&state->repeats, repeats);
}

static enum status execute(struct flow_run *run, uint32_t iterations, struct host_start *start,
                           struct error *err) {
  (void)err;
  struct cpu_state *state = run->state;
  state->stop = run->flow->role == FLOW_LOAD && start != NULL ? &start->stop : NULL;
  atomic_store(&state->repeats, 0);
  thread_team_start(state->team, work, state, iterations, start);
  return STATUS_OK;
}

static void cpu_wait(struct flow_run *run, uint64_t *start_ns, uint64_t *end_ns) {
  struct cpu_state *state = run->state;
  thread_team_wait(state->team, start_ns, end_ns);
  /* Each thread repeats its own share until the stop. */
  const uint64_t threads = thread_team_size(state->team);
  const uint64_t repeats = atomic_load(&state->repeats);
  run->load_iterations = repeats > 0 && repeats < threads ? 1 : (repeats + threads / 2) / threads;
}

/* Declared in method.c, which lists all. */
extern const struct method_ops method_cpu;
const struct method_ops method_cpu = {
    .method = METHOD_CPU,
    .clock = CLOCK_HOST,
    .unsupported_reason = cpu_unsupported_reason,
    .gpu = gpu,
    .prepare = cpu_prepare,
    .release = cpu_release,
    .enqueue = NULL,
    .blocks_host = NULL,
    .expect_cpus = expect_cpus,
    .thread_count = thread_count,
    .execute = execute,
    .wait = cpu_wait,
};

extern const struct method_ops method_pin;
const struct method_ops method_pin = {
    .method = METHOD_PIN,
    .clock = CLOCK_HOST,
    .unsupported_reason = pin_unsupported_reason,
    .gpu = gpu,
    .prepare = pin_prepare,
    .release = cpu_release,
    .enqueue = NULL,
    .blocks_host = NULL,
    .expect_cpus = expect_cpus,
    .thread_count = thread_count,
    .execute = execute,
    .wait = cpu_wait,
};
