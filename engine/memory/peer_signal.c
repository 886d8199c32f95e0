#include "engine/memory/peer_signal.h"

#include "engine/base/macros.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"

#include <string.h>

static CUstream peer_signal_stream(const struct memory_context *context,
                                   const struct peer_signal *signal) {
  return context->cuda->gpus[signal->index].stream;
}

/* ---- flags ---- */

static enum status peer_signal_take_time(struct peer_signals *signals, struct cuda_session *session,
                                         struct error *err) {
  void *time = NULL;
  if (signals->time != NULL) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(cuda_session_new_page(session, sizeof *signals->time, "the time of a kernel",
                                        &time, &signals->time_device, err));
  signals->time = time;
  return STATUS_OK;
}

/* The GPU reaches memory of its own and, between GPUs, of the other one. */
static enum status peer_signal_start(struct peer_signals *signals,
                                     const struct memory_context *context,
                                     const struct peer_signal *signal, const struct buffer *watched,
                                     const struct buffer *answered, struct error *err) {
  const struct buffer *buffers[] = {watched, answered};
  struct cuda_session *session = context->cuda;
  signals->side = signal->side;
  signals->side.watched += buffer_gpu_address(watched);
  signals->side.answer += buffer_gpu_address(answered);
  enum status status =
      cuda_session_prepare(session, 1U << signal->index, 1U << KERNEL_MODULE_SIGNAL, err);
  for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(buffers); i++) {
    if (buffers[i]->endpoint.place == PLACE_GPU) {
      status = cuda_session_set_peer(session, signal->index, buffers[i]->endpoint.index, true, err);
    }
  }
  status = THEN(status, cuda_session_use(session, signal->index, err));
  if (status == STATUS_OK && signal->by_stream) {
    return signal_side_queue(session, peer_signal_stream(context, signal), &signals->side, NULL,
                             err);
  }
  status = THEN(status, peer_signal_take_time(signals, session, err));
  return THEN(status, signal_side_launch(session, signal->index, &signals->side,
                                         signals->time_device, err));
}

static enum status peer_signal_wait(const struct peer_signals *signals,
                                    const struct memory_context *context,
                                    const struct peer_signal *signal, struct peer_answer *answer,
                                    struct error *err) {
  CUstream stream = peer_signal_stream(context, signal);
  if (signal->by_stream) {
    return signal_side_wait(context->cuda, signal->index, stream, &signals->side, &answer->in_time,
                            err);
  }
  RETURN_ON_ERROR(cuda_session_use(context->cuda, signal->index, err));
  RETURN_ON_ERROR(cuda_session_wait(context->cuda, stream, "waiting for signals", err));
  answer->in_time = signals->time->in_time != 0;
  return STATUS_OK;
}

/* One thread, bound to a processor of the node. */
struct peer_signal_job {
  const struct signal_side *side;
  struct peer_answer *answer;
};

static void peer_signal_work(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  const struct peer_signal_job *job = context;
  (void)thread, (void)count, (void)iterations;
  job->answer->in_time = signal_side_poll(job->side, &job->answer->elapsed_ns);
}

static enum status peer_signal_pass(struct peer_signals *signals,
                                    const struct memory_context *context,
                                    const struct peer_signal *signal, const struct buffer *watched,
                                    const struct buffer *answered, struct peer_answer *answer,
                                    struct error *err) {
  struct peer_signal_job job = {.side = &signals->side, .answer = answer};
  struct thread_team *team = NULL;
  if (watched->host == NULL || answered->host == NULL) {
    return error_set(err, STATUS_INVALID, "its threads reach no memory of a GPU");
  }
  signals->side = signal->side;
  signals->side.watched += (uint64_t)(uintptr_t)watched->host;
  signals->side.answer += (uint64_t)(uintptr_t)answered->host;
  RETURN_ON_ERROR(thread_team_new(context->machine, signal->index, 1, NULL, &team, err));
  answer->cpu = thread_team_cpu(team, 0);
  thread_team_start(team, peer_signal_work, &job, 1, NULL);
  thread_team_wait(team, NULL, NULL);
  thread_team_free(team);
  return STATUS_OK;
}

/* ---- events ---- */

static void peer_events_close(struct peer_signals *signals, const struct memory_context *context) {
  for (uint32_t i = 0; i < signals->events; i++) {
    (void)context->cuda->driver.cuEventDestroy(signals->opened[i]);
    (void)context->cuda->driver.cuEventDestroy(signals->own[i]);
  }
  signals->events = 0;
}

static enum status peer_event_open(struct peer_signals *signals,
                                   const struct memory_context *context,
                                   const struct peer_signal *signal, struct peer_answer *answer,
                                   struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  CUipcEventHandle handle;
  CUevent opened = NULL;
  CUevent own = NULL;
  _Static_assert(sizeof handle == sizeof signal->handle, "a handle fits");
  if (driver->cuIpcOpenEventHandle == NULL || driver->cuIpcGetEventHandle == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuIpcOpenEventHandle");
  }
  if (signal->event != signals->events || signal->event >= PEER_EVENTS_MAX) {
    return error_set(err, STATUS_INVALID, "events are opened in their order");
  }
  memcpy(&handle, signal->handle, sizeof handle);
  RETURN_ON_ERROR(cuda_check(driver, driver->cuIpcOpenEventHandle(&opened, handle), err,
                             "cuIpcOpenEventHandle"));
  enum status status = cuda_check(
      driver, driver->cuEventCreate(&own, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS), err,
      "cuEventCreate");
  status = THEN(status, cuda_check(driver, driver->cuIpcGetEventHandle(&handle, own), err,
                                   "cuIpcGetEventHandle"));
  if (status != STATUS_OK) {
    (void)driver->cuEventDestroy(opened);
    (void)(own != NULL && driver->cuEventDestroy(own));
    return status;
  }
  memcpy(answer->handle_of_event, &handle, sizeof handle);
  signals->opened[signals->events] = opened;
  signals->own[signals->events++] = own;
  return STATUS_OK;
}

static enum status peer_event_pass(const struct peer_signals *signals,
                                   const struct memory_context *context,
                                   const struct peer_signal *signal, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  CUstream stream = peer_signal_stream(context, signal);
  if (signal->event >= signals->events) {
    return error_set(err, STATUS_INVALID, "it has opened no such event");
  }
  RETURN_ON_ERROR(cuda_check(driver,
                             driver->cuStreamWaitEvent(stream, signals->opened[signal->event], 0),
                             err, "cuStreamWaitEvent"));
  return cuda_check(driver, driver->cuEventRecord(signals->own[signal->event], stream), err,
                    "cuEventRecord");
}

enum status peer_signals_do(struct peer_signals *signals, const struct memory_context *context,
                            const struct peer_packet *packet, const struct buffer *watched,
                            const struct buffer *answered, struct peer_answer *answer,
                            struct error *err) {
  const struct peer_signal *signal = &packet->signal;
  if (packet->request == PEER_SIGNAL_PASS) {
    return peer_signal_pass(signals, context, signal, watched, answered, answer, err);
  }
  if (context->cuda == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no GPU");
  }
  if (signal->index < 0 || (uint32_t)signal->index >= context->machine->gpu_count) {
    return error_set(err, STATUS_INVALID, "it has no such GPU");
  }
  RETURN_ON_ERROR(cuda_session_use(context->cuda, signal->index, err));
  if (packet->request == PEER_SIGNAL_START) {
    return peer_signal_start(signals, context, signal, watched, answered, err);
  }
  if (packet->request == PEER_SIGNAL_WAIT) {
    return peer_signal_wait(signals, context, signal, answer, err);
  }
  if (packet->request == PEER_EVENT_OPEN) {
    return peer_event_open(signals, context, signal, answer, err);
  }
  if (packet->request == PEER_EVENT_PASS) {
    return peer_event_pass(signals, context, signal, err);
  }
  peer_events_close(signals, context);
  return STATUS_OK;
}

void peer_signals_fini(struct peer_signals *signals, const struct memory_context *context) {
  if (context->cuda == NULL) {
    return;
  }
  peer_events_close(signals, context);
  cuda_session_free_page(context->cuda, signals->time);
}
