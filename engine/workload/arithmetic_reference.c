#include "engine/workload/arithmetic.h"

#include <math.h>
#include <string.h>

static const struct arithmetic_pair pairs[2] = {ARITHMETIC_PAIR_FIRST, ARITHMETIC_PAIR_SECOND};

enum { F64_FRACTION_BITS = 52, F16_FRACTION_BITS = 10, F16_BIAS = 15, F64_BIAS = 1023 };

static uint64_t f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* To the nearest f16, ties to even, kept as f64: normal numbers only. What is added, multiplied or
 * fused here is exact in f64 before (products of 11-bit numbers of like size), so that it is
 * rounded once. */
static double f16_round(double value) {
  const int dropped = F64_FRACTION_BITS - F16_FRACTION_BITS;
  uint64_t bits = f64_bits(value);
  bits += (UINT64_C(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
  bits &= ~((UINT64_C(1) << dropped) - 1);
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint16_t arithmetic_f16_bits(double value) {
  const uint64_t bits = f64_bits(f16_round(value));
  const uint64_t sign = bits >> 63;
  if (bits << 1 == 0) {
    return (uint16_t)(sign << 15);
  }
  const uint64_t exponent = (bits >> F64_FRACTION_BITS & 0x7ff) - F64_BIAS + F16_BIAS;
  const uint64_t fraction = bits >> (F64_FRACTION_BITS - F16_FRACTION_BITS) & 0x3ff;
  return (uint16_t)(sign << 15 | exponent << F16_FRACTION_BITS | fraction);
}

static uint64_t operand_bits(enum number_type type, double value) {
  switch (type) {
  case NUMBER_F16:
    return arithmetic_f16_bits(value) * UINT64_C(0x10001);
  case NUMBER_F32:
    return f32_bits((float)value);
  case NUMBER_F64:
    return f64_bits(value);
  case NUMBER_I32:
    return ARITHMETIC_INTEGER_B;
  case number_type_name_count:
    break;
  }
  return 0;
}

void arithmetic_operands(enum number_type type, struct arithmetic_arguments *arguments) {
  arguments->first_b = operand_bits(type, pairs[0].b);
  arguments->first_c = operand_bits(type, pairs[0].c);
  arguments->second_b = operand_bits(type, pairs[1].b);
  arguments->second_c = operand_bits(type, pairs[1].c);
}

static const struct arithmetic_pair *pair_of(uint64_t step) {
  return &pairs[step / ARITHMETIC_GROUP % 2];
}

static uint64_t chain_f16(enum arithmetic_op op, double x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = pair_of(i);
    const double product = op == ARITHMETIC_ADD ? x : x * by->b;
    x = f16_round(op == ARITHMETIC_MUL ? product : product + by->c);
  }
  return arithmetic_f16_bits(x);
}

static uint64_t chain_f32(enum arithmetic_op op, float x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = pair_of(i);
    const float b = op == ARITHMETIC_ADD ? 1 : (float)by->b;
    x = op == ARITHMETIC_MUL ? x * b : fmaf(x, b, (float)by->c);
  }
  return f32_bits(x);
}

static uint64_t chain_f64(enum arithmetic_op op, double x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = pair_of(i);
    const double b = op == ARITHMETIC_ADD ? 1 : by->b;
    x = op == ARITHMETIC_MUL ? x * b : fma(x, b, by->c);
  }
  return f64_bits(x);
}

static uint32_t step_i32(enum arithmetic_op op, uint32_t x, uint32_t other) {
  switch (op) {
  case ARITHMETIC_ADD:
    return x + other;
  case ARITHMETIC_MUL:
    return x * other;
  case ARITHMETIC_FMA:
    return x * ARITHMETIC_INTEGER_B + other;
  case ARITHMETIC_ADD3:
    return x + other + ARITHMETIC_INTEGER_B;
  case arithmetic_op_name_count:
    break;
  }
  return 0;
}

static uint64_t chain_i32(enum arithmetic_op op, uint32_t start, uint64_t steps) {
  uint32_t x = 2 * start + 3;
  uint32_t y = x + 2;
  for (uint64_t i = 0; i < steps; i++) {
    if (i % 2 == 0) {
      x = step_i32(op, x, y);
    } else {
      y = step_i32(op, y, x);
    }
  }
  return x | (uint64_t)y << 32;
}

uint64_t arithmetic_chain(enum arithmetic_op op, enum number_type type, uint32_t start,
                          uint64_t steps) {
  const double from = 1 + (double)start / 64;
  switch (type) {
  case NUMBER_F16:
    return chain_f16(op, from, steps) | chain_f16(op, from + 1.0 / 64, steps) << 16;
  case NUMBER_F32:
    return chain_f32(op, (float)from, steps);
  case NUMBER_F64:
    return chain_f64(op, from, steps);
  case NUMBER_I32:
    return chain_i32(op, start, steps);
  case number_type_name_count:
    break;
  }
  return 0;
}

uint64_t arithmetic_expected(enum arithmetic_op op, enum number_type type, uint32_t lane,
                             uint32_t ilp, uint64_t instructions) {
  uint64_t folded = 0;
  for (uint32_t chain = 0; chain < ilp; chain++) {
    folded = arithmetic_fold(
        folded, arithmetic_chain(op, type, arithmetic_start(lane, chain), instructions / ilp));
  }
  return folded;
}
