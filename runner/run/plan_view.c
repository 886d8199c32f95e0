#include "runner/run/plan_view.h"

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
