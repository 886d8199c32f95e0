/* A plan of 100,000 cases: expansion, naming, hashing, uniqueness, refusals, bounds, estimates.
 * Wanted: at most 1 s in a release build on one core. */
#include "runner/plan/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

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

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void) {
  struct machine *machine = new_machine();
  const double start = seconds();
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  const struct endpoint_setting every_gpu = {PLACE_GPU, {.kind = SELECTOR_ALL}, MEMORY_DEVICE};
  struct setting setting = {
      .measure = {.trials_min = 10,
                  .trials_max = 200,
                  .max_time_ns = 2000000000,
                  .min_trial_ns = 200000,
                  .precision = 0.005,
                  .verify = VERIFY_ONCE},
      .transfer.flow = {.method = METHOD_CE, .from = every_gpu, .to = every_gpu, .peer = true},
  };
  struct error err = {.message = ""};
  enum status status = STATUS_OK;
  const unsigned settings = (WANTED + GPUS * (GPUS - 1) - 1) / (GPUS * (GPUS - 1));
  for (unsigned i = 0; status == STATUS_OK && i < settings; i++) {
    char size[24];
    setting.transfer.flow.size_bytes = 4096 + 4 * (uint64_t)i;
    (void)snprintf(size, sizeof size, "%u", 4096 + 4 * i);
    const struct axis_value axis = {"size", size};
    setting.axis_values = &axis;
    setting.axis_value_count = 1;
    status = plan_builder_add(builder, "device_to_device", &setting, &err);
  }
  struct plan *plan = NULL;
  if (status == STATUS_OK) {
    status = plan_builder_finish(builder, CASE_ORDER_SHUFFLED, 1, &plan, &err);
  }
  plan_builder_free(builder);
  if (status != STATUS_OK) {
    (void)fprintf(stderr, "bench_plan: %s\n", err.message);
    free(machine);
    return 1;
  }
  const double planned = seconds();
  const size_t cases = plan->case_count;
  const size_t skipped = plan->skip_count;
  plan_free(plan);
  free(machine);
  struct rusage usage;
  (void)getrusage(RUSAGE_SELF, &usage);
  (void)printf("%zu cases (%zu skipped) in %.3f s, freed in %.3f s, %ld MiB at most\n", cases,
               skipped, planned - start, seconds() - planned, usage.ru_maxrss / 1024);
  return planned - start <= 1.0 && cases >= WANTED ? 0 : 1;
}
