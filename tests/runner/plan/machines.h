/* machines.h - machines and settings for tests of the plan, made by hand. */
#ifndef HAUL_TESTS_RUNNER_PLAN_MACHINES_H
#define HAUL_TESTS_RUNNER_PLAN_MACHINES_H

#include "engine/machine/machine.h"
#include "schema/scenario/scenario.h"

/* 8 GPUs, NV18 between all (478.26 GB/s a port), PCIe 5 x16, 2 NUMA nodes, 4 GPUs each. */
struct machine *machine_8xh100(void);
/* 4 GPUs on PCIe 4 x16 without peer access, 2 NUMA nodes. */
struct machine *machine_4xl40s(void);
/* One GPU with C2C at 450 GB/s; node 0 with processors, node 1 is the GPU's own memory. */
struct machine *machine_gh200(void);
/* Two NUMA nodes, no GPU. */
struct machine *machine_cpu(void);

#define SELECT_ALL                                                                                 \
  (struct selector) {                                                                              \
    .kind = SELECTOR_ALL                                                                           \
  }
#define SELECT_LOCAL                                                                               \
  (struct selector) {                                                                              \
    .kind = SELECTOR_LOCAL                                                                         \
  }
#define SELECT_REMOTE                                                                              \
  (struct selector) {                                                                              \
    .kind = SELECTOR_REMOTE                                                                        \
  }
/* SELECT(0, 2, 5): lives as long as the block it stands in. */
#define SELECT(...)                                                                                \
  (struct selector) {                                                                              \
    .kind = SELECTOR_LIST, .indices = (const int32_t[]){__VA_ARGS__},                              \
    .count = sizeof(const int32_t[]){__VA_ARGS__} / sizeof(int32_t)                                \
  }

/* Settings with every default filled in, 64 MiB by copy engine. */
struct endpoint_setting gpu_end(struct selector selector);
struct endpoint_setting numa_end(struct selector selector, enum memory_kind memory);
struct setting setting_of(struct endpoint_setting from, struct endpoint_setting to);

#endif
