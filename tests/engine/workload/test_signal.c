/* Signals: every flag comes there and back, every addition is made once; what is lost is no number.
 */
#include "tests/engine/workload/fixture.h"

enum { WORKING = 0, LEFT_OUT = 3 };

static struct case_def signal_of(enum signal_op op, int32_t gpu, struct endpoint other) {
  struct case_def def = fixture_transfer(NULL, 0);
  work.signal = (struct signal){.op = op, .gpu = gpu, .other = other, .rounds = 5};
  if (op == SIGNAL_ATOMICS) {
    work.signal.blocks = 3;
    work.signal.threads = 64;
    work.signal.addresses = 32;
  }
  def.kind = CASE_SIGNAL;
  def.work = &work;
  def.operations = signal_operations(&work.signal);
  return def;
}

TEST(flags_come_there_and_back, struct fixture *fixture) {
  struct case_def def = signal_of(SIGNAL_FLAG, WORKING, fixture_node(0, MEMORY_PINNED));
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
  assert_true(fixture->outcome.cpus[0] != '\0');
  def = signal_of(SIGNAL_STREAM, WORKING, fixture_node(0, MEMORY_PINNED));
  fixture_run_ok(fixture, &def);
  for (int home = 0; home < (int)signal_home_name_count; home++) {
    def = signal_of(SIGNAL_FLAG, WORKING, fixture_gpu(1, MEMORY_DEVICE));
    work.signal.home = (enum signal_home)home;
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.clock, CLOCK_KERNEL);
    assert_true(fixture->trials[fixture->trial_count - 1].cycles > 0);
    assert_true(fixture->outcome.verified);
  }
}

static struct endpoint lent_gpu(int32_t gpu, enum share share) {
  return (struct endpoint){.place = PLACE_GPU,
                           .index = gpu,
                           .memory = share_memory(share),
                           .process = 1,
                           .share = share};
}

static struct endpoint lent_node(enum share share) {
  return (struct endpoint){
      .place = PLACE_NUMA, .index = 0, .memory = MEMORY_SHARED, .process = 1, .share = share};
}

/* A thread of the other process begins and has the time. */
TEST(threads_of_another_process_pass_flags, struct fixture *fixture) {
  for (int op = SIGNAL_FLAG; op <= (int)SIGNAL_STREAM; op++) {
    for (int share = SHARE_MEMFD; share <= (int)SHARE_SHM; share++) {
      const struct case_def def =
          signal_of((enum signal_op)op, WORKING, lent_node((enum share)share));
      assert_int_equal(engine_case_processes(&def), 1 << 1);
      fixture_run_ok(fixture, &def);
      assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
      assert_true(fixture->trials[fixture->trial_count - 1].elapsed_ns > 0);
      assert_true(fixture->outcome.cpus[0] != '\0');
    }
  }
}

/* By kernels and by streams, in memory of either GPU, which is the other process's however it is
 * opened; and by streams within one process. */
TEST(gpus_of_another_process_pass_flags, struct fixture *fixture) {
  for (int op = SIGNAL_FLAG; op <= (int)SIGNAL_STREAM; op++) {
    for (int home = 0; home < (int)signal_home_name_count; home++) {
      for (int share = SHARE_IPC; share <= (int)SHARE_POOL; share++) {
        struct case_def def =
            signal_of((enum signal_op)op, WORKING, lent_gpu(1, (enum share)share));
        work.signal.home = (enum signal_home)home;
        fixture_run_ok(fixture, &def);
        assert_int_equal(fixture->outcome.clock, op == SIGNAL_FLAG ? CLOCK_KERNEL : CLOCK_EVENT);
        assert_true(fixture->trials[fixture->trial_count - 1].elapsed_ns > 0);
      }
      struct case_def def = signal_of((enum signal_op)op, WORKING, fixture_gpu(1, MEMORY_DEVICE));
      work.signal.home = (enum signal_home)home;
      fixture_run_ok(fixture, &def);
    }
  }
}

TEST(events_are_passed_on, struct fixture *fixture) {
  const struct endpoint others[] = {fixture_gpu(1, MEMORY_DEVICE), lent_gpu(1, SHARE_IPC),
                                    lent_gpu(WORKING, SHARE_IPC)};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    const struct case_def def = signal_of(SIGNAL_EVENT, WORKING, others[i]);
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.clock, CLOCK_EVENT);
    assert_false(fixture->outcome.verified);
  }
  assert_true(fixture->trials[fixture->trial_count - 1].elapsed_ns > 0);
}

/* test_signal.toml: the driver exports no event of GPU 2. */
TEST(what_a_driver_lacks_is_skipped, struct fixture *fixture) {
  const struct case_def def = signal_of(SIGNAL_EVENT, 2, lent_gpu(1, SHARE_IPC));
  fixture_fails(fixture, &def, CASE_SKIPPED, "cuIpcGetEventHandle");
}

/* test_signal.toml: what GPU 3 writes does not arrive. No side is left waiting, and the next case
 * runs. */
TEST(a_lost_value_of_a_stream_is_corrupt, struct fixture *fixture) {
  const struct endpoint others[] = {fixture_gpu(1, MEMORY_DEVICE), lent_gpu(1, SHARE_IPC)};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    struct case_def def = signal_of(SIGNAL_STREAM, LEFT_OUT, others[i]);
    def.measure.warmup = 0;
    fixture_fails(fixture, &def, CASE_CORRUPT, "between GPUs did not arrive");
    def = signal_of(SIGNAL_STREAM, WORKING, others[i]);
    fixture_run_ok(fixture, &def);
  }
}

/* test_signal.toml: GPU 2 queues its first waits alone, in each process once. They do not stay. */
TEST(a_stream_that_queues_half_is_not_left_waiting, struct fixture *fixture) {
  const struct endpoint others[] = {fixture_gpu(2, MEMORY_DEVICE), lent_gpu(2, SHARE_IPC)};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    const struct case_def def = signal_of(SIGNAL_STREAM, WORKING, others[i]);
    fixture_fails(fixture, &def, CASE_FAILED, "cuStreamWaitValue32");
    fixture_run_ok(fixture, &def);
  }
}

TEST(additions_are_made_once, struct fixture *fixture) {
  const struct endpoint others[] = {fixture_node(0, MEMORY_PINNED), fixture_gpu(1, MEMORY_DEVICE),
                                    fixture_gpu(WORKING, MEMORY_DEVICE), lent_node(SHARE_MEMFD),
                                    lent_gpu(1, SHARE_FD)};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    struct case_def def = signal_of(SIGNAL_ATOMIC, WORKING, others[i]);
    fixture_run_ok(fixture, &def);
    def = signal_of(SIGNAL_ATOMICS, WORKING, others[i]);
    fixture_run_ok(fixture, &def);
  }
}

TEST(a_lost_addition_is_corrupt, struct fixture *fixture) {
  struct case_def def = signal_of(SIGNAL_ATOMIC, LEFT_OUT, fixture_gpu(1, MEMORY_DEVICE));
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_CORRUPT);
  def = signal_of(SIGNAL_ATOMIC, LEFT_OUT, fixture_gpu(LEFT_OUT, MEMORY_DEVICE));
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_CORRUPT);
}

static void refused(const struct fixture *fixture, const struct case_def *def, const char *why) {
  char reason[CASE_REASON_MAX];
  const char *found = engine_case_unsupported_reason(def, fixture->machine, reason);
  assert_non_null(found);
  assert_contains(found, why);
}

TEST(what_cannot_be_has_a_reason, struct fixture *fixture) {
  struct case_def def = signal_of(SIGNAL_STREAM, WORKING, fixture_gpu(WORKING, MEMORY_DEVICE));
  refused(fixture, &def, "to a stream of another GPU, or to the host");
  def = signal_of(SIGNAL_FLAG, WORKING, lent_gpu(WORKING, SHARE_IPC));
  refused(fixture, &def, "two processes have a GPU by turns");
  def = signal_of(SIGNAL_EVENT, WORKING, fixture_node(0, MEMORY_PINNED));
  refused(fixture, &def, "events are passed on by a stream of a GPU");
  def = signal_of(SIGNAL_EVENT, WORKING, fixture_gpu(WORKING, MEMORY_DEVICE));
  refused(fixture, &def, "the driver leaves them out");
  def = signal_of(SIGNAL_EVENT, WORKING, fixture_gpu(1, MEMORY_DEVICE));
  work.signal.rounds = 65;
  refused(fixture, &def, "at most 64");
  def = signal_of(SIGNAL_FLAG, WORKING, fixture_gpu(WORKING, MEMORY_DEVICE));
  refused(fixture, &def, "to another GPU, or to the host");
  def = signal_of(SIGNAL_STREAM, WORKING, fixture_node(0, MEMORY_PINNED));
  work.signal.rounds = 125;
  refused(fixture, &def, "at most 124 stand in a stream");
  def = signal_of(SIGNAL_ATOMICS, WORKING, fixture_gpu(1, MEMORY_DEVICE));
  work.signal.addresses = 5;
  refused(fixture, &def, "do not share 5 addresses evenly");
  fixture->machine->links[WORKING][1].peer_access = false;
  def = signal_of(SIGNAL_ATOMIC, WORKING, fixture_gpu(1, MEMORY_DEVICE));
  refused(fixture, &def, "no peer access");
  fixture->machine->links[WORKING][1].peer_access = true;
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
