#include "engine/cuda/chase_gpu.h"

#include "engine/cuda/session.h"

enum status chase_gpu_prepare(struct cuda_session *session, int32_t gpu, int32_t peer,
                              struct chase_slot *slot, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  enum status status = STATUS_OK;
  if (peer >= 0) {
    status = cuda_session_set_peer(session, gpu, peer, true, err);
  }
  if (status == STATUS_OK) {
    status = cuda_session_use(session, gpu, err);
  }
  void *host = NULL;
  if (status == STATUS_OK) {
    status =
        cuda_check(driver,
                   driver->cuMemHostAlloc(&host, sizeof *slot->host,
                                          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                   err, "allocating the result of a chase");
  }
  if (status == STATUS_OK) {
    CUdeviceptr device = 0;
    slot->host = host;
    status = cuda_check(driver, driver->cuMemHostGetDevicePointer(&device, host, 0), err,
                        "mapping the result of a chase");
    slot->device = device;
  }
  return status;
}

void chase_gpu_release(struct cuda_session *session, struct chase_slot *slot) {
  if (slot->host != NULL) {
    (void)session->driver.cuMemFreeHost(slot->host);
  }
  *slot = (struct chase_slot){0};
}

static enum status wait_done(struct cuda_session *session, int32_t gpu, struct error *err) {
  return cuda_check(&session->driver,
                    session->driver.cuStreamSynchronize(session->gpus[gpu].stream), err,
                    "waiting for GPU %d", gpu);
}

enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  if (status == STATUS_OK) {
    status = cuda_check(
        &session->driver,
        session->driver.cuMemcpyHtoDAsync(address, bytes, size_bytes, session->gpus[gpu].stream),
        err, "copying the elements of a chase to GPU %d", gpu);
  }
  return status == STATUS_OK ? wait_done(session, gpu, err) : status;
}

enum status chase_gpu_run(struct cuda_session *session, int32_t gpu, uint64_t start, uint64_t hops,
                          const struct chase_slot *slot, struct error *err) {
  struct chase_arguments arguments = {.start = start, .result = slot->device, .hops = hops};
  *slot->host = (struct chase_result){0};
  enum status status = cuda_session_use(session, gpu, err);
  if (status == STATUS_OK) {
    status = cuda_session_launch(session, gpu, KERNEL_CHASE, 1, 1, session->gpus[gpu].stream,
                                 &arguments, err);
  }
  return status == STATUS_OK ? wait_done(session, gpu, err) : status;
}
