/* Method um: pages of one managed buffer move from the source to the target, because the target's
 * processor touches them (demand: one byte per page, by one lane of each warp of a GPU or by host
 * threads bound to the node) or because the driver is asked to bring them (prefetch).
 *
 * Before each trial the pages are brought to the source and that is proven; after it, that they are
 * at the target. (Technique: Comm|Scope, "NUMA-Pinned Unified Memory Coherence Bandwidth".)
 *
 * What is read is added up and compared, so that a page left out shows. Both processors at once
 * (unified.together) is one flow of host threads, one of which launches the kernel and waits for
 * it.
 *
 * The stride is the page size of the system unless the scenario says otherwise, for GPUs as well:
 * it is the smallest unit in which managed pages move, so that none is left behind whatever larger
 * block a driver moves for one fault. */
#include "engine/method/um_pages.h"

#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* As in Comm|Scope: 2048 warps, each with one fault at a time. */
enum { TOUCH_BLOCK = 256, TOUCH_GRID = 256, WARP_LANES = 32 };

struct um_state {
  struct touch touch;
  struct thread_team *team; /* NULL: a GPU touches, or the driver prefetches */
  struct um_abilities abilities;
  CUdeviceptr sum_device; /* of what GPUs read; 0 = they do not */
  atomic_ullong sum;      /* of what host threads read */
  uint64_t expected_sum;
  /* Of both at once: what the thread that launches the kernel needs, and what came of it. */
  const struct memory_context *context;
  const struct flow_run *run;
  enum status status;
  struct error err;
};

static bool is_demand(const struct flow *flow) {
  return flow->unified.mode == UNIFIED_DEMAND;
}

static const struct endpoint *touching_end(const struct flow *flow) {
  return flow->unified.touch_by == INITIATOR_SOURCE ? &flow->source : &flow->target;
}

static const struct endpoint *other_end(const struct flow *flow) {
  return touching_end(flow) == &flow->source ? &flow->target : &flow->source;
}

static bool is_together(const struct flow *flow) {
  return is_demand(flow) && flow->unified.together;
}

static bool is_read(const struct flow *flow) {
  return is_demand(flow) && flow->unified.access == TOUCH_READ;
}

/* The end whose threads touch; NULL: only GPUs do. */
static const struct endpoint *threads_end(const struct flow *flow) {
  const struct endpoint *end = touching_end(flow);
  if (is_together(flow) && end->place == PLACE_GPU) {
    end = other_end(flow);
  }
  return is_demand(flow) && end->place == PLACE_NUMA ? end : NULL;
}

static bool host_touches(const struct flow *flow) {
  return threads_end(flow) != NULL;
}

/* A GPU of the flow, the target first; there is one (um_unsupported_reason). */
static int32_t some_gpu(const struct flow *flow) {
  return flow->target.place == PLACE_GPU ? flow->target.index : flow->source.index;
}

/* The end that is host memory; NULL: both are GPUs. */
static const struct buffer *host_view(const struct flow_run *run) {
  const struct buffer *view = run->source->endpoint.place == PLACE_NUMA ? run->source : run->target;
  return view->endpoint.place == PLACE_NUMA ? view : NULL;
}

static uint32_t thread_count_of(const struct flow *flow) {
  return flow->unified.threads > 0 ? flow->unified.threads : 1;
}

static uint64_t page_bytes(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t stride_of(const struct flow *flow) {
  return flow->unified.stride_bytes > 0 ? flow->unified.stride_bytes : page_bytes();
}

static const char *node_unsupported_reason(const struct flow *flow, const struct endpoint *end,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  const int node = machine_node_index(machine, end->index);
  if (node < 0) {
    return CASE_REASON(reason, "there is no NUMA node %" PRId32, end->index);
  }
  if (threads_end(flow) == end && thread_count_of(flow) > machine->nodes[node].cpu_count) {
    return CASE_REASON(reason,
                       "%" PRIu32 " threads are to touch on NUMA node %" PRId32
                       ", which has %" PRIu32 " processors",
                       thread_count_of(flow), end->index, machine->nodes[node].cpu_count);
  }
  return NULL;
}

static const char *end_unsupported_reason(const struct flow *flow, const struct endpoint *end,
                                          const struct machine *machine,
                                          char reason[CASE_REASON_MAX]) {
  if (end->memory != MEMORY_MANAGED) {
    return "method um moves managed memory: memory is managed at both ends";
  }
  if (end->place == PLACE_NUMA) {
    return node_unsupported_reason(flow, end, machine, reason);
  }
  if (!machine->gpus[end->index].concurrent_managed_access) {
    return CASE_REASON(reason,
                       "GPU %" PRId32
                       " has no concurrent managed access: its managed memory does not "
                       "move by pages",
                       end->index);
  }
  return NULL;
}

static const char *um_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                         char reason[CASE_REASON_MAX]) {
  if (flow->source.place != PLACE_GPU && flow->target.place != PLACE_GPU) {
    return "unified memory needs a GPU at one end; use method cpu between host memories";
  }
  if (flow->source.place == flow->target.place && flow->source.index == flow->target.index) {
    return "pages of unified memory move between two places, and both ends are one";
  }
  if (flow->role == FLOW_LOAD && is_demand(flow)) {
    return "touched pages move once in a trial: as a load, unified memory is prefetched to and fro "
           "(unified.mode = \"prefetch\")";
  }
  if (copy_shape_is_strided(&flow->shape)) {
    return "method um moves whole pages: strided copies are for ce and sm";
  }
  if (flow->kernel.block % WARP_LANES != 0 || flow->kernel.block > 1024) {
    return CASE_REASON(reason, "block = %u: a multiple of %d up to 1024 is wanted",
                       flow->kernel.block, WARP_LANES);
  }
  if (is_together(flow) && flow->source.place == flow->target.place) {
    return "both processors at once are a GPU and the threads of a node: one end is numa";
  }
  const char *unsupported = end_unsupported_reason(flow, &flow->source, machine, reason);
  return unsupported != NULL ? unsupported
                             : end_unsupported_reason(flow, &flow->target, machine, reason);
}

static enum clock um_clock(const struct flow *flow) {
  return host_touches(flow) ? CLOCK_HOST : CLOCK_EVENT;
}

static int32_t um_gpu(const struct flow *flow) {
  if (!is_demand(flow)) {
    return some_gpu(flow);
  }
  return host_touches(flow) ? -1 : touching_end(flow)->index; /* threads launch what is together */
}

/* Contexts of the GPUs; between two of them, direct access where there is and shall be. */
static enum status prepare_gpus(const struct memory_context *context, const struct flow *flow,
                                struct error *err) {
  if (flow->source.place != PLACE_GPU || flow->target.place != PLACE_GPU) {
    return cuda_session_use(context->cuda, some_gpu(flow), err);
  }
  const int32_t source = flow->source.index;
  const int32_t target = flow->target.index;
  const struct machine *machine = context->machine;
  enum status status = cuda_session_use(context->cuda, source, err);
  status =
      THEN(status,
           cuda_session_set_peer(context->cuda, source, target,
                                 !flow->staged && machine->links[source][target].peer_access, err));
  status =
      THEN(status,
           cuda_session_set_peer(context->cuda, target, source,
                                 !flow->staged && machine->links[target][source].peer_access, err));
  return THEN(status, cuda_session_use(context->cuda, target, err));
}

static bool reads_host_in_place(const struct flow_run *run, const struct machine *machine) {
  return host_view(run) != NULL && machine->gpus[some_gpu(run->flow)].host_page_tables;
}

/* Whether the trial must have moved every page, so that the check may demand it. */
static bool must_have_moved(const struct flow_run *run, const struct machine *machine) {
  const struct flow *flow = run->flow;
  if (reads_host_in_place(run, machine) || flow->unified.advise == ADVISE_ACCESSED_BY ||
      is_together(flow) || (is_read(flow) && flow->unified.advise == ADVISE_READ_MOSTLY)) {
    return false;
  }
  if (!is_demand(flow)) {
    return flow->unified.advise != ADVISE_READ_MOSTLY; /* a prefetch makes a second copy then */
  }
  return touching_end(flow) == &flow->target && stride_of(flow) <= page_bytes();
}

/* Of what a GPU or a host thread touches, the kernel's answers about host pages are the only proof.
 * A prefetch between GPUs has the driver's word. */
static bool is_proven(const struct flow_run *run, const struct machine *machine) {
  const struct um_state *state = run->state;
  const bool seen = host_view(run) != NULL && state->abilities.kernel_sees_pages;
  return must_have_moved(run, machine) &&
         (seen || (!is_demand(run->flow) && host_view(run) == NULL));
}

static uint64_t notes_for(const struct flow_run *run, const struct machine *machine) {
  const struct um_state *state = run->state;
  if (touching_end(run->flow) == &run->flow->source && is_demand(run->flow)) {
    return NOTE_BIT(NOTE_OWN_PAGES);
  }
  if (is_together(run->flow)) {
    return NOTE_BIT(NOTE_BOTH_TOUCH);
  }
  if (reads_host_in_place(run, machine)) {
    return NOTE_BIT(NOTE_READ_IN_PLACE);
  }
  if (host_view(run) != NULL && !state->abilities.kernel_sees_pages) {
    return NOTE_BIT(NOTE_DRIVERS_WORD);
  }
  if (host_view(run) == NULL && is_demand(run->flow)) {
    return NOTE_BIT(NOTE_PEER_PAGES);
  }
  return 0;
}

/* Where kernels add up what they read. */
static enum status take_sum(struct um_state *state, struct error *err) {
  const struct cuda_driver *driver = &state->context->cuda->driver;
  enum status status = cuda_session_use(state->context->cuda, some_gpu(state->run->flow), err);
  return THEN(status, cuda_check(driver, driver->cuMemAlloc(&state->sum_device, sizeof(uint64_t)),
                                 err, "allocating the sum of what is read"));
}

static void give_back_sum(struct um_state *state) {
  if (state->sum_device != 0 &&
      cuda_session_use(state->context->cuda, some_gpu(state->run->flow), NULL) == STATUS_OK) {
    (void)state->context->cuda->driver.cuMemFree(state->sum_device);
  }
}

static void um_release(const struct memory_context *context, struct flow_run *run) {
  struct um_state *state = run->state;
  (void)context;
  if (state != NULL) {
    thread_team_free(state->team);
    give_back_sum(state);
    free(state);
    run->state = NULL;
  }
}

static enum status um_prepare(const struct memory_context *context, struct flow_run *run,
                              struct error *err) {
  const struct flow *flow = run->flow;
  struct um_state *state = calloc(1, sizeof *state);
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a flow");
  }
  run->state = state;
  state->touch = (struct touch){.bytes = run->source->host,
                                .size_bytes = flow->size_bytes,
                                .stride_bytes = stride_of(flow),
                                .page_bytes = page_bytes(),
                                .seed = run->seed,
                                .reads = is_read(flow),
                                .random = flow->unified.order == TOUCH_RANDOM,
                                .passes = flow->unified.passes > 0 ? flow->unified.passes : 1};
  state->context = context;
  state->run = run;
  const struct buffer *host = host_view(run);
  enum status status = prepare_gpus(context, flow, err);
  if (status == STATUS_OK && host != NULL) {
    status = um_pages_place_host(context, host, flow->size_bytes, some_gpu(flow), &state->abilities,
                                 err);
  }
  status = THEN(status, um_pages_advise(context, run->target, flow->size_bytes,
                                        flow->unified.advise, true, err));
  if (status == STATUS_OK && host_touches(flow)) {
    status = thread_team_new(context->machine, threads_end(flow)->index,
                             thread_count_of(flow) + is_together(flow), run->reservation,
                             &state->team, err);
  }
  if (status == STATUS_OK && is_read(flow)) {
    const uint64_t readers = is_together(flow) ? 2 : 1;
    state->expected_sum = readers * state->touch.passes * touch_expected_sum(&state->touch);
    status = take_sum(state, err);
  }
  if (status != STATUS_OK) {
    um_release(context, run);
    return status;
  }
  if (flow->role == FLOW_MEASURED) {
    run->notes = notes_for(run, context->machine);
    run->unproven = !is_proven(run, context->machine);
  }
  return STATUS_OK;
}

static enum status launch_touch(const struct memory_context *context, const struct flow_run *run,
                                int32_t gpu, void *stream, const struct touch *touch,
                                struct error *err) {
  const struct um_state *state = run->state;
  const struct kernel_shape *kernel = &run->flow->kernel;
  struct touch_arguments arguments = {.address = run->source->device,
                                      .size_bytes = touch->size_bytes,
                                      .stride_bytes = touch->stride_bytes,
                                      .seed = touch->seed,
                                      .sum = touch->reads ? state->sum_device : 0,
                                      .complement = touch->complement,
                                      .passes = touch->passes,
                                      .random = touch->random};
  return cuda_session_launch(
      context->cuda, gpu, KERNEL_TOUCH, kernel->grid > 0 ? kernel->grid : TOUCH_GRID,
      kernel->block > 0 ? kernel->block : TOUCH_BLOCK, stream, &arguments, err);
}

/* By the processor of one end, outside the time. */
static enum status touch_at(const struct memory_context *context, const struct flow_run *run,
                            const struct endpoint *end, const struct touch *touch,
                            struct error *err) {
  if (end->place == PLACE_NUMA) {
    struct numa_binding before;
    const bool bound = numa_bind_thread(context->machine, end->index, &before, NULL) == STATUS_OK;
    (void)touch_part(touch, 0, 1);
    if (bound) {
      numa_restore_thread(&before);
    }
    return STATUS_OK;
  }
  enum status status = cuda_session_use(context->cuda, end->index, err);
  CUstream stream = context->cuda->gpus[end->index].stream;
  status = THEN(status, launch_touch(context, run, end->index, stream, touch, err));
  return THEN(status, cuda_session_wait(context->cuda, stream, "touching pages", err));
}

/* What comes before the second touch: the first one, and then the other end reads. */
static enum status touch_before(const struct memory_context *context, struct flow_run *run,
                                struct error *err) {
  struct um_state *state = run->state;
  struct touch touch = state->touch;
  touch.passes = 1;
  touch.complement = !touch.reads; /* what the timed touch is to write is not there yet */
  enum status status = state->sum_device == 0 ? take_sum(state, err) : STATUS_OK;
  status = THEN(status, touch_at(context, run, touching_end(run->flow), &touch, err));
  touch.complement = false;
  touch.reads = true;
  return THEN(status, touch_at(context, run, other_end(run->flow), &touch, err));
}

static enum status clear_sums(struct um_state *state, struct error *err) {
  struct cuda_session *session = state->context->cuda;
  const int32_t gpu = some_gpu(state->run->flow);
  atomic_store(&state->sum, 0);
  enum status status = cuda_session_use(session, gpu, err);
  CUstream stream = session->gpus[gpu].stream;
  const CUresult cleared =
      status != STATUS_OK
          ? CUDA_SUCCESS
          : session->driver.cuMemsetD8Async(state->sum_device, 0, sizeof(uint64_t), stream);
  status = THEN(status, cuda_check(&session->driver, cleared, err, "clearing the sum of a trial"));
  return THEN(status, cuda_session_wait(session, stream, "clearing the sum of a trial", err));
}

static enum status check_sums(struct um_state *state, struct error *err) {
  struct cuda_session *session = state->context->cuda;
  const int32_t gpu = some_gpu(state->run->flow);
  uint64_t sum = 0;
  enum status status = cuda_session_use(session, gpu, err);
  CUstream stream = session->gpus[gpu].stream;
  const CUresult copied =
      status != STATUS_OK
          ? CUDA_SUCCESS
          : session->driver.cuMemcpyDtoHAsync(&sum, state->sum_device, sizeof sum, stream);
  status = THEN(status, cuda_check(&session->driver, copied, err, "taking the sum of a trial"));
  status = THEN(status, cuda_session_wait(session, stream, "taking the sum of a trial", err));
  sum += atomic_load(&state->sum);
  if (status == STATUS_OK && sum != state->expected_sum) {
    status = error_set(err, STATUS_CORRUPT,
                       "the bytes that were read add up to %" PRIu64 ", not %" PRIu64
                       ": a page was not read, or not as it was",
                       sum, state->expected_sum);
  }
  return status;
}

/* What an advice did, as far as the kernel tells. */
static void note_advice(const struct memory_context *context, struct flow_run *run,
                        const struct buffer *host) {
  const struct um_state *state = run->state;
  struct numa_pages pages;
  if (!flow_pages_may_stay(run->flow) || is_together(run->flow)) {
    return;
  }
  run->notes = NOTE_BIT(NOTE_TOUCHED);
  if (host == run->source && state->abilities.kernel_sees_pages &&
      numa_count_pages(context->machine, host->host, run->flow->size_bytes, host->endpoint.index,
                       &pages, NULL) == STATUS_OK) {
    const size_t there = pages.there + pages.elsewhere;
    run->notes |= there == pages.looked_at ? NOTE_BIT(NOTE_ALL_ON_HOST)
                  : there == 0             ? NOTE_BIT(NOTE_NONE_ON_HOST)
                                           : NOTE_BIT(NOTE_SOME_ON_HOST);
  }
}

/* A read-mostly page that is moved would also stay where it was: the advice is given after the
 * move. */
static enum status um_before_trial(const struct memory_context *context, struct flow_run *run,
                                   struct error *err) {
  const struct um_state *state = run->state;
  const uint64_t size_bytes = run->flow->size_bytes;
  const enum advise again =
      run->flow->unified.advise == ADVISE_READ_MOSTLY ? ADVISE_READ_MOSTLY : ADVISE_NONE;
  enum status status = um_pages_advise(context, run->target, size_bytes, again, false, err);
  if (status == STATUS_OK) {
    status =
        um_pages_put(context, run->source, size_bytes, some_gpu(run->flow), &state->abilities, err);
    if (status != STATUS_OK) {
      return error_prefix(err, "before a trial, at the source: ");
    }
  }
  status = THEN(status, um_pages_advise(context, run->target, size_bytes, again, true, err));
  if (status == STATUS_OK && is_demand(run->flow) && run->flow->unified.again) {
    status = touch_before(context, run, err);
  }
  return THEN(status, is_read(run->flow) ? clear_sums(run->state, err) : STATUS_OK);
}

static enum status um_after_trial(const struct memory_context *context, struct flow_run *run,
                                  struct error *err) {
  const struct um_state *state = run->state;
  const uint64_t size_bytes = run->flow->size_bytes;
  const struct buffer *host = host_view(run);
  enum status status = STATUS_OK;
  if (run->flow->role == FLOW_LOAD) {
    return STATUS_OK; /* its pages are at either end */
  }
  if (!is_demand(run->flow)) {
    status = cuda_session_use(context->cuda, some_gpu(run->flow), err);
    status = THEN(status, um_pages_check_prefetched(context, run->target, size_bytes, err));
  }
  if (status == STATUS_OK && state->status != STATUS_OK) {
    *err = state->err;
    status = state->status;
  }
  status = THEN(status, is_read(run->flow) ? check_sums(run->state, err) : STATUS_OK);
  if (status == STATUS_OK && host != NULL) {
    note_advice(context, run, host);
  }
  if (status == STATUS_OK && host != NULL && must_have_moved(run, context->machine)) {
    status =
        um_pages_check_host(context, host, size_bytes, &state->abilities, host != run->target, err);
  }
  return status == STATUS_OK ? STATUS_OK : error_prefix(err, "after a trial, at the target: ");
}

static enum status um_invalidate(const struct memory_context *context, struct flow_run *run,
                                 struct error *err) {
  const struct um_state *state = run->state;
  if (!is_demand(run->flow) || is_read(run->flow)) {
    return STATUS_OK; /* nothing is written: what must survive is the pattern */
  }
  if (host_touches(run->flow)) {
    struct touch poison = state->touch;
    poison.complement = true;
    (void)touch_part(&poison, 0, 1);
    return STATUS_OK;
  }
  const struct cuda_session *session = context->cuda;
  enum status status = cuda_session_use(context->cuda, run->gpu, err);
  CUstream stream = session->gpus[run->gpu].stream;
  struct touch poison = state->touch;
  poison.complement = true;
  status = THEN(status, launch_touch(context, run, run->gpu, stream, &poison, err));
  return THEN(status,
              cuda_session_wait(context->cuda, stream, "poisoning what a trial touches", err));
}

/* Once, as a load to and fro. */
static enum status um_enqueue(const struct memory_context *context, struct flow_run *run,
                              uint32_t iterations, struct error *err) {
  const struct um_state *state = run->state;
  enum status status = STATUS_OK;
  if (is_demand(run->flow)) {
    return launch_touch(context, run, run->gpu, run->stream, &state->touch, err);
  }
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    status =
        um_pages_prefetch(context, i % 2 == 0 ? run->target : run->source, run->flow->size_bytes,
                          state->abilities.prefetch_to_node, run->stream, err);
  }
  return status;
}

static bool um_blocks_host(const struct flow *flow) {
  (void)flow;
  return false;
}

static void um_expect_cpus(const struct flow *flow, const struct machine *machine,
                           struct cpu_reservation *reservation) {
  if (host_touches(flow)) {
    cpu_reservation_expect(reservation, machine, threads_end(flow)->index,
                           thread_count_of(flow) + is_together(flow));
  }
}

static uint32_t um_thread_count(const struct flow_run *run) {
  const struct um_state *state = run->state;
  return thread_team_size(state->team);
}

/* The GPU's share of what both do. */
static void touch_by_gpu(struct um_state *state) {
  struct cuda_session *session = state->context->cuda;
  const int32_t gpu = some_gpu(state->run->flow);
  enum status status = cuda_session_use(session, gpu, &state->err);
  CUstream stream = session->gpus[gpu].stream;
  status = THEN(status,
                launch_touch(state->context, state->run, gpu, stream, &state->touch, &state->err));
  state->status = THEN(status, cuda_session_wait(session, stream, "touching pages", &state->err));
}

static void touch_work(void *context, uint32_t thread, uint32_t thread_count, uint32_t iterations) {
  struct um_state *state = context;
  const uint32_t gpus = is_together(state->run->flow);
  (void)iterations; /* always one */
  if (thread < gpus) {
    touch_by_gpu(state);
  } else {
    (void)atomic_fetch_add(&state->sum,
                           touch_part(&state->touch, thread - gpus, thread_count - gpus));
  }
}

static enum status um_execute(struct flow_run *run, uint32_t iterations, struct host_start *start,
                              struct error *err) {
  struct um_state *state = run->state;
  (void)err;
  thread_team_start(state->team, touch_work, state, iterations, start);
  return STATUS_OK;
}

static void um_wait(struct flow_run *run, uint64_t *start_ns, uint64_t *end_ns) {
  const struct um_state *state = run->state;
  thread_team_wait(state->team, start_ns, end_ns);
}

/* Declared in method.c, which lists all. */
extern const struct method_ops method_um;
const struct method_ops method_um = {
    .method = METHOD_UM,
    .clock = CLOCK_EVENT,
    .clock_of = um_clock,
    .iterations_max = 1,
    .shares_buffer = true,
    .unsupported_reason = um_unsupported_reason,
    .gpu = um_gpu,
    .prepare = um_prepare,
    .release = um_release,
    .before_trial = um_before_trial,
    .after_trial = um_after_trial,
    .invalidate = um_invalidate,
    .enqueue = um_enqueue,
    .blocks_host = um_blocks_host,
    .expect_cpus = um_expect_cpus,
    .thread_count = um_thread_count,
    .execute = um_execute,
    .wait = um_wait,
};
