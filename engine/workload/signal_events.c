/* Events between streams: a stream waits for what the other one has recorded, and records its own.
 * Those of another process are opened by the handles of both. */
#include "engine/workload/signal_state.h"

#include "engine/base/macros.h"

#include <string.h>

static enum status signal_new_event(const struct cuda_driver *driver, bool shared, CUevent *event,
                                    struct error *err) {
  return cuda_check(
      driver,
      driver->cuEventCreate(event, CU_EVENT_DISABLE_TIMING | (shared ? CU_EVENT_INTERPROCESS : 0)),
      err, "cuEventCreate");
}

/* One that is opened by the other process, which answers with one of its own. */
static enum status signal_share_event(struct signal_state *state, uint32_t i, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  struct peer_signal request = {.event = i};
  struct peer_answer answer;
  CUipcEventHandle handle;
  if (driver->cuIpcGetEventHandle == NULL || driver->cuIpcOpenEventHandle == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuIpcGetEventHandle");
  }
  RETURN_ON_ERROR(cuda_check(driver, driver->cuIpcGetEventHandle(&handle, state->there[i]), err,
                             "cuIpcGetEventHandle"));
  memcpy(request.handle, &handle, sizeof handle);
  RETURN_ON_ERROR(signal_ask(state, PEER_EVENT_OPEN, &request, &answer, err));
  memcpy(&handle, answer.handle_of_event, sizeof handle);
  return cuda_check(driver, driver->cuIpcOpenEventHandle(&state->back[i], handle), err,
                    "cuIpcOpenEventHandle");
}

enum status signal_make_events(struct signal_state *state, struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  const bool shared = signal->other.process != 0;
  enum status status = STATUS_OK;
  for (int i = 0; status == STATUS_OK && i < (shared ? 1 : 2); i++) {
    status = cuda_session_use(session, i == 0 ? signal->gpu : signal->other.index, err);
    status = THEN(status, cuda_session_new_stream(session, 0, NULL, &state->streams[i], err));
  }
  for (uint32_t i = 0; status == STATUS_OK && i < SIGNAL_EVENTS_MAX; i++) {
    state->event_count = i + 1;
    status = cuda_session_use(session, signal->gpu, err);
    status = THEN(status, signal_new_event(&session->driver, shared, &state->there[i], err));
    if (status == STATUS_OK && shared) {
      status = signal_share_event(state, i, err);
    } else if (status == STATUS_OK) {
      status = cuda_session_use(session, signal->other.index, err);
      status = THEN(status, signal_new_event(&session->driver, false, &state->back[i], err));
    }
  }
  return status;
}

static void signal_drop_event(const struct cuda_driver *driver, CUevent event) {
  if (event != NULL) {
    (void)driver->cuEventDestroy(event);
  }
}

/* This process closes what the other one has exported before that one ends it. */
void signal_drop_events(struct signal_state *state) {
  const struct cuda_driver *driver = signal_driver(state);
  struct peer_signal request = {.event = 0};
  struct peer_answer answer;
  signal_drop_event(driver, state->start);
  signal_drop_event(driver, state->end);
  for (uint32_t i = 0; i < state->event_count; i++) {
    signal_drop_event(driver, state->back[i]);
  }
  if (state->event_count > 0 && state->signal->other.process != 0) {
    if (signal_ask(state, PEER_EVENT_CLOSE, &request, &answer, NULL) != STATUS_OK) {
      state->event_count = 0; /* it shows in peer_check() */
    }
  }
  for (uint32_t i = 0; i < state->event_count; i++) {
    signal_drop_event(driver, state->there[i]);
  }
  for (size_t i = 0; i < COUNT_OF(state->streams); i++) {
    if (state->streams[i] != NULL) {
      (void)driver->cuStreamDestroy(state->streams[i]);
    }
  }
}

/* Two events that time what a stream of this GPU does. */
enum status signal_make_clock(struct signal_state *state, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  enum status status = cuda_session_use(state->engine->context.cuda, state->signal->gpu, err);
  status = THEN(status, cuda_check(driver, driver->cuEventCreate(&state->start, CU_EVENT_DEFAULT),
                                   err, "cuEventCreate"));
  return THEN(status, cuda_check(driver, driver->cuEventCreate(&state->end, CU_EVENT_DEFAULT), err,
                                 "cuEventCreate"));
}

enum status signal_hold(const struct signal_state *state, CUstream stream, struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  const CUdeviceptr go = state->page_device + offsetof(struct signal_page, go);
  return cuda_check(
      driver,
      driver->cuStreamWaitValue32(stream, go, state->page->go + 1, CU_STREAM_WAIT_VALUE_GEQ), err,
      "cuStreamWaitValue32");
}

void signal_go(const struct signal_state *state) {
  __atomic_store_n(&state->page->go, state->page->go + 1, __ATOMIC_RELEASE);
}

enum status signal_record(const struct signal_state *state, CUevent event, CUstream stream,
                          struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  return cuda_check(driver, driver->cuEventRecord(event, stream), err, "cuEventRecord");
}

enum status signal_elapsed(const struct signal_state *state, uint64_t *elapsed_ns,
                           struct error *err) {
  const struct cuda_driver *driver = signal_driver(state);
  float milliseconds = 0;
  RETURN_ON_ERROR(cuda_check(driver,
                             driver->cuEventElapsedTime(&milliseconds, state->start, state->end),
                             err, "reading the time of a stream"));
  *elapsed_ns = (uint64_t)((double)milliseconds * 1e6);
  return STATUS_OK;
}

/* The other stream waits for the event of this round, and records its own. */
static enum status signal_pass_event(struct signal_state *state, uint32_t i, struct error *err) {
  const struct signal *signal = state->signal;
  struct cuda_session *session = state->engine->context.cuda;
  if (signal->other.process != 0) {
    struct peer_signal request = {.event = i};
    struct peer_answer answer;
    return signal_ask(state, PEER_EVENT_PASS, &request, &answer, err);
  }
  RETURN_ON_ERROR(cuda_session_use(session, signal->other.index, err));
  RETURN_ON_ERROR(cuda_check(
      &session->driver, session->driver.cuStreamWaitEvent(state->streams[1], state->there[i], 0),
      err, "cuStreamWaitEvent"));
  RETURN_ON_ERROR(signal_record(state, state->back[i], state->streams[1], err));
  return cuda_session_use(session, signal->gpu, err);
}

/* A stream waits for the last record before its call: each round is queued on both sides in turn,
 * while the first stream is held. */
enum status signal_run_events(struct signal_state *state, struct trial_times *times,
                              struct error *err) {
  struct cuda_session *session = state->engine->context.cuda;
  CUstream stream = state->streams[0];
  RETURN_ON_ERROR(cuda_session_use(session, state->signal->gpu, err));
  RETURN_ON_ERROR(signal_hold(state, stream, err));
  enum status status = signal_record(state, state->start, stream, err);
  for (uint32_t i = 0; status == STATUS_OK && i < state->rounds; i++) {
    status = signal_record(state, state->there[i], stream, err);
    status = THEN(status, signal_pass_event(state, i, err));
    status = THEN(status, cuda_check(&session->driver,
                                     session->driver.cuStreamWaitEvent(stream, state->back[i], 0),
                                     err, "cuStreamWaitEvent"));
  }
  status = THEN(status, signal_record(state, state->end, stream, err));
  signal_go(state);
  status = THEN(status, cuda_session_wait(session, stream, "waiting for events", err));
  return THEN(status, signal_elapsed(state, &times->window_ns, err));
}
