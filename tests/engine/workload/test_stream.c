/* [[stream]] on GPUs and host threads: every operation, type and shape is verified; what cannot be
 * is refused. */
#include "engine/workload/stream.h"
#include "tests/engine/workload/fixture.h"

/* Not a multiple of any access, tile or page. */
enum { SIZE_BYTES = 1000 * 8 + 8 };

static struct case_def stream_case(struct endpoint memory, enum stream_op op,
                                   enum number_type type) {
  struct case_def def = fixture_case(CASE_STREAM);
  work.stream = (struct stream){.op = op, .type = type, .memory = memory, .size_bytes = SIZE_BYTES};
  return def;
}

static void run_verified(struct fixture *fixture, const struct case_def *def) {
  fixture_run_ok(fixture, def);
  assert_true(fixture->outcome.verified);
}

TEST(every_operation_on_a_gpu, struct fixture *fixture) {
  const uint32_t vectors[] = {0, 4, 8, 16};
  const uint32_t unrolls[] = {0, 1, 4};
  for (int op = 0; op < (int)stream_op_name_count; op++) {
    for (int i = 0; i < 4 * 3 * 2; i++) {
      const enum number_type type = i % 2 == 0 ? NUMBER_F32 : NUMBER_F64;
      struct case_def def = stream_case(fixture_gpu(1, MEMORY_DEVICE), (enum stream_op)op, type);
      work.stream.unroll = unrolls[i / 2 % 3];
      work.stream.vector_bytes = vectors[i / 6];
      if (type == NUMBER_F64 && work.stream.vector_bytes == 4) {
        continue;
      }
      run_verified(fixture, &def);
      assert_int_equal(fixture->outcome.clock, CLOCK_EVENT);
      assert_true(fixture->outcome.gated);
      assert_int_equal(fixture->trials[0].cycles, 0);
    }
  }
}

TEST(every_operation_on_the_host, struct fixture *fixture) {
  const uint64_t sizes[] = {8, 24, 4096, SIZE_BYTES, 3000000};
  for (int op = 0; op < (int)stream_op_name_count; op++) {
    for (size_t i = 0; i < 2 * COUNT_OF(sizes); i++) {
      struct case_def def = stream_case(fixture_node(0, MEMORY_PAGEABLE), (enum stream_op)op,
                                        i % 2 == 0 ? NUMBER_F32 : NUMBER_F64);
      work.stream.size_bytes = sizes[i / 2];
      work.stream.threads = i % 2 == 0 ? 0 : 1;
      work.stream.passes = (uint32_t)(i % 3);
      run_verified(fixture, &def);
      assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
    }
  }
}

TEST(one_thread_and_many_blocks, struct fixture *fixture) {
  const struct {
    uint32_t block, grid;
  } shapes[] = {{1, 1}, {33, 2}, {1024, 1}, {256, 100000}, {7, STREAM_GRID_FULL}};
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    for (int op = 0; op < (int)stream_op_name_count; op++) {
      struct case_def def =
          stream_case(fixture_gpu(0, MEMORY_DEVICE), (enum stream_op)op, NUMBER_F64);
      work.stream.block = shapes[i].block;
      work.stream.grid = shapes[i].grid;
      work.stream.passes = shapes[i].grid <= 2 ? 3 : 1;
      run_verified(fixture, &def);
    }
  }
}

/* Blocks with the same part read its bytes as often as there are such blocks. */
TEST(parts_are_read_by_several_blocks, struct fixture *fixture) {
  char reason[CASE_REASON_MAX];
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_READ, NUMBER_F64);
  work.stream.grid = 12;
  work.stream.parts = 4;
  assert_int_equal(stream_sweeps(&work.stream), 3);
  run_verified(fixture, &def);
  work.stream.passes = 2;
  assert_int_equal(stream_sweeps(&work.stream), 6);
  run_verified(fixture, &def);
  const char *const why = "a multiple";
  work.stream.parts = 5;
  assert_contains(engine_case_unsupported_reason(&def, fixture->machine, reason), why);
  work.stream.parts = 4;
  work.stream.op = STREAM_DOT;
  assert_contains(engine_case_unsupported_reason(&def, fixture->machine, reason), why);
}

/* Blocks that wait for others to end would make all passes over parts of the arrays. */
TEST(passes_need_all_blocks_at_once, struct fixture *fixture) {
  const uint32_t sms = fixture->machine->gpus[0].sm_count;
  const struct {
    uint32_t block, grid;
    bool fits;
  } cases[] = {{256, 8 * sms, true}, {256, 8 * sms + 1, false}, {1024, 2 * sms, true},
               {33, 32 * sms, true}, {33, 32 * sms + 1, false}, {0, 0, true}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char reason[CASE_REASON_MAX];
    struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_COPY, NUMBER_F64);
    work.stream.block = cases[i].block;
    work.stream.grid = cases[i].grid;
    assert_null(engine_case_unsupported_reason(&def, fixture->machine, reason));
    work.stream.passes = 2;
    const char *found = engine_case_unsupported_reason(&def, fixture->machine, reason);
    assert_int_equal(found == NULL, cases[i].fits);
  }
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_COPY, NUMBER_F64);
  char reason[CASE_REASON_MAX];
  work.stream.size_bytes = UINT64_C(1) << 30;
  work.stream.passes = 16;
  work.stream.grid = STREAM_GRID_FULL;
  assert_non_null(
      strstr(engine_case_unsupported_reason(&def, fixture->machine, reason), "passes = 1"));
  struct stream_shape shape;
  work.stream.grid = 0;
  assert_true(stream_shape_of(&work.stream, &fixture->machine->gpus[0], &shape));
  assert_int_equal(shape.grid * shape.block, 1024 * sms);
}

/* The time of a kernel with several passes that notes cycles is its own: no launch is in it. */
TEST(loads_past_the_l1_cache, struct fixture *fixture) {
  const enum stream_op ops[] = {STREAM_COPY, STREAM_READ};
  const uint32_t vectors[] = {0, 4, 8, 16};
  for (size_t i = 0; i < 16; i++) {
    struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), ops[i % 2], NUMBER_F32);
    work.stream.cache = CACHE_L2;
    work.stream.vector_bytes = vectors[i / 2 % 4];
    work.stream.passes = i < 8 ? 1 : 5;
    work.stream.clock = STREAM_CLOCK_CYCLES;
    run_verified(fixture, &def);
    assert_int_equal(fixture->outcome.clock, i < 8 ? CLOCK_EVENT : CLOCK_KERNEL);
    assert_true(fixture->trials[0].cycles > 0);
  }
  char reason[CASE_REASON_MAX];
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_TRIAD, NUMBER_F64);
  work.stream.cache = CACHE_L2;
  assert_non_null(engine_case_unsupported_reason(&def, fixture->machine, reason));
}

/* The operation that is timed is the last of four over the same arrays, which end as they should in
 * every trial; and what repeats by itself from the L2 does not where they follow each other. */
TEST(operations_in_sequence, struct fixture *fixture) {
  const uint64_t l2_bytes = fixture->machine->gpus[0].l2_bytes;
  for (int op = 0; op <= (int)STREAM_TRIAD; op++) {
    struct case_def def =
        stream_case(fixture_gpu(0, MEMORY_DEVICE), (enum stream_op)op, NUMBER_F64);
    def.measure.verify = VERIFY_EVERY;
    work.stream.order = STREAM_SEQUENCE;
    run_verified(fixture, &def);
    for (uint32_t i = 0; i < fixture->trial_count; i++) {
      assert_int_equal(fixture->trials[i].iterations, 1);
    }
    uint64_t host_bytes;
    uint64_t gpu_bytes[MACHINE_GPUS_MAX];
    engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
    assert_int_equal(gpu_bytes[0], 3 * SIZE_BYTES);
  }
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_COPY, NUMBER_F64);
  work.stream.size_bytes = l2_bytes / 5 * 2 / 8 * 8; /* two fit, three do not */
  double ns[2];
  for (int order = 0; order < 2; order++) {
    work.stream.order = (enum stream_order)order;
    run_verified(fixture, &def);
    const struct trial *trial = &fixture->trials[fixture->trial_count - 1];
    ns[order] = (double)trial->elapsed_ns / trial->iterations;
  }
  assert_true(ns[STREAM_SEQUENCE] > 1.15 * ns[STREAM_ALONE]); /* of two arrays one is still there */
}

/* On the GPU and on the host, beside a copy engine and beside host threads. */
TEST(loads_run_beside_it, struct fixture *fixture) {
  const struct flow loads[] = {fixture_load(METHOD_CE, fixture_node(0, MEMORY_PINNED),
                                            fixture_gpu(1, MEMORY_DEVICE), 32 << 20),
                               fixture_load(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE),
                                            fixture_node(0, MEMORY_PAGEABLE), 1 << 20)};
  const struct endpoint places[] = {fixture_gpu(1, MEMORY_DEVICE),
                                    fixture_node(0, MEMORY_PAGEABLE)};
  for (size_t i = 0; i < 2 * 3; i++) {
    struct case_def def = stream_case(places[i / 3], STREAM_TRIAD, NUMBER_F64);
    work.stream.size_bytes = 1 << 20;
    work.stream.threads = i < 3 ? 0 : 1;
    def.flows = &loads[i % 3 == 1];
    def.flow_count = i % 3 == 2 ? 2 : 1;
    run_verified(fixture, &def);
    assert_int_equal(fixture->outcome.clock, i / 3 == 0 ? CLOCK_EVENT : CLOCK_HOST);
    assert_true(fixture->flow_trial_count >= def.flow_count * fixture->trial_count);
    assert_true(fixture->flow_trials[0].iterations > 0);
  }
}

/* By cycles, one launch is one trial. */
TEST(cycles_are_counted, struct fixture *fixture) {
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_TRIAD, NUMBER_F32);
  work.stream.clock = STREAM_CLOCK_CYCLES;
  def.measure.min_trial_ns = 1000000;
  run_verified(fixture, &def);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    assert_int_equal(fixture->trials[i].iterations, 1);
    assert_true(fixture->trials[i].cycles > 0);
  }
}

TEST(caches_are_flushed_with_it, struct fixture *fixture) {
  struct case_def def = stream_case(fixture_gpu(0, MEMORY_DEVICE), STREAM_ADD, NUMBER_F64);
  def.measure.device_cache = CACHE_FLUSHED;
  run_verified(fixture, &def);
  def = stream_case(fixture_node(0, MEMORY_PINNED), STREAM_ADD, NUMBER_F64);
  def.measure.host_cache = HOST_CACHE_FLUSHED;
  run_verified(fixture, &def);
  def.measure.host_cache = HOST_CACHE_WARM;
  run_verified(fixture, &def);
}

TEST(memory_is_counted, struct fixture *fixture) {
  struct case_def def = stream_case(fixture_gpu(2, MEMORY_DEVICE), STREAM_TRIAD, NUMBER_F64);
  uint64_t host_bytes;
  uint64_t gpu_bytes[MACHINE_GPUS_MAX];
  engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
  assert_int_equal(host_bytes, 0);
  assert_int_equal(gpu_bytes[2], 3 * SIZE_BYTES);
  def = stream_case(fixture_node(0, MEMORY_HUGE), STREAM_READ, NUMBER_F64);
  engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
  assert_int_equal(host_bytes, SIZE_BYTES);
  assert_int_equal(gpu_bytes[2], 0);
}

TEST(unsupported_stream_gives_its_reason, struct fixture *fixture) {
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  struct case_def def = stream_case(gpu, STREAM_COPY, NUMBER_F16);
  fixture_skips(fixture, &def, "f32 or f64");
  def = stream_case(gpu, STREAM_COPY, NUMBER_F64);
  work.stream.size_bytes = 12;
  fixture_skips(fixture, &def, "whole f64");
  def = stream_case(gpu, STREAM_MUL, NUMBER_F64);
  work.stream.vector_bytes = 4;
  fixture_skips(fixture, &def, "less than one f64");
  work.stream.vector_bytes = 32;
  fixture_skips(fixture, &def, "no kernel");
  work.stream.vector_bytes = 16;
  work.stream.unroll = 3;
  fixture_skips(fixture, &def, "no kernel");
  work.stream.unroll = 1;
  work.stream.block = 1025;
  fixture_skips(fixture, &def, "1024");
  def = stream_case(gpu, STREAM_DOT, NUMBER_F64);
  work.stream.order = STREAM_SEQUENCE;
  fixture_skips(fixture, &def, "copy, mul, add and triad of f64");
  def = stream_case(gpu, STREAM_COPY, NUMBER_F32);
  work.stream.order = STREAM_SEQUENCE;
  fixture_skips(fixture, &def, "copy, mul, add and triad of f64");
  def = stream_case(gpu, STREAM_DOT, NUMBER_F32);
  work.stream.grid = 1 << 23;
  fixture_skips(fixture, &def, "sum of its own");
  def = stream_case(fixture_gpu(99, MEMORY_DEVICE), STREAM_DOT, NUMBER_F32);
  fixture_skips(fixture, &def, "no GPU 99");
  def = stream_case(fixture_gpu(0, MEMORY_MANAGED), STREAM_DOT, NUMBER_F32);
  fixture_skips(fixture, &def, "its own memory");
  def = stream_case(fixture_node(0, MEMORY_MANAGED), STREAM_DOT, NUMBER_F32);
  fixture_skips(fixture, &def, "managed");
  def = stream_case(fixture_node(77, MEMORY_PAGEABLE), STREAM_DOT, NUMBER_F32);
  fixture_skips(fixture, &def, "no NUMA node 77");
  def = stream_case(fixture_node(0, MEMORY_PAGEABLE), STREAM_DOT, NUMBER_F32);
  work.stream.threads = 100000;
  fixture_skips(fixture, &def, "100000 threads");
  work.stream.threads = 0;
  work.stream.grid = 1;
  fixture_skips(fixture, &def, "a GPU's");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
