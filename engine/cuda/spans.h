/* spans.h - what kernels that time themselves note about each SM (struct sm_span): made ready
 * before a launch, summed up after it. */
#ifndef HAUL_ENGINE_CUDA_SPANS_H
#define HAUL_ENGINE_CUDA_SPANS_H

#include "engine/cuda/session.h"

struct spans {
  CUdeviceptr device;   /* for the kernel's arguments */
  struct sm_span *host; /* SM_SPANS rows */
};

struct spans_total {
  uint64_t cycles;     /* of the SM that took longest: first block's start to last one's end */
  uint64_t elapsed_ns; /* from the first block of all to the last */
};

/* The GPU's context is current, here and below. */
enum status spans_init(struct cuda_session *session, struct spans *spans,
                       struct error *err) CHECK_RESULT;
void spans_fini(struct cuda_session *session, struct spans *spans); /* a zeroed one is fine */
/* On that stream, before the launch; returns when it is done. */
enum status spans_reset(struct cuda_session *session, struct spans *spans, CUstream stream,
                        struct error *err) CHECK_RESULT;
/* On that stream, after the launch; waits for it. STATUS_CUDA: no block has noted anything. */
enum status spans_read(struct cuda_session *session, struct spans *spans, CUstream stream,
                       struct spans_total *total, struct error *err) CHECK_RESULT;

#endif
