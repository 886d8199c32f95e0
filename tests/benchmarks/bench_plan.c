/* A plan of 100,000 cases: expansion, naming, hashing, uniqueness, skipped cases, bounds,
 * estimates. It should take at most 1 s in a release build on one core. */
#include "engine/machine/machine.h"
#include "runner/plan/plan.h"
#include "runner/render/plan.h"
#include "schema/scenario/scenario.h"
#include "tests/benchmarks/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WANTED = 100000, GPUS = 8 };

static struct machine *new_machine(void) {
  struct machine *m = calloc(1, sizeof *m);
  if (m == NULL) {
    abort();
  }
  (void)snprintf(m->cuda_state, sizeof m->cuda_state, "ok");
  m->gpu_count = GPUS;
  m->node_count = 1;
  m->nodes[0] = (struct numa_node){.cpu_count = 64, .memory_bytes = UINT64_C(1) << 40};
  for (uint32_t i = 0; i < GPUS; i++) {
    m->gpus[i] = (struct gpu){.cuda_ordinal = (int32_t)i,
                              .compute_major = 9,
                              .memory_bytes = UINT64_C(80) << 30,
                              .memory_clock_khz = 2619000,
                              .memory_bus_bits = 5120,
                              .pcie_generation_max = 5,
                              .pcie_width_max = 16,
                              .nvlink_count = 18,
                              .nvlink_bytes_per_second = UINT64_C(26570000000)};
    for (uint32_t j = 0; j < GPUS; j++) {
      m->links[i][j] = (struct gpu_link){true, 18, UINT64_C(478260000000)};
    }
  }
  return m;
}

static const char SCENARIO[] = "schema_version = 1\n"
                               "name = \"bench\"\n"
                               "[measure]\n"
                               "order = \"shuffled\"\n"
                               "[[transfer]]\n"
                               "name = \"device_to_device\"\n"
                               "method = \"ce\"\n"
                               "from = { gpu = \"*\" }\n"
                               "to = { gpu = \"*\" }\n"
                               "size = { from = 4096, to = 11236, step = 4 }\n";

/* Seconds to print the plan to nowhere; negative when it failed. */
static double render(const struct plan *plan, enum output_format format) {
  FILE *stream = fopen("/dev/null", "w");
  if (stream == NULL) {
    return -1;
  }
  const struct table_options options = {.format = format, .stream = stream};
  struct error err;
  const double start = bench_now_s();
  const enum status status = plan_render(plan, 1, false, &options, &err);
  const double end = bench_now_s();
  (void)fclose(stream);
  return status == STATUS_OK ? end - start : -1;
}

int main(void) {
  struct machine *machine = new_machine();
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  struct plan *plan = NULL;
  struct error err = {.message = "the scenario is not valid"};
  const double start = bench_now_s();
  enum status status =
      scenario_parse(SCENARIO, strlen(SCENARIO), "bench.toml", NULL, 0, &scenario, diagnostics);
  const double parsed = bench_now_s();
  if (status == STATUS_OK) {
    status = plan_new(scenario, machine, NULL, &plan, &err);
  } else {
    diagnostics_print(diagnostics, stderr, false);
  }
  const double planned = bench_now_s();
  int code = 1;
  if (status == STATUS_OK) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%zu cases (%zu skipped): read %.3f s, planned %.3f s, %ld MiB at most\n"
                 "printed as table %.3f s, as JSON %.3f s, as CSV %.3f s\n",
                 plan->case_count, plan->skip_count, parsed - start, planned - parsed,
                 usage.ru_maxrss / 1024, render(plan, OUTPUT_TABLE), render(plan, OUTPUT_JSON),
                 render(plan, OUTPUT_CSV));
    code = planned - start <= 1.0 && plan->case_count >= WANTED ? 0 : 1;
  } else {
    (void)fprintf(stderr, "bench_plan: %s\n", err.message);
  }
  plan_free(plan);
  scenario_free(scenario);
  diagnostics_free(diagnostics);
  free(machine);
  return code;
}
