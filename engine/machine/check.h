/* check.h - the state a scenario wants the machine to be in ([checks]), and whether it is. */
#pragma once

#include "engine/case/states.h"
#include "engine/machine/telemetry.h"

#include <stddef.h>
#include <stdint.h>

struct machine;

#define CHECK_STATUS_LIST(X)                                                                       \
  X(CHECK_PASSED, "passed")                                                                        \
  X(CHECK_FAILED, "failed")                                                                        \
  X(CHECK_UNAVAILABLE, "unavailable") /* the machine has no such setting */                        \
  X(CHECK_DENIED, "denied")           /* this user may not read it */
ENUM_NAMES_DECLARE(check_status, CHECK_STATUS_LIST)

#define CHECK_KIND_LIST(X)                                                                         \
  X(CHECK_GOVERNOR, "governor")                                                                    \
  X(CHECK_TURBO, "turbo")                                                                          \
  X(CHECK_NUMA_BALANCING, "numa_balancing")                                                        \
  X(CHECK_HUGE_PAGES, "huge_pages")                                                                \
  X(CHECK_GPU_IDLE, "gpu_idle")                                                                    \
  X(CHECK_PERSISTENCE, "persistence")                                                              \
  X(CHECK_GPU_CLOCKS, "gpu_clocks")                                                                \
  X(CHECK_ECC, "ecc")                                                                              \
  X(CHECK_MIG, "mig")                                                                              \
  X(CHECK_DRIVER, "driver")                                                                        \
  X(CHECK_GPU_NAME, "gpu_name")                                                                    \
  X(CHECK_FREE_MEMORY, "free_memory")                                                              \
  X(CHECK_THROTTLING, "throttling")   /* from telemetry, after the run */                          \
  X(CHECK_PCIE_LINK, "pcie_link")     /* from telemetry, after the run */                          \
  X(CHECK_CACHE_FLUSH, "cache_flush") /* by a proof: on each node before the run, and per case */
ENUM_NAMES_DECLARE(check_kind, CHECK_KIND_LIST)

struct check {
  enum check_kind kind;
  enum on_fail on_fail;
  enum on_fail on_unknown; /* where there is no answer */
  const char *want; /* canonical text: "performance", "true", ">=570", "none", "max", "0.9" */
};

struct check_result {
  enum check_kind kind;
  enum on_fail on_fail;
  enum on_fail on_unknown;
  enum check_status status;
  int32_t gpu; /* -1 = the machine */
  char want[64];
  char found[FACT_VALUE_MAX];
};

enum { CHECK_RESULTS_MAX = check_kind_name_count * (MACHINE_GPUS_MAX + 1) };

/* Whether a version is one that is wanted: ">=570", "<580.95", "!=575.57.08"; without an operator,
 * the version as far as it is written: "580" is any 580. */
bool check_version_fits(const char *want, const char *found);
/* Below, at or above 0 by the numbers between dots, of which missing ones count as 0. */
int check_compare_versions(const char *a, const char *b);

/* True for the checks that only telemetry can answer. */
bool check_needs_telemetry(enum check_kind kind);
/* True for those about the host that may be answered otherwise when the run is over. */
bool check_may_change(enum check_kind kind);
/* Evaluate one check against the machine, with one result per GPU or one in all. Returns the number
 * of results written (0 for the checks that need telemetry or a proof, and for GPU checks without
 * GPUs). */
size_t check_evaluate(const struct check *check, const struct machine *machine,
                      struct check_result results[MACHINE_GPUS_MAX]);
/* The same for the checks that need telemetry, from what was seen of each GPU during the run. */
size_t check_evaluate_telemetry(const struct check *check, const struct machine *machine,
                                const struct telemetry_extent extents[MACHINE_GPUS_MAX],
                                struct check_result results[MACHINE_GPUS_MAX]);
