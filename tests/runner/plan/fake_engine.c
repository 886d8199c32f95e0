#include "tests/runner/plan/fake_engine.h"

#include <stdio.h>

struct fake_engine fake_engine;

bool engine_flow_is_paired(const struct bench_case *bench_case, uint32_t flow) {
  (void)bench_case;
  (void)flow;
  return false;
}

uint32_t engine_case_gpus(const struct bench_case *bench_case) {
  (void)bench_case;
  return 0;
}

const char *engine_case_unsupported_reason(const struct bench_case *bench_case,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  (void)machine;
  for (uint32_t i = 0; fake_engine.refuses && i < bench_case->flow_count; i++) {
    if (bench_case->flows[i].source.memory == fake_engine.refused ||
        bench_case->flows[i].target.memory == fake_engine.refused) {
      (void)snprintf(reason, CASE_REASON_MAX, "no %s memory here",
                     memory_kind_text(fake_engine.refused));
      return reason;
    }
  }
  return NULL;
}

void engine_memory_needs(const struct bench_case *bench_case, const struct machine *machine,
                         uint64_t *host_bytes, uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  (void)machine;
  *host_bytes = fake_engine.host_buffer_bytes;
  for (uint32_t i = 0; i < bench_case->flow_count; i++) {
    const struct flow *flow = &bench_case->flows[i];
    const struct endpoint *ends[2] = {&flow->source, &flow->target};
    for (int e = 0; e < 2; e++) {
      if (ends[e]->place == PLACE_GPU) {
        gpu_bytes[ends[e]->index] += flow->size_bytes;
      } else {
        *host_bytes += flow->size_bytes;
      }
    }
  }
}
