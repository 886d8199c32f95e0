/* faults.h - what is to go wrong, and when.
 *
 * A fault waits for calls that fit its selectors and strikes at the nth of them (from 1), and at
 * the following ones up to `count`. A call is an entry point ("cuMemAlloc", without version suffix)
 * or a kernel's name; a shell pattern ("cuMemcpy*") fits several. Counting is per process. */
#ifndef HAUL_TESTS_FAKE_CUDA_MACHINE_FAULTS_H
#define HAUL_TESTS_FAKE_CUDA_MACHINE_FAULTS_H

#include "engine/base/enum_names.h"

#include <stdatomic.h>
#include <stdint.h>

#define FAULT_KIND_LIST(X)                                                                         \
  X(FAULT_OUT_OF_MEMORY, "out_of_memory") /* the call fails; the next may succeed */               \
  X(FAULT_ERROR, "error")                 /* the call fails with `code` */                         \
  X(FAULT_STICKY, "sticky")       /* it fails with `code`, and so does all else in that context */ \
  X(FAULT_HANG, "hang")           /* the call, or the operation that it queues, never ends */      \
  X(FAULT_BLOCK, "block")         /* the call takes `milliseconds` longer */                       \
  X(FAULT_FLIP_BYTE, "flip_byte") /* byte `offset` of the copy's target is inverted */             \
  X(FAULT_DROP, "drop")           /* the operation takes its time and does nothing */              \
  X(FAULT_CRASH, "crash")         /* the process gets `signal` */                                  \
  X(FAULT_IGNORED_FLAG, "ignored_flag") /* a kernel that waits for a flag never sees it */
ENUM_NAMES_DECLARE(fault_kind, FAULT_KIND_LIST)

enum { PLACE_HOST = -1, PLACE_ANY = -2, FAULT_CALL_MAX = 64, FAULT_MARKER_MAX = 1024 };

struct fault {
  enum fault_kind kind;
  char call[FAULT_CALL_MAX];
  uint64_t nth;
  uint64_t count;      /* calls that it strikes; 0 = all from the nth on */
  int32_t gpu;         /* of the current context; PLACE_ANY = whichever */
  int32_t from, to;    /* of a copy: GPU, PLACE_HOST, or PLACE_ANY */
  uint64_t size_bytes; /* of a copy or an allocation; 0 = whichever */
  uint64_t offset;
  uint64_t milliseconds;
  int32_t code;
  int32_t signal;
  char marker[FAULT_MARKER_MAX]; /* strike only when this file could be created; "" = always */
  atomic_uint_fast64_t seen;
};

/* What a call is about, as far as selectors can ask. */
struct fault_call {
  const char *name;
  int32_t gpu;      /* PLACE_ANY = no context */
  int32_t from, to; /* PLACE_ANY = no copy */
  uint64_t size_bytes;
};

/* Count this call for every fault that it fits; the first fault that strikes, or NULL. */
const struct fault *faults_strike(struct fault *faults, uint32_t fault_count,
                                  const struct fault_call *call);

#endif
