/* arithmetic_gpu.h - the GPU's part of an [[arithmetic]] (engine/workload/arithmetic.c). */
#ifndef HAUL_ENGINE_WORKLOAD_ARITHMETIC_GPU_H
#define HAUL_ENGINE_WORKLOAD_ARITHMETIC_GPU_H

#include "engine/base/error.h"
#include "kernels/kernels.h"

struct cuda_session;
struct arithmetic_gpu;

struct arithmetic_gpu_request {
  enum kernel kernel; /* KERNEL_ARITHMETIC_... */
  int32_t gpu;
  uint32_t block;
  uint32_t grid;
  struct arithmetic_arguments operands; /* only those are looked at */
};

enum status arithmetic_gpu_new(struct cuda_session *session,
                               const struct arithmetic_gpu_request *request,
                               struct arithmetic_gpu **gpu, struct error *err) CHECK_RESULT;
void arithmetic_gpu_free(struct arithmetic_gpu *gpu); /* NULL is fine */
/* instructions of each thread: a multiple of ARITHMETIC_BODY. Waits for the end. cycles: of the SM
 * that took longest. */
enum status arithmetic_gpu_run(struct arithmetic_gpu *gpu, uint64_t instructions, uint64_t *cycles,
                               uint64_t *elapsed_ns, struct error *err) CHECK_RESULT;
/* What the threads left, block * grid words; valid until the next run. */
enum status arithmetic_gpu_results(struct arithmetic_gpu *gpu, const uint64_t **results,
                                   struct error *err) CHECK_RESULT;
enum status arithmetic_gpu_spoil(struct arithmetic_gpu *gpu, struct error *err) CHECK_RESULT;

#endif
