/* made.h - measured data made by hand: what a database would give. Everything is static text or in
 * the arena of the measured data. */
#pragma once

#include "runner/record/results.h"
#include "tests/cmocka.h"

#include <math.h>

enum { MADE_GPUS = 4 };

/* A machine of that many GPUs; uuids begin with the host's name. */
static inline size_t made_machine(struct results *m, const char *host, const char *driver,
                                  bool simulated, int gpu_count) {
  m->environments =
      arena_grow(&m->arena, m->environments, m->environment_count, sizeof *m->environments);
  struct results_gpu *gpus = arena_array(&m->arena, (size_t)gpu_count, sizeof *gpus);
  for (int g = 0; g < gpu_count; g++) {
    gpus[g] =
        (struct results_gpu){g, arena_format(&m->arena, "GPU-%s-%d", host, g), "H200", 0, NULL};
  }
  struct results_fact *facts = arena_array(&m->arena, 2, sizeof *facts);
  facts[0] = (struct results_fact){"host_name", -1, host};
  facts[1] = (struct results_fact){"driver_version", -1, driver};
  m->environments[m->environment_count] = (struct results_environment){
      .id = (int64_t)m->environment_count + 1,
      .simulated = simulated,
      .host_name = host,
      .node = host,
      .driver_version = driver,
      .boot_id = arena_format(&m->arena, "boot-%s-%s", host, driver),
      .facts = facts,
      .fact_count = 2,
      .gpus = gpus,
      .gpu_count = (size_t)gpu_count,
  };
  return m->environment_count++;
}

static inline size_t made_environment(struct results *m, const char *host, const char *driver,
                                      bool simulated) {
  return made_machine(m, host, driver, simulated, MADE_GPUS);
}

static inline size_t made_run(struct results *m, size_t environment) {
  m->runs = arena_grow(&m->arena, m->runs, m->run_count, sizeof *m->runs);
  m->runs[m->run_count] = (struct results_run){
      .ref.id = (int64_t)m->run_count + 1,
      .scenario = "test",
      .origin = "measured",
      .haul_version = "0.1.0",
      .started_at_ns = (int64_t)m->run_count * 1000000000,
      .environment = environment,
  };
  return m->run_count++;
}

/* What the case measures. */
static inline void made_flow(struct results *m, size_t bench, struct results_flow flow) {
  struct results_flow *made = arena_alloc(&m->arena, sizeof *made);
  *made = flow;
  m->cases[bench].flows = made;
  m->cases[bench].flow_count = 1;
  m->cases[bench].gpus = (flow.source_is_gpu ? UINT64_C(1) << flow.source : 0) |
                         (flow.target_is_gpu ? UINT64_C(1) << flow.target : 0);
}

/* One copy from a GPU to the host; key is of one letter. */
static inline size_t made_case(struct results *m, const char *key, const char *block, int gpu,
                               uint64_t size_bytes) {
  m->cases = arena_grow(&m->arena, m->cases, m->case_count, sizeof *m->cases);
  m->cases[m->case_count] = (struct results_case){
      .id = (int64_t)m->case_count + 1,
      .key = key,
      .definition = arena_format(&m->arena, "{\"index\":%d,\"size_bytes\":%llu}", gpu,
                                 (unsigned long long)size_bytes),
      .block = block,
      .name = arena_format(&m->arena, "%s/gpu%d/%llu", block, gpu, (unsigned long long)size_bytes),
      .axes = "",
      .path = "gpu-numa",
      .figure = FIGURE_RATE,
      .method = "ce",
      .units = size_bytes,
      .size_bytes = size_bytes,
  };
  made_flow(m, m->case_count,
            (struct results_flow){.source_is_gpu = true,
                                  .source = gpu,
                                  .target = 0,
                                  .source_memory = "device",
                                  .target_memory = "pinned"});
  return m->case_count++;
}

static inline void made_median(struct results *m, struct results_median median) {
  *MEMORY_ADD(m->medians, m->median_count) = median;
}

/* Processes of a run: rate in GB/s, with deviations of up to 0.1 % that differ from process to
 * process. 0 processes: the case was skipped. Call in the order of cases, then runs. */
static inline void made_medians(struct results *m, size_t bench, size_t run, double gbps,
                                unsigned processes) {
  static const double STEPS[] = {0.0004,  -0.0007, 0.0009, -0.0002,
                                 -0.0005, 0.0001,  0.0006, -0.0009};
  for (unsigned p = 0; p < processes || (p == 0 && processes == 0); p++) {
    const double step = STEPS[(p + 3 * bench + 5 * run) % 8];
    made_median(m,
                (struct results_median){
                    .run = (uint32_t)run,
                    .bench = (uint32_t)bench,
                    .process = (int64_t)(1 + p + 100 * run),
                    .ns = processes == 0 ? NAN : (double)m->cases[bench].units / gbps * (1 + step),
                    .status = processes == 0 ? CASE_SKIPPED : CASE_OK,
                });
  }
}

/* More processes of a run, none of which is ok. */
static inline void made_not_ok(struct results *m, size_t bench, size_t run, enum case_status status,
                               unsigned processes) {
  for (unsigned p = 0; p < processes; p++) {
    made_median(m, (struct results_median){.run = (uint32_t)run,
                                           .bench = (uint32_t)bench,
                                           .process = (int64_t)(50 + p + 100 * run),
                                           .ns = NAN,
                                           .status = status});
  }
}
RELEASE(results_free, struct results)
