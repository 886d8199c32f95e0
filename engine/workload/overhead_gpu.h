/* overhead_gpu.h - the driver's calls that engine/workload/overhead.c times.
 *
 * A run makes the call many times in a row and times nothing but the calls, on CLOCK_MONOTONIC_RAW:
 * it waits for what was queued and undoes what was made outside the time. */
#ifndef HAUL_ENGINE_WORKLOAD_OVERHEAD_GPU_H
#define HAUL_ENGINE_WORKLOAD_OVERHEAD_GPU_H

#include "engine/base/error.h"
#include "engine/case/overhead.h"

#include <stdint.h>

struct cuda_session;
struct overhead_gpu;

struct overhead_gpu_request {
  enum overhead_operation operation;
  int32_t gpu;             /* whose context */
  enum memory_kind memory; /* of allocate and free: device, pinned, registered, ... */
  uint64_t size_bytes;
  uint32_t operations_max; /* of one run */
  unsigned char *host;     /* registered memory: operations_max slots of faulted-in pages, */
  uint64_t slot_bytes;     /* so far apart; borrowed */
};

enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) CHECK_RESULT;
void overhead_gpu_free(struct overhead_gpu *overhead); /* NULL is fine */
/* operations is at most operations_max. */
enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t operations,
                             uint64_t *elapsed_ns, struct error *err) CHECK_RESULT;

#endif
