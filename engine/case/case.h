/* case.h - a case: the flows measured together at one setting.
 *
 * Plain data made by the plan and read by the engine. flows, work and texts are borrowed from the
 * plan's arena and live as long as the plan. What a kind measures stands in its own header:
 * transfer.h, chase.h, stream.h, arithmetic.h, overhead.h. */
#pragma once

#include "engine/case/enums.h"
#include "engine/case/states.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Where memory is. */
#define PLACE_LIST(X)                                                                              \
  X(PLACE_NUMA, "numa") /* index: the operating system's node number */                            \
  X(PLACE_GPU, "gpu")   /* index: order of PCI address, from 0 */
ENUM_NAMES_DECLARE(place, PLACE_LIST)

/* The kind of memory at a place. */
#define MEMORY_KIND_LIST(X)                                                                        \
  X(MEMORY_PAGEABLE, "pageable")             /* anonymous pages */                                 \
  X(MEMORY_PINNED, "pinned")                 /* page-locked by the driver: cuMemHostAlloc */       \
  X(MEMORY_REGISTERED, "registered")         /* ours, page-locked after: cuMemHostRegister */      \
  X(MEMORY_WRITE_COMBINED, "write_combined") /* as pinned, uncached write-combining */             \
  X(MEMORY_HUGE, "huge")                     /* 2 MiB pages, page-locked where there is a GPU */   \
  X(MEMORY_MANAGED, "managed")               /* unified memory: cuMemAllocManaged */               \
  X(MEMORY_DEVICE, "device")                 /* a GPU's own: cuMemAlloc */                         \
  X(MEMORY_POOL, "pool")                     /* the same, of the driver's pool: cuMemAllocAsync */ \
  X(MEMORY_VMM, "vmm")                       /* the same, mapped by us: cuMemCreate, cuMemMap */   \
  X(MEMORY_HOST_VMM, "host_vmm")             /* of a node, by the same calls: 2 MiB pages */       \
  X(MEMORY_SHARED, "shared")                 /* a file without a name that processes map */
ENUM_NAMES_DECLARE(memory_kind, MEMORY_KIND_LIST)
static inline bool memory_is_gpus_own(enum memory_kind memory) {
  return memory == MEMORY_DEVICE || memory == MEMORY_POOL || memory == MEMORY_VMM;
}

/* How a process opens memory that another one has. Behind the name: the kind of that memory, and
 * what is handed over, for the reference of keys. */
#define SHARE_LIST(X)                                                                              \
  X(SHARE_IPC, "ipc", MEMORY_DEVICE, "a handle of cuIpcGetMemHandle")                              \
  X(SHARE_FD, "fd", MEMORY_VMM, "a file descriptor of cuMemExportToShareableHandle")               \
  X(SHARE_POOL, "pool", MEMORY_POOL, "a pool of cuMemPoolExportToShareableHandle, and pointers")   \
  X(SHARE_MEMFD, "memfd", MEMORY_SHARED, "a file of memfd_create")                                 \
  X(SHARE_SHM, "shm", MEMORY_SHARED, "a file in /dev/shm")
ENUM_NAMES_DECLARE(share, SHARE_LIST)
enum memory_kind share_memory(enum share share);
enum share
share_usual(enum memory_kind memory); /* of shared host memory the file is not asked for */
bool memory_is_shareable(enum memory_kind memory);

/* Type of the numbers of a stream or of arithmetic. */
#define NUMBER_TYPE_LIST(X)                                                                        \
  X(NUMBER_F16, "f16") /* two packed in a register: an instruction is two operations */            \
  X(NUMBER_F32, "f32")                                                                             \
  X(NUMBER_F64, "f64")                                                                             \
  X(NUMBER_I32, "i32")
ENUM_NAMES_DECLARE(number_type, NUMBER_TYPE_LIST)

/* The nearest cache that loads of a chase or a stream through a GPU's own memory may hit. */
#define CACHE_LEVEL_LIST(X)                                                                        \
  X(CACHE_L1, "l1") /* ld.global.ca */                                                             \
  X(CACHE_L2, "l2") /* ld.global.cg: past the L1 cache */
ENUM_NAMES_DECLARE(cache_level, CACHE_LEVEL_LIST)

#define VERIFY_LIST(X)                                                                             \
  X(VERIFY_OFF, "off")                                                                             \
  X(VERIFY_ONCE, "once")   /* after the last trial of a case */                                    \
  X(VERIFY_EVERY, "every") /* after every trial */
ENUM_NAMES_DECLARE(verify, VERIFY_LIST)

/* Of the processors. Behind the name: its word in a definition, where as_is was called warm before
 * there was a warm, so that it keeps its keys. */
#define HOST_CACHE_LIST(X)                                                                         \
  X(HOST_CACHE_AS_IS, "as_is", "warm")  /* left as the trial before, or the filling, left it */    \
  X(HOST_CACHE_WARM, "warm", "written") /* threads of the node write the buffers before a trial */ \
  X(HOST_CACHE_FLUSHED, "flushed", "flushed")
ENUM_NAMES_DECLARE(host_cache, HOST_CACHE_LIST)
const char *host_cache_in_definition(enum host_cache state);

/* Of a GPU. */
#define CACHE_STATE_LIST(X)                                                                        \
  X(CACHE_WARM, "warm") /* left as the trial before left it */                                     \
  X(CACHE_FLUSHED, "flushed")
ENUM_NAMES_DECLARE(cache_state, CACHE_STATE_LIST)

/* Whether a gate holds the flows of a transfer until all are enqueued. Off is for tools that run
 * one thing of the GPU at a time, such as sanitizers and profilers: behind a gate they wait for
 * ever. */
#define GATING_LIST(X)                                                                             \
  X(GATING_ON, "on")                                                                               \
  X(GATING_OFF, "off")
ENUM_NAMES_DECLARE(gating, GATING_LIST)

/* Threads that make the calls of flows which no gate holds. */
#define CALLERS_LIST(X)                                                                            \
  X(CALLERS_EACH, "each") /* a thread for each stream */                                           \
  X(CALLERS_ONE, "one")   /* one thread, call after call */
ENUM_NAMES_DECLARE(callers, CALLERS_LIST)

/* How carefully a case is measured: [measure] of a scenario, resolved. */
struct measure {
  uint32_t trials_min;
  uint32_t trials_max;
  uint32_t warmup;       /* trials before those that count */
  uint32_t iterations;   /* back-to-back repeats in one trial; 0 = chosen from min_trial_ns */
  uint64_t max_time_ns;  /* for the trials of one case, warm-up apart */
  uint64_t min_trial_ns; /* shortest trial when iterations is 0 */
  uint64_t min_time_ns;  /* of all trials together, in place of precision; 0 = none */
  double precision;      /* half-width of the 95 % interval of the median, relative, to stop at */
  double free_share; /* of a GPU's free memory that managed memory may take, below 1; 0 = 0.25 */
  double delta; /* smallest change that matters when the case is compared, relative; 0 = usual */
  enum verify verify;
  enum host_cache host_cache;
  enum cache_state device_cache;
  enum gating gating;
  enum callers callers;
  enum on_fail unflushed; /* check cache_flush: of a case whose caches are not proven as wanted */
};

enum { CASE_FLOWS_MAX = 1024, CASE_KEY_MAX = 33, CASE_REASON_MAX = 512 };
/* A reason formatted into an array of that size, which it is. */
#define CASE_REASON(reason, ...) ((void)snprintf((reason), CASE_REASON_MAX, __VA_ARGS__), (reason))

/* All are of this node; a name of another one would stand beside the process. */
struct endpoint {
  enum place place;
  int32_t index; /* GPU: index in struct machine; NUMA: the operating system's node number */
  enum memory_kind memory;
  /* Whose memory it is: 0 = that of the process that measures, else 1 to PEERS_MAX. */
  uint32_t process;
  enum share share; /* how it is opened where process is not 0; else SHARE_IPC */
};
/* Of the process that measures. */
static inline struct endpoint endpoint_own(enum place place, int32_t index,
                                           enum memory_kind memory) {
  return (struct endpoint){.place = place, .index = index, .memory = memory};
}
static inline bool endpoint_is_same(const struct endpoint *a, const struct endpoint *b) {
  return a->place == b->place && a->index == b->index && a->memory == b->memory &&
         a->process == b->process && a->share == b->share;
}

/* A way that bytes or calls of a case take; within one place both ends are the same. */
struct case_path {
  struct endpoint from, to;
  bool staged; /* through the host, even where there is peer access */
};

struct flow; /* engine/case/transfer.h */
union work;  /* engine/case/work.h */

/* Every copy, by the flow that it is of. flows NULL: flow by flow, as they are listed. */
struct copy_order {
  const uint16_t *flows;
  uint32_t count;
  uint64_t seed; /* from which it follows */
};

struct case_def {
  enum case_kind kind;
  const char *key;          /* 32 hexadecimal digits: XXH3-128 of definition */
  const char *definition;   /* canonical JSON of everything that defines the measurement */
  const char *block;        /* name of the scenario's block */
  const char *name;         /* unique in the plan: "host_to_device/numa0:pinned-gpu0/64MiB" */
  const char *path;         /* "numa0:pinned-gpu0"; several flows: a short text for all */
  const struct flow *flows; /* of a transfer; of other kinds: the loads beside what is measured */
  uint32_t flow_count;
  struct copy_order order; /* of the copies of flows that share a stream */
  const union work *work;  /* of every other kind; all zero where the selectors came to nothing */
  /* Of one iteration, for cycles and ns per operation: a chase's hops; an arithmetic's instructions
   * (of one thread); of a kernel that computes its floating-point operations; 0 for other kinds. */
  uint64_t operations;
  /* Of one iteration on the SM that has most blocks, for operations per clock and SM: instructions
   * * block * ceil(grid / sm_count), twice that for f16; 0 = not an arithmetic's throughput. */
  uint64_t operations_per_sm;
  uint64_t payload_bytes; /* of the measured flows, one iteration: what gbps counts */
  enum figure figure;
  uint64_t figure_amount; /* of one iteration: bytes, operations; 1: its time as it is */
  /* What of it crosses the limiting resource, read and written apart; where
   * limit_is_of_operations(), operations, and so is the peak. */
  uint64_t traffic_bytes;
  enum limit limit;
  uint64_t peak_bytes_per_second; /* of the limiting resource; 0 = unknown */
  struct measure measure;
};
