/* prometheus.h - results in Prometheus' text format, version 0.0.4, for node_exporter's textfile
 * collector (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Base units: bytes per second, seconds. Every sample has the labels host, gpu_name,
 * driver_version, scenario, block, case, path, method and size_bytes; simulated="1" marks a fake
 * driver's. No sample has a time stamp, which the collector would refuse. Samples stand in the
 * order of their labels, so that the same results are the same text. */
#ifndef HAUL_RUNNER_RENDER_PROMETHEUS_H
#define HAUL_RUNNER_RENDER_PROMETHEUS_H

#include "runner/analysis/compare.h"
#include "runner/analysis/history.h"

#include <stdio.h>

/* measured is only read, but looking facts up caches them. comparisons: one per host, or none. */
enum status prometheus_print(struct measured *measured, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) CHECK_RESULT;

#endif
