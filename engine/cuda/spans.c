#include "engine/cuda/spans.h"

#include <stdlib.h>

enum { SPANS_BYTES = SM_SPANS * sizeof(struct sm_span) };

enum status spans_init(struct cuda_session *session, struct spans *spans, struct error *err) {
  *spans = (struct spans){.host = calloc(SM_SPANS, sizeof *spans->host)};
  if (spans->host == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the times of a kernel");
  }
  return cuda_check(&session->driver, session->driver.cuMemAlloc(&spans->device, SPANS_BYTES), err,
                    "allocating the times of a kernel");
}

void spans_fini(struct cuda_session *session, struct spans *spans) {
  if (spans->device != 0) {
    (void)session->driver.cuMemFree(spans->device);
  }
  free(spans->host);
  *spans = (struct spans){0};
}

enum status spans_reset(struct cuda_session *session, struct spans *spans, CUstream stream,
                        struct error *err) {
  for (int sm = 0; sm < SM_SPANS; sm++) {
    spans->host[sm] = (struct sm_span){.first_cycle = UINT64_MAX, .first_ns = UINT64_MAX};
  }
  enum status status =
      cuda_check(&session->driver,
                 session->driver.cuMemcpyHtoDAsync(spans->device, spans->host, SPANS_BYTES, stream),
                 err, "clearing the times of a kernel");
  return status == STATUS_OK
             ? cuda_session_wait(session, stream, "waiting for a kernel that times itself", err)
             : status;
}

enum status spans_read(struct cuda_session *session, struct spans *spans, CUstream stream,
                       struct spans_total *total, struct error *err) {
  enum status status =
      cuda_check(&session->driver,
                 session->driver.cuMemcpyDtoHAsync(spans->host, spans->device, SPANS_BYTES, stream),
                 err, "reading the times of a kernel");
  if (status == STATUS_OK) {
    status = cuda_session_wait(session, stream, "waiting for a kernel that times itself", err);
  }
  if (status != STATUS_OK) {
    return status;
  }
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  *total = (struct spans_total){0};
  for (int sm = 0; sm < SM_SPANS; sm++) {
    const struct sm_span *span = &spans->host[sm];
    if (span->last_cycle > span->first_cycle) {
      const uint64_t cycles = span->last_cycle - span->first_cycle;
      total->cycles = cycles > total->cycles ? cycles : total->cycles;
      first_ns = span->first_ns < first_ns ? span->first_ns : first_ns;
      last_ns = span->last_ns > last_ns ? span->last_ns : last_ns;
    }
  }
  if (total->cycles == 0) {
    return error_set(err, STATUS_CUDA, "no SM noted when the kernel ran");
  }
  total->elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 1;
  return STATUS_OK;
}
