/* chase.h - dependent loads by threads of a GPU or of a node: case kind chase. */
#pragma once

#include "engine/case/case.h"

/* Where dependent loads go; those of a node to host memory. */
#define CHASE_SPACE_LIST(X)                                                                        \
  X(CHASE_HOST, "host")     /* host memory, of a GPU's page-locked */                              \
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

/* The SMs whose threads load. Their distance to memory and links differs: on an H100 the latency of
 * a peer's memory is 793 to 859 ns by SM. */
#define CHASE_SM_LIST(X)                                                                           \
  X(CHASE_SM_ONE, "one")   /* the one that gets the first block, or those that get `blocks` */     \
  X(CHASE_SM_EACH, "each") /* all, one block on each, one after the other: their mean */
ENUM_NAMES_DECLARE(chase_sm, CHASE_SM_LIST)

/* The lines that an SM loads, where the L2 cache has two parts of which one is nearer to it. Which
 * are near is measured (engine/workload/chase_lines.h). */
#define CHASE_PART_LIST(X)                                                                         \
  X(CHASE_PART_ALL, "all")                                                                         \
  X(CHASE_PART_NEAR, "near")                                                                       \
  X(CHASE_PART_FAR, "far")
ENUM_NAMES_DECLARE(chase_part, CHASE_PART_LIST)

/* How much of an SM's memory is L1 cache; the rest is shared memory (the carve-out). */
#define L1_SIZE_LIST(X)                                                                            \
  X(L1_SIZE_AUTO, "auto") /* as the driver chooses */                                              \
  X(L1_SIZE_LARGEST, "largest")                                                                    \
  X(L1_SIZE_SMALLEST, "smallest")
ENUM_NAMES_DECLARE(l1_size, L1_SIZE_LIST)

/* Part of a chase's case_key: raised whenever a chase measures differently. */
enum { CHASE_METHOD_VERSION = 3, CHASE_HOST_METHOD_VERSION = 1 };

/* Memory of a GPU is mapped in pages of 2 MiB: within one, only lower halves of addresses differ.
 */
#define CHASE_WORDS_FOOTPRINT_MAX (UINT64_C(2) << 20)

/* Thread t starts at element t of a strided
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
  uint32_t blocks;          /* 0 = one; sm each: as many as the GPU has SMs */
  uint64_t hops;            /* loads of each thread in one iteration; 0: the case has no chase */
  enum chase_access access; /* shared: by load */
  enum l1_size l1_size;     /* global through the L1 only */
  uint32_t element_bytes;   /* global by load only: 8, an address, or 4, its lower half; 0 = 8 */
  enum chase_sm sm;
  enum chase_part lines; /* not all: global through the L2, by one thread of each SM */
  /* Threads of a processor load, of that node (the operating system's number), in place of a GPU's:
   * space host, by load, one block. */
  bool by_processor;
  int32_t node;
};

/* Elements so far apart, in memory of a GPU, are laid out line by line. A copy with a pitch takes
 * less than 2 GiB of it. */
enum { CHASE_LINE_BYTES = 128, CHASE_SPARSE_STRIDE = 1 << 16 };
static inline bool chase_is_sparse(const struct chase *chase) {
  return chase->stride_bytes >= CHASE_SPARSE_STRIDE && chase->stride_bytes <= INT32_MAX &&
         chase->element_bytes != 4;
}
