/* stream_values.h - what the arrays of a stream hold: numbers that depend on their position, small
 * enough that every operation is exact in its type, so that results are compared bit by bit. Shared
 * by host and device code.
 *
 * Array x holds the number n(seed, i), below 2^22 (f32) or 2^47 (f64). An output is
 * factor_a * n(seed_a, i) + factor_b * n(seed_b, i): at most four times that, exact with 24 and 53
 * bits. What `write` leaves is words made from their own place. What `read` reads is words as
 * irregular as a pattern, whose sum is known without adding them up. */
#pragma once

#include "kernels/pattern_values.h"

#ifndef __CUDACC__
#include <string.h>
#endif

enum { STREAM_SCALAR = 3, STREAM_F32_BITS = 22, STREAM_F64_BITS = 47 };
#define STREAM_SEED_A (UINT64_C(1) << 40)
#define STREAM_SEED_B (UINT64_C(2) << 40)

/* What one array shall hold. */
struct stream_values {
  uint64_t seed_a;
  uint64_t seed_b;
  uint32_t factor_a; /* both factors 0: words made from their place */
  uint32_t factor_b;
  uint32_t element_bytes; /* 4 or 8 */
  uint32_t invert;        /* 1: every bit is wrong (poison) */
  uint32_t summed;        /* with both factors 0: 1 = stream_summed_word() of the place */
  uint32_t reserved;
};

PATTERN_FUNCTION uint64_t stream_number(uint64_t seed, uint64_t index, uint32_t element_bytes) {
  return pattern_word(seed, index) >>
         (64 - (element_bytes == 4 ? STREAM_F32_BITS : STREAM_F64_BITS));
}

/* The 32-bit word at byte offset 4 * index: no two of 16 GiB are alike. */
PATTERN_FUNCTION uint32_t stream_word(uint64_t index) {
  return (uint32_t)index * UINT32_C(0x9E3779B1) + (uint32_t)(index >> 32) * UINT32_C(0x85EBCA6B) +
         UINT32_C(0x27D4EB2F);
}

/* The 32-bit word at byte offset 4 * index of an array that is read: irregular words, repeated,
 * with a constant of its own added to each repetition. */
enum { STREAM_SUMMED_WORDS = 1 << 16 };
PATTERN_FUNCTION uint32_t stream_summed_word(uint64_t index) {
  return (uint32_t)pattern_word(STREAM_SEED_A, index % STREAM_SUMMED_WORDS) +
         stream_word(index / STREAM_SUMMED_WORDS);
}

/* The sum of the first `count` of them, modulo 2^32. */
PATTERN_FUNCTION uint32_t stream_words_sum(uint64_t count) {
  const uint64_t whole = count / STREAM_SUMMED_WORDS; /* repetitions, below 2^32 */
  const uint64_t rest = count % STREAM_SUMMED_WORDS;
  /* whole * (whole - 1) / 2 fits 64 bits: the numbers of the repetitions are added up. */
  uint32_t sum =
      STREAM_SUMMED_WORDS * (uint32_t)(stream_word(0) * whole + (stream_word(1) - stream_word(0)) *
                                                                    (whole * (whole - 1) / 2));
  for (uint64_t i = 0; i < STREAM_SUMMED_WORDS; i++) {
    const uint32_t word = (uint32_t)pattern_word(STREAM_SEED_A, i);
    sum += word * (uint32_t)(whole + (i < rest ? 1 : 0));
  }
  return sum + (uint32_t)rest * stream_word(whole);
}

PATTERN_FUNCTION uint32_t stream_word_of(const struct stream_values *values, uint64_t index) {
  return values->summed ? stream_summed_word(index) : stream_word(index);
}

/* The bits of element `index`. */
PATTERN_FUNCTION uint64_t stream_bits(const struct stream_values *values, uint64_t index) {
  uint64_t bits = 0;
  if (values->factor_a == 0 && values->factor_b == 0) {
    bits = values->element_bytes == 4 ? stream_word_of(values, index)
                                      : stream_word_of(values, 2 * index) |
                                            (uint64_t)stream_word_of(values, 2 * index + 1) << 32;
  } else {
    uint64_t number =
        values->factor_a * stream_number(values->seed_a, index, values->element_bytes);
    if (values->factor_b != 0) {
      number += values->factor_b * stream_number(values->seed_b, index, values->element_bytes);
    }
    if (values->element_bytes == 4) {
      float value = (float)number;
      memcpy(&bits, &value, sizeof value);
    } else {
      double value = (double)number;
      memcpy(&bits, &value, sizeof value);
    }
  }
  const uint64_t all = values->element_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  return values->invert ? bits ^ all : bits;
}
