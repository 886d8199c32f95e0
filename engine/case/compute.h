/* compute.h - kernels that compute: case kind compute, and loads beside cases of other kinds
 * (method compute of a flow).
 *
 * A kernel has one block on each SM that it may have, and goes on there until its work is done: the
 * share of the SMs is the number of blocks. The work of a matrix product and of a triad is the same
 * for every share; multiply-adds in chains are done by each block. */
#pragma once

#include "engine/base/enum_names.h"

#include <stdint.h>

#define COMPUTE_OP_LIST(X)                                                                         \
  X(COMPUTE_MATMUL, "matmul") /* matrix product by tensor cores, bf16 in, f32 out */               \
  X(COMPUTE_FMA, "fma")       /* multiply-adds of f32 in registers */                              \
  X(COMPUTE_TRIAD, "triad")   /* a + intensity * b over arrays of f32 in the GPU's memory */
ENUM_NAMES_DECLARE(compute_op, COMPUTE_OP_LIST)

/* How a kernel is kept to its share of the SMs. */
#define SM_SHARE_LIST(X)                                                                           \
  X(SM_SHARE_BLOCKS, "blocks")       /* by the number of its blocks, one on an SM */               \
  X(SM_SHARE_GREEN, "green_context") /* the same in a context that has no other SMs */
ENUM_NAMES_DECLARE(sm_share, SM_SHARE_LIST)

struct compute_shape {
  enum compute_op op;
  enum sm_share sm_share;
  uint32_t sm_percent; /* of the GPU's SMs, 1 to 100 */
  uint32_t intensity;  /* of a triad: multiply-adds per element */
};

enum {
  COMPUTE_BLOCK = 1024,       /* threads, of fma and triad */
  COMPUTE_FMA_PASSES = 16384, /* multiply-adds of a thread in one iteration */
  COMPUTE_SIDE_UNIT = 256,
  COMPUTE_SIDE_MAX = 16384,
  COMPUTE_INTENSITY_MAX = 4096
};

/* A flow's size is that of both operands together, of fma the room for its results. Where a
 * scenario does not say: matrices of 4096 x 4096, arrays of 256 MiB, the results of 1024 SMs. */
static inline uint64_t compute_usual_bytes(enum compute_op op) {
  return op == COMPUTE_MATMUL  ? UINT64_C(64) << 20
         : op == COMPUTE_TRIAD ? UINT64_C(512) << 20
                               : UINT64_C(4) << 20;
}

static inline uint32_t compute_blocks(const struct compute_shape *shape, uint32_t sm_count) {
  const uint32_t blocks = (sm_count * shape->sm_percent + 50) / 100;
  return blocks > 0 ? blocks : 1;
}

/* Of the largest square matrices that fit, 2 bytes for each number; 0: none does. */
static inline uint32_t compute_side(uint64_t size_bytes) {
  uint64_t side = 0;
  while (side < COMPUTE_SIDE_MAX &&
         4 * (side + COMPUTE_SIDE_UNIT) * (side + COMPUTE_SIDE_UNIT) <= size_bytes) {
    side += COMPUTE_SIDE_UNIT;
  }
  return (uint32_t)side;
}

/* Of one array of a triad: a multiple of 4. */
static inline uint64_t compute_elements(uint64_t size_bytes) {
  return size_bytes / 2 / sizeof(float) / 4 * 4;
}

/* Floating-point operations of one iteration; a multiply-add is two. */
static inline uint64_t compute_operations(const struct compute_shape *shape, uint64_t size_bytes,
                                          uint32_t sm_count) {
  const uint64_t side = compute_side(size_bytes);
  return shape->op == COMPUTE_MATMUL ? 2 * side * side * side
         : shape->op == COMPUTE_TRIAD
             ? 2 * compute_elements(size_bytes) * shape->intensity
             : UINT64_C(2) * COMPUTE_FMA_PASSES * COMPUTE_BLOCK * compute_blocks(shape, sm_count);
}

/* Bytes that one iteration reads and writes at least; 0: none that count. */
static inline uint64_t compute_bytes(const struct compute_shape *shape, uint64_t size_bytes) {
  const uint64_t side = compute_side(size_bytes);
  return shape->op == COMPUTE_MATMUL  ? 8 * side * side
         : shape->op == COMPUTE_TRIAD ? 3 * sizeof(float) * compute_elements(size_bytes)
                                      : 0;
}
