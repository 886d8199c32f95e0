#include "tests/runner/plan/fixture.h"

#include "engine/case/transfer.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "schema/machine/machine_file.h"
#include "schema/scenario/setting.h"

/* ---- machines ---- */

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
  return (struct endpoint_setting){
      .place = PLACE_GPU, .selector = selector, .memory = MEMORY_DEVICE};
}

struct endpoint_setting numa_end(struct selector selector, enum memory_kind memory) {
  return (struct endpoint_setting){.place = PLACE_NUMA, .selector = selector, .memory = memory};
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

/* ---- plans ---- */

enum { PATH_BYTES = 512 };

static void find_machine(struct planned *planned, const char *machine_name) {
  struct error err = {.message = ""};
  planned->machine = memory_new(1, sizeof *planned->machine);
  PRINTED(path, PATH_BYTES, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine_name);
  assert_ok(machine_file_load(path, planned->machine, &err), &err);
}

/* What the reading of the scenario came to; frees the diagnostics. */
static void make_plan(struct planned *planned, enum status status,
                      struct diagnostics *diagnostics) {
  struct error err = {.message = ""};
  if (status != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, 0, false);
    fail();
  }
  diagnostics_free(diagnostics);
  assert_ok(plan_new(planned->scenario, planned->machine, NULL, &planned->plan, &err), &err);
}

struct planned planned_shipped(const char *machine_name, const char *scenario_name,
                               const struct scenario_override *overrides, size_t override_count) {
  struct planned planned = {0};
  find_machine(&planned, machine_name);
  PRINTED(path, PATH_BYTES, "%s/scenarios/%s.toml", HAUL_SOURCE_DIR, scenario_name);
  struct diagnostics *diagnostics = diagnostics_new();
  make_plan(&planned,
            scenario_load(path, overrides, override_count, &planned.scenario, diagnostics),
            diagnostics);
  return planned;
}

struct planned planned_text(const char *machine_name, const char *text) {
  struct planned planned = {0};
  find_machine(&planned, machine_name);
  struct diagnostics *diagnostics = diagnostics_new();
  make_plan(
      &planned,
      scenario_parse(text, strlen(text), "test.toml", NULL, 0, &planned.scenario, diagnostics),
      diagnostics);
  return planned;
}

void planned_fini(struct planned *planned) {
  plan_free(planned->plan);
  scenario_free(planned->scenario);
  free(planned->machine);
}

/* ---- the engine ---- */

struct fake_engine fake_engine;

bool engine_flow_is_paired(const struct case_def *def, uint32_t flow) {
  return false;
}

uint32_t engine_case_gpus(const struct case_def *def) {
  return 0;
}

const char *engine_case_unsupported_reason(const struct case_def *def,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  for (uint32_t i = 0; fake_engine.refuses && i < def->flow_count; i++) {
    if (def->flows[i].source.memory == fake_engine.refused ||
        def->flows[i].target.memory == fake_engine.refused) {
      (void)snprintf(reason, CASE_REASON_MAX, "no %s memory here",
                     memory_kind_text(fake_engine.refused));
      return reason;
    }
  }
  return NULL;
}

void engine_memory_needs(const struct case_def *def, const struct machine *machine,
                         uint64_t *host_bytes, uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  *host_bytes = fake_engine.host_buffer_bytes;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
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

const struct case_def *planned_case(const struct plan *plan, const char *name) {
  for (size_t i = 0; i < plan->case_count; i++) {
    if (strcmp(plan->cases[i].def.name, name) == 0) {
      return &plan->cases[i].def;
    }
  }
  fail_msg("there is no case %s, but %s", name, plan->cases[0].def.name);
  return NULL;
}
