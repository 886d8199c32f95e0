/* The engine, the telemetry and the eyes of this build. A file of its own, so that tests with
 * another engine need not link them. */
#include "runner/supervise/probe.h"
#include "runner/supervise/supervise.h"

static const uint64_t probe_limit_ns = 30000000000;

const struct supervise_ops supervise_real_ops = {
    .engine_new = engine_new,
    .engine_run_case = engine_run_case,
    .engine_free = engine_free,
    .telemetry_new = telemetry_new,
    .telemetry_read = telemetry_read,
    .telemetry_free = telemetry_free,
};

enum status supervise_probe(struct machine *machine, struct error *err) {
  return probe_in_child(machine_probe, machine_probe_host, probe_limit_ns, machine, err);
}
