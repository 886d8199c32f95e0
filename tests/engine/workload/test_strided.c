/* Strided copies: odd shapes arrive whole, and nothing is written between the rows. */
#include "engine/method/method.h"
#include "tests/engine/workload/fixture.h"

static struct flow strided(enum method method, struct endpoint source, struct endpoint target,
                           struct copy_shape shape) {
  return (struct flow){.method = method,
                       .source = source,
                       .target = target,
                       .initiator = INITIATOR_SOURCE,
                       .shape = shape,
                       .size_bytes = shape.width_bytes * shape.height * shape.depth};
}

static const struct copy_shape shapes[] = {
    {.width_bytes = 4096, .height = 33, .depth = 1, .pitch_bytes = 8192},
    {.width_bytes = 1, .height = 1, .depth = 1, .pitch_bytes = 1},
    {.width_bytes = 13, .height = 101, .depth = 3, .pitch_bytes = 29},
    {.width_bytes = 6, .height = 1, .depth = 57, .pitch_bytes = 10},
    {.width_bytes = 1000, .height = 7, .depth = 5, .pitch_bytes = 1000},
};

static void run_shapes(struct fixture *fixture, enum method method, struct endpoint source,
                       struct endpoint target) {
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    struct flow flow = strided(method, source, target, shapes[i]);
    struct case_def def = fixture_transfer(&flow, 1);
    fixture_run_ok(fixture, &def);
  }
}

TEST(odd_shapes_arrive_by_copy_engine, struct fixture *fixture) {
  run_shapes(fixture, METHOD_CE, fixture_node(0, MEMORY_PINNED), fixture_gpu(0, MEMORY_DEVICE));
  run_shapes(fixture, METHOD_CE, fixture_gpu(0, MEMORY_DEVICE), fixture_node(0, MEMORY_PAGEABLE));
  run_shapes(fixture, METHOD_CE, fixture_gpu(0, MEMORY_DEVICE), fixture_gpu(1, MEMORY_DEVICE));
  run_shapes(fixture, METHOD_CE, fixture_gpu(2, MEMORY_DEVICE), fixture_gpu(2, MEMORY_DEVICE));
}

TEST(odd_shapes_arrive_by_kernel, struct fixture *fixture) {
  run_shapes(fixture, METHOD_SM, fixture_node(0, MEMORY_PINNED), fixture_gpu(0, MEMORY_DEVICE));
  run_shapes(fixture, METHOD_SM, fixture_gpu(0, MEMORY_DEVICE), fixture_node(0, MEMORY_PINNED));
  run_shapes(fixture, METHOD_SM, fixture_gpu(0, MEMORY_DEVICE), fixture_gpu(1, MEMORY_DEVICE));
}

TEST(impossible_shapes_are_refused, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  fixture_refuse(fixture, strided(METHOD_CE, host, gpu, (struct copy_shape){16, 4, 1, 8}),
                 "do not fit");
  fixture_refuse(fixture, strided(METHOD_SM, host, gpu, (struct copy_shape){16, 0, 1, 32}),
                 "height");
  fixture_refuse(fixture,
                 strided(METHOD_CE, host, gpu, (struct copy_shape){16, 2, 1, UINT64_C(1) << 31}),
                 "pitch below");
  struct flow flow = strided(METHOD_SM, host, gpu, (struct copy_shape){12, 4, 1, 20});
  flow.kernel.vector_bytes = 8;
  fixture_refuse(fixture, flow, "does not divide");
  flow.kernel = (struct kernel_shape){.variant = KERNEL_BULK};
  fixture_refuse(fixture, flow, "contiguous");
  flow = strided(METHOD_CE, host, gpu, (struct copy_shape){12, 4, 1, 20});
  flow.size_bytes++;
  fixture_refuse(fixture, flow, "width x height x depth");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
