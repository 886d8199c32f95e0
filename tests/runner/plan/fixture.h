/* fixture.h - for tests of plans: machines and settings made by hand, scenarios planned as haul
 * does it, and the answers of the engine that a plan needs, in the hand of the test. */
#pragma once

#include "runner/plan/plan.h"
#include "schema/scenario/scenario.h"
#include "schema/scenario/selector.h"
#include "tests/cmocka.h"

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

/* A scenario planned for a machine of tests/machines; whatever goes wrong fails the test. */
struct planned {
  struct scenario *scenario;
  struct machine *machine;
  struct plan *plan;
};

/* A shipped scenario: scenario_name is its file in scenarios/, without ".toml". */
struct planned planned_shipped(const char *machine_name, const char *scenario_name,
                               const struct scenario_override *overrides, size_t override_count);
/* The text of a scenario. */
struct planned planned_text(const char *machine_name, const char *text);
void planned_fini(struct planned *planned);

struct fake_engine {
  enum memory_kind refused; /* flows with this kind of memory are refused */
  bool refuses;
  uint64_t host_buffer_bytes; /* besides the flows' own buffers */
};
extern struct fake_engine fake_engine;

/* The case of that name; a test without it fails. */
const struct case_def *planned_case(const struct plan *plan, const char *name);
RELEASE(plan_free, struct plan)
