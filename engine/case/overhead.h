/* overhead.h - calls of the driver, timed on the host: case kind overhead. One
 * iteration is one call. */
#ifndef HAUL_ENGINE_CASE_OVERHEAD_H
#define HAUL_ENGINE_CASE_OVERHEAD_H

#include "engine/case/case.h"

/* The call whose time on the host is measured. */
#define OVERHEAD_OPERATION_LIST(X)                                                                 \
  X(OVERHEAD_KERNEL_LAUNCH, "kernel_launch")           /* cuLaunchKernel of an empty kernel */     \
  X(OVERHEAD_EVENT_RECORD, "event_record")             /* cuEventRecord */                         \
  X(OVERHEAD_STREAM_SYNCHRONIZE, "stream_synchronize") /* cuStreamSynchronize, nothing queued */   \
  X(OVERHEAD_MEMCPY_CALL, "memcpy_call") /* cuMemcpyHtoDAsync of 4 bytes: not the copy itself */   \
  X(OVERHEAD_ALLOCATE, "allocate")       /* of a kind of memory and a size */                      \
  X(OVERHEAD_FREE, "free")                                                                         \
  X(OVERHEAD_GRAPH_INSTANTIATE, "graph_instantiate") /* of a graph of one empty kernel */          \
  X(OVERHEAD_GRAPH_LAUNCH, "graph_launch")           /* of the same */
ENUM_NAMES_DECLARE(overhead_operation, OVERHEAD_OPERATION_LIST)

/* Part of an overhead's case_key: raised whenever an overhead measures differently. */
enum { OVERHEAD_METHOD_VERSION = 1 };

struct overhead {
  enum overhead_operation operation;
  int32_t gpu;            /* whose context; -1 = none, for pageable and huge memory alone */
  struct endpoint memory; /* of allocate and free: kind and place; else not looked at */
  uint64_t size_bytes;    /* of allocate and free: one allocation */
};

#endif
