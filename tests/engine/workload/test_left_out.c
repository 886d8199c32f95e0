/* A kernel that does nothing is never a number: streams, chases and arithmetic whose kernels are
 * dropped on GPU 3, and measured on GPU 2. Nor are pages of which the driver does not say where
 * they are. */
#include "tests/engine/workload/fixture.h"

enum { WORKING = 2, LEFT_OUT = 3 };

TEST(streams_are_corrupt, struct fixture *fixture) {
  for (int op = 0; op < (int)stream_op_name_count; op++) {
    struct case_def def = fixture_case(CASE_STREAM);
    work.stream = (struct stream){.op = (enum stream_op)op,
                                  .type = NUMBER_F32,
                                  .memory = fixture_gpu(WORKING, MEMORY_DEVICE),
                                  .size_bytes = 40000};
    fixture_run_ok(fixture, &def);
    work.stream.memory.index = LEFT_OUT;
    fixture_fails(fixture, &def, CASE_CORRUPT,
                  op == STREAM_DOT    ? "the dot product is"
                  : op == STREAM_READ ? "the words that were read add up to"
                                      : "10000 of 10000 elements are wrong, the first at 0");
  }
}

static void chase_fixture_fails(struct fixture *fixture, const struct chase *chase,
                                uint32_t iterations) {
  struct case_def def = fixture_case(CASE_CHASE);
  def.measure.iterations = iterations;
  work.chase = *chase;
  work.chase.gpu = WORKING;
  work.chase.memory = fixture_gpu(WORKING, MEMORY_DEVICE);
  fixture_run_ok(fixture, &def);
  work.chase.gpu = LEFT_OUT;
  work.chase.memory.index = LEFT_OUT;
  fixture_fails(fixture, &def, CASE_CORRUPT, "a load was wrong or not made");
}

/* Whole rounds of the chain end where they began, and so does a kernel that loads nothing. */
TEST(chases_are_corrupt, struct fixture *fixture) {
  const struct chase part = {
      .space = CHASE_GLOBAL, .footprint_bytes = 64 << 10, .stride_bytes = 128, .hops = 100};
  const struct chase whole = {.space = CHASE_GLOBAL,
                              .footprint_bytes = 128 << 10,
                              .stride_bytes = 256,
                              .order = CHASE_RANDOM,
                              .cache = CACHE_L1,
                              .hops = 512};
  chase_fixture_fails(fixture, &part, fixture_transfer(NULL, 0).measure.iterations);
  chase_fixture_fails(fixture, &whole, 1);
}

TEST(arithmetic_has_no_times, struct fixture *fixture) {
  struct case_def def = fixture_case(CASE_ARITHMETIC);
  work.arithmetic = (struct arithmetic){.op = ARITHMETIC_FMA,
                                        .type = NUMBER_F32,
                                        .gpu = WORKING,
                                        .ilp = 1,
                                        .block = 1,
                                        .grid = 1,
                                        .instructions = 512};
  fixture_run_ok(fixture, &def);
  work.arithmetic.gpu = LEFT_OUT;
  fixture_fails(fixture, &def, CASE_FAILED, "no SM noted");
}

/* Thread 87 of 96: a byte of its result arrives inverted. */
TEST(a_wrong_result_of_arithmetic_is_corrupt, struct fixture *fixture) {
  struct case_def def = fixture_case(CASE_ARITHMETIC);
  work.arithmetic = (struct arithmetic){.op = ARITHMETIC_FMA,
                                        .type = NUMBER_F32,
                                        .measure = ARITHMETIC_THROUGHPUT,
                                        .gpu = 0,
                                        .ilp = 1,
                                        .block = 32,
                                        .grid = 3,
                                        .instructions = 512};
  fixture_run_ok(fixture, &def);
  work.arithmetic.gpu = 1;
  fixture_fails(fixture, &def, CASE_CORRUPT, " instructions thread 87 is at 0x");
}

TEST(pages_of_unknown_place_are_not_moved, struct fixture *fixture) {
  struct flow flow = {.method = METHOD_UM,
                      .source = fixture_node(0, MEMORY_MANAGED),
                      .target = fixture_gpu(WORKING, MEMORY_MANAGED),
                      .initiator = INITIATOR_TARGET,
                      .size_bytes = 1 << 20,
                      .unified = {.mode = UNIFIED_PREFETCH, .touch_by = INITIATOR_TARGET}};
  const struct case_def def = fixture_transfer(&flow, 1);
  fixture_run_ok(fixture, &def);
  flow.target.index = LEFT_OUT;
  fixture_fails(fixture, &def, CASE_FAILED, "before a trial, at the source: asking where pages");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
