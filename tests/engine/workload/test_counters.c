/* A counter of link errors that rises during a case marks exactly that case. */
#include "engine/case/note.h"
#include "engine/case/transfer.h"
#include "tests/cmocka.h"
#include "tests/engine/workload/fixture.h"

#include <string.h>
#include <unistd.h>

static const struct note *measure(struct fixture *fixture, uint64_t size_bytes) {
  const struct flow flow = {.method = METHOD_CE,
                            .source = fixture_node(0, MEMORY_PINNED),
                            .target = fixture_gpu(0, MEMORY_DEVICE),
                            .initiator = INITIATOR_TARGET,
                            .size_bytes = size_bytes};
  const struct bench_case bench_case = fixture_transfer(&flow, 1);
  fixture_run_ok(fixture, &bench_case);
  for (uint32_t i = 0; i < fixture->outcome.notes.count; i++) {
    if (fixture->outcome.notes.items[i].kind == NOTE_LINK_ERRORS) {
      return &fixture->outcome.notes.items[i];
    }
  }
  return NULL;
}

static void replays_mark_their_case(void **state) {
  (void)unlink("haul-test-counters.marker");
  assert_null(measure(*state, 4096));
  const struct note *note = measure(*state, 12345);
  assert_non_null(note);
  assert_int_equal(note->gpu, 0);
  assert_true(note->amounts[0] > 2.5 && note->amounts[0] < 3.5);
  assert_string_equal(note->what, "PCIe replays");
  assert_null(measure(*state, 12345)); /* it is as high as before */
  (void)unlink("haul-test-counters.marker");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(replays_mark_their_case)};
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
