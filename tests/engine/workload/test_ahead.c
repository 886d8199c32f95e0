/* Memory that is allocated for a later case costs no earlier one. */
#include "engine/workload/workload.h"

#include "tests/engine/workload/fixture.h"

static struct flow from_host(uint64_t size_bytes) {
  return fixture_flow(METHOD_CE, fixture_node(0, MEMORY_PINNED), fixture_gpu(0, MEMORY_DEVICE),
                      size_bytes);
}

/* Both kinds of buffer fail while a larger one is held: the case begins anew. */
TEST(a_case_gets_what_it_needs_itself, struct fixture *fixture) {
  const struct flow large = from_host(4 << 20);
  const struct flow small[] = {from_host(2 << 20), from_host(2 << 20)};
  const struct case_def later = fixture_transfer(&large, 1);
  const struct case_def now = fixture_transfer(small, 2);
  engine_expect(fixture->engine, &later);
  fixture_run_ok(fixture, &now);
  assert_int_equal(fixture->trial_count, 3);
  fixture_run_ok(fixture, &later);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
