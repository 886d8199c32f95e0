/* The host's own evaluation of chains: known values, and that every step counts. */
#include "engine/workload/arithmetic.h"

#include "tests/cmocka.h"

#include <math.h>

TEST(f16_is_rounded_to_even) {
  assert_int_equal(arithmetic_f16_bits(0), 0);
  assert_int_equal(arithmetic_f16_bits(1), 0x3c00);
  assert_int_equal(arithmetic_f16_bits(-2), 0xc000);
  assert_int_equal(arithmetic_f16_bits(65504), 0x7bff);
  assert_int_equal(arithmetic_f16_bits(0x1p-14), 0x0400);
  assert_int_equal(arithmetic_f16_bits(1 + 0x1p-11), 0x3c00);     /* a tie: down to even */
  assert_int_equal(arithmetic_f16_bits(1 + 3 * 0x1p-11), 0x3c02); /* a tie: up to even */
  assert_int_equal(arithmetic_f16_bits(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  assert_int_equal(arithmetic_f16_bits(2 - 0x1p-12), 0x4000); /* into the exponent */
}

/* By hand: 1 + 0.7001953125; 1.0078125 of 1; both. x and y of integers: 3, 5 -> 8, 13. */
TEST(first_steps) {
  const double sum = 1.7001953125;
  const float product = 1.0078125F;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  assert_int_equal(arithmetic_chain(ARITHMETIC_ADD, NUMBER_F64, 0, 1), bits);
  uint32_t bits32;
  memcpy(&bits32, &product, sizeof bits32);
  assert_int_equal(arithmetic_chain(ARITHMETIC_MUL, NUMBER_F32, 0, 1), bits32);
  assert_int_equal(arithmetic_chain(ARITHMETIC_ADD, NUMBER_I32, 0, 1), UINT64_C(5) << 32 | 8);
  assert_int_equal(arithmetic_chain(ARITHMETIC_ADD, NUMBER_I32, 0, 2), UINT64_C(13) << 32 | 8);
  assert_int_equal(arithmetic_chain(ARITHMETIC_MUL, NUMBER_I32, 0, 2), UINT64_C(75) << 32 | 15);
  assert_int_equal(arithmetic_chain(ARITHMETIC_FMA, NUMBER_F16, 0, 1) & 0xffff,
                   arithmetic_f16_bits(1.0078125 + 0.7001953125));
}

/* One step less is another end, early and late; and no chain leaves the normal numbers. */
TEST(every_step_counts) {
  for (int op = 0; op < (int)arithmetic_op_name_count; op++) {
    for (int type = op == ARITHMETIC_ADD3 ? NUMBER_I32 : 0; type < (int)number_type_name_count;
         type++) {
      for (uint64_t steps = 64; steps <= 1 << 20; steps *= 128) {
        const uint64_t end =
            arithmetic_chain((enum arithmetic_op)op, (enum number_type)type, 62, steps);
        assert_int_not_equal(
            end, arithmetic_chain((enum arithmetic_op)op, (enum number_type)type, 62, steps - 1));
        assert_int_not_equal(
            end, arithmetic_chain((enum arithmetic_op)op, (enum number_type)type, 62, steps - 2));
        float f32;
        double f64;
        memcpy(&f64, &end, sizeof f64);
        memcpy(&f32, &end, sizeof f32);
        switch ((enum number_type)type) {
        case NUMBER_F16:
          assert_in_range(end & 0x7c00, 0x0400, 0x7800);
          break;
        case NUMBER_F32:
          assert_true(isnormal(f32));
          break;
        case NUMBER_F64:
          assert_true(isnormal(f64));
          break;
        case NUMBER_I32:
        case number_type_name_count:
          break;
        }
      }
    }
  }
}

/* Chains of a thread and lanes of a block differ, so that one cannot stand for another. */
TEST(threads_and_chains_differ) {
  for (int type = 0; type < (int)number_type_name_count; type++) {
    uint64_t ends[ARITHMETIC_LANES];
    for (uint32_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
      ends[lane] = arithmetic_expected(ARITHMETIC_FMA, (enum number_type)type, lane, 4, 512);
      for (uint32_t other = 0; other < lane; other++) {
        assert_int_not_equal(ends[lane], ends[other]);
      }
    }
    assert_int_equal(arithmetic_expected(ARITHMETIC_FMA, (enum number_type)type, 4, 4, 512),
                     ends[0]);
  }
}
