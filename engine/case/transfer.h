/* transfer.h - flows of bytes: case kind transfer, and the loads beside cases of other kinds. */
#pragma once

#include "engine/case/case.h"
#include "engine/case/compute.h"

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
  X(METHOD_CPU, "cpu", cpu, HOST, 1, PAGEABLE, DEVICE, "host threads") /* never a GPU's memory */  \
  X(METHOD_PIN, "pin", pin, CUDA, 1, PAGEABLE, DEVICE,                                             \
    "page locking") /* a load: it moves nothing */                                                 \
  X(METHOD_COMPUTE, "compute", compute, CUDA, 1, PINNED, DEVICE,                                   \
    "a kernel that computes") /* a load, or what [[compute]] measures */
ENUM_NAMES_DECLARE(method, METHOD_LIST)
unsigned method_version(enum method method);
/* The same of a copy that the host makes (flow_blocks_host()): from 3 on its
 * thread runs on the processors of one node. */
enum { METHOD_VERSION_BY_HOST = 3 };

/* On which node a thread runs that makes a copy. */
#define CPU_CHOICE_LIST(X)                                                                         \
  X(CPU_ANY, "any")       /* wherever the system puts it */                                        \
  X(CPU_LOCAL, "local")   /* beside the flow's host memory; between GPUs, beside the source */     \
  X(CPU_REMOTE, "remote") /* on the node farthest from there */                                    \
  X(CPU_NODE, "node")     /* the one of that number */
ENUM_NAMES_DECLARE(cpu_choice, CPU_CHOICE_LIST)

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

/* Priority of the stream of a flow, of those that the driver has. */
#define STREAM_PRIORITY_LIST(X)                                                                    \
  X(STREAM_PRIORITY_DEFAULT, "default")                                                            \
  X(STREAM_PRIORITY_LOWEST, "lowest")                                                              \
  X(STREAM_PRIORITY_HIGHEST, "highest")
ENUM_NAMES_DECLARE(stream_priority, STREAM_PRIORITY_LIST)

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

/* Of a flow in one iteration; in shuffled order of all flows together. */
enum { COPIES_MAX = 1 << 16 };

struct kernel_shape {
  enum kernel_variant variant;
  uint32_t block;        /* threads per block; 0 = the variant's own */
  uint32_t grid;         /* blocks; 0 = the variant's own */
  uint32_t vector_bytes; /* bytes per access; 0 = the variant's own */
};

/* A strided copy: depth planes of height rows of width_bytes each, rows pitch_bytes apart in both
 * memories. width_bytes 0 = contiguous. */
struct copy_shape {
  uint64_t width_bytes;
  uint64_t height;
  uint64_t depth;
  uint64_t pitch_bytes;
};

static inline bool copy_shape_is_strided(const struct copy_shape *shape) {
  return shape->width_bytes != 0;
}

/* A scattered copy: pieces of piece_bytes each, between places of their own in memory for
 * SCATTER_SPREAD times as many (engine/workload/pieces.h). pieces 0 = contiguous. */
struct scatter_shape {
  uint64_t pieces;
  uint64_t piece_bytes;
  enum piece_places places;
  uint64_t run_pieces; /* that follow each other in memory at both ends; 0 = 1 */
  /* ce only. */
  enum submit submit;
  enum batch_order order; /* of a batch */
  bool overlap;           /* of a batch: overlap with kernels is preferred */
};
enum { SCATTER_SPREAD = 2, SCATTER_PIECES_MAX = 1 << 24 };

/* How pages of managed memory are made to move; method um only. */
struct unified_shape {
  enum unified_mode mode;
  enum initiator touch_by; /* which side's processor touches, in demand mode */
  uint32_t threads;        /* host threads that touch; 0 = one */
  enum advise advise;
  uint64_t stride_bytes; /* between touched bytes; 0 = the page size of the touching side */
  enum touch_access access;
  enum touch_order order;
  uint32_t passes; /* over the bytes, by each that touches; 0 = one */
  bool again;      /* timed is the second time: before, the touching end has, then the other */
  bool together;   /* the other end's processor touches the same bytes at the same time */
};

struct flow_cpu {
  enum cpu_choice choice;
  int32_t node; /* the operating system's number; not of CPU_ANY. -1: this machine has none */
};

struct flow {
  enum flow_role role;
  enum method method;
  struct endpoint source;
  struct endpoint target;
  enum initiator initiator; /* whose GPU (or node) starts it */
  bool staged;              /* GPU to GPU through the host on purpose */
  uint64_t size_bytes;
  uint32_t threads;    /* cpu: host threads; 0 = all of the initiating node */
  uint32_t copies;     /* of its bytes in one iteration, one after the other; 0 = one */
  uint32_t stream;     /* flows of one number run one after the other; 0 = a stream of its own */
  struct flow_cpu cpu; /* of a flow that flow_blocks_host(): where the thread runs that copies */
  struct kernel_shape kernel;
  struct copy_shape shape;
  struct unified_shape unified;
  struct scatter_shape scatter;
  struct compute_shape compute;
  enum stream_priority priority; /* ce, sm, compute */
  bool graph; /* ce, sm: its calls are captured once, and a trial launches the graph */
};

static inline uint32_t flow_copies(const struct flow *flow) {
  return flow->copies > 0 ? flow->copies : 1;
}

/* Whether its pages may stay where they are when they are touched: an advice said so, or they were
 * touched before. Its size is then what was touched, which no link need carry. */
static inline bool flow_pages_may_stay(const struct flow *flow) {
  return flow->method == METHOD_UM && flow->unified.mode == UNIFIED_DEMAND &&
         (flow->unified.again || flow->unified.advise == ADVISE_ACCESSED_BY ||
          flow->unified.advise == ADVISE_READ_MOSTLY);
}

/* What it moves in one iteration. */
static inline uint64_t flow_bytes(const struct flow *flow) {
  return flow->size_bytes * flow_copies(flow);
}

static inline bool flow_is_of_host_threads(const struct flow *flow) {
  return flow->method == METHOD_CPU || flow->method == METHOD_PIN;
}

/* Whether a processor makes the copy, or a part of it: pageable memory, and copies between GPUs
 * through the host. The driver's own threads and buffers are in the way, and the call waits for
 * them (seen at 1 GiB staged on an H200, driver 580). */
static inline bool flow_blocks_host(const struct flow *flow) {
  return flow->method == METHOD_CE && (flow->staged || flow->source.memory == MEMORY_PAGEABLE ||
                                       flow->target.memory == MEMORY_PAGEABLE);
}

static inline bool flow_is_scattered(const struct flow *flow) {
  return flow->scatter.pieces != 0;
}
