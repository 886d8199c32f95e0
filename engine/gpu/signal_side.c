#include "engine/gpu/signal_side.h"

#include "engine/base/clock.h"
#include "engine/base/macros.h"

enum { LOOKS = 1024 }; /* at a flag, between two at the clock */

enum status signal_side_launch(struct cuda_session *session, int32_t gpu,
                               const struct signal_side *side, uint64_t time, struct error *err) {
  struct signal_flag_arguments arguments = {
      .watched = side->watched,
      .answer = side->answer,
      .time = time,
      .timeout_ns = SIGNAL_TIMEOUT_NS,
      .first = side->first,
      .warm_rounds = SIGNAL_WARM_ROUNDS,
      .rounds = side->rounds,
      .begins = side->begins,
  };
  RETURN_ON_ERROR(cuda_session_use(session, gpu, err));
  return cuda_session_launch(session, gpu, KERNEL_SIGNAL_FLAG, 1, 1, session->gpus[gpu].stream,
                             &arguments, err);
}

static enum status signal_side_write(const struct cuda_driver *driver, CUstream stream,
                                     uint64_t flag, uint32_t value, struct error *err) {
  return cuda_check(driver, driver->cuStreamWriteValue32(stream, flag, value, 0), err,
                    "cuStreamWriteValue32");
}

/* Both sides: not by the streams' own means, which may be what fails. */
static enum status signal_side_let_go(struct cuda_session *session, const struct signal_side *side,
                                      struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  const uint64_t flags[] = {side->watched, side->answer};
  const uint32_t last = signal_side_last(side);
  CUstream other = NULL;
  RETURN_ON_ERROR(cuda_session_new_stream(session, 0, NULL, &other, err));
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(flags); i++) {
    status = cuda_check(driver, driver->cuMemcpyHtoDAsync(flags[i], &last, sizeof last, other), err,
                        "ending a stream's waits");
  }
  status = THEN(status, cuda_session_wait(session, other, "ending a stream's waits", err));
  (void)driver->cuStreamDestroy(other);
  return status;
}

/* A side that answers stands in a stream that others use, too. */
static void signal_side_give_up(struct cuda_session *session, CUstream stream,
                                const struct signal_side *side) {
  (void)(signal_side_let_go(session, side, NULL) == STATUS_OK &&
         cuda_session_wait(session, stream, "ending a stream's waits", NULL) == STATUS_OK);
}

enum status signal_side_queue(struct cuda_session *session, CUstream stream,
                              const struct signal_side *side, CUevent start, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  if (driver->cuStreamWaitValue32 == NULL || driver->cuStreamWriteValue32 == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "this driver has no cuStreamWaitValue32");
  }
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < SIGNAL_WARM_ROUNDS + side->rounds; i++) {
    const uint32_t value = side->first + i;
    if (start != NULL && i == SIGNAL_WARM_ROUNDS) {
      status = cuda_check(driver, driver->cuEventRecord(start, stream), err, "cuEventRecord");
    }
    if (status == STATUS_OK && side->begins) {
      status = signal_side_write(driver, stream, side->answer, value, err);
    }
    status = THEN(status, cuda_check(driver,
                                     driver->cuStreamWaitValue32(stream, side->watched, value,
                                                                 CU_STREAM_WAIT_VALUE_GEQ),
                                     err, "cuStreamWaitValue32"));
    if (status == STATUS_OK && !side->begins) {
      status = signal_side_write(driver, stream, side->answer, value, err);
    }
  }
  if (status != STATUS_OK && !side->begins) {
    signal_side_give_up(session, stream, side);
  }
  return status;
}

enum status signal_side_wait(struct cuda_session *session, int32_t gpu, CUstream stream,
                             const struct signal_side *side, bool *in_time, struct error *err) {
  const uint64_t start_ns = clock_now_ns();
  CUresult result = CUDA_ERROR_NOT_READY;
  *in_time = true;
  RETURN_ON_ERROR(cuda_session_use(session, gpu, err));
  while (result == CUDA_ERROR_NOT_READY && *in_time) {
    result = session->driver.cuStreamQuery(stream);
    *in_time =
        result != CUDA_ERROR_NOT_READY || clock_now_ns() - start_ns < SIGNAL_STREAM_TIMEOUT_NS;
  }
  if (!*in_time) {
    RETURN_ON_ERROR(signal_side_let_go(session, side, err));
  }
  return cuda_session_wait(session, stream, "waiting for signals", err);
}

bool signal_side_poll(const struct signal_side *side, uint64_t *elapsed_ns) {
  const uint32_t *watched = (const uint32_t *)(uintptr_t)side->watched;
  uint32_t *answer = (uint32_t *)(uintptr_t)side->answer;
  uint64_t start_ns = clock_now_ns();
  bool in_time = true;
  for (uint32_t i = 0; in_time && i < SIGNAL_WARM_ROUNDS + side->rounds; i++) {
    const uint32_t value = side->first + i;
    const uint64_t sent_ns = clock_now_ns();
    start_ns = i == SIGNAL_WARM_ROUNDS ? sent_ns : start_ns;
    __atomic_store_n(answer, value, __ATOMIC_RELEASE);
    for (uint32_t looks = 1; in_time && __atomic_load_n(watched, __ATOMIC_ACQUIRE) != value;
         looks++) {
      in_time = looks % LOOKS != 0 || clock_now_ns() - sent_ns <= SIGNAL_TIMEOUT_NS;
    }
  }
  *elapsed_ns = clock_now_ns() - start_ns;
  return in_time;
}
