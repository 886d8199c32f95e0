/* compute_values.h - the numbers that kernels haul_compute_* work with: whole numbers so small that
 * every result is exact in f32, whatever the order of its sums. Shared by host and device code. */
#pragma once

#include "kernels/pattern_values.h"

/* Tiles of the matrix product: sides of matrices are multiples of MATMUL_UNIT. The block has a
 * thread for each 128 results; a stage is what its shared memory holds of both operands at once. */
enum {
  MATMUL_ROWS = 128,
  MATMUL_COLUMNS = 256,
  MATMUL_UNIT = 256,
  MATMUL_DEPTH = 64,
  MATMUL_BLOCK = 256,
  MATMUL_STAGE_BYTES = (MATMUL_ROWS + MATMUL_COLUMNS) * MATMUL_DEPTH * 2,
  MATMUL_STAGES_MAX = 4,
  MATMUL_SIDE_MAX = 16384
};
enum { TRIAD_INTENSITY_MAX = 4096 };
/* Multiply-adds of a thread in a round: FMA_STEPS in each of FMA_CHAINS. */
enum { FMA_CHAINS = 8, FMA_STEPS = 64, FMA_ROUNDS_MAX = 4096 };

/* Element `index`: of 2 bytes (bf16, of matrices) from -8 to 7, so that sums of MATMUL_SIDE_MAX
 * products stay below 2^20; of 4 bytes (f32, of a triad) from 0 to 1023. */
PATTERN_FUNCTION int64_t compute_number(uint64_t seed, uint64_t index, uint32_t element_bytes) {
  const uint64_t word = pattern_word(seed, index);
  return element_bytes == 2 ? (int64_t)(word >> 60) - 8 : (int64_t)(word >> 54);
}

/* Chains start there and grow by 1 at each step, with factor and add 1. */
PATTERN_FUNCTION int64_t compute_chain_start(uint64_t thread, int chain) {
  return (int64_t)(thread % 64) * FMA_CHAINS + chain;
}

/* The sum of a thread's chains after that many rounds, below 2^22. */
PATTERN_FUNCTION int64_t compute_chains_end(uint64_t thread, uint32_t rounds) {
  int64_t sum = (int64_t)rounds * FMA_STEPS * FMA_CHAINS;
  for (int chain = 0; chain < FMA_CHAINS; chain++) {
    sum += compute_chain_start(thread, chain);
  }
  return sum;
}
