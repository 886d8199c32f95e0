/* A chase by the threads of a node: every load is made, alone and beside loads, by the host clock.
 */
#include "tests/engine/workload/fixture.h"

static struct case_def chasing(enum memory_kind memory, uint64_t footprint_bytes) {
  struct case_def def = fixture_transfer(NULL, 0);
  work.chase = (struct chase){.space = CHASE_HOST,
                              .gpu = -1,
                              .by_processor = true,
                              .node = 0,
                              .memory = fixture_node(0, memory),
                              .footprint_bytes = footprint_bytes,
                              .stride_bytes = 64,
                              .order = CHASE_RANDOM,
                              .threads = 1,
                              .hops = 1000};
  def.kind = CASE_CHASE;
  def.work = &work;
  def.operations = work.chase.hops;
  return def;
}

TEST(every_kind_of_host_memory_is_followed, struct fixture *fixture) {
  static const enum memory_kind kinds[] = {MEMORY_PAGEABLE, MEMORY_PINNED, MEMORY_REGISTERED,
                                           MEMORY_HOST_VMM};
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    const struct case_def def = chasing(kinds[i], 1 << 20);
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
    for (uint32_t t = 0; t < fixture->trial_count; t++) {
      assert_true(fixture->trials[t].elapsed_ns > 0);
      assert_int_equal(fixture->trials[t].cycles, 0);
    }
    assert_true(fixture->outcome.cpus[0] != '\0');
  }
}

/* What the first-level cache holds is far faster than what no cache does. */
TEST(the_footprint_decides, struct fixture *fixture) {
  uint64_t ns[2];
  for (int large = 0; large < 2; large++) {
    struct case_def def = chasing(MEMORY_PAGEABLE, large ? UINT64_C(256) << 20 : 8 << 10);
    def.measure.iterations = 8;
    fixture_run_ok(fixture, &def);
    ns[large] = fixture->trials[fixture->trial_count - 1].elapsed_ns;
  }
  assert_true(ns[1] > 4 * ns[0]);
}

TEST(loads_run_beside_it, struct fixture *fixture) {
  const struct flow load = fixture_load(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE),
                                        fixture_node(0, MEMORY_PAGEABLE), 1 << 20);
  struct case_def def = chasing(MEMORY_PAGEABLE, 1 << 20);
  def.flows = &load;
  def.flow_count = 1;
  fixture_run_ok(fixture, &def);
  assert_true(fixture->flow_trial_count > 0);
  assert_true(fixture->flow_trials[0].elapsed_ns > 0);
}

TEST(what_a_processor_cannot_do_has_a_reason, struct fixture *fixture) {
  char reason[CASE_REASON_MAX];
  struct case_def def = chasing(MEMORY_PAGEABLE, 1 << 20);
  work.chase.blocks = 2;
  assert_non_null(
      strstr(engine_case_unsupported_reason(&def, fixture->machine, reason), "in one block"));
  def = chasing(MEMORY_MANAGED, 1 << 20);
  assert_non_null(
      strstr(engine_case_unsupported_reason(&def, fixture->machine, reason), "page faults"));
  def = chasing(MEMORY_PINNED, 1 << 20);
  const uint32_t gpus = fixture->machine->gpu_count;
  fixture->machine->gpu_count = 0;
  assert_non_null(
      strstr(engine_case_unsupported_reason(&def, fixture->machine, reason), "needs a GPU driver"));
  fixture->machine->gpu_count = gpus;
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
