/* prometheus_internal.h - the families of Prometheus' text, and what writes their samples. */
#pragma once

#include "runner/render/prometheus.h"

#define NS_PER_S 1e9

struct metric_sample {
  const char *labels; /* "{...}" */
  double value;
  int64_t at_ns; /* 0 = without a time */
};

/* X(enum family_index, name, help) */
#define FAMILY_LIST(X)                                                                             \
  X(FAMILY_BANDWIDTH, "haul_bandwidth_bytes_per_second",                                           \
    "Latest median rate of a case: payload of all its flows.")                                     \
  X(FAMILY_HOP, "haul_hop_seconds",                                                                \
    "Latest median time of one hop (load of a pointer chase) of a case.")                          \
  X(FAMILY_CALL, "haul_call_seconds", "Latest median time of one call of the driver.")             \
  X(FAMILY_FLOPS, "haul_floating_point_operations_per_second",                                     \
    "Latest median rate of a kernel that computes.")                                               \
  X(FAMILY_ITERATION, "haul_iteration_seconds", "Latest median time of one iteration of a case.")  \
  X(FAMILY_OK, "haul_case_ok",                                                                     \
    "1: every process of the latest run measured the case; 0: one failed, crashed, hung or was "   \
    "corrupt.")                                                                                    \
  X(FAMILY_PROCESSES, "haul_case_processes", "Processes that the latest medians come from.")       \
  X(FAMILY_MEASURED_AT, "haul_case_run_start_timestamp_seconds",                                   \
    "When the run of the latest median started, seconds since 1970.")                              \
  X(FAMILY_HOST, "haul_host_info",                                                                 \
    "1 for a host with the driver, kernel and GPUs that its runs found.")                          \
  X(FAMILY_BLOCK_BANDWIDTH, "haul_block_bandwidth_bytes_per_second",                               \
    "Median rates of the cases of a block: their lowest, median and highest.")                     \
  X(FAMILY_BLOCK_FLOPS, "haul_block_floating_point_operations_per_second",                         \
    "Median rates of kernels that compute, over the cases of a block.")                            \
  X(FAMILY_BLOCK_HOP, "haul_block_hop_seconds",                                                    \
    "Median times of one hop (load of a pointer chase), over the cases of a block.")               \
  X(FAMILY_BLOCK_CALL, "haul_block_call_seconds",                                                  \
    "Median times of one call of the driver, over the cases of a block.")                          \
  X(FAMILY_BLOCK_CASES, "haul_block_cases",                                                        \
    "Cases of a block that are ok, or not: one failed, crashed, hung or was corrupt.")             \
  X(FAMILY_VERDICT, "haul_case_verdict",                                                           \
    "1 for the verdict on the case against the runs it is compared with.")                         \
  X(FAMILY_CHANGE, "haul_case_change_ratio",                                                       \
    "Change of the case's rate against these, or of its time where it has no rate: 0.01 is 1 % "   \
    "more.")

enum family_index {
#define FAMILY_ID(id, name, help) id,
  FAMILY_LIST(FAMILY_ID) FAMILIES
};

struct family {
  struct metric_sample *samples;
  size_t count, capacity;
};

struct writing {
  struct arena arena;
  struct measured *measured;
  bool timed; /* OpenMetrics */
  struct family families[FAMILIES];
};

struct label {
  const char *name, *value; /* value: NULL = there is none */
};

/* "{...}", in the arena. */
const char *prometheus_labels(struct writing *writing, const struct label *labels, size_t count);
const struct measured_environment *prometheus_environment(const struct writing *writing,
                                                          size_t run);
const char *prometheus_host(const struct measured_environment *at);
/* at_ns: 0 = without a time. */
void prometheus_add_sample_at(struct writing *writing, enum family_index which, const char *labels,
                              double value, int64_t at_ns);
/* haul_host_info as that run found it. */
void prometheus_add_host(struct writing *writing, size_t run, int64_t at_ns);
/* Of each host of these cases as its latest run found it. */
void prometheus_add_hosts(struct writing *writing, const struct latest_case *cases, size_t count);
/* All families. Ends the writing. */
enum status prometheus_print_all(struct writing *writing, FILE *stream,
                                 struct error *err) CHECK_RESULT;
