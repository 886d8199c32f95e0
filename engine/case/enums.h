/* enums.h - the enumerations of a measurement and their names: the same in C, TOML, SQL and the
 * documentation. */
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

/* How bytes are moved. Behind the name: the method's table method_NAME (engine/method); CUDA, or
 * HOST where threads of the host move them between nodes; its version, a part of case_key that is
 * raised when the same case would measure differently; the kinds of memory on a node and on a
 * GPU that its flows have when a scenario does not say; and what moves them, for the reference of
 * keys. */
#define METHOD_LIST(X)                                                                             \
  X(METHOD_CE, "ce", ce, CUDA, 2, PINNED, DEVICE, "a copy engine") /* the driver's memcpy */       \
  X(METHOD_SM, "sm", sm, CUDA, 1, PINNED, DEVICE, "a kernel")      /* its own loads and stores */  \
  X(METHOD_UM, "um", um, CUDA, 1, MANAGED, MANAGED,                                                \
    "unified memory") /* page faults or prefetch */                                                \
  X(METHOD_CPU, "cpu", cpu, HOST, 1, PAGEABLE, DEVICE, "host threads") /* never a GPU's memory */
ENUM_NAMES_DECLARE(method, METHOD_LIST)
unsigned method_version(enum method method);
/* The same of a copy that the host makes (flow_blocks_host(), engine/case/case.h): from 3 on its
 * thread runs on the processors of one node. */
enum { METHOD_VERSION_BY_HOST = 3 };

/* On which node a thread runs that makes a copy. */
#define CPU_CHOICE_LIST(X)                                                                         \
  X(CPU_ANY, "any")       /* wherever the system puts it */                                        \
  X(CPU_LOCAL, "local")   /* beside the flow's host memory; between GPUs, beside the source */     \
  X(CPU_REMOTE, "remote") /* on the node farthest from there */                                    \
  X(CPU_NODE, "node")     /* the one of that number */
ENUM_NAMES_DECLARE(cpu_choice, CPU_CHOICE_LIST)

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

#define DIRECTION_LIST(X)                                                                          \
  X(DIRECTION_FORWARD, "forward") /* from -> to */                                                 \
  X(DIRECTION_REVERSE, "reverse") /* to -> from */                                                 \
  X(DIRECTION_BOTH, "both")       /* two flows at once */
ENUM_NAMES_DECLARE(direction, DIRECTION_LIST)

/* The side that starts a flow: pushes or pulls. */
#define INITIATOR_LIST(X)                                                                          \
  X(INITIATOR_SOURCE, "source")                                                                    \
  X(INITIATOR_TARGET, "target")
ENUM_NAMES_DECLARE(initiator, INITIATOR_LIST)

/* Which of from x to are measured. */
#define PAIRS_LIST(X)                                                                              \
  X(PAIRS_ORDERED, "ordered") /* every (a, b) with a != b where both are of one kind of place */   \
  X(PAIRS_UNORDERED, "unordered") /* each {a, b} once */                                           \
  X(PAIRS_SAME, "same")           /* (a, a): local copies */                                       \
  X(PAIRS_SAMPLE, "sample")       /* some (a, b), with every place equally often at either end */
ENUM_NAMES_DECLARE(pairs, PAIRS_LIST)

/* Which of the selected flows run at once, as one case. */
#define CONCURRENT_LIST(X)                                                                         \
  X(CONCURRENT_NONE, "none")                                                                       \
  X(CONCURRENT_PER_TARGET, "per_target") /* all flows into one target: one case per target */      \
  X(CONCURRENT_PER_SOURCE, "per_source") /* all flows out of one source: one case per source */    \
  X(CONCURRENT_ALL, "all")                                                                         \
  X(CONCURRENT_RING, "ring")     /* i -> i + 1, the last to the first */                           \
  X(CONCURRENT_BISECT, "bisect") /* i -> i + n/2: every flow crosses the middle */
ENUM_NAMES_DECLARE(concurrent, CONCURRENT_LIST)

#define FLOW_ROLE_LIST(X)                                                                          \
  X(FLOW_MEASURED, "measured")                                                                     \
  X(FLOW_LOAD, "load") /* keeps running for as long as the measured flows do; not counted */
ENUM_NAMES_DECLARE(flow_role, FLOW_ROLE_LIST)

/* Shape of an sm copy kernel. */
#define KERNEL_VARIANT_LIST(X)                                                                     \
  X(KERNEL_AUTO, "auto")                                                                           \
  X(KERNEL_VECTOR, "vector") /* 16-byte accesses, several in flight */                             \
  X(KERNEL_BULK, "bulk")     /* the bulk copy engine, compute capability 9.0 on */                 \
  X(KERNEL_SCALAR, "scalar") /* 4-byte accesses */
ENUM_NAMES_DECLARE(kernel_variant, KERNEL_VARIANT_LIST)

/* Where the pieces of a scattered copy are, at either end. */
#define PIECE_PLACES_LIST(X)                                                                       \
  X(PIECES_RANDOM, "random")   /* anywhere, in any order, the same in every run */                 \
  X(PIECES_STRIDED, "strided") /* in order, one piece apart */
ENUM_NAMES_DECLARE(piece_places, PIECE_PLACES_LIST)

/* How the pieces of a scattered copy are given to the copy engines. */
#define SUBMIT_LIST(X)                                                                             \
  X(SUBMIT_LOOP, "loop")   /* a call of cuMemcpyAsync for each */                                  \
  X(SUBMIT_BATCH, "batch") /* one call of cuMemcpyBatchAsync: CUDA 12.8 on */
ENUM_NAMES_DECLARE(submit, SUBMIT_LIST)

/* Attribute of a batch: when its sources may be read (CUmemcpySrcAccessOrder). */
#define BATCH_ORDER_LIST(X)                                                                        \
  X(BATCH_ORDER_STREAM, "stream")                                                                  \
  X(BATCH_ORDER_CALL, "call") /* all of them before the call returns */                            \
  X(BATCH_ORDER_ANY, "any")
ENUM_NAMES_DECLARE(batch_order, BATCH_ORDER_LIST)

#define UNIFIED_MODE_LIST(X)                                                                       \
  X(UNIFIED_DEMAND, "demand")                                                                      \
  X(UNIFIED_PREFETCH, "prefetch")
ENUM_NAMES_DECLARE(unified_mode, UNIFIED_MODE_LIST)

/* cuMemAdvise on managed memory before the trials. */
#define ADVISE_LIST(X)                                                                             \
  X(ADVISE_NONE, "none")                                                                           \
  X(ADVISE_READ_MOSTLY, "read_mostly")                                                             \
  X(ADVISE_PREFERRED_LOCATION, "preferred_location") /* at the target */                           \
  X(ADVISE_ACCESSED_BY, "accessed_by")               /* by the target */
ENUM_NAMES_DECLARE(advise, ADVISE_LIST)

/* What touching a page of managed memory is. */
#define TOUCH_ACCESS_LIST(X)                                                                       \
  X(TOUCH_WRITE, "write")                                                                          \
  X(TOUCH_READ, "read")
ENUM_NAMES_DECLARE(touch_access, TOUCH_ACCESS_LIST)

#define TOUCH_ORDER_LIST(X)                                                                        \
  X(TOUCH_LINEAR, "linear")                                                                        \
  X(TOUCH_RANDOM, "random") /* every place once, the same order in every run */
ENUM_NAMES_DECLARE(touch_order, TOUCH_ORDER_LIST)

/* Where a GPU's dependent loads go. */
#define CHASE_SPACE_LIST(X)                                                                        \
  X(CHASE_HOST, "host")     /* page-locked host memory */                                          \
  X(CHASE_PEER, "peer")     /* another GPU's memory */                                             \
  X(CHASE_GLOBAL, "global") /* the GPU's own memory, through its caches */                         \
  X(CHASE_SHARED, "shared") /* shared memory of a block */
ENUM_NAMES_DECLARE(chase_space, CHASE_SPACE_LIST)

/* What brings an element of a chase to the thread that follows it. */
#define CHASE_ACCESS_LIST(X)                                                                       \
  X(CHASE_BY_LOAD, "load") /* a load instruction */                                                \
  X(CHASE_BY_BULK, "bulk") /* the bulk copy engine, compute capability 9.0 on */
ENUM_NAMES_DECLARE(chase_access, CHASE_ACCESS_LIST)

#define CHASE_ORDER_LIST(X)                                                                        \
  X(CHASE_RANDOM, "random") /* one cycle through all elements, seeded */                           \
  X(CHASE_STRIDED, "strided")
ENUM_NAMES_DECLARE(chase_order, CHASE_ORDER_LIST)

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

/* The nearest cache that loads of a chase through a GPU's own memory may hit. */
#define CACHE_LEVEL_LIST(X)                                                                        \
  X(CACHE_L1, "l1") /* ld.global.ca */                                                             \
  X(CACHE_L2, "l2") /* ld.global.cg: past the L1 cache */
ENUM_NAMES_DECLARE(cache_level, CACHE_LEVEL_LIST)

/* Type of the numbers of a stream or of arithmetic. */
#define NUMBER_TYPE_LIST(X)                                                                        \
  X(NUMBER_F16, "f16") /* two packed in a register: an instruction is two operations */            \
  X(NUMBER_F32, "f32")                                                                             \
  X(NUMBER_F64, "f64")                                                                             \
  X(NUMBER_I32, "i32")
ENUM_NAMES_DECLARE(number_type, NUMBER_TYPE_LIST)

/* Loops over arrays a, b and out; s is a scalar. (McCalpin's STREAM; dot is BabelStream's.) */
#define STREAM_OP_LIST(X)                                                                          \
  X(STREAM_COPY, "copy")   /* out[i] = a[i] */                                                     \
  X(STREAM_MUL, "mul")     /* out[i] = s * a[i] */                                                 \
  X(STREAM_ADD, "add")     /* out[i] = a[i] + b[i] */                                              \
  X(STREAM_TRIAD, "triad") /* out[i] = a[i] + s * b[i] */                                          \
  X(STREAM_DOT, "dot")     /* sum of a[i] * b[i] */                                                \
  X(STREAM_READ, "read")   /* sum of the bits of a[i] */                                           \
  X(STREAM_WRITE, "write") /* out[i] = made from i */
ENUM_NAMES_DECLARE(stream_op, STREAM_OP_LIST)

/* What a stream's repeats find in the caches. */
#define STREAM_ORDER_LIST(X)                                                                       \
  X(STREAM_ALONE, "alone")       /* what the repeat before left */                                 \
  X(STREAM_SEQUENCE, "sequence") /* what copy, mul, add and triad leave, over the same arrays */
ENUM_NAMES_DECLARE(stream_order, STREAM_ORDER_LIST)

/* Arrays that an operation goes through: what STREAM counts as its bytes. */
unsigned stream_op_arrays(enum stream_op op);

/* What a stream on a GPU notes beside its time by events. */
#define STREAM_CLOCK_LIST(X)                                                                       \
  X(STREAM_CLOCK_EVENT, "event") /* nothing */                                                     \
  X(STREAM_CLOCK_CYCLES,                                                                           \
    "cycles") /* cycles of the SM that works longest, first block's start to last one's end */
ENUM_NAMES_DECLARE(stream_clock, STREAM_CLOCK_LIST)

#define ARITHMETIC_OP_LIST(X)                                                                      \
  X(ARITHMETIC_ADD, "add")                                                                         \
  X(ARITHMETIC_MUL, "mul")                                                                         \
  X(ARITHMETIC_FMA, "fma")   /* of integers: the low half of a * b + c */                          \
  X(ARITHMETIC_ADD3, "add3") /* of integers only: a + b + c */
ENUM_NAMES_DECLARE(arithmetic_op, ARITHMETIC_OP_LIST)

#define ARITHMETIC_MEASURE_LIST(X)                                                                 \
  X(ARITHMETIC_LATENCY, "latency") /* one dependent chain, one warp */                             \
  X(ARITHMETIC_THROUGHPUT, "throughput")
ENUM_NAMES_DECLARE(arithmetic_measure, ARITHMETIC_MEASURE_LIST)

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
