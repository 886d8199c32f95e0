/* The engine and the telemetry of this build, for supervise_options.ops. A file of its own, so that
 * tests with another engine need not link them. */
#include "runner/supervise/supervise.h"

const struct supervise_ops supervise_real_ops = {
    .engine_new = engine_new,
    .engine_run_case = engine_run_case,
    .engine_free = engine_free,
    .telemetry_new = telemetry_new,
    .telemetry_read = telemetry_read,
    .telemetry_free = telemetry_free,
};
