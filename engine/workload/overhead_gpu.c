#include "engine/workload/overhead_gpu.h"

#include "engine/base/clock.h"
#include "engine/gpu/session.h"

#include <stdlib.h>

/* What one call has made, to be undone. */
union made {
  CUdeviceptr device;
  void *host;
  CUgraphExec graph;
};

struct overhead_gpu {
  struct cuda_session *session;
  struct overhead_gpu_request request;
  CUstream stream;
  CUevent event;
  CUdeviceptr word; /* target of a memcpy_call */
  uint32_t *pinned; /* its source */
  CUgraph graph;    /* of one empty kernel */
  CUgraphExec executable;
  union made *made; /* operations_max */
};

static const struct cuda_driver *overhead_gpu_driver(const struct overhead_gpu *overhead) {
  return &overhead->session->driver;
}

static CUresult launch(struct overhead_gpu *overhead, uint32_t i) {
  struct empty_arguments arguments = {0};
  void *parameters[] = {&arguments};
  CUfunction kernel = overhead->session->gpus[overhead->request.gpu].kernels[KERNEL_EMPTY];
  (void)i;
  return overhead_gpu_driver(overhead)->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0,
                                                       overhead->stream, parameters, NULL);
}

static CUresult overhead_gpu_record(struct overhead_gpu *overhead, uint32_t i) {
  (void)i;
  return overhead_gpu_driver(overhead)->cuEventRecord(overhead->event, overhead->stream);
}

static CUresult synchronize(struct overhead_gpu *overhead, uint32_t i) {
  (void)i;
  return overhead_gpu_driver(overhead)->cuStreamSynchronize(overhead->stream);
}

static CUresult copy_word(struct overhead_gpu *overhead, uint32_t i) {
  (void)i;
  return overhead_gpu_driver(overhead)->cuMemcpyHtoDAsync(
      overhead->word, overhead->pinned, sizeof *overhead->pinned, overhead->stream);
}

static unsigned char *slot_of(const struct overhead_gpu *overhead, uint32_t i) {
  return overhead->request.host + i * overhead->request.slot_bytes;
}

static CUresult overhead_gpu_allocate(struct overhead_gpu *overhead, uint32_t i) {
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  const uint64_t size_bytes = overhead->request.size_bytes;
  union made *made = &overhead->made[i];
  const unsigned page_locked = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  switch (overhead->request.memory) {
  case MEMORY_DEVICE:
    return driver->cuMemAlloc(&made->device, size_bytes);
  case MEMORY_MANAGED:
    return driver->cuMemAllocManaged(&made->device, size_bytes, CU_MEM_ATTACH_GLOBAL);
  case MEMORY_PINNED:
    return driver->cuMemHostAlloc(&made->host, size_bytes, page_locked);
  case MEMORY_WRITE_COMBINED:
    return driver->cuMemHostAlloc(&made->host, size_bytes,
                                  page_locked | CU_MEMHOSTALLOC_WRITECOMBINED);
  case MEMORY_REGISTERED:
    made->host = slot_of(overhead, i);
    return driver->cuMemHostRegister(made->host, size_bytes,
                                     CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
  case memory_kind_name_count:
    break;
  }
  return CUDA_ERROR_NOT_SUPPORTED; /* not the driver's */
}

static CUresult free_one(struct overhead_gpu *overhead, uint32_t i) {
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  switch (overhead->request.memory) {
  case MEMORY_DEVICE:
  case MEMORY_MANAGED:
    return driver->cuMemFree(overhead->made[i].device);
  case MEMORY_PINNED:
  case MEMORY_WRITE_COMBINED:
    return driver->cuMemFreeHost(overhead->made[i].host);
  case MEMORY_REGISTERED:
    return driver->cuMemHostUnregister(overhead->made[i].host);
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
  case memory_kind_name_count:
    break;
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult instantiate(struct overhead_gpu *overhead, uint32_t i) {
  return overhead_gpu_driver(overhead)->cuGraphInstantiateWithFlags(&overhead->made[i].graph,
                                                                    overhead->graph, 0);
}

static CUresult destroy_graph(struct overhead_gpu *overhead, uint32_t i) {
  return overhead_gpu_driver(overhead)->cuGraphExecDestroy(overhead->made[i].graph);
}

static CUresult launch_graph(struct overhead_gpu *overhead, uint32_t i) {
  (void)i;
  return overhead_gpu_driver(overhead)->cuGraphLaunch(overhead->executable, overhead->stream);
}

typedef CUresult (*call)(struct overhead_gpu *overhead, uint32_t i);

/* The timed call; what must precede it, and what undoes it (either may be NULL). */
struct calls {
  call before;
  call timed;
  call after;
};

static const struct calls calls_of[overhead_operation_name_count] = {
    [OVERHEAD_KERNEL_LAUNCH] = {NULL, launch, NULL},
    [OVERHEAD_EVENT_RECORD] = {NULL, overhead_gpu_record, NULL},
    [OVERHEAD_STREAM_SYNCHRONIZE] = {NULL, synchronize, NULL},
    [OVERHEAD_MEMCPY_CALL] = {NULL, copy_word, NULL},
    [OVERHEAD_ALLOCATE] = {NULL, overhead_gpu_allocate, free_one},
    [OVERHEAD_FREE] = {overhead_gpu_allocate, free_one, NULL},
    [OVERHEAD_GRAPH_INSTANTIATE] = {NULL, instantiate, destroy_graph},
    [OVERHEAD_GRAPH_LAUNCH] = {NULL, launch_graph, NULL},
};

/* Make calls 0 to count - 1 until one fails; *done of them succeeded. */
static CUresult repeat(struct overhead_gpu *overhead, call one, uint32_t count, uint32_t *done) {
  CUresult result = CUDA_SUCCESS;
  *done = 0;
  while (*done < count) {
    result = one(overhead, *done);
    if (result != CUDA_SUCCESS) {
      break;
    }
    (*done)++;
  }
  return result;
}

static enum status make_graph(struct overhead_gpu *overhead, struct error *err) {
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  enum status status = cuda_check(
      driver, driver->cuStreamBeginCapture(overhead->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      err, "beginning to capture a graph");
  if (status == STATUS_OK) {
    CUresult launched = launch(overhead, 0);
    /* A capture that began has to end. */
    CUresult ended = driver->cuStreamEndCapture(overhead->stream, &overhead->graph);
    status = cuda_check(driver, launched != CUDA_SUCCESS ? launched : ended, err,
                        "capturing a graph of one kernel");
  }
  return THEN(status, cuda_check(driver,
                                 driver->cuGraphInstantiateWithFlags(&overhead->executable,
                                                                     overhead->graph, 0),
                                 err, "instantiating a graph of one kernel"));
}

static enum status make_word(struct overhead_gpu *overhead, struct error *err) {
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  void *pinned = NULL;
  enum status status =
      cuda_check(driver, driver->cuMemHostAlloc(&pinned, sizeof *overhead->pinned, 0), err,
                 "allocating 4 pinned bytes");
  overhead->pinned = pinned;
  return THEN(status,
              cuda_check(driver, driver->cuMemAlloc(&overhead->word, sizeof *overhead->pinned), err,
                         "allocating 4 bytes on GPU %d", (int)overhead->request.gpu));
}

static enum status make_ready(struct overhead_gpu *overhead, struct error *err) {
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  enum status status = cuda_session_use(overhead->session, overhead->request.gpu, err);
  status = THEN(
      status, cuda_check(driver, driver->cuStreamCreate(&overhead->stream, CU_STREAM_NON_BLOCKING),
                         err, "cuStreamCreate"));
  status =
      THEN(status, cuda_check(driver, driver->cuEventCreate(&overhead->event, CU_EVENT_DEFAULT),
                              err, "cuEventCreate"));
  if (status == STATUS_OK && overhead->request.operation == OVERHEAD_MEMCPY_CALL) {
    status = make_word(overhead, err);
  }
  if (status == STATUS_OK && (overhead->request.operation == OVERHEAD_GRAPH_INSTANTIATE ||
                              overhead->request.operation == OVERHEAD_GRAPH_LAUNCH)) {
    status = make_graph(overhead, err);
  }
  return status;
}

enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) {
  struct overhead_gpu *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  made->session = session;
  made->request = *request;
  made->made = calloc(request->operations_max, sizeof *made->made);
  enum status status = made->made != NULL
                           ? make_ready(made, err)
                           : error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  if (status != STATUS_OK) {
    overhead_gpu_free(made);
    return status;
  }
  *overhead = made;
  return STATUS_OK;
}

/* Results are ignored: a lost context answers every call with an error. */
void overhead_gpu_free(struct overhead_gpu *overhead) {
  if (overhead == NULL) {
    return;
  }
  const struct cuda_driver *driver = overhead_gpu_driver(overhead);
  if (overhead->executable != NULL) {
    (void)driver->cuGraphExecDestroy(overhead->executable);
  }
  if (overhead->graph != NULL) {
    (void)driver->cuGraphDestroy(overhead->graph);
  }
  if (overhead->word != 0) {
    (void)driver->cuMemFree(overhead->word);
  }
  if (overhead->pinned != NULL) {
    (void)driver->cuMemFreeHost(overhead->pinned);
  }
  if (overhead->event != NULL) {
    (void)driver->cuEventDestroy(overhead->event);
  }
  if (overhead->stream != NULL) {
    (void)driver->cuStreamDestroy(overhead->stream);
  }
  free(overhead->made);
  free(overhead);
}

enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t operations,
                             uint64_t *elapsed_ns, struct error *err) {
  const struct calls *calls = &calls_of[overhead->request.operation];
  uint32_t ready = operations;
  uint32_t done = 0;
  uint32_t undone = 0;
  CUresult result = CUDA_SUCCESS;
  RETURN_ON_ERROR(cuda_session_use(overhead->session, overhead->request.gpu, err));
  if (calls->before != NULL) {
    result = repeat(overhead, calls->before, operations, &ready);
  }
  const uint64_t start_ns = clock_now_ns();
  const CUresult timed = repeat(overhead, calls->timed, ready, &done);
  *elapsed_ns = clock_now_ns() - start_ns;
  result = result != CUDA_SUCCESS ? result : timed;
  if (calls->after != NULL) {
    const CUresult after = repeat(overhead, calls->after, done, &undone);
    result = result != CUDA_SUCCESS ? result : after;
  }
  const CUresult drained = synchronize(overhead, 0);
  return cuda_check(overhead_gpu_driver(overhead), result != CUDA_SUCCESS ? result : drained, err,
                    "%s, %u times", overhead_operation_text(overhead->request.operation),
                    operations);
}
