#include "runner/run/plan_view.h"

#include "runner/render/plan.h"
#include "runner/supervise/probe.h"
#include "schema/machine/machine_file.h"

#include <stdlib.h>

static const uint64_t probe_limit_ns = 30000000000;

struct machine *machine_new(void) {
  struct machine *machine = calloc(1, sizeof *machine);
  if (machine == NULL) {
    abort();
  }
  return machine;
}

enum status machine_get(const char *path, struct machine *machine, struct error *err) {
  static const struct probe_looks looks = {machine_probe, machine_probe_cuda, machine_probe_host};
  return path != NULL ? machine_file_load(path, machine, err)
                      : probe_in_child(&looks, probe_limit_ns, machine, err);
}

int plan_show(const struct common_options *common, const struct scenario *scenario,
              const struct machine *machine, const char *only) {
  struct error err = {0};
  struct plan *plan = NULL;
  struct plan_options options = {.only = only};
  struct table_options rows = table_to_stdout(common);
  enum status status = plan_new(scenario, machine, &options, &plan, &err);
  status = THEN(status, plan_render(plan, scenario->run.processes, &rows, &err));
  plan_free(plan);
  return status == STATUS_OK ? EXIT_DONE : fail(common, &err);
}
