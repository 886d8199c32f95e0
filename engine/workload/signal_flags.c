/* Flags there and back: between a GPU and a thread of the host, and between two GPUs. */
#include "engine/workload/signal_state.h"

enum { LINE = 128 };

/* A line for each flag: the one that the GPU waits for, and the host's. */
static struct signal_side signal_host_side(const struct signal_state *state, bool begins,
                                           uint64_t base) {
  return (struct signal_side){.watched = base + (begins ? LINE : 0),
                              .answer = base + (begins ? 0 : LINE),
                              .first = state->value,
                              .rounds = state->rounds,
                              .begins = begins};
}

static void signal_begin_work(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  struct signal_state *state = context;
  (void)thread, (void)count, (void)iterations;
  state->in_time = signal_side_poll(&state->side, &state->elapsed_ns);
}

/* By a thread of this process, or of the one that has the flags. */
static enum status signal_begin(struct signal_state *state, struct error *err) {
  if (state->team != NULL) {
    state->side = signal_host_side(state, true, (uint64_t)(uintptr_t)state->other->host);
    thread_team_start(state->team, signal_begin_work, state, 1, NULL);
    thread_team_wait(state->team, NULL, NULL);
    return STATUS_OK;
  }
  struct peer_signal request = {.watched_in = state->other->lent,
                                .answer_in = state->other->lent,
                                .side = signal_host_side(state, true, 0)};
  struct peer_answer answer;
  RETURN_ON_ERROR(signal_ask(state, PEER_SIGNAL_PASS, &request, &answer, err));
  state->in_time = answer.in_time;
  state->elapsed_ns = answer.elapsed_ns;
  if (answer.cpu >= 0 && answer.cpu < NUMA_CPUS_MAX) {
    state->reservation.taken.bits[answer.cpu / 64] |= UINT64_C(1) << answer.cpu % 64;
  }
  return STATUS_OK;
}

/* A stream cannot give up by itself: the last value ends all of its waits. */
static void signal_let_go(const struct signal_state *state) {
  const struct signal_side side =
      signal_host_side(state, false, (uint64_t)(uintptr_t)state->other->host);
  __atomic_store_n((uint32_t *)(uintptr_t)side.watched, signal_side_last(&side), __ATOMIC_RELEASE);
}

/* The first error of two. */
static enum status signal_first(enum status first, enum status second, const struct error *later,
                                struct error *err) {
  if (first == STATUS_OK && second != STATUS_OK && err != NULL) {
    *err = *later;
  }
  return first != STATUS_OK ? first : second;
}

enum status signal_run_host(struct signal_state *state, struct trial_times *times,
                            struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  const struct signal_side side = signal_host_side(state, false, buffer_gpu_address(state->other));
  struct error later = {0};
  state->in_time = false;
  enum status status = cuda_session_use(session, signal->gpu, err);
  if (status == STATUS_OK && signal->op == SIGNAL_STREAM) {
    status = signal_side_queue(session, session->gpus[signal->gpu].stream, &side, NULL, err);
  } else {
    status = THEN(
        status, signal_side_launch(session, signal->gpu, &side, signal_time_at(state, false), err));
  }
  status = THEN(status, signal_begin(state, err));
  if (signal->op == SIGNAL_STREAM && !state->in_time) {
    signal_let_go(state);
  }
  const enum status ended = signal_wait(state, signal->gpu, &later);
  status = signal_first(status, ended, &later, err);
  if (status == STATUS_OK && !state->in_time) {
    status = error_set(err, STATUS_CORRUPT, "a signal to the host did not arrive within 4 s");
  }
  times->window_ns = state->elapsed_ns;
  return status;
}

/* The two sides between GPUs; addresses from the start of both pages, or those of this process. */
static struct signal_side signal_gpu_side(const struct signal_state *state, bool begins,
                                          uint64_t own, uint64_t other) {
  const bool receiver = state->signal->home == SIGNAL_AT_RECEIVER;
  const uint64_t of_own = own + (receiver ? 0 : LINE);
  const uint64_t of_other = other + (receiver ? 0 : LINE);
  return (struct signal_side){.watched = begins == receiver ? of_own : of_other,
                              .answer = begins == receiver ? of_other : of_own,
                              .first = state->value,
                              .rounds = state->rounds,
                              .begins = begins};
}

static struct peer_signal signal_request(const struct signal_state *state) {
  const bool receiver = state->signal->home == SIGNAL_AT_RECEIVER;
  return (struct peer_signal){
      .watched_in = receiver ? state->other->lent : state->own->lent,
      .answer_in = receiver ? state->own->lent : state->other->lent,
      .side = signal_gpu_side(state, false, 0, 0),
  };
}

/* The side that answers, before the other one begins. */
static enum status signal_start_answers(struct signal_state *state, const struct signal_side *side,
                                        struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  if (signal->other.process != 0) {
    struct peer_signal request = signal_request(state);
    struct peer_answer answer;
    return signal_ask(state, PEER_SIGNAL_START, &request, &answer, err);
  }
  if (signal->op == SIGNAL_FLAG) {
    return signal_side_launch(session, signal->other.index, side, signal_time_at(state, false),
                              err);
  }
  RETURN_ON_ERROR(cuda_session_use(session, signal->other.index, err));
  return signal_side_queue(session, session->gpus[signal->other.index].stream, side, NULL, err);
}

/* Whatever became of the side that began, this one is not left running. */
static enum status signal_end_answers(struct signal_state *state, const struct signal_side *side,
                                      bool *in_time, struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  if (signal->other.process != 0) {
    struct peer_signal request = signal_request(state);
    struct peer_answer answer;
    RETURN_ON_ERROR(signal_ask(state, PEER_SIGNAL_WAIT, &request, &answer, err));
    *in_time = answer.in_time;
    return STATUS_OK;
  }
  if (signal->op == SIGNAL_STREAM) {
    return signal_side_wait(session, signal->other.index, session->gpus[signal->other.index].stream,
                            side, in_time, err);
  }
  RETURN_ON_ERROR(signal_wait(state, signal->other.index, err));
  *in_time = state->page->times[1].in_time != 0;
  return STATUS_OK;
}

/* However far it was queued, the stream is not left waiting. */
static enum status signal_begin_stream(struct signal_state *state, const struct signal_side *side,
                                       bool *in_time, struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  CUstream stream = session->gpus[signal->gpu].stream;
  struct error later = {0};
  RETURN_ON_ERROR(cuda_session_use(session, signal->gpu, err));
  RETURN_ON_ERROR(signal_hold(state, stream, err));
  enum status status = signal_side_queue(session, stream, side, state->start, err);
  status = THEN(status, signal_record(state, state->end, stream, err));
  signal_go(state);
  const enum status ended = signal_side_wait(session, signal->gpu, stream, side, in_time, &later);
  status = signal_first(status, ended, &later, err);
  return status == STATUS_OK && *in_time ? signal_elapsed(state, &state->elapsed_ns, err) : status;
}

static enum status signal_begin_kernel(struct signal_state *state, const struct signal_side *side,
                                       bool *in_time, struct error *err) {
  const struct signal_time *time = &state->page->times[0];
  RETURN_ON_ERROR(signal_side_launch(state->engine->context.cuda, state->signal->gpu, side,
                                     signal_time_at(state, true), err));
  RETURN_ON_ERROR(signal_wait(state, state->signal->gpu, err));
  *in_time = time->in_time != 0;
  state->elapsed_ns = time->elapsed_ns;
  return STATUS_OK;
}

enum status signal_run_gpus(struct signal_state *state, struct trial_times *times,
                            struct error *err) {
  const uint64_t own = state->own->device;
  const uint64_t other = state->other->device;
  const struct signal_side begins = signal_gpu_side(state, true, own, other);
  const struct signal_side answers = signal_gpu_side(state, false, own, other);
  const bool streams = state->signal->op == SIGNAL_STREAM;
  bool in_time[2] = {false, false};
  struct error later = {0};
  RETURN_ON_ERROR(signal_start_answers(state, &answers, err));
  enum status status = streams ? signal_begin_stream(state, &begins, &in_time[0], err)
                               : signal_begin_kernel(state, &begins, &in_time[0], err);
  const enum status ended = signal_end_answers(state, &answers, &in_time[1], &later);
  status = signal_first(status, ended, &later, err);
  if (status == STATUS_OK && !(in_time[0] && in_time[1])) {
    status = error_set(err, STATUS_CORRUPT, "a signal between GPUs did not arrive in time");
  }
  times->window_ns = state->elapsed_ns;
  times->cycles = streams ? 0 : state->page->times[0].cycles;
  return status;
}
