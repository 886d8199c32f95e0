/* chase_gpu.h - the GPU's part of a pointer chase (engine/workload_chase.c). */
#ifndef HAUL_ENGINE_CUDA_CHASE_GPU_H
#define HAUL_ENGINE_CUDA_CHASE_GPU_H

#include "engine/base/error.h"
#include "kernels/kernels.h"

struct cuda_session;

/* Where a chase leaves its result: page-locked, reached by host and GPU. */
struct chase_slot {
  struct chase_result *host;
  uint64_t device;
};

/* peer >= 0: the GPU that owns the memory; access to it is switched on. */
enum status chase_gpu_prepare(struct cuda_session *session, int32_t gpu, int32_t peer,
                              struct chase_slot *slot, struct error *err) CHECK_RESULT;
void chase_gpu_release(struct cuda_session *session, struct chase_slot *slot);
/* Copy the elements to memory of that GPU. */
enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes,
                             struct error *err) CHECK_RESULT;
/* One thread follows `hops` addresses from `start`; waits for it. */
enum status chase_gpu_run(struct cuda_session *session, int32_t gpu, uint64_t start, uint64_t hops,
                          const struct chase_slot *slot, struct error *err) CHECK_RESULT;

#endif
