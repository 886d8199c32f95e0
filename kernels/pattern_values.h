/* pattern_values.h - what buffers hold while they are measured: 8-byte words that depend on their
 * position, so that a misplaced, repeated or missing byte shows at any distance, and that do not
 * compress. Little-endian in memory. Poison differs from the pattern in every byte. Shared by host
 * and device code. */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define PATTERN_FUNCTION static __host__ __device__ inline
#else
#define PATTERN_FUNCTION static inline
#endif

/* The word at byte offset 8 * index. Multiplication by an odd number is a bijection on 64 bits, and
 * so is the xor-shift: no two words of one seed are alike. */
PATTERN_FUNCTION uint64_t pattern_word(uint64_t seed, uint64_t index) {
  uint64_t value = (index + seed) * UINT64_C(0x9E3779B97F4A7C15);
  return value ^ (value >> 32);
}

PATTERN_FUNCTION unsigned char pattern_byte(uint64_t seed, uint64_t offset) {
  return (unsigned char)(pattern_word(seed, offset / 8) >> (offset % 8 * 8));
}

/* The place that is touched i-th of `count` in random order: a permutation. On as many bits as
 * count needs, multiplication by an odd number and a shift to the right are bijections; what falls
 * past the end is sent on until it does not (cycle walking: Black and Rogaway, CT-RSA 2002). */
PATTERN_FUNCTION uint64_t pattern_shuffled(uint64_t i, uint64_t count) {
  uint32_t bits = 1;
  while (bits < 63 && UINT64_C(1) << bits < count) {
    bits++;
  }
  const uint64_t mask = (UINT64_C(1) << bits) - 1;
  do {
    for (int round = 0; round < 3; round++) {
      i = (i * UINT64_C(0x9E3779B97F4A7C15) + 1) & mask;
      i ^= i >> (bits / 2 + 1);
    }
  } while (i >= count);
  return i;
}
