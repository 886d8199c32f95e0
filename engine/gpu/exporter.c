#include "engine/gpu/exporter.h"

#include "engine/gpu/session.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_LIMIT_MS = 20000 }; /* a driver may take long to wake its GPUs */

struct export_request {
  int32_t gpu;
  uint64_t size_bytes;
};

struct export_answer {
  int32_t exported;
  CUipcMemHandle handle;
  char reason[ERROR_MESSAGE_MAX];
};

static enum status exporter_export(struct cuda_session *session,
                                   const struct export_request *request, CUdeviceptr *memory,
                                   CUipcMemHandle *handle, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  if (driver->cuIpcGetMemHandle == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuIpcGetMemHandle");
  }
  RETURN_ON_ERROR(cuda_session_use(session, request->gpu, err));
  if (*memory != 0) {
    (void)driver->cuMemFree(*memory);
    *memory = 0;
  }
  RETURN_ON_ERROR(cuda_check(driver, driver->cuMemAlloc(memory, request->size_bytes), err,
                             "allocating %llu bytes", (unsigned long long)request->size_bytes));
  return cuda_check(driver, driver->cuIpcGetMemHandle(handle, *memory), err, "cuIpcGetMemHandle");
}

void exporter_run(int fd, const struct machine *machine) {
  struct cuda_session *session = NULL;
  CUdeviceptr memory = 0;
  struct export_request request;
  while (recv(fd, &request, sizeof request, 0) == (ssize_t)sizeof request) {
    struct export_answer answer = {0};
    struct error err = {0};
    enum status status = session == NULL ? cuda_session_new(machine, &session, &err) : STATUS_OK;
    status = THEN(status, exporter_export(session, &request, &memory, &answer.handle, &err));
    answer.exported = status == STATUS_OK;
    (void)snprintf(answer.reason, sizeof answer.reason, "%s", err.message);
    if (send(fd, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer) {
      break;
    }
  }
  if (memory != 0) {
    (void)session->driver.cuMemFree(memory);
  }
  cuda_session_free(session);
}

enum status exporter_ask(int fd, int32_t gpu, uint64_t size_bytes, CUipcMemHandle *handle,
                         struct error *err) {
  const struct export_request request = {gpu, size_bytes};
  struct export_answer answer;
  struct pollfd waited = {.fd = fd, .events = POLLIN};
  if (fd < 0) {
    return error_set(err, STATUS_UNSUPPORTED, "no process exports memory to this one");
  }
  if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request ||
      poll(&waited, 1, ANSWER_LIMIT_MS) != 1 ||
      recv(fd, &answer, sizeof answer, 0) != (ssize_t)sizeof answer) {
    return error_set(err, STATUS_CUDA, "the process that exports memory does not answer");
  }
  if (!answer.exported) {
    answer.reason[sizeof answer.reason - 1] = '\0';
    return error_set(err, STATUS_UNSUPPORTED, "another process cannot export memory: %.400s",
                     answer.reason);
  }
  *handle = answer.handle;
  return STATUS_OK;
}
