#include "engine/workload/arithmetic.h"

#include "engine/gpu/session.h"

#include <stdlib.h>
#include <string.h>

struct arithmetic_gpu {
  struct cuda_session *session;
  struct arithmetic_gpu_request request;
  struct arithmetic_arguments arguments;
  struct spans spans;
  CUdeviceptr results;
  uint64_t *results_host;
};

static uint64_t threads_of(const struct arithmetic_gpu *gpu) {
  return (uint64_t)gpu->request.block * gpu->request.grid;
}

static CUstream stream_of(const struct arithmetic_gpu *gpu) {
  return gpu->session->gpus[gpu->request.gpu].stream;
}

static enum status arithmetic_gpu_use(const struct arithmetic_gpu *gpu, struct error *err) {
  return cuda_session_use(gpu->session, gpu->request.gpu, err);
}

static enum status arithmetic_gpu_wait(const struct arithmetic_gpu *gpu, struct error *err) {
  return cuda_session_wait(gpu->session, stream_of(gpu), "waiting for a chain of instructions",
                           err);
}

void arithmetic_gpu_free(struct arithmetic_gpu *gpu) {
  if (gpu == NULL) {
    return;
  }
  if (arithmetic_gpu_use(gpu, NULL) == STATUS_OK) {
    spans_fini(gpu->session, &gpu->spans);
    if (gpu->results != 0) {
      (void)gpu->session->driver.cuMemFree(gpu->results);
    }
  }
  free(gpu->results_host);
  free(gpu);
}

static enum status arithmetic_gpu_allocate(struct arithmetic_gpu *gpu, struct error *err) {
  const struct cuda_driver *driver = &gpu->session->driver;
  const size_t bytes = threads_of(gpu) * sizeof *gpu->results_host;
  gpu->results_host = malloc(bytes);
  if (gpu->results_host == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the results of %llu threads",
                     (unsigned long long)threads_of(gpu));
  }
  enum status status = arithmetic_gpu_use(gpu, err);
  status = THEN(status, cuda_check(driver, driver->cuMemAlloc(&gpu->results, bytes), err,
                                   "allocating the results of %llu threads",
                                   (unsigned long long)threads_of(gpu)));
  return THEN(status, spans_init(gpu->session, &gpu->spans, err));
}

enum status arithmetic_gpu_new(struct cuda_session *session,
                               const struct arithmetic_gpu_request *request,
                               struct arithmetic_gpu **gpu, struct error *err) {
  struct arithmetic_gpu *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a chain of instructions");
  }
  made->session = session;
  made->request = *request;
  made->arguments = request->operands;
  enum status status = arithmetic_gpu_allocate(made, err);
  if (status != STATUS_OK) {
    arithmetic_gpu_free(made);
    return status;
  }
  made->arguments.results = made->results;
  made->arguments.spans = made->spans.device;
  *gpu = made;
  return STATUS_OK;
}

enum status arithmetic_gpu_run(struct arithmetic_gpu *gpu, uint64_t instructions, uint64_t *cycles,
                               uint64_t *elapsed_ns, struct error *err) {
  struct spans_total total = {0};
  gpu->arguments.rounds = instructions / ARITHMETIC_BODY;
  enum status status = arithmetic_gpu_use(gpu, err);
  status = THEN(status, spans_reset(gpu->session, &gpu->spans, stream_of(gpu), err));
  status = THEN(status, cuda_session_launch(gpu->session, gpu->request.gpu, gpu->request.kernel,
                                            gpu->request.grid, gpu->request.block, stream_of(gpu),
                                            &gpu->arguments, err));
  status = THEN(status, spans_read(gpu->session, &gpu->spans, stream_of(gpu), &total, err));
  *cycles = total.cycles;
  *elapsed_ns = total.elapsed_ns;
  return status;
}

enum status arithmetic_gpu_results(struct arithmetic_gpu *gpu, const uint64_t **results,
                                   struct error *err) {
  const struct cuda_driver *driver = &gpu->session->driver;
  enum status status = arithmetic_gpu_use(gpu, err);
  status = THEN(status, cuda_check(driver,
                                   driver->cuMemcpyDtoHAsync(
                                       gpu->results_host, gpu->results,
                                       threads_of(gpu) * sizeof *gpu->results_host, stream_of(gpu)),
                                   err, "reading the ends of the chains"));
  *results = gpu->results_host;
  return THEN(status, arithmetic_gpu_wait(gpu, err));
}

enum status arithmetic_gpu_spoil(struct arithmetic_gpu *gpu, struct error *err) {
  const struct cuda_driver *driver = &gpu->session->driver;
  enum status status = arithmetic_gpu_use(gpu, err);
  status = THEN(status, cuda_check(driver,
                                   driver->cuMemsetD8Async(
                                       gpu->results, 0xff,
                                       threads_of(gpu) * sizeof *gpu->results_host, stream_of(gpu)),
                                   err, "invalidating the ends of the chains"));
  memset(gpu->results_host, 0xff, threads_of(gpu) * sizeof *gpu->results_host);
  return THEN(status, arithmetic_gpu_wait(gpu, err));
}
