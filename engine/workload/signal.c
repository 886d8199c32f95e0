/* A [[signal]]: a flag there and back, or atomic additions that the whole system sees.
 *
 * Flags count up and each side waits for the very next value, so that a signal that was lost or
 * came twice is a time-out and no number. Flags between a GPU and a thread of the host lie in
 * page-locked memory of the node that the thread is bound to; their time is on the host's clock.
 * Kernels time themselves. What atomics left is read back whole. The first rounds of each trial are
 * not timed: in them both sides arrive. */
#include "engine/base/clock.h"
#include "engine/case/work.h"
#include "engine/gpu/session.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"
#include "engine/memory/memory.h"
#include "engine/workload/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_ROUNDS = 4, PAGE_BYTES = 4096, LINE = 128, LOOKS = 1024, BLOCK_MAX = 1024 };
#define TIMEOUT_NS UINT64_C(4000000000)

/* In page-locked memory, wherever it is. */
struct signal_page {
  struct signal_time times[2]; /* of the two kernels */
};

struct signal_state {
  struct engine *engine;
  const struct signal *signal;
  struct case_outcome *outcome;
  struct signal_page *page; /* page-locked; page_device as GPUs see it */
  CUdeviceptr page_device;
  const struct buffer *own;   /* flags in this GPU's memory */
  const struct buffer *other; /* and in the other's; of atomics what is added to */
  struct cpu_reservation reservation;
  struct thread_team *team; /* one thread that answers; NULL: none */
  struct spans spans;
  uint64_t added;  /* to each address, or the first, so far */
  uint32_t value;  /* of the next flag */
  uint32_t rounds; /* of this trial */
  bool in_time;    /* of the host's thread */
  uint64_t elapsed_ns;
};

static const struct cuda_driver *signal_driver(const struct signal_state *state) {
  return &state->engine->context.cuda->driver;
}

static bool signal_is_atomic(const struct signal *signal) {
  return signal->op == SIGNAL_ATOMIC || signal->op == SIGNAL_ATOMICS;
}

static bool signal_has_peer(const struct signal *signal) {
  return signal->other.place == PLACE_GPU && signal->other.index != signal->gpu;
}

static const char *signal_shape_unsupported_reason(const struct signal *signal,
                                                   char reason[CASE_REASON_MAX]) {
  const uint64_t threads = (uint64_t)signal->blocks * signal->threads;
  if (signal->op == SIGNAL_STREAM && signal->other.place != PLACE_NUMA) {
    return "a stream's values are answered by a thread of the host: of = { numa = ... }";
  }
  if (signal->op == SIGNAL_FLAG && signal->other.place == PLACE_GPU && !signal_has_peer(signal)) {
    return "a flag is passed to another GPU, or to the host";
  }
  if (signal->rounds == 0 ||
      signal->rounds > (signal->op == SIGNAL_STREAM ? SIGNAL_STREAM_ROUNDS_MAX - WARM_ROUNDS
                                                    : SIGNAL_ROUNDS_MAX)) {
    (void)snprintf(reason, CASE_REASON_MAX, "%" PRIu32 " rounds: at most %d stand in a stream",
                   signal->rounds, SIGNAL_STREAM_ROUNDS_MAX - WARM_ROUNDS);
    return reason;
  }
  if (signal->op == SIGNAL_ATOMICS &&
      (signal->blocks == 0 || signal->threads == 0 || signal->threads > BLOCK_MAX ||
       signal->addresses == 0 || signal->addresses > SIGNAL_ADDRESSES_MAX ||
       threads % signal->addresses != 0)) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "%" PRIu64 " threads do not share %" PRIu32 " addresses evenly", threads,
                   signal->addresses);
    return reason;
  }
  return NULL;
}

static const char *signal_unsupported_reason(const struct bench_case *bench_case,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  const struct signal *signal = &bench_case->work->signal;
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

static void signal_memory_needs(const struct bench_case *bench_case, uint64_t *host_bytes,
                                uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct signal *signal = &bench_case->work->signal;
  *host_bytes += signal_bytes(signal);
  gpu_bytes[signal->gpu] += PAGE_BYTES;
  if (signal->other.place == PLACE_GPU) {
    gpu_bytes[signal->other.index] += signal_bytes(signal);
  }
}

static bool signal_path(const struct bench_case *bench_case, uint32_t i, struct case_path *path) {
  const struct signal *signal = &bench_case->work->signal;
  *path = (struct case_path){.from = signal->other,
                             .to = endpoint_own(PLACE_GPU, signal->gpu, MEMORY_DEVICE)};
  return i == 0;
}

/* A thread of the host is one side, and has the clock. */
static bool signal_is_answered_by_host(const struct signal *signal) {
  return !signal_is_atomic(signal) && signal->other.place == PLACE_NUMA;
}

static enum clock signal_clock(const struct bench_case *bench_case) {
  return signal_is_answered_by_host(&bench_case->work->signal) ? CLOCK_HOST : CLOCK_KERNEL;
}

static enum status signal_take_page(struct signal_state *state, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  void *page = NULL;
  RETURN_ON_ERROR(
      cuda_check(driver,
                 driver->cuMemHostAlloc(&page, sizeof *state->page,
                                        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                 err, "allocating flags"));
  memset(page, 0, sizeof *state->page);
  state->page = page;
  return cuda_check(driver, driver->cuMemHostGetDevicePointer(&state->page_device, page, 0), err,
                    "mapping flags");
}

static enum status signal_take_buffers(struct signal_state *state, struct error *err) {
  const struct signal *signal = state->signal;
  struct pool *pool = state->engine->pool;
  const struct endpoint own = endpoint_own(PLACE_GPU, signal->gpu, MEMORY_DEVICE);
  enum status status = pool_take(pool, &own, PAGE_BYTES, &state->own, err);
  return THEN(status, pool_take(pool, &signal->other, signal_bytes(signal), &state->other, err));
}

/* Device memory begins with zeros, as the host's page does. */
static enum status signal_clear(const struct signal_state *state, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  struct cuda_session *session = state->engine->context.cuda;
  const struct buffer *buffers[] = {state->own, state->other};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < sizeof buffers / sizeof *buffers; i++) {
    const uint64_t size = i == 0 ? PAGE_BYTES : signal_bytes(state->signal);
    const int32_t gpu = buffers[i]->endpoint.place == PLACE_GPU ? buffers[i]->endpoint.index : -1;
    if (gpu < 0) {
      memset(buffers[i]->host, 0, size);
      continue;
    }
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

static enum status signal_set_up(struct engine *engine, const struct bench_case *bench_case,
                                 struct case_outcome *outcome, void **out, struct error *err) {
  const uint64_t start_ns = clock_now_ns();
  const struct signal *signal = &bench_case->work->signal;
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
  enum status status = STATUS_OK;
  if (signal->op == SIGNAL_STREAM && session->driver.cuStreamWaitValue32 == NULL) {
    status = error_set(err, STATUS_UNSUPPORTED, "this driver has no cuStreamWaitValue32");
  }
  if (status == STATUS_OK && signal_has_peer(signal)) {
    status = cuda_session_set_peer(session, signal->gpu, signal->other.index, true, err);
    status =
        THEN(status, cuda_session_set_peer(session, signal->other.index, signal->gpu, true, err));
  }
  status = THEN(status, cuda_session_use(session, signal->gpu, err));
  status = THEN(status, signal_take_page(state, err));
  status = THEN(status, signal_take_buffers(state, err));
  status = THEN(status, signal_clear(state, err));
  if (status == STATUS_OK && signal_is_answered_by_host(signal)) {
    status = thread_team_new(engine->context.machine, signal->other.index, 1, &state->reservation,
                             &state->team, err);
  }
  status = THEN(status, cuda_session_use(session, signal->gpu, err));
  if (status == STATUS_OK && signal->op == SIGNAL_ATOMICS) {
    status = spans_init(session, &state->spans, err);
  }
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t signal_iterations_max(const void *opaque) {
  const struct signal_state *state = opaque;
  const uint32_t most = state->signal->op == SIGNAL_STREAM ? SIGNAL_STREAM_ROUNDS_MAX - WARM_ROUNDS
                                                           : SIGNAL_ROUNDS_MAX;
  return most / state->signal->rounds;
}

/* ---- flags ---- */

/* The flag that a GPU, or the host, waits for: a line each, on the node of the memory. */
static uint32_t *signal_flag(const struct signal_state *state, bool to_host) {
  return (uint32_t *)((char *)state->other->host + (to_host ? LINE : 0));
}

/* Writes each value and waits for its answer. */
static void signal_answer_work(void *context, uint32_t thread, uint32_t count,
                               uint32_t iterations) {
  struct signal_state *state = context;
  uint32_t *to_gpu = signal_flag(state, false);
  const uint32_t *to_host = signal_flag(state, true);
  uint64_t start_ns = clock_now_ns();
  (void)thread, (void)count, (void)iterations;
  state->in_time = true;
  for (uint32_t i = 0; state->in_time && i < WARM_ROUNDS + state->rounds; i++) {
    const uint32_t value = state->value + i;
    const uint64_t sent_ns = clock_now_ns();
    start_ns = i == WARM_ROUNDS ? sent_ns : start_ns;
    __atomic_store_n(to_gpu, value, __ATOMIC_RELEASE);
    for (uint32_t looks = 1; __atomic_load_n(to_host, __ATOMIC_ACQUIRE) != value; looks++) {
      if (looks % LOOKS == 0 && clock_now_ns() - sent_ns > TIMEOUT_NS) {
        state->in_time = false;
        break;
      }
    }
  }
  state->elapsed_ns = clock_now_ns() - start_ns;
}

static struct signal_flag_arguments signal_flag_of(const struct signal_state *state,
                                                   uint64_t watched, uint64_t answer, bool begins) {
  return (struct signal_flag_arguments){
      .watched = watched,
      .answer = answer,
      .time = state->page_device + offsetof(struct signal_page, times) +
              (begins ? 0 : sizeof(struct signal_time)),
      .timeout_ns = TIMEOUT_NS,
      .first = state->value,
      .warm_rounds = WARM_ROUNDS,
      .rounds = state->rounds,
      .begins = begins,
  };
}

static enum status signal_launch(const struct signal_state *state, int32_t gpu,
                                 struct signal_flag_arguments arguments, struct error *err) {
  struct cuda_session *session = state->engine->context.cuda;
  enum status status = cuda_session_use(session, gpu, err);
  return THEN(status, cuda_session_launch(session, gpu, KERNEL_SIGNAL_FLAG, 1, 1,
                                          session->gpus[gpu].stream, &arguments, err));
}

static enum status signal_wait(const struct signal_state *state, int32_t gpu, struct error *err) {
  struct cuda_session *session = state->engine->context.cuda;
  enum status status = cuda_session_use(session, gpu, err);
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "waiting for signals", err));
}

/* What the stream does by itself: waits for each value and writes it back. */
static enum status signal_queue(const struct signal_state *state, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  CUstream stream = state->engine->context.cuda->gpus[state->signal->gpu].stream;
  const CUdeviceptr to_gpu = buffer_gpu_address(state->other);
  enum status status = cuda_session_use(state->engine->context.cuda, state->signal->gpu, err);
  for (uint32_t i = 0; status == STATUS_OK && i < WARM_ROUNDS + state->rounds; i++) {
    const uint32_t value = state->value + i;
    status = cuda_check(
        driver, driver->cuStreamWaitValue32(stream, to_gpu, value, CU_STREAM_WAIT_VALUE_GEQ), err,
        "cuStreamWaitValue32");
    status = THEN(status,
                  cuda_check(driver, driver->cuStreamWriteValue32(stream, to_gpu + LINE, value, 0),
                             err, "cuStreamWriteValue32"));
  }
  return status;
}

/* A stream cannot give up by itself: the last value ends all of its waits. */
static void signal_let_go(const struct signal_state *state) {
  __atomic_store_n(signal_flag(state, false), state->value + WARM_ROUNDS + state->rounds - 1,
                   __ATOMIC_RELEASE);
}

static enum status signal_run_host(struct signal_state *state, struct trial_times *times,
                                   struct error *err) {
  const struct signal *signal = state->signal;
  const CUdeviceptr to_gpu = buffer_gpu_address(state->other);
  enum status status =
      signal->op == SIGNAL_STREAM
          ? signal_queue(state, err)
          : signal_launch(state, signal->gpu, signal_flag_of(state, to_gpu, to_gpu + LINE, false),
                          err);
  if (status == STATUS_OK) {
    thread_team_start(state->team, signal_answer_work, state, 1, NULL);
    thread_team_wait(state->team, NULL, NULL);
  }
  if (signal->op == SIGNAL_STREAM && !(status == STATUS_OK && state->in_time)) {
    signal_let_go(state);
  }
  status = THEN(status, signal_wait(state, signal->gpu, err));
  if (status == STATUS_OK && !state->in_time) {
    status = error_set(err, STATUS_CORRUPT, "a signal to the host did not arrive within 4 s");
  }
  times->window_ns = state->elapsed_ns;
  return status;
}

static enum status signal_run_peers(struct signal_state *state, struct trial_times *times,
                                    struct error *err) {
  const struct signal *signal = state->signal;
  const bool receiver = signal->home == SIGNAL_AT_RECEIVER;
  const uint64_t own = state->own->device + (receiver ? 0 : LINE);
  const uint64_t other = state->other->device + (receiver ? 0 : LINE);
  const struct signal_time *time = &state->page->times[0];
  RETURN_ON_ERROR(signal_launch(
      state, signal->other.index,
      signal_flag_of(state, receiver ? other : own, receiver ? own : other, false), err));
  enum status status = signal_launch(
      state, signal->gpu,
      signal_flag_of(state, receiver ? own : other, receiver ? other : own, true), err);
  status = THEN(status, signal_wait(state, signal->gpu, err));
  /* The first kernel is not left running, whatever became of the second. */
  struct error later = {0};
  const enum status waited = signal_wait(state, signal->other.index, &later);
  if (status == STATUS_OK && waited != STATUS_OK) {
    *err = later;
    status = waited;
  }
  if (status == STATUS_OK && (time[0].in_time == 0 || time[1].in_time == 0)) {
    status = error_set(err, STATUS_CORRUPT, "a signal between GPUs did not arrive within 4 s");
  }
  times->window_ns = time->elapsed_ns;
  times->cycles = time->cycles;
  return status;
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
    status = data_gpu_read(state->engine->context.cuda, signal->other.index, state->other->device,
                           sums, bytes, err);
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
      .time = state->page_device + offsetof(struct signal_page, times),
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
  const enum status status = signal->other.place == PLACE_NUMA
                                 ? signal_run_host(state, times, err)
                                 : signal_run_peers(state, times, err);
  state->value += WARM_ROUNDS + state->rounds;
  return status;
}

static void signal_tear_down(void *opaque) {
  struct signal_state *state = opaque;
  if (state == NULL) {
    return;
  }
  if (state->team != NULL) {
    workload_set_cpus(state->outcome, &state->reservation.taken);
  }
  thread_team_free(state->team);
  if (cuda_session_use(state->engine->context.cuda, state->signal->gpu, NULL) == STATUS_OK) {
    spans_fini(state->engine->context.cuda, &state->spans);
    if (state->page != NULL) {
      (void)signal_driver(state)->cuMemFreeHost(state->page);
    }
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
