/* Copies in CUDA graphs: captured once per number of copies, launched by each trial, right in every
 * byte. */
#include "tests/engine/workload/fixture.h"

static struct flow captured(enum method method, uint64_t size_bytes) {
  return (struct flow){.method = method,
                       .source = fixture_node(0, MEMORY_PINNED),
                       .target = fixture_gpu(0, MEMORY_DEVICE),
                       .initiator = INITIATOR_TARGET,
                       .size_bytes = size_bytes,
                       .graph = true};
}

TEST(graphs_copy_every_byte, struct fixture *fixture) {
  for (int method = METHOD_CE; method <= METHOD_SM; method++) {
    struct flow flows[2] = {captured((enum method)method, 100001),
                            captured((enum method)method, 65536)};
    flows[1].source = fixture_gpu(0, MEMORY_DEVICE);
    flows[1].target = fixture_node(0, MEMORY_PINNED);
    const struct case_def both = fixture_transfer(flows, 2);
    fixture_run_ok(fixture, &both);
    assert_true(fixture->outcome.gated);
  }
}

/* Pieces, each a node, in runs of four. */
TEST(graphs_copy_pieces, struct fixture *fixture) {
  for (int method = METHOD_CE; method <= METHOD_SM; method++) {
    struct flow flow = captured((enum method)method, UINT64_C(64) * 512);
    flow.scatter = (struct scatter_shape){.pieces = 64, .piece_bytes = 512, .run_pieces = 4};
    const struct case_def pieces = fixture_transfer(&flow, 1);
    fixture_run_ok(fixture, &pieces);
  }
}

/* The same copies take as long as calls do: what is captured is what is called. */
TEST(graphs_take_the_time_of_their_copies, struct fixture *fixture) {
  uint64_t elapsed_ns[2];
  for (int graph = 0; graph < 2; graph++) {
    struct flow flow = captured(METHOD_CE, UINT64_C(64) << 20);
    flow.graph = graph == 1;
    struct case_def one = fixture_transfer(&flow, 1);
    one.measure.iterations = 8;
    fixture_run_ok(fixture, &one);
    elapsed_ns[graph] = fixture->trials[fixture->trial_count - 1].elapsed_ns;
  }
  assert_true(elapsed_ns[1] > elapsed_ns[0] / 100 * 99 &&
              elapsed_ns[1] < elapsed_ns[0] / 100 * 101);
}

TEST(unsupported_graph_gives_its_reason, struct fixture *fixture) {
  struct flow flow = captured(METHOD_CE, 4096);
  flow.source.memory = MEMORY_PAGEABLE;
  fixture_refuse(fixture, flow, "that no processor makes");
  flow = captured(METHOD_CE, 4096);
  flow.stream = 1;
  fixture_refuse(fixture, flow, "on a stream of their own");
  flow = captured(METHOD_CE, 4096);
  flow.scatter = (struct scatter_shape){.pieces = 8, .piece_bytes = 512, .run_pieces = 3};
  fixture_refuse(fixture, flow, "no multiple of runs of 3");
  flow.scatter = (struct scatter_shape){.pieces = 8, .piece_bytes = 512, .submit = SUBMIT_BATCH};
  fixture_refuse(fixture, flow, "captures no batch");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
