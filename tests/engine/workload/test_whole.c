/* What is counted has moved, and its time is in the window: flows that are dropped, and flows that
 * end late. */
#include "tests/engine/workload/fixture.h"

#include <dirent.h>

enum { MIB = 1 << 20, DROPPED_BYTES = 1234560 /* test_whole.toml */ };

static struct flow between_gpus(enum method method, int32_t source, int32_t target,
                                uint64_t size_bytes) {
  return fixture_flow(method, fixture_gpu(source, MEMORY_DEVICE),
                      fixture_gpu(target, MEMORY_DEVICE), size_bytes);
}

static void is_corrupt(struct fixture *fixture, const struct flow *flows, uint32_t count,
                       const char *which) {
  struct case_def def = fixture_transfer(flows, count);
  def.measure.verify = VERIFY_ONCE;
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_CORRUPT);
  assert_false(fixture->outcome.verified);
  if (strncmp(fixture->outcome.reason, which, strlen(which)) != 0) {
    fail_msg("\"%s\" does not begin with \"%s\"", fixture->outcome.reason, which);
  }
}

TEST(half_a_duplex_is_corrupt, struct fixture *fixture) {
  const struct flow half[] = {between_gpus(METHOD_CE, 0, 1, DROPPED_BYTES),
                              between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES)};
  is_corrupt(fixture, half, 2, "flow 1: 1234560 of 1234560 bytes differ, the first at offset 0");
  const struct flow whole[] = {between_gpus(METHOD_CE, 0, 1, DROPPED_BYTES + 1),
                               between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES + 1)};
  struct case_def def = fixture_transfer(whole, 2);
  fixture_run_ok(fixture, &def);
}

/* GPUs compare at the same time, each of them one target after the other; what is left when one is
 * wrong is no part of the next case. */
TEST(of_many_targets_the_corrupt_one_is_named, struct fixture *fixture) {
  const struct flow lost = between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES);
  for (uint32_t at = 0; at < 4; at++) {
    char which[32];
    struct flow flows[] = {between_gpus(METHOD_CE, 0, 1, MIB), between_gpus(METHOD_CE, 2, 1, MIB),
                           between_gpus(METHOD_CE, 3, 0, MIB), between_gpus(METHOD_CE, 3, 1, MIB)};
    struct case_def def = fixture_transfer(flows, 4);
    fixture_run_ok(fixture, &def);
    flows[at] = lost;
    (void)snprintf(which, sizeof which, "flow %u: %d of ", at, DROPPED_BYTES);
    is_corrupt(fixture, flows, 4, which);
  }
}

/* What a kernel does whose reads were optimised away. */
TEST(a_kernel_that_copies_nothing_is_corrupt, struct fixture *fixture) {
  struct flow flow = between_gpus(METHOD_SM, 3, 1, 100000);
  flow.kernel.vector_bytes = 8;
  is_corrupt(fixture, &flow, 1, "flow 0: 100000 of 100000 bytes differ");
  flow.kernel.vector_bytes = 4;
  struct case_def def = fixture_transfer(&flow, 1);
  fixture_run_ok(fixture, &def);
}

/* The first two launches are of the warm-up and of the poison; those of the trials are dropped. */
TEST(pages_that_are_not_touched_are_corrupt, struct fixture *fixture) {
  const struct flow flow = {.method = METHOD_UM,
                            .source = fixture_node(0, MEMORY_MANAGED),
                            .target = fixture_gpu(2, MEMORY_MANAGED),
                            .size_bytes = UINT64_C(100) * 4096,
                            .unified = {.touch_by = INITIATOR_TARGET, .stride_bytes = 4096}};
  is_corrupt(fixture, &flow, 1, "flow 0: 100 of 409600 bytes differ, the first at offset 0");
  struct flow reads = flow;
  reads.unified.access = TOUCH_READ;
  is_corrupt(fixture, &reads, 1,
             "after a trial, at the target: the bytes that were read add up to 0, not ");
}

static uint64_t window_of(struct fixture *fixture, const struct flow *flows, uint32_t count) {
  struct case_def def = fixture_transfer(flows, count);
  def.measure.iterations = 1;
  fixture_run_ok(fixture, &def);
  return fixture->trials[fixture->trial_count - 1].elapsed_ns;
}

TEST(the_window_covers_the_flow_that_ends_last, struct fixture *fixture) {
  const struct flow early = between_gpus(METHOD_CE, 0, 1, MIB);
  const struct flow late = between_gpus(METHOD_CE, 1, 0, (uint64_t)16 * MIB);
  const uint64_t early_ns = window_of(fixture, &early, 1);
  const uint64_t late_ns = window_of(fixture, &late, 1);
  assert_true(late_ns > 4 * early_ns);
  const struct flow orders[2][2] = {{early, late}, {late, early}};
  for (int order = 0; order < 2; order++) {
    const uint64_t window_ns = window_of(fixture, orders[order], 2);
    assert_true(window_ns >= late_ns - late_ns / 100);
  }
}

/* Two flows one way share a link: both move all their bytes when that takes twice as long. */
TEST(two_flows_move_twice_the_bytes, struct fixture *fixture) {
  const struct flow flow = between_gpus(METHOD_CE, 0, 1, (uint64_t)16 * MIB);
  const struct flow flows[] = {flow, flow};
  const uint64_t one_ns = window_of(fixture, &flow, 1);
  const uint64_t two_ns = window_of(fixture, flows, 2);
  assert_true(two_ns > one_ns + one_ns * 9 / 10);
  const struct flow both[] = {flow, between_gpus(METHOD_CE, 1, 0, (uint64_t)16 * MIB)};
  assert_true(window_of(fixture, both, 2) < one_ns + one_ns / 2);
}

/* What a flow took in the last trial. */
static uint64_t flow_ns(const struct fixture *fixture, uint32_t flow) {
  for (uint32_t i = fixture->flow_trial_count; i-- > 0;) {
    if (fixture->flow_trials[i].flow == flow) {
      return fixture->flow_trials[i].elapsed_ns;
    }
  }
  return 0;
}

static struct flow on_stream(struct flow flow, uint32_t stream, uint32_t copies) {
  flow.stream = stream;
  flow.copies = copies;
  return flow;
}

/* Two GPUs, both directions of one link: beside each other they take the longer one's time. */
TEST(flows_of_one_stream_follow_each_other, struct fixture *fixture) {
  const struct flow out = between_gpus(METHOD_CE, 0, 1, (uint64_t)16 * MIB);
  const struct flow back = between_gpus(METHOD_SM, 1, 0, (uint64_t)8 * MIB);
  const uint64_t out_ns = window_of(fixture, &out, 1);
  const uint64_t back_ns = window_of(fixture, &back, 1);
  const struct flow mix[] = {on_stream(out, 1, 2), on_stream(back, 1, 0), on_stream(out, 1, 1)};
  const uint64_t window_ns = window_of(fixture, mix, 3);
  const double sum_ns = 3.0 * (double)out_ns + (double)back_ns;
  assert_true((double)window_ns > 0.98 * sum_ns && (double)window_ns < 1.05 * sum_ns);
  assert_true(flow_ns(fixture, 0) + flow_ns(fixture, 1) + flow_ns(fixture, 2) <= window_ns);
  assert_true((double)flow_ns(fixture, 0) > 0.98 * 2.0 * (double)out_ns);
  assert_true(fixture->outcome.gated);
  assert_false(fixture->outcome.serialised); /* it is meant to be so */
  const struct flow beside[] = {on_stream(out, 1, 2), on_stream(back, 2, 1)};
  assert_true((double)window_of(fixture, beside, 2) < 2.2 * (double)out_ns);
}

/* A part of each in turn, and their times are still their own. */
TEST(copies_are_shuffled_as_the_case_says, struct fixture *fixture) {
  static const uint16_t ORDER[] = {1, 0, 0, 1, 1, 0};
  const struct flow out = between_gpus(METHOD_CE, 0, 1, (uint64_t)16 * MIB);
  const struct flow back = between_gpus(METHOD_CE, 1, 0, (uint64_t)4 * MIB);
  const uint64_t out_ns = window_of(fixture, &out, 1);
  const struct flow mix[] = {on_stream(out, 3, 3), on_stream(back, 3, 3)};
  struct case_def def = fixture_transfer(mix, 2);
  def.order = (struct copy_order){.flows = ORDER, .count = 6, .seed = 1};
  fixture_run_ok(fixture, &def);
  const double share = (double)flow_ns(fixture, 0) / (double)out_ns;
  assert_true(share > 2.95 && share < 3.1);
  assert_true(fixture->trials[fixture->trial_count - 1].elapsed_ns >=
              flow_ns(fixture, 0) + flow_ns(fixture, 1));
  assert_int_equal(fixture->trials[fixture->trial_count - 1].iterations, 1);
}

/* A gate would fill the queue, and the host could not open it. */
TEST(many_copies_of_one_stream_are_not_held, struct fixture *fixture) {
  const struct flow many = on_stream(between_gpus(METHOD_CE, 0, 1, 4096), 1, 200);
  const struct flow mix[] = {many, on_stream(between_gpus(METHOD_CE, 1, 0, 4096), 2, 3)};
  struct case_def def = fixture_transfer(mix, 2);
  fixture_run_ok(fixture, &def);
  assert_false(fixture->outcome.gated);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_GATE_FULL));
  const struct flow pageable[] = {many,
                                  {.method = METHOD_CE,
                                   .source = fixture_node(0, MEMORY_PAGEABLE),
                                   .target = fixture_gpu(0, MEMORY_DEVICE),
                                   .initiator = INITIATOR_TARGET,
                                   .stream = 1,
                                   .size_bytes = MIB}};
  def = fixture_transfer(pageable, 2);
  fixture_run_ok(fixture, &def);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_BLOCKS_HOST));
  const struct flow own = on_stream(many, 0, 3);
  def = fixture_transfer(&own, 1);
  def.measure.iterations = 43;
  fixture_run(fixture, &def);
  assert_string_equal(fixture->outcome.reason,
                      "iterations = 43: a trial of this case has at most 42");
}

static uint32_t count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  uint32_t count = 0;
  assert_non_null(tasks);
  while (readdir(tasks) != NULL) {
    count++;
  }
  (void)closedir(tasks);
  return count;
}

TEST(threads_that_enqueue_end_with_the_case, struct fixture *fixture) {
  enum { CASES = 8 };
  const struct flow flow = fixture_flow(METHOD_CE, fixture_node(0, MEMORY_PAGEABLE),
                                        fixture_gpu(0, MEMORY_DEVICE), 4096);
  const struct flow two[] = {flow, flow};
  struct case_def def = fixture_transfer(two, 2);
  fixture_run_ok(fixture, &def);
  const uint32_t before = count_threads();
  for (int i = 0; i < CASES; i++) {
    fixture_run_ok(fixture, &def);
  }
  assert_true(count_threads() < before + CASES); /* one that was joined may still be listed */
}

/* Of a stream that goes on, only the flow that was dropped. */
TEST(a_dropped_flow_of_a_stream_is_corrupt, struct fixture *fixture) {
  const struct flow mix[] = {on_stream(between_gpus(METHOD_CE, 0, 1, DROPPED_BYTES), 1, 2),
                             on_stream(between_gpus(METHOD_CE, 1, 0, DROPPED_BYTES), 1, 2)};
  is_corrupt(fixture, mix, 2, "flow 1: 1234560 of 1234560 bytes differ, the first at offset 0");
}

static struct flow host_flow(int32_t gpu, bool to_gpu, enum flow_role role, uint64_t size_bytes) {
  const struct endpoint node = fixture_node(0, MEMORY_PINNED);
  const struct endpoint device = fixture_gpu(gpu, MEMORY_DEVICE);
  return (struct flow){.role = role,
                       .method = METHOD_SM,
                       .source = to_gpu ? node : device,
                       .target = to_gpu ? device : node,
                       .initiator = to_gpu ? INITIATOR_TARGET : INITIATOR_SOURCE,
                       .size_bytes = size_bytes};
}

/* GPU 3 drops every launch of the kernel that copies both ways. */
TEST(both_ways_to_the_host_are_one_kernel, struct fixture *fixture) {
  const struct flow both[] = {host_flow(3, true, FLOW_MEASURED, MIB + 7),
                              host_flow(3, false, FLOW_MEASURED, MIB + 7)};
  is_corrupt(fixture, both, 2, "flow 0: 1048583 of 1048583 bytes differ");
  const struct flow under_load[] = {host_flow(3, false, FLOW_LOAD, MIB),
                                    host_flow(3, true, FLOW_MEASURED, MIB)};
  is_corrupt(fixture, under_load, 2, "flow 1: 1048576 of 1048576 bytes differ");
}

/* What is not two opposite copies of one size, shaped by the engine, is a kernel each. */
TEST(other_flows_to_the_host_are_kernels_of_their_own, struct fixture *fixture) {
  const struct flow measured = host_flow(3, true, FLOW_MEASURED, MIB);
  struct flow shaped[] = {measured, host_flow(3, false, FLOW_MEASURED, MIB)};
  shaped[1].kernel.block = 128;
  const struct flow same_way[] = {measured, measured};
  const struct flow sizes[] = {measured, host_flow(3, false, FLOW_MEASURED, 2 * MIB)};
  const struct flow three[] = {measured, host_flow(3, false, FLOW_MEASURED, MIB), measured};
  const struct {
    const struct flow *flows;
    uint32_t count;
  } cases[] = {{shaped, 2}, {same_way, 2}, {sizes, 2}, {three, 3}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct case_def def = fixture_transfer(cases[i].flows, cases[i].count);
    fixture_run_ok(fixture, &def);
    assert_false(engine_flow_is_paired(&def, 0));
  }
}

/* Both flows of a kernel take its time; several GPUs have a kernel each. */
TEST(flows_of_one_kernel_share_its_window, struct fixture *fixture) {
  const struct flow flows[] = {host_flow(0, true, FLOW_MEASURED, (uint64_t)16 * MIB),
                               host_flow(1, false, FLOW_MEASURED, (uint64_t)16 * MIB),
                               host_flow(0, false, FLOW_MEASURED, (uint64_t)16 * MIB),
                               host_flow(1, true, FLOW_LOAD, (uint64_t)16 * MIB)};
  struct case_def def = fixture_transfer(flows, 4);
  fixture_run_ok(fixture, &def);
  const struct trial *trial = &fixture->trials[fixture->trial_count - 1];
  assert_true(fixture->flow_trial_count >= 3);
  for (uint32_t i = fixture->flow_trial_count - 3; i < fixture->flow_trial_count; i++) {
    const uint64_t elapsed_ns = fixture->flow_trials[i].elapsed_ns;
    assert_true(elapsed_ns <= trial->elapsed_ns);
    assert_true(elapsed_ns > trial->elapsed_ns - trial->elapsed_ns / 20);
  }
  for (uint32_t i = 0; i < 4; i++) {
    assert_true(engine_flow_is_paired(&def, i));
  }
}

/* As after one GPU fell off its bus: the driver counts the others anew. The others are measured. */
TEST(another_gpu_than_the_probed_one_is_refused, struct fixture *fixture) {
  struct engine *whole = fixture->engine;
  SCOPED(memory_free) struct machine *machine = malloc(sizeof *machine);
  assert_non_null(machine);
  *machine = *fixture->machine;
  machine->gpus[1].cuda_ordinal = machine->gpus[2].cuda_ordinal;
  assert_ok(engine_new(machine, NULL, &fixture->engine, err), err);
  const struct flow lost = between_gpus(METHOD_CE, 0, 1, MIB);
  const struct flow there = between_gpus(METHOD_CE, 0, 2, MIB);
  struct case_def def = fixture_transfer(&lost, 1);
  fixture_fails(fixture, &def, CASE_FAILED, machine->gpus[1].pci_address);
  assert_contains(fixture->outcome.reason, machine->gpus[2].pci_address);
  def = fixture_transfer(&there, 1);
  fixture_run_ok(fixture, &def);
  engine_free(fixture->engine);
  fixture->engine = whole;
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
