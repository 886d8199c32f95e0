/* states.h - names for what is found on a machine and what follows from it, for those who know
 * nothing of cases too: engine/cuda, engine/machine. */
#pragma once

#include "engine/base/enum_names.h"

/* X(enum limit, name, word for people): the resource whose theoretical peak a flow's rate is
 * compared with. */
#define LIMIT_LIST(X)                                                                              \
  X(LIMIT_UNKNOWN, "unknown", "") /* no peak is known: host memory */                              \
  X(LIMIT_PCIE, "pcie", "PCIe")                                                                    \
  X(LIMIT_NVLINK, "nvlink", "NVLink")                                                              \
  X(LIMIT_C2C, "c2c", "NVLink-C2C")                                                                \
  X(LIMIT_DRAM, "dram", "GPU memory")                                                              \
  X(LIMIT_FMA, "fma", "FP32 units")         /* operations in place of bytes */                     \
  X(LIMIT_TENSOR, "tensor", "tensor cores") /* likewise */
ENUM_NAMES_DECLARE(limit, LIMIT_LIST)
static inline int limit_is_of_operations(enum limit limit) {
  return limit == LIMIT_FMA || limit == LIMIT_TENSOR;
}

/* Three different answers to a question about the system. */
#define FACT_STATE_LIST(X)                                                                         \
  X(FACT_OK, "ok")                                                                                 \
  X(FACT_UNAVAILABLE, "unavailable") /* there is no such thing here */                             \
  X(FACT_DENIED, "denied")           /* there is, but this user may not read it */
ENUM_NAMES_DECLARE(fact_state, FACT_STATE_LIST)

#define ON_FAIL_LIST(X)                                                                            \
  X(ON_FAIL_RECORD, "record")                                                                      \
  X(ON_FAIL_WARN, "warn")                                                                          \
  X(ON_FAIL_SKIP, "skip")                                                                          \
  X(ON_FAIL_ABORT, "abort")
ENUM_NAMES_DECLARE(on_fail, ON_FAIL_LIST)
