/* overhead_gpu.h - the driver's calls that engine/workload/overhead.c times.
 *
 * A run makes the call many times in a row, by one thread or by several at once, and times nothing
 * but the calls, on CLOCK_MONOTONIC_RAW: it waits for what was queued and undoes what was made
 * outside the time. Then up to CALL_SAMPLES_PER_RUN more calls are timed one by one. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/overhead.h"
#include "engine/case/trial.h"

#include <stdint.h>

struct cuda_session;
struct overhead_gpu;

enum { CALL_SAMPLES_PER_RUN = 64 };

struct overhead_gpu_request {
  const struct overhead *overhead;     /* borrowed */
  const struct memory_context *memory; /* borrowed */
  uint32_t operations_max;             /* of one run, by each thread */
  unsigned char *host; /* registered memory: operations_max slots of faulted-in pages, for each */
  uint64_t slot_bytes; /* thread, so far apart; borrowed */
};

/* STATUS_UNSUPPORTED: the driver has no such call, or the machine nothing to call it for. */
enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) CHECK_RESULT;
void overhead_gpu_free(struct overhead_gpu *overhead); /* NULL is fine */
/* count is at most operations_max. elapsed_ns: from the first thread's start to the last one's
 * end. */
enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t count, uint64_t *elapsed_ns,
                             struct error *err) CHECK_RESULT;
/* The first call of the case in this process, and the latest single ones. */
void overhead_gpu_calls(const struct overhead_gpu *overhead, struct case_outcome *outcome);
