/* export_prometheus.h - results in Prometheus' text format, version 0.0.4, for node_exporter's
 * textfile collector (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Base units: bytes per second, seconds. Every sample of a case has the labels host, scenario,
 * block, case, path, method and size_bytes; simulated="1" marks a fake driver's. What may change
 * under a curve, the driver above all, are labels of haul_host_info. No sample has a time stamp,
 * which the collector would refuse, but those of all runs, which are OpenMetrics
 * (https://github.com/prometheus/OpenMetrics). Samples stand in the order of their labels, so that
 * the same results are the same text. */
#pragma once

#include "runner/analysis/compare.h"
#include "runner/analysis/history.h"

#include <stdio.h>

/* measured is only read, but looking facts up caches them. comparisons: one per host, or none. */
enum status prometheus_print(struct results *results, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) CHECK_RESULT;
/* One series per host, block and statistic (min, median, max) over its cases. latest: NULL = of all
 * runs, with their times, to fill in the past of a Prometheus. */
enum status prometheus_print_blocks(struct results *results, const struct latest_case *latest,
                                    size_t latest_count, FILE *stream,
                                    struct error *err) CHECK_RESULT;
