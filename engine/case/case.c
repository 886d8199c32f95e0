#include "engine/case/case.h"

enum { GPU_BITS = 32 };

/* A case may name a GPU that no machine has, until the engine refuses it: that has no bit. */
static uint32_t gpu_bit(int32_t gpu) {
  return gpu >= 0 && gpu < GPU_BITS ? UINT32_C(1) << gpu : 0;
}

static uint32_t endpoint_gpu(const struct endpoint *endpoint) {
  return endpoint->place == PLACE_GPU ? gpu_bit(endpoint->index) : 0;
}

uint32_t bench_case_gpus(const struct bench_case *bench) {
  uint32_t gpus = 0;
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    gpus |= endpoint_gpu(&bench->flows[i].source) | endpoint_gpu(&bench->flows[i].target);
  }
  const union work *work = &bench->work;
  switch (bench->kind) {
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  case CASE_CHASE:
    gpus |= gpu_bit(work->chase.gpu) | endpoint_gpu(&work->chase.memory);
    break;
  case CASE_STREAM:
    gpus |= endpoint_gpu(&work->stream.memory);
    break;
  case CASE_ARITHMETIC:
    gpus |= gpu_bit(work->arithmetic.gpu);
    break;
  case CASE_OVERHEAD:
    gpus |= gpu_bit(work->overhead.gpu);
    break;
  }
  return gpus;
}
