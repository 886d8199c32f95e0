/* What is counted has moved, and its time is in the window: flows that are dropped, and flows that
 * end late. */
#include "tests/cmocka.h"
#include "tests/engine/workload/fixture.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, DROPPED_BYTES = 1234560 /* test_whole.toml */ };

static struct flow between_gpus(enum method method, int32_t source, int32_t target,
                                uint64_t size_bytes) {
  return (struct flow){.method = method,
                       .source = fixture_gpu(source, MEMORY_DEVICE),
                       .target = fixture_gpu(target, MEMORY_DEVICE),
                       .initiator = INITIATOR_SOURCE,
                       .size_bytes = size_bytes};
}

static void is_corrupt(struct fixture *fixture, const struct flow *flows, uint32_t count,
                       const char *which) {
  struct bench_case bench_case = fixture_transfer(flows, count);
  bench_case.measure.verify = VERIFY_ONCE;
  fixture_run(fixture, &bench_case);
  assert_int_equal(fixture->outcome.status, CASE_CORRUPT);
  assert_false(fixture->outcome.verified);
  if (strncmp(fixture->outcome.reason, which, strlen(which)) != 0) {
    fail_msg("\"%s\" does not begin with \"%s\"", fixture->outcome.reason, which);
  }
}

static void half_a_duplex_is_corrupt(void **state) {
  const struct flow half[] = {between_gpus(METHOD_CE, 0, 1, DROPPED_BYTES),
                              between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES)};
  is_corrupt(*state, half, 2, "flow 1: 1234560 of 1234560 bytes differ, the first at offset 0");
  const struct flow whole[] = {between_gpus(METHOD_CE, 0, 1, DROPPED_BYTES + 1),
                               between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES + 1)};
  struct bench_case bench_case = fixture_transfer(whole, 2);
  fixture_run_ok(*state, &bench_case);
}

/* What a kernel does whose reads were optimised away. */
static void a_kernel_that_copies_nothing_is_corrupt(void **state) {
  struct flow flow = between_gpus(METHOD_SM, 3, 1, 100000);
  flow.kernel.vector_bytes = 8;
  is_corrupt(*state, &flow, 1, "flow 0: 100000 of 100000 bytes differ");
  flow.kernel.vector_bytes = 4;
  struct bench_case bench_case = fixture_transfer(&flow, 1);
  fixture_run_ok(*state, &bench_case);
}

/* The first two launches are of the warm-up and of the poison; those of the trials are dropped. */
static void pages_that_are_not_touched_are_corrupt(void **state) {
  const struct flow flow = {.method = METHOD_UM,
                            .source = fixture_node(0, MEMORY_MANAGED),
                            .target = fixture_gpu(2, MEMORY_MANAGED),
                            .size_bytes = UINT64_C(100) * 4096,
                            .unified = {.touch_by = INITIATOR_TARGET, .stride_bytes = 4096}};
  is_corrupt(*state, &flow, 1, "flow 0: 100 of 409600 bytes differ, the first at offset 0");
}

static uint64_t window_of(struct fixture *fixture, const struct flow *flows, uint32_t count) {
  struct bench_case bench_case = fixture_transfer(flows, count);
  bench_case.measure.iterations = 1;
  fixture_run_ok(fixture, &bench_case);
  return fixture->trials[fixture->trial_count - 1].elapsed_ns;
}

static void the_window_covers_the_flow_that_ends_last(void **state) {
  const struct flow early = between_gpus(METHOD_CE, 0, 1, MIB);
  const struct flow late = between_gpus(METHOD_CE, 1, 0, (uint64_t)16 * MIB);
  const uint64_t early_ns = window_of(*state, &early, 1);
  const uint64_t late_ns = window_of(*state, &late, 1);
  assert_true(late_ns > 4 * early_ns);
  const struct flow orders[2][2] = {{early, late}, {late, early}};
  for (int order = 0; order < 2; order++) {
    const uint64_t window_ns = window_of(*state, orders[order], 2);
    assert_true(window_ns >= late_ns - late_ns / 100);
  }
}

/* Two flows one way share a link: both move all their bytes when that takes twice as long. */
static void two_flows_move_twice_the_bytes(void **state) {
  const struct flow flow = between_gpus(METHOD_CE, 0, 1, (uint64_t)16 * MIB);
  const struct flow flows[] = {flow, flow};
  const uint64_t one_ns = window_of(*state, &flow, 1);
  const uint64_t two_ns = window_of(*state, flows, 2);
  assert_true(two_ns > one_ns + one_ns * 9 / 10);
  const struct flow both[] = {flow, between_gpus(METHOD_CE, 1, 0, (uint64_t)16 * MIB)};
  assert_true(window_of(*state, both, 2) < one_ns + one_ns / 2);
}

/* As after one GPU fell off its bus: the driver counts the others anew. The others are measured. */
static void another_gpu_than_the_probed_one_is_refused(void **state) {
  struct fixture *fixture = *state;
  struct engine *whole = fixture->engine;
  struct machine *machine = malloc(sizeof *machine);
  struct error err = {0};
  assert_non_null(machine);
  *machine = *fixture->machine;
  machine->gpus[1].cuda_ordinal = machine->gpus[2].cuda_ordinal;
  assert_int_equal(engine_new(machine, &fixture->engine, &err), STATUS_OK);
  const struct flow lost = between_gpus(METHOD_CE, 0, 1, MIB);
  const struct flow there = between_gpus(METHOD_CE, 0, 2, MIB);
  struct bench_case bench_case = fixture_transfer(&lost, 1);
  fixture_run(fixture, &bench_case);
  assert_int_equal(fixture->outcome.status, CASE_FAILED);
  assert_non_null(strstr(fixture->outcome.reason, machine->gpus[1].pci_address));
  assert_non_null(strstr(fixture->outcome.reason, machine->gpus[2].pci_address));
  bench_case = fixture_transfer(&there, 1);
  fixture_run_ok(fixture, &bench_case);
  engine_free(fixture->engine);
  fixture->engine = whole;
  free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_a_duplex_is_corrupt),
      cmocka_unit_test(a_kernel_that_copies_nothing_is_corrupt),
      cmocka_unit_test(pages_that_are_not_touched_are_corrupt),
      cmocka_unit_test(the_window_covers_the_flow_that_ends_last),
      cmocka_unit_test(two_flows_move_twice_the_bytes),
      cmocka_unit_test(another_gpu_than_the_probed_one_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
