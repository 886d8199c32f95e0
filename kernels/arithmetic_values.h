/* arithmetic_values.h - the chains of kernels haul_arithmetic_*: where they start, and with what
 * each step works. Shared by host and device code.
 *
 * Steps come in groups of ARITHMETIC_GROUP: one with the first pair of operands, one with the
 * second, which takes back most of what the first did. So values stay normal numbers of moderate
 * size however long the chain is, and rounding makes each step count: with a step left out or two
 * folded into one the chain ends elsewhere. */
#pragma once

#include "kernels/pattern_values.h"

/* Of the body of the kernels' loop: all steps of a thread, over its chains. */
enum { ARITHMETIC_BODY = 512, ARITHMETIC_GROUP = 8, ARITHMETIC_LANES = 4 };

/* Step of a floating-point chain: add: x + c; mul: x * b; fma: x * b + c. All are exact in f16. */
struct arithmetic_pair {
  double b;
  double c;
};
#define ARITHMETIC_PAIR_FIRST                                                                      \
  { 1.0078125, 0.7001953125 }
#define ARITHMETIC_PAIR_SECOND                                                                     \
  { 0.9921875, -0.69970703125 }
/* A chain of integers has two numbers, x and y, that change in turn: add: x + y; mul: x * y; fma:
 * x * b + y (low 32 bits; b the same at every step); add3: x + y + b. Each result is used
 * twice, so that no two steps can be folded into one. Both start odd, and so no product becomes 0.
 */
#define ARITHMETIC_INTEGER_B UINT32_C(0x9E3779B1)

/* Chain `chain` of a thread whose number in the block is `lane` modulo ARITHMETIC_LANES starts with
 * 1 + start / 64; f16: in the low half, and with 1/64 more in the high half. Integers: x with
 * 2 start + 3, y with 2 more. */
PATTERN_FUNCTION uint32_t arithmetic_start(uint32_t lane, uint32_t chain) {
  return lane % ARITHMETIC_LANES * 16 + chain * 2;
}

/* The ends of all chains in one word: folded one after the other, from 0. bits: of the value; i32:
 * of x, and of y in the upper half. */
PATTERN_FUNCTION uint64_t arithmetic_fold(uint64_t folded, uint64_t bits) {
  return (folded ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
}
