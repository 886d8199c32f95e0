/* error_counters.h - what NVML counts of errors that links and memory mend by themselves: read
 * before and after a case, a difference marks the case.
 *
 * A thread of its own asks NVML, for NVML may never answer: then the counters are not known, the
 * case goes on, and nobody asks again. */
#ifndef HAUL_ENGINE_MACHINE_ERROR_COUNTERS_H
#define HAUL_ENGINE_MACHINE_ERROR_COUNTERS_H

#include "engine/base/enum_names.h"
#include "engine/machine/limits.h"

#include <stdint.h>

struct machine;

/* X(enum, name, field of nvmlDeviceGetFieldValues()); they count since the driver was loaded. */
#define ERROR_COUNTER_LIST(X)                                                                      \
  X(ERROR_COUNTER_PCIE_REPLAY, "PCIe replays", 94)                                                 \
  X(ERROR_COUNTER_NVLINK_CRC_FLIT, "NVLink CRC errors of flits", 38)                               \
  X(ERROR_COUNTER_NVLINK_CRC_DATA, "NVLink CRC errors of data", 45)                                \
  X(ERROR_COUNTER_NVLINK_REPLAY, "NVLink replays", 52)                                             \
  X(ERROR_COUNTER_NVLINK_RECOVERY, "NVLink recoveries", 59)                                        \
  X(ERROR_COUNTER_ECC_CORRECTED, "corrected ECC errors", 3)                                        \
  X(ERROR_COUNTER_ECC_UNCORRECTED, "uncorrected ECC errors", 4)                                    \
  X(ERROR_COUNTER_ROWS_CORRECTED, "memory rows remapped after corrected errors", 142)              \
  X(ERROR_COUNTER_ROWS_UNCORRECTED, "memory rows remapped after uncorrected errors", 143)
ENUM_NAMES_DECLARE(error_counter, ERROR_COUNTER_LIST)

struct error_counts {
  int64_t values[MACHINE_GPUS_MAX][error_counter_name_count]; /* -1 = not available */
};

struct error_counters;

/* NULL: no memory, no thread, or an NVML that fails; the functions below accept it. machine is
 * borrowed. */
struct error_counters *error_counters_new(const struct machine *machine);
void error_counters_free(struct error_counters *counters);
/* Of these GPUs (bit i: GPU i); of others, and where nobody answers in time, -1. */
void error_counters_read(struct error_counters *counters, uint32_t gpus,
                         struct error_counts *counts);

#endif
