#include "engine/workload/chase_gpu.h"

#include "engine/gpu/session.h"

#include <stdlib.h>

struct chase_gpu {
  struct cuda_session *session;
  struct chase_gpu_request request;
  /* Page-locked: positions of all threads, then times of all blocks. */
  uint64_t *positions;
  struct chase_time *times;
  uint64_t positions_device;
  uint64_t times_device;
  CUdeviceptr turn; /* in the GPU's memory, so that polling it crosses no link; 0 = none */
};

static enum status chase_gpu_allocate(struct chase_gpu *gpu, struct error *err) {
  const struct chase_gpu_request *request = &gpu->request;
  const uint64_t threads = (uint64_t)request->threads * request->blocks;
  const uint64_t positions_bytes = threads * sizeof *gpu->positions;
  void *page = NULL;
  CUdeviceptr device = 0;
  RETURN_ON_ERROR(cuda_session_new_page(gpu->session,
                                        positions_bytes + request->blocks * sizeof *gpu->times,
                                        "the result of a chase", &page, &device, err));
  gpu->positions = page;
  gpu->times = (struct chase_time *)(void *)(gpu->positions + threads);
  gpu->positions_device = device;
  gpu->times_device = device + positions_bytes;
  return STATUS_OK;
}

static enum status chase_gpu_allocate_turn(struct chase_gpu *gpu, struct error *err) {
  const struct cuda_driver *driver = &gpu->session->driver;
  CUstream stream = gpu->session->gpus[gpu->request.gpu].stream;
  enum status status = cuda_check(driver, driver->cuMemAlloc(&gpu->turn, sizeof(uint32_t)), err,
                                  "allocating the turn of a chase");
  status = THEN(status,
                cuda_check(driver, driver->cuMemsetD8Async(gpu->turn, 0, sizeof(uint32_t), stream),
                           err, "writing the turn of a chase"));
  return THEN(status, cuda_session_wait(gpu->session, stream, "writing the turn of a chase", err));
}

/* More shared memory than a kernel gets without asking. */
static enum status ask_for_shared(const struct chase_gpu *gpu, struct error *err) {
  const struct cuda_driver *driver = &gpu->session->driver;
  const struct chase_gpu_request *request = &gpu->request;
  return cuda_check(
      driver,
      driver->cuFuncSetAttribute(gpu->session->gpus[request->gpu].kernels[request->kernel],
                                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)request->shared_bytes),
      err, "asking for %u bytes of shared memory", request->shared_bytes);
}

/* The kernel keeps what an earlier chase asked for. */
static enum status ask_for_l1(const struct chase_gpu *gpu, struct error *err) {
  static const int carveouts[l1_size_name_count] = {
      [L1_SIZE_AUTO] = CU_SHAREDMEM_CARVEOUT_DEFAULT,
      [L1_SIZE_LARGEST] = CU_SHAREDMEM_CARVEOUT_MAX_L1,
      [L1_SIZE_SMALLEST] = CU_SHAREDMEM_CARVEOUT_MAX_SHARED};
  const struct cuda_driver *driver = &gpu->session->driver;
  const struct chase_gpu_request *request = &gpu->request;
  return cuda_check(
      driver,
      driver->cuFuncSetAttribute(gpu->session->gpus[request->gpu].kernels[request->kernel],
                                 CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                 carveouts[request->l1_size]),
      err, "asking for the %s L1 cache", l1_size_text(request->l1_size));
}

enum status chase_gpu_new(struct cuda_session *session, const struct chase_gpu_request *request,
                          struct chase_gpu **gpu, struct error *err) {
  struct chase_gpu *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a chase");
  }
  made->session = session;
  made->request = *request;
  enum status status = request->peer >= 0
                           ? cuda_session_set_peer(session, request->gpu, request->peer, true, err)
                           : STATUS_OK;
  status = THEN(status, cuda_session_use(session, request->gpu, err));
  if (status == STATUS_OK && request->shared_bytes > 0) {
    status = ask_for_shared(made, err);
  }
  if (request->kernel == KERNEL_CHASE_L1 || request->kernel == KERNEL_CHASE_L1_U32) {
    status = THEN(status, ask_for_l1(made, err));
  }
  status = THEN(status, chase_gpu_allocate(made, err));
  if (request->in_turn) {
    status = THEN(status, chase_gpu_allocate_turn(made, err));
  }
  if (status != STATUS_OK) {
    chase_gpu_free(made);
    return status;
  }
  *gpu = made;
  return STATUS_OK;
}

void chase_gpu_free(struct chase_gpu *gpu) {
  if (gpu != NULL) {
    if (gpu->turn != 0) {
      (void)gpu->session->driver.cuMemFree(gpu->turn);
    }
    cuda_session_free_page(gpu->session, gpu->positions);
    free(gpu);
  }
}

uint64_t *chase_gpu_positions(struct chase_gpu *gpu) {
  return gpu->positions;
}

enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  status = THEN(status, cuda_check(&session->driver,
                                   session->driver.cuMemcpyHtoDAsync(address, bytes, size_bytes,
                                                                     session->gpus[gpu].stream),
                                   err, "copying the elements of a chase to GPU %d", gpu));
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "uploading a chase", err));
}

enum status chase_gpu_upload_lines(struct cuda_session *session, int32_t gpu, uint64_t address,
                                   uint64_t stride_bytes, const void *lines, uint64_t count,
                                   struct error *err) {
  const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = lines,
                              .srcPitch = CHASE_LINE_BYTES,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = address,
                              .dstPitch = stride_bytes,
                              .WidthInBytes = CHASE_LINE_BYTES,
                              .Height = count};
  enum status status = cuda_session_use(session, gpu, err);
  status =
      THEN(status, cuda_check(&session->driver,
                              session->driver.cuMemcpy2DAsync(&copy, session->gpus[gpu].stream),
                              err, "copying the lines of a chase to GPU %d", gpu));
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "uploading a chase", err));
}

enum status chase_gpu_enqueue(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops,
                              uint64_t hops, void *stream, struct error *err) {
  const struct chase_gpu_request *request = &gpu->request;
  struct chase_arguments arguments = {
      .positions = gpu->positions_device,
      .times = gpu->times_device,
      .hops = hops,
      .warm_hops = warm_hops,
      .table = table,
      .table_bytes = request->shared_bytes,
      .turn = gpu->turn,
      .by_sm = request->by_sm,
  };
  enum status status = cuda_session_use(gpu->session, request->gpu, err);
  return THEN(status, cuda_session_launch_shared(gpu->session, request->gpu, request->kernel,
                                                 request->blocks, request->threads,
                                                 request->shared_bytes, stream, &arguments, err));
}

void chase_gpu_times(const struct chase_gpu *gpu, struct chase_times *times) {
  struct chase_times sum = {0};
  *times = (struct chase_times){0};
  for (uint32_t i = 0; i < gpu->request.blocks; i++) {
    const struct chase_time *time = &gpu->times[i];
    sum.cycles += time->cycles;
    sum.elapsed_ns += time->elapsed_ns;
    times->cycles = time->cycles > times->cycles ? time->cycles : times->cycles;
    times->elapsed_ns = time->elapsed_ns > times->elapsed_ns ? time->elapsed_ns : times->elapsed_ns;
  }
  if (gpu->request.in_turn && gpu->request.blocks > 0) {
    *times = (struct chase_times){sum.cycles / gpu->request.blocks,
                                  sum.elapsed_ns / gpu->request.blocks};
  }
}

enum status chase_gpu_run(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops, uint64_t hops,
                          struct chase_times *times, struct error *err) {
  CUstream stream = gpu->session->gpus[gpu->request.gpu].stream;
  enum status status = chase_gpu_enqueue(gpu, table, warm_hops, hops, stream, err);
  status = THEN(status, cuda_session_wait(gpu->session, stream, "waiting for a chase", err));
  if (status == STATUS_OK) {
    chase_gpu_times(gpu, times);
  }
  return status;
}
