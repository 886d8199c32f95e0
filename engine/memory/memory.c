#include "engine/memory/memory.h"

/* One row per kind, each with the ops that its file defines. */
#define HOST_KIND_LIST(X)                                                                          \
  X(MEMORY_PAGEABLE, memory_pageable)                                                              \
  X(MEMORY_HUGE, memory_huge)
#ifdef HAUL_CUDA
#define CUDA_KIND_LIST(X)                                                                          \
  X(MEMORY_PINNED, memory_pinned)                                                                  \
  X(MEMORY_REGISTERED, memory_registered)                                                          \
  X(MEMORY_WRITE_COMBINED, memory_write_combined)                                                  \
  X(MEMORY_DEVICE, memory_device)                                                                  \
  X(MEMORY_MANAGED, memory_managed)
#else
#define CUDA_KIND_LIST(X)
#endif

#define KIND_EXTERN_(kind, ops) extern const struct memory_ops ops;
HOST_KIND_LIST(KIND_EXTERN_)
CUDA_KIND_LIST(KIND_EXTERN_)

#define KIND_ROW_(kind, ops) [kind] = &ops,
const struct memory_ops *const memory_kinds[memory_kind_name_count] = {
    HOST_KIND_LIST(KIND_ROW_) CUDA_KIND_LIST(KIND_ROW_)};
