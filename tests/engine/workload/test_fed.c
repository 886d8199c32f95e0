/* Loads whose repeats end faster than the host can enqueue them. */
#include "tests/engine/workload/fixture.h"

TEST(a_load_that_waits_for_the_host_is_a_note, struct fixture *fixture) {
  const struct endpoint gpus[] = {fixture_gpu(0, MEMORY_DEVICE), fixture_gpu(1, MEMORY_DEVICE)};
  const struct flow flows[] = {fixture_flow(METHOD_CE, gpus[0], gpus[1], UINT64_C(1) << 28),
                               fixture_load(METHOD_CE, gpus[1], gpus[0], 1)};
  struct case_def def = fixture_transfer(flows, 2);
  def.measure.verify = VERIFY_OFF;
  def.measure.iterations = 32;
  fixture_run(fixture, &def);
  assert_string_equal(fixture->outcome.reason, "");
  assert_int_equal(fixture->outcome.status, CASE_OK);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_LOAD_PAUSED));
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
