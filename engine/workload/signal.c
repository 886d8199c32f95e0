/* A [[signal]]: a flag there and back, events that streams wait for, or atomic additions that the
 * whole system sees.
 *
 * Flags count up and each side waits for the very next value (engine/gpu/signal_side.h), so that a
 * flag that was lost or came twice is a time-out and no number. Flags between a GPU and a thread
 * of the host lie in page-locked memory of the node that the thread is bound to; their time is on
 * the host's clock, in whichever process the thread is. Kernels time themselves, streams by events.
 * Where another process answers, all flags are in its memory. What atomics left is read back whole.
 * Events carry no value: nothing shows that a stream waited for one, and they are never verified.
 */
#include "engine/base/clock.h"
#include "engine/base/macros.h"
#include "engine/machine/machine.h"
#include "engine/workload/signal_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, BLOCK_MAX = 1024 };
_Static_assert((int)SIGNAL_EVENTS_MAX == (int)PEER_EVENTS_MAX, "a peer opens every event");
_Static_assert(SIGNAL_STREAM_ROUNDS_MAX + SIGNAL_WARM_ROUNDS <= 128, "a stream's queue has room");

static bool signal_is_atomic(const struct signal *signal) {
  return signal->op == SIGNAL_ATOMIC || signal->op == SIGNAL_ATOMICS;
}

static bool signal_has_peer(const struct signal *signal) {
  return signal->other.place == PLACE_GPU && signal->other.index != signal->gpu;
}

static const char *signal_shape_unsupported_reason(const struct signal *signal,
                                                   char reason[CASE_REASON_MAX]) {
  const uint64_t threads = (uint64_t)signal->blocks * signal->threads;
  if (signal->op == SIGNAL_EVENT && signal->other.place == PLACE_NUMA) {
    return "events are passed on by a stream of a GPU: of = { gpu = ... }";
  }
  /* Seen on an H100: 25 rounds take the 3 us that 200 rounds take. */
  if (signal->op == SIGNAL_EVENT && !signal_has_peer(signal) && signal->other.process == 0) {
    return "events between idle streams of one GPU and process cost nothing, for the driver leaves "
           "them out: of = another GPU, or another process";
  }
  if (signal->op == SIGNAL_FLAG && signal->other.place == PLACE_GPU && !signal_has_peer(signal)) {
    return signal->other.process != 0
               ? "two processes have a GPU by turns, so that kernels of both do not pass a flag"
               : "a flag is passed to another GPU, or to the host";
  }
  if (signal->op == SIGNAL_STREAM && signal->other.place == PLACE_GPU && !signal_has_peer(signal)) {
    return "values are passed to a stream of another GPU, or to the host";
  }
  if (signal->rounds == 0 || signal->rounds > signal_rounds_max(signal)) {
    return CASE_REASON(reason, "%" PRIu32 " rounds: at most %" PRIu32 " stand in a %s",
                       signal->rounds, signal_rounds_max(signal),
                       signal->op == SIGNAL_EVENT ? "trial" : "stream");
  }
  if (signal->op == SIGNAL_ATOMICS &&
      (signal->blocks == 0 || signal->threads == 0 || signal->threads > BLOCK_MAX ||
       signal->addresses == 0 || signal->addresses > SIGNAL_ADDRESSES_MAX ||
       threads % signal->addresses != 0)) {
    return CASE_REASON(reason, "%" PRIu64 " threads do not share %" PRIu32 " addresses evenly",
                       threads, signal->addresses);
  }
  return NULL;
}

static const char *signal_unsupported_reason(const struct case_def *def,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  const struct signal *signal = &def->work->signal;
  const char *unsupported = signal_shape_unsupported_reason(signal, reason);
  if (unsupported != NULL) {
    return unsupported;
  }
  if (signal_has_peer(signal) && (!machine->links[signal->gpu][signal->other.index].peer_access ||
                                  !machine->links[signal->other.index][signal->gpu].peer_access)) {
    return "no peer access between the two GPUs";
  }
  return NULL;
}

static uint64_t signal_bytes(const struct signal *signal) {
  const uint64_t addresses = signal->op == SIGNAL_ATOMICS ? signal->addresses : 1;
  return addresses * SIGNAL_STRIDE > PAGE_BYTES ? addresses * SIGNAL_STRIDE : PAGE_BYTES;
}

static void signal_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                                uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct signal *signal = &def->work->signal;
  *host_bytes += signal_bytes(signal);
  gpu_bytes[signal->gpu] += PAGE_BYTES;
  if (signal->other.place == PLACE_GPU) {
    gpu_bytes[signal->other.index] += signal_bytes(signal);
  }
}

static bool signal_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  const struct signal *signal = &def->work->signal;
  *path = (struct case_path){.from = signal->other,
                             .to = endpoint_own(PLACE_GPU, signal->gpu, MEMORY_DEVICE)};
  return i == 0;
}

/* A thread of the host is one side, and has the clock. */
static bool signal_is_answered_by_host(const struct signal *signal) {
  return !signal_is_atomic(signal) && signal->other.place == PLACE_NUMA;
}

static enum clock signal_clock(const struct case_def *def) {
  const struct signal *signal = &def->work->signal;
  const bool streams = signal->op == SIGNAL_STREAM || signal->op == SIGNAL_EVENT;
  return signal_is_answered_by_host(signal) ? CLOCK_HOST : streams ? CLOCK_EVENT : CLOCK_KERNEL;
}

/* Of flags between GPUs one page on each of them, of whichever process answers. */
static enum status signal_take_buffers(struct signal_state *state, struct error *err) {
  const struct signal *signal = state->signal;
  struct pool *pool = state->engine->pool;
  struct endpoint own = signal->other;
  own.index = signal->gpu;
  enum status status = STATUS_OK;
  if (signal_is_answered_by_gpu(signal)) {
    status = pool_take_for(pool, signal->gpu, &own, PAGE_BYTES, &state->own, err);
  }
  return THEN(status, pool_take_for(pool, signal->gpu, &signal->other, signal_bytes(signal),
                                    &state->other, err));
}

/* Memory of another process is open for this GPU alone. */
static int32_t signal_gpu_of(const struct signal_state *state, const struct buffer *buffer) {
  return buffer->endpoint.process != 0 ? state->signal->gpu : buffer->endpoint.index;
}

/* Device memory begins with zeros, as the host's page does. */
static enum status signal_clear(const struct signal_state *state, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  struct cuda_session *session = state->engine->context.cuda;
  const struct buffer *buffers[] = {state->own, state->other};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(buffers); i++) {
    const uint64_t size = i == 0 ? PAGE_BYTES : signal_bytes(state->signal);
    if (buffers[i] == NULL) {
      continue;
    }
    if (buffers[i]->endpoint.place != PLACE_GPU) {
      memset(buffers[i]->host, 0, size);
      continue;
    }
    const int32_t gpu = signal_gpu_of(state, buffers[i]);
    status = cuda_session_use(session, gpu, err);
    status = THEN(status, cuda_check(driver,
                                     driver->cuMemsetD8Async(buffers[i]->device, 0, size,
                                                             session->gpus[gpu].stream),
                                     err, "clearing flags"));
    status =
        THEN(status, cuda_session_wait(session, session->gpus[gpu].stream, "clearing flags", err));
  }
  return status;
}

/* What the process of the responder is asked for; its flags are all its own. */
enum status signal_ask(struct signal_state *state, enum peer_request request,
                       struct peer_signal *signal, struct peer_answer *answer, struct error *err) {
  signal->index = state->signal->other.index;
  signal->by_stream = state->signal->op == SIGNAL_STREAM;
  return peer_signal(&state->engine->context, state->signal->other.process, request, signal, answer,
                     err);
}

enum status signal_wait(const struct signal_state *state, int32_t gpu, struct error *err) {
  struct cuda_session *session = state->engine->context.cuda;
  enum status status = cuda_session_use(session, gpu, err);
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "waiting for signals", err));
}

static enum status signal_set_up(struct engine *engine, const struct case_def *def,
                                 struct case_outcome *outcome, void **out, struct error *err) {
  const uint64_t start_ns = clock_now_ns();
  const struct signal *signal = &def->work->signal;
  struct cuda_session *session = engine->context.cuda;
  struct signal_state *state = calloc(1, sizeof *state);
  *out = state;
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  state->engine = engine;
  state->signal = signal;
  state->outcome = outcome;
  state->value = 1;
  outcome->unproven = signal->op == SIGNAL_EVENT;
  enum status status = STATUS_OK;
  const bool streams = signal->op == SIGNAL_STREAM || signal->op == SIGNAL_EVENT;
  if (streams && session->driver.cuStreamWaitValue32 == NULL) {
    status = error_set(err, STATUS_UNSUPPORTED, "this driver has no cuStreamWaitValue32");
  }
  if (status == STATUS_OK && signal_has_peer(signal)) {
    status = cuda_session_set_peer(session, signal->gpu, signal->other.index, true, err);
    status =
        THEN(status, cuda_session_set_peer(session, signal->other.index, signal->gpu, true, err));
  }
  status = THEN(status, cuda_session_use(session, signal->gpu, err));
  void *page = NULL;
  status = THEN(status, cuda_session_new_page(session, sizeof *state->page, "flags", &page,
                                              &state->page_device, err));
  state->page = page;
  if (status == STATUS_OK && streams) {
    status = signal_make_clock(state, err);
  }
  if (status == STATUS_OK && signal->op == SIGNAL_EVENT) {
    status = signal_make_events(state, err);
  } else {
    status = THEN(status, signal_take_buffers(state, err));
    status = THEN(status, signal_clear(state, err));
  }
  if (status == STATUS_OK && signal_is_answered_by_host(signal) && signal->other.process == 0) {
    status = thread_team_new(engine->context.machine, signal->other.index, 1, &state->reservation,
                             &state->team, err);
  }
  status = THEN(status, cuda_session_use(session, signal->gpu, err));
  if (status == STATUS_OK && signal->op == SIGNAL_ATOMICS) {
    status = spans_init(session, &state->spans, err);
  }
  if (status == STATUS_UNSUPPORTED) {
    outcome->status = CASE_SKIPPED; /* by this driver, or between these processes */
  }
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t signal_iterations_max(const void *opaque) {
  const struct signal_state *state = opaque;
  return signal_rounds_max(state->signal) / state->signal->rounds;
}

/* ---- atomics ---- */

/* Each address holds what was added to it. */
static enum status signal_check_sums(struct signal_state *state, struct error *err) {
  const struct signal *signal = state->signal;
  const uint64_t bytes = signal_bytes(signal);
  const uint64_t addresses = signal->op == SIGNAL_ATOMICS ? signal->addresses : 1;
  unsigned char *sums = malloc(bytes);
  if (sums == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the sums of atomics");
  }
  enum status status = STATUS_OK;
  if (state->other->host != NULL) {
    memcpy(sums, state->other->host, bytes);
  } else {
    status = data_gpu_read(state->engine->context.cuda, signal_gpu_of(state, state->other),
                           state->other->device, sums, bytes, err);
  }
  for (uint64_t i = 0; status == STATUS_OK && i < addresses; i++) {
    uint64_t sum;
    memcpy(&sum, sums + i * SIGNAL_STRIDE, sizeof sum);
    if (sum != state->added) {
      status = error_set(err, STATUS_CORRUPT,
                         "address %" PRIu64 " of %" PRIu64 " is at %" PRIu64 ", not at %" PRIu64
                         ": an addition was lost or done twice",
                         i, addresses, sum, state->added);
    }
  }
  free(sums);
  return status;
}

static enum status signal_run_atomics(struct signal_state *state, struct trial_times *times,
                                      struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  CUstream stream = session->gpus[signal->gpu].stream;
  const bool many = signal->op == SIGNAL_ATOMICS;
  const struct signal_time *time = &state->page->times[0];
  struct spans_total total = {0};
  struct signal_atomic_arguments arguments = {
      .address = buffer_gpu_address(state->other),
      .time = signal_time_at(state, true),
      .spans = state->spans.device,
      .first = state->added,
      .count = state->rounds,
      .addresses = signal->addresses,
  };
  state->added +=
      many ? (uint64_t)state->rounds * signal->blocks * signal->threads / signal->addresses
           : state->rounds;
  enum status status = cuda_session_use(session, signal->gpu, err);
  if (status == STATUS_OK && many) {
    status = spans_reset(session, &state->spans, stream, err);
  }
  status = THEN(status, cuda_session_launch(session, signal->gpu,
                                            many ? KERNEL_SIGNAL_ATOMICS : KERNEL_SIGNAL_ATOMIC,
                                            many ? signal->blocks : 1, many ? signal->threads : 1,
                                            stream, &arguments, err));
  status = THEN(status, many ? spans_read(session, &state->spans, stream, &total, err)
                             : signal_wait(state, signal->gpu, err));
  times->window_ns = many ? total.elapsed_ns : time->elapsed_ns;
  times->cycles = many ? total.cycles : time->cycles;
  if (status == STATUS_OK && !many && time->in_time == 0) {
    status = error_set(err, STATUS_CORRUPT, "an atomic addition returned a wrong value");
  }
  return THEN(status, signal_check_sums(state, err));
}

static enum status signal_run(void *opaque, uint32_t iterations, struct trial_times *times,
                              struct error *err) {
  struct signal_state *state = opaque;
  const struct signal *signal = state->signal;
  state->rounds = signal->rounds * iterations;
  times->gate_timed_out = false;
  times->cycles = 0;
  if (signal_is_atomic(signal)) {
    return signal_run_atomics(state, times, err);
  }
  if (signal->op == SIGNAL_EVENT) {
    return signal_run_events(state, times, err);
  }
  const enum status status = signal->other.place == PLACE_NUMA ? signal_run_host(state, times, err)
                                                               : signal_run_gpus(state, times, err);
  state->value += SIGNAL_WARM_ROUNDS + state->rounds;
  return status;
}

static void signal_tear_down(void *opaque) {
  struct signal_state *state = opaque;
  if (state == NULL) {
    return;
  }
  if (signal_is_answered_by_host(state->signal)) {
    workload_set_cpus(state->outcome, &state->reservation.taken);
  }
  thread_team_free(state->team);
  if (cuda_session_use(state->engine->context.cuda, state->signal->gpu, NULL) == STATUS_OK) {
    spans_fini(state->engine->context.cuda, &state->spans);
    signal_drop_events(state);
    cuda_session_free_page(state->engine->context.cuda, state->page);
  }
  pool_give_back_all(state->engine->pool);
  free(state);
}

const struct workload_ops workload_signal = {
    .kind = CASE_SIGNAL,
    .kernel_modules = 1 << KERNEL_MODULE_SIGNAL,
    .unsupported_reason = signal_unsupported_reason,
    .memory_needs = signal_memory_needs,
    .path = signal_path,
    .clock = signal_clock,
    .set_up = signal_set_up,
    .iterations_max = signal_iterations_max,
    .run = signal_run,
    .verifies_itself = true,
    .tear_down = signal_tear_down,
};
