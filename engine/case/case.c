#include "engine/case/case.h"

static uint32_t endpoint_gpu(const struct endpoint *endpoint) {
  return endpoint->place == PLACE_GPU ? UINT32_C(1) << (unsigned)endpoint->index : 0;
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
    gpus |= UINT32_C(1) << (unsigned)work->chase.gpu | endpoint_gpu(&work->chase.memory);
    break;
  case CASE_STREAM:
    gpus |= endpoint_gpu(&work->stream.memory);
    break;
  case CASE_ARITHMETIC:
    gpus |= UINT32_C(1) << (unsigned)work->arithmetic.gpu;
    break;
  case CASE_OVERHEAD:
    gpus |= work->overhead.gpu >= 0 ? UINT32_C(1) << (unsigned)work->overhead.gpu : 0;
    break;
  }
  return gpus;
}
