/* case.h - a case: the flows measured together at one setting.
 *
 * Plain data made by the plan and read by the engine. flows and texts are borrowed from the plan's
 * arena and live as long as the plan. */
#ifndef HAUL_ENGINE_CASE_CASE_H
#define HAUL_ENGINE_CASE_CASE_H

#include "engine/case/enums.h"

#include <stdbool.h>
#include <stdint.h>

/* How carefully a case is measured: [measure] of a scenario, resolved. */
struct measure {
  uint32_t trials_min;
  uint32_t trials_max;
  uint32_t warmup;       /* trials before those that count */
  uint32_t iterations;   /* back-to-back repeats in one trial; 0 = chosen from min_trial_ns */
  uint64_t max_time_ns;  /* for the trials of one case, warm-up apart */
  uint64_t min_trial_ns; /* shortest trial when iterations is 0 */
  double precision;      /* half-width of the 95 % interval of the median, relative, to stop at */
  double free_share; /* of a GPU's free memory that managed memory may take, below 1; 0 = 0.25 */
  double delta; /* smallest change that matters when the case is compared, relative; 0 = usual */
  enum verify verify;
  enum host_cache host_cache;
  enum cache_state device_cache;
  enum gating gating;
};

enum { CASE_FLOWS_MAX = 1024, CASE_KEY_MAX = 33, CASE_REASON_MAX = 512 };
/* Of a flow in one iteration; in shuffled order of all flows together. */
enum { COPIES_MAX = 1 << 16 };

struct endpoint {
  enum place place;
  int32_t index; /* GPU: index in struct machine; NUMA: the operating system's node number */
  enum memory_kind memory;
};

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

/* Part of a chase's case_key: raised whenever a chase measures differently. */
enum { CHASE_METHOD_VERSION = 3 };

/* Memory of a GPU is mapped in pages of 2 MiB: within one, only lower halves of addresses differ.
 */
#define CHASE_WORDS_FOOTPRINT_MAX (UINT64_C(2) << 20)

/* Dependent loads by threads of a GPU: case kind chase. Thread t starts at element t of a strided
 * chain (so that a warp's accesses are a stride apart), and of a random one as far from the other
 * threads as the chain allows. Several threads: the slowest counts. */
struct chase {
  enum chase_space space;
  int32_t gpu;            /* whose threads load */
  struct endpoint memory; /* where the elements are; global and shared: that GPU's, device */
  uint64_t footprint_bytes;
  uint64_t stride_bytes; /* between elements, a multiple of 8; shared: of 4; by bulk: of 16 */
  enum chase_order order;
  enum cache_level cache;   /* global only; by bulk: L2 */
  uint32_t threads;         /* per block; 0 = one */
  uint32_t blocks;          /* 0 = one */
  uint64_t hops;            /* loads of each thread in one iteration; 0: the case has no chase */
  enum chase_access access; /* shared: by load */
  uint32_t element_bytes;   /* global by load only: 8, an address, or 4, its lower half; 0 = 8 */
};

/* Part of a stream's case_key: raised whenever a stream measures differently. */
enum { STREAM_METHOD_VERSION = 1 };
/* struct stream: as many blocks as cover the arrays once. */
#define STREAM_GRID_FULL UINT32_MAX

/* A loop over arrays of numbers: case kind stream. payload_bytes of the case is
 * stream_op_arrays(op) * size_bytes * passes, and so is traffic_bytes. */
struct stream {
  enum stream_op op;
  enum number_type type;  /* f32 or f64 */
  struct endpoint memory; /* of all arrays: a GPU's own (its SMs work), or a node's (its threads) */
  uint64_t size_bytes;    /* one array, a multiple of the type; 0: the case has no stream */
  uint32_t passes;        /* over the arrays in one iteration, inside one kernel; 0 = one */
  uint32_t threads;       /* host threads; 0 = all of the node */
  /* GPU only; 0 = what is best for the operation (engine/workload/stream.h). */
  uint32_t block;
  uint32_t grid;         /* blocks; or STREAM_GRID_FULL */
  uint32_t vector_bytes; /* per access: 4, 8 or 16, not less than the type */
  uint32_t unroll;       /* accesses of a thread that are under way together: 1 or 4 */
  enum stream_clock clock;
  /* In sequence: copy, mul, add or triad of f64. c = a, b = s c, c = a + b, a = b + s c follow each
   * other over three arrays; a trial is the other three, and then the one that is timed. */
  enum stream_order order;
};

/* Part of an arithmetic's case_key: raised whenever it measures differently. */
enum { ARITHMETIC_METHOD_VERSION = 1 };

/* Chains of dependent instructions: case kind arithmetic. */
struct arithmetic {
  enum arithmetic_op op;
  enum number_type type;
  enum arithmetic_measure measure; /* latency: ilp 1, one block of at most 32 threads */
  int32_t gpu;
  uint32_t ilp;          /* independent chains of a thread: 1, 2, 4 or 8 */
  uint32_t block;        /* threads */
  uint32_t grid;         /* blocks */
  uint32_t instructions; /* of a thread in one iteration, all chains together: a multiple of
                            ARITHMETIC_UNIT; 0: the case has no arithmetic */
};
enum { ARITHMETIC_UNIT = 512, ARITHMETIC_INSTRUCTIONS_MAX = 1 << 20 };

/* Part of an overhead's case_key: raised whenever an overhead measures differently. */
enum { OVERHEAD_METHOD_VERSION = 1 };

/* Calls of the driver, timed on the host: case kind overhead. One iteration is one call. */
struct overhead {
  enum overhead_operation operation;
  int32_t gpu;            /* whose context; -1 = none, for pageable and huge memory alone */
  struct endpoint memory; /* of allocate and free: kind and place; else not looked at */
  uint64_t size_bytes;    /* of allocate and free: one allocation */
};

/* What a case of any kind but transfer measures: the member of that kind. */
union work {
  struct chase chase;
  struct stream stream;
  struct arithmetic arithmetic;
  struct overhead overhead;
};

/* A way that bytes or calls of a case take; within one place both ends are the same. */
struct case_path {
  struct endpoint from, to;
  bool staged; /* through the host, even where there is peer access */
};

/* Every copy, by the flow that it is of. flows NULL: flow by flow, as they are listed. */
struct copy_order {
  const uint16_t *flows;
  uint32_t count;
  uint64_t seed; /* from which it follows */
};

struct bench_case {
  enum case_kind kind;
  const char *key;          /* 32 hexadecimal digits: XXH3-128 of definition */
  const char *definition;   /* canonical JSON of everything that defines the measurement */
  const char *block;        /* name of the scenario's block */
  const char *name;         /* unique in the plan: "host_to_device/numa0:pinned-gpu0/64MiB" */
  const char *path;         /* "numa0:pinned-gpu0"; several flows: a short text for all */
  const struct flow *flows; /* of a transfer; of other kinds: the loads beside what is measured */
  uint32_t flow_count;
  struct copy_order order; /* of the copies of flows that share a stream */
  union work work;         /* of every other kind; all zero where the selectors came to nothing */
  /* Of one iteration, for cycles and ns per operation: a chase's hops; an arithmetic's instructions
   * (of one thread); 0 for other kinds. */
  uint64_t operations;
  /* Of one iteration on the SM that has most blocks, for operations per clock and SM: instructions
   * * block * ceil(grid / sm_count), twice that for f16; 0 = not an arithmetic's throughput. */
  uint64_t operations_per_sm;
  uint64_t payload_bytes; /* of the measured flows, one iteration: what gbps counts */
  uint64_t traffic_bytes; /* what of it crosses the limiting resource, read and written apart */
  enum limit limit;
  uint64_t peak_bytes_per_second; /* of the limiting resource; 0 = unknown */
  struct measure measure;
};

#endif
