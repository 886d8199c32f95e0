/* arithmetic.h - chains of dependent instructions: case kind arithmetic. */
#pragma once

#include "engine/case/case.h"

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

/* Part of an arithmetic's case_key: raised whenever it measures differently. */
enum { ARITHMETIC_METHOD_VERSION = 1 };

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
