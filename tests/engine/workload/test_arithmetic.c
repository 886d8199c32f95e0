/* [[arithmetic]]: every kernel gives what the host's own arithmetic gives. */
#include "tests/engine/workload/fixture.h"

static struct case_def arithmetic_case(enum arithmetic_op op, enum number_type type) {
  struct case_def def = fixture_case(CASE_ARITHMETIC);
  work.arithmetic = (struct arithmetic){.op = op,
                                        .type = type,
                                        .measure = ARITHMETIC_LATENCY,
                                        .gpu = 1,
                                        .ilp = 1,
                                        .block = 1,
                                        .grid = 1,
                                        .instructions = 4096};
  def.operations = work.arithmetic.instructions;
  return def;
}

TEST(every_operation_and_type, struct fixture *fixture) {
  for (int op = 0; op < (int)arithmetic_op_name_count; op++) {
    for (int type = op == ARITHMETIC_ADD3 ? NUMBER_I32 : 0; type < (int)number_type_name_count;
         type++) {
      struct case_def def = arithmetic_case((enum arithmetic_op)op, (enum number_type)type);
      for (uint32_t ilp = 1; ilp <= 8; ilp *= 2) {
        work.arithmetic.ilp = ilp;
        fixture_run_ok(fixture, &def);
        assert_true(fixture->outcome.verified);
        assert_int_equal(fixture->outcome.clock, CLOCK_KERNEL);
        assert_true(fixture->trials[0].cycles > 0);
        work.arithmetic.measure = ARITHMETIC_THROUGHPUT;
        work.arithmetic.block = 96;
        work.arithmetic.grid = 200;
      }
    }
  }
}

/* Every thread leaves a word, on the GPU and for verification on the host. */
TEST(results_are_a_part_of_the_memory, struct fixture *fixture) {
  const struct case_def def = arithmetic_case(ARITHMETIC_FMA, NUMBER_F32);
  uint64_t host_bytes = 0;
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  work.arithmetic.block = 96;
  work.arithmetic.grid = 200;
  engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
  assert_int_equal(host_bytes, 96 * 200 * 8);
  assert_int_equal(gpu_bytes[1], 96 * 200 * 8);
  assert_int_equal(gpu_bytes[0], 0);
}

TEST(unsupported_arithmetic_gives_its_reason, struct fixture *fixture) {
  struct case_def def = arithmetic_case(ARITHMETIC_FMA, NUMBER_F32);
  work.arithmetic.ilp = 3;
  fixture_skips(fixture, &def, "1, 2, 4 or 8");
  work.arithmetic.ilp = 2;
  fixture_skips(fixture, &def, "one chain by one warp");
  work.arithmetic.ilp = 1;
  work.arithmetic.instructions = 4095;
  fixture_skips(fixture, &def, "a multiple of 512");
  work.arithmetic.instructions = 512;
  work.arithmetic.block = 0;
  fixture_skips(fixture, &def, "at least one");
  work.arithmetic.block = 1;
  work.arithmetic.gpu = 4;
  fixture_skips(fixture, &def, "no GPU 4");
}

/* No trial is longer than the chains keep to normal numbers. */
TEST(iterations_end_at_the_most_instructions, struct fixture *fixture) {
  struct case_def def = arithmetic_case(ARITHMETIC_MUL, NUMBER_F16);
  work.arithmetic.instructions = ARITHMETIC_INSTRUCTIONS_MAX / 2;
  def.measure.min_trial_ns = UINT64_C(1000000000);
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.iterations, 2);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
