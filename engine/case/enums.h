/* enums.h - what cases of every kind share, and states of machines, with their names: the same in
 * C, TOML, SQL and the documentation. Those of one kind stand beside its struct, in the header of
 * the kind (transfer.h, chase.h ...), so that a new one is compiled where it is used. */
#ifndef HAUL_ENGINE_CASE_ENUMS_H
#define HAUL_ENGINE_CASE_ENUMS_H

#include "engine/base/enum_names.h"

/* What a case measures, and a block of a scenario describes. The third member names the tables of
 * the kind: workload_NAME (engine/workload), scenario_kind_NAME (schema/scenario) and
 * plan_kind_NAME (runner/plan). */
#define CASE_KIND_LIST(X)                                                                          \
  X(CASE_TRANSFER, "transfer", transfer)       /* flows of bytes */                                \
  X(CASE_CHASE, "chase", chase)                /* latency of dependent loads */                    \
  X(CASE_STREAM, "stream", stream)             /* bandwidth of loops over arrays of numbers */     \
  X(CASE_ARITHMETIC, "arithmetic", arithmetic) /* latency and throughput of instructions */        \
  X(CASE_OVERHEAD, "overhead", overhead)       /* what calls of the driver cost the host */
ENUM_NAMES_DECLARE(case_kind, CASE_KIND_LIST)

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
  X(MEMORY_DEVICE, "device")                 /* a GPU's own: cuMemAlloc */
ENUM_NAMES_DECLARE(memory_kind, MEMORY_KIND_LIST)

/* Type of the numbers of a stream or of arithmetic. */
#define NUMBER_TYPE_LIST(X)                                                                        \
  X(NUMBER_F16, "f16") /* two packed in a register: an instruction is two operations */            \
  X(NUMBER_F32, "f32")                                                                             \
  X(NUMBER_F64, "f64")                                                                             \
  X(NUMBER_I32, "i32")
ENUM_NAMES_DECLARE(number_type, NUMBER_TYPE_LIST)

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

/* The nearest cache that loads of a chase or a stream through a GPU's own memory may hit. */
#define CACHE_LEVEL_LIST(X)                                                                        \
  X(CACHE_L1, "l1") /* ld.global.ca */                                                             \
  X(CACHE_L2, "l2") /* ld.global.cg: past the L1 cache */
ENUM_NAMES_DECLARE(cache_level, CACHE_LEVEL_LIST)

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

#define CASE_ORDER_LIST(X)                                                                         \
  X(CASE_ORDER_FILE, "file")                                                                       \
  X(CASE_ORDER_SHUFFLED, "shuffled")
ENUM_NAMES_DECLARE(case_order, CASE_ORDER_LIST)

#define TRIAL_PHASE_LIST(X)                                                                        \
  X(TRIAL_WARMUP, "warmup")                                                                        \
  X(TRIAL_MEASURE, "measure")
ENUM_NAMES_DECLARE(trial_phase, TRIAL_PHASE_LIST)

#define TRIAL_STATUS_LIST(X)                                                                       \
  X(TRIAL_OK, "ok")                                                                                \
  X(TRIAL_GATE_TIMEOUT, "gate_timeout") /* the gate opened by itself: the time means nothing */    \
  X(TRIAL_CORRUPT, "corrupt")           /* verification failed after this trial */
ENUM_NAMES_DECLARE(trial_status, TRIAL_STATUS_LIST)

#define CASE_STATUS_LIST(X)                                                                        \
  X(CASE_OK, "ok")                                                                                 \
  X(CASE_SKIPPED, "skipped") /* cannot run on this machine; the reason says why */                 \
  X(CASE_FAILED, "failed")   /* an error of the system or of a driver call */                      \
  X(CASE_CRASHED, "crashed") /* the worker process died */                                         \
  X(CASE_HUNG, "hung")       /* the watchdog ended the worker process */                           \
  X(CASE_CORRUPT, "corrupt") /* bytes arrived that were not sent */
ENUM_NAMES_DECLARE(case_status, CASE_STATUS_LIST)

/* Why a case stopped measuring. */
#define STOP_LIST(X)                                                                               \
  X(STOP_NONE, "none") /* it did not come so far */                                                \
  X(STOP_PRECISION, "precision")                                                                   \
  X(STOP_TRIALS, "trials")                                                                         \
  X(STOP_TIME, "time")
ENUM_NAMES_DECLARE(stop, STOP_LIST)

/* The clock of a trial. */
#define CLOCK_LIST(X)                                                                              \
  X(CLOCK_EVENT, "event")   /* CUDA events, on the GPU */                                          \
  X(CLOCK_HOST, "host")     /* CLOCK_MONOTONIC_RAW */                                              \
  X(CLOCK_KERNEL, "kernel") /* the GPU's global timer, read inside the kernel */
ENUM_NAMES_DECLARE(clock, CLOCK_LIST)

/* What limits a flow: the resource whose theoretical peak its rate is compared with. */
#define LIMIT_LIST(X)                                                                              \
  X(LIMIT_UNKNOWN, "unknown") /* no peak is known: host memory */                                  \
  X(LIMIT_PCIE, "pcie")                                                                            \
  X(LIMIT_NVLINK, "nvlink")                                                                        \
  X(LIMIT_C2C, "c2c")                                                                              \
  X(LIMIT_DRAM, "dram") /* the GPU's memory */
ENUM_NAMES_DECLARE(limit, LIMIT_LIST)

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

#define CHECK_STATUS_LIST(X)                                                                       \
  X(CHECK_PASSED, "passed")                                                                        \
  X(CHECK_FAILED, "failed")                                                                        \
  X(CHECK_UNAVAILABLE, "unavailable") /* the machine has no such setting */                        \
  X(CHECK_DENIED, "denied")           /* this user may not read it */
ENUM_NAMES_DECLARE(check_status, CHECK_STATUS_LIST)

#endif
