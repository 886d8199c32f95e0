#include "tests/runner/plan/machines.h"

#include <stdio.h>
#include <stdlib.h>

static struct machine *new_machine(uint32_t gpus, uint32_t nodes) {
  struct machine *m = calloc(1, sizeof *m);
  if (m == NULL) {
    abort();
  }
  (void)snprintf(m->cuda_state, sizeof m->cuda_state, "ok");
  m->gpu_count = gpus;
  m->node_count = nodes;
  for (uint32_t i = 0; i < nodes; i++) {
    m->nodes[i] = (struct numa_node){.number = (int32_t)i,
                                     .cpu_count = 56,
                                     .memory_bytes = UINT64_C(1) << 40,
                                     .free_memory_bytes = UINT64_C(900) << 30};
  }
  for (uint32_t i = 0; i < gpus; i++) {
    struct gpu *gpu = &m->gpus[i];
    gpu->cuda_ordinal = (int32_t)i;
    gpu->numa_node = (int32_t)(i * nodes / gpus);
    gpu->memory_bytes = UINT64_C(80) << 30;
    gpu->free_memory_bytes = UINT64_C(79) << 30;
    gpu->memory_clock_khz = 2619000;
    gpu->memory_bus_bits = 5120;
    gpu->pcie_generation_max = 5;
    gpu->pcie_width_max = 16;
  }
  return m;
}

struct machine *machine_8xh100(void) {
  struct machine *m = new_machine(8, 2);
  for (uint32_t i = 0; i < 8; i++) {
    m->gpus[i].nvlink_count = 18;
    m->gpus[i].nvlink_bytes_per_second = UINT64_C(26570000000);
    for (uint32_t j = 0; j < 8; j++) {
      if (i != j) {
        m->links[i][j] = (struct gpu_link){true, 18, 18 * UINT64_C(26570000000)};
      }
    }
  }
  return m;
}

struct machine *machine_4xl40s(void) {
  struct machine *m = new_machine(4, 2);
  for (uint32_t i = 0; i < 4; i++) {
    m->gpus[i].pcie_generation_max = 4;
  }
  return m;
}

struct machine *machine_gh200(void) {
  struct machine *m = new_machine(1, 2);
  m->gpus[0].c2c_bytes_per_second = UINT64_C(450000000000);
  m->nodes[1].cpu_count = 0;
  m->gpus[0].memory_node = 1;
  return m;
}

struct machine *machine_cpu(void) {
  struct machine *m = new_machine(0, 2);
  (void)snprintf(m->cuda_state, sizeof m->cuda_state, "there is no NVIDIA driver (libcuda.so.1)");
  return m;
}

struct endpoint_setting gpu_end(struct selector selector) {
  return (struct endpoint_setting){PLACE_GPU, selector, MEMORY_DEVICE};
}

struct endpoint_setting numa_end(struct selector selector, enum memory_kind memory) {
  return (struct endpoint_setting){PLACE_NUMA, selector, memory};
}

struct setting setting_of(struct endpoint_setting from, struct endpoint_setting to) {
  return (struct setting){
      .measure = {.trials_min = 10,
                  .trials_max = 200,
                  .warmup = 1,
                  .max_time_ns = 2000000000,
                  .min_trial_ns = 200000,
                  .precision = 0.005,
                  .verify = VERIFY_ONCE},
      .transfer = {.flow = {.from = from,
                            .to = to,
                            .peer = true,
                            .base = {.method = METHOD_CE, .size_bytes = UINT64_C(64) << 20}}},
  };
}
