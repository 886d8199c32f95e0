/* Case kind overhead: every operation runs, within its limits, and what it makes is undone. */
#include "tests/engine/workload/fixture.h"

static struct case_def overhead(enum overhead_operation operation, enum memory_kind memory,
                                uint64_t size_bytes) {
  const bool at_gpu = memory_is_gpus_own(memory) || memory == MEMORY_MANAGED;
  struct case_def def = fixture_case(CASE_OVERHEAD);
  work.overhead =
      (struct overhead){.operation = operation,
                        .gpu = 0,
                        .memory = at_gpu ? fixture_gpu(0, memory) : fixture_node(0, memory),
                        .size_bytes = size_bytes};
  return def;
}

TEST(every_call_is_timed, struct fixture *fixture) {
  for (int operation = 0; operation < (int)overhead_operation_name_count; operation++) {
    const enum overhead_traits traits = overhead_traits_of((enum overhead_operation)operation);
    if ((traits & OVERHEAD_MEMORY) != 0) {
      continue;
    }
    struct case_def def = overhead((enum overhead_operation)operation, MEMORY_DEVICE,
                                   (traits & OVERHEAD_SIZED) != 0 ? 4096 : 0);
    def.measure.min_trial_ns = 2000000;
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
    assert_true((traits & OVERHEAD_ALONE) == 0 || fixture->outcome.iterations == 1);
    assert_false(fixture->outcome.verified);
    assert_true(fixture->outcome.call_p99_ns >= fixture->outcome.call_median_ns);
    assert_true(fixture->outcome.call_p99_ns > 0);
  }
}

/* Several threads with other allocations around, of which each has its turn. */
TEST(threads_call_at_once, struct fixture *fixture) {
  const enum overhead_operation operations[] = {OVERHEAD_POINTER_ATTRIBUTE, OVERHEAD_MEMCPY_HTOD,
                                                OVERHEAD_POOL_FREE};
  for (size_t i = 0; i < COUNT_OF(operations); i++) {
    struct case_def def = overhead(operations[i], MEMORY_DEVICE, 4096);
    work.overhead.threads = 2;
    work.overhead.alive = 100;
    fixture_run_ok(fixture, &def);
    assert_true(fixture->outcome.call_first_ns > 0);
    uint64_t host_bytes = 0;
    uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
    engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
    assert_true(gpu_bytes[0] >= 100 * OVERHEAD_ALIVE_BYTES);
  }
  struct case_def pinned = overhead(OVERHEAD_PIN, MEMORY_REGISTERED, 100001);
  work.overhead.touch_threads = 3;
  fixture_run_ok(fixture, &pinned);
  pinned = overhead(OVERHEAD_UNPIN, MEMORY_REGISTERED, 4096);
  work.overhead.pages = OVERHEAD_PAGES_1GIB;
  fixture_run(fixture, &pinned); /* where none are reserved, that is the reason */
  assert_true(fixture->outcome.status == CASE_OK ||
              (fixture->outcome.status == CASE_SKIPPED &&
               strstr(fixture->outcome.reason, "in reserved pages of 1GiB are not free") != NULL));
  struct case_def graph = overhead(OVERHEAD_GRAPH_LAUNCH, MEMORY_DEVICE, 0);
  graph.measure.min_trial_ns = UINT64_C(1000000000);
  work.overhead.nodes = 512; /* two of them fill the queue */
  fixture_run_ok(fixture, &graph);
  assert_int_equal(fixture->outcome.iterations, 2);
}

TEST(every_kind_is_allocated_and_freed, struct fixture *fixture) {
  for (int kind = 0; kind < (int)memory_kind_name_count; kind++) {
    for (int i = 0; i < 2; i++) {
      struct case_def def =
          overhead(i == 0 ? OVERHEAD_ALLOCATE : OVERHEAD_FREE, (enum memory_kind)kind, 100001);
      fixture_run(fixture, &def);
      /* Huge pages may be switched off here; that is said, and nothing else goes wrong. */
      if (kind != MEMORY_HUGE && fixture->outcome.status != CASE_OK) {
        fail_msg("%s: %s", memory_kind_text((enum memory_kind)kind), fixture->outcome.reason);
      }
    }
  }
}

/* More than 64 allocations, or 1 GiB of them, are never held at once. */
TEST(allocations_are_limited, struct fixture *fixture) {
  struct case_def def = overhead(OVERHEAD_ALLOCATE, MEMORY_DEVICE, 4096);
  def.measure.min_trial_ns = UINT64_C(1000000000);
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.iterations, 64);
  work.overhead.size_bytes = UINT64_C(300) << 20;
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.iterations, 3);
  uint64_t host_bytes = 0;
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
  assert_int_equal(host_bytes, 0);
  assert_int_equal(gpu_bytes[0], 3 * (UINT64_C(300) << 20));
}

/* Copies while two threads lock and unlock pages; alone that is no measurement. */
TEST(pages_are_locked_beside_copies, struct fixture *fixture) {
  struct flow flows[] = {fixture_flow(METHOD_CE, fixture_node(0, MEMORY_PINNED),
                                      fixture_gpu(0, MEMORY_DEVICE), 1 << 20),
                         {.role = FLOW_LOAD,
                          .method = METHOD_PIN,
                          .source = fixture_node(0, MEMORY_PAGEABLE),
                          .target = fixture_node(0, MEMORY_PAGEABLE),
                          .size_bytes = 100000,
                          .threads = 2}};
  struct case_def def = fixture_transfer(flows, 2);
  fixture_run(fixture, &def);
  if (fixture->outcome.status != CASE_OK) { /* this host has fewer processors */
    assert_contains(fixture->outcome.reason, "processor");
    return;
  }
  assert_true(fixture->outcome.verified);
  assert_true(fixture->flow_trial_count > 0);
  uint64_t repeats = 0;
  for (uint32_t i = 0; i < fixture->flow_trial_count; i++) {
    repeats += fixture->flow_trials[i].flow == 1 ? fixture->flow_trials[i].iterations : 0;
  }
  assert_true(repeats > 0);
  flows[1].role = FLOW_MEASURED;
  fixture_fails(fixture, &def, CASE_SKIPPED, "it is a load");
}

TEST(unsupported_overhead_gives_its_reason, struct fixture *fixture) {
  struct case_def def = overhead(OVERHEAD_KERNEL_LAUNCH, MEMORY_DEVICE, 0);
  work.overhead.gpu = 99;
  fixture_skips(fixture, &def, "no such GPU");
  def = overhead(OVERHEAD_ALLOCATE, MEMORY_DEVICE, 0);
  fixture_skips(fixture, &def, "at least one byte");
  def = overhead(OVERHEAD_FREE, MEMORY_PINNED, 4096);
  work.overhead.memory.place = PLACE_GPU;
  fixture_skips(fixture, &def, "cannot be at a GPU");
  def = overhead(OVERHEAD_FREE, MEMORY_PINNED, 4096);
  work.overhead.memory.index = 17;
  fixture_skips(fixture, &def, "no NUMA node 17");
  def =
      overhead(OVERHEAD_ALLOCATE, MEMORY_MANAGED, fixture->machine->gpus[0].free_memory_bytes / 2);
  fixture_skips(fixture, &def, "free_share");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
