/* error_counters.h - what NVML counts of errors, read before and after a case: a difference marks
 * the case. NVML may never answer, so the process that samples GPUs asks it (telemetry.h). */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/case/note.h"
#include "engine/machine/limits.h"

#include <stdint.h>

/* X(enum, name, field of nvmlDeviceGetFieldValues()); they count since the driver was loaded. The
 * last one has no field: events of NVML, which count from when somebody listens. */
#define ERROR_COUNTER_LIST(X)                                                                      \
  X(ERROR_COUNTER_PCIE_REPLAY, "PCIe replays", 94)                                                 \
  X(ERROR_COUNTER_NVLINK_CRC_FLIT, "NVLink CRC errors of flits", 38)                               \
  X(ERROR_COUNTER_NVLINK_CRC_DATA, "NVLink CRC errors of data", 45)                                \
  X(ERROR_COUNTER_NVLINK_REPLAY, "NVLink replays", 52)                                             \
  X(ERROR_COUNTER_NVLINK_RECOVERY, "NVLink recoveries", 59)                                        \
  X(ERROR_COUNTER_ECC_CORRECTED, "corrected ECC errors", 3)                                        \
  X(ERROR_COUNTER_ECC_UNCORRECTED, "uncorrected ECC errors", 4)                                    \
  X(ERROR_COUNTER_ROWS_CORRECTED, "memory rows remapped after corrected errors", 142)              \
  X(ERROR_COUNTER_ROWS_UNCORRECTED, "memory rows remapped after uncorrected errors", 143)          \
  X(ERROR_COUNTER_XID, "Xid errors", 0)
ENUM_NAMES_DECLARE(error_counter, ERROR_COUNTER_LIST)

struct nvml;
struct nvml_device;

/* Of one GPU. */
struct error_counts {
  int64_t values[error_counter_name_count]; /* -1 = not available */
  int64_t last_xid;                         /* number of the latest Xid; 0 = there was none */
};

void error_counts_init(struct error_counts *counts); /* nothing is available */
/* Those that are fields; the others stay as they are. */
void error_counts_read(const struct nvml *nvml, struct nvml_device *device,
                       struct error_counts *counts);
/* A note per counter that rose. */
void error_counts_note(int32_t gpu, const struct error_counts *before,
                       const struct error_counts *after, struct notes *notes);
