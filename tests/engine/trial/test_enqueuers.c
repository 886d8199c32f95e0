/* Threads that enqueue flows: the same ones in every trial, where they shall run; nobody enqueues
 * before the caller lets all go, and nobody after an error. */
#include "engine/trial/enqueuers.h"

#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#include <pthread.h>
#include <stdatomic.h>

RELEASE(enqueuers_free, struct enqueuers)

enum { FLOWS = 3, TRIALS = 50 };

/* Node 0 alone stands for a real node of this machine. */
static const struct machine machine = {
    .simulated = true, .node_count = 1, .nodes = {{.number = 0, .cpu_count = 1}}};

struct seen {
  atomic_bool let_go;
  atomic_uint early, prepared, enqueued;
  pthread_t threads[FLOWS];
  atomic_uint moved;   /* times that a flow had another thread than in the trial before */
  uint32_t fails_from; /* flows from that one on fail */
};

static enum status prepare(void *context, uint32_t flow, struct error *err) {
  struct seen *seen = context;
  (void)atomic_fetch_add(&seen->prepared, 1);
  return STATUS_OK;
}

static enum status enqueue(void *context, uint32_t flow, struct error *err) {
  struct seen *seen = context;
  (void)atomic_fetch_add(&seen->early, !atomic_load(&seen->let_go));
  if (atomic_fetch_add(&seen->enqueued, 1) >= FLOWS) {
    (void)atomic_fetch_add(&seen->moved, pthread_equal(seen->threads[flow], pthread_self()) == 0);
  }
  seen->threads[flow] = pthread_self();
  return flow < seen->fails_from ? STATUS_OK : error_set(err, STATUS_CUDA, "flow %u fails", flow);
}

static struct enqueuers *make(struct seen *seen, const struct flow_cpu *cpu) {
  static const struct enqueuers_ops ops = {prepare, enqueue};
  struct enqueuers *enqueuers = NULL;
  struct error err = {0};
  assert_ok(enqueuers_new(&machine, &ops, seen, FLOWS, &enqueuers, &err), &err);
  for (uint32_t flow = 0; flow < FLOWS; flow++) {
    assert_ok(enqueuers_add(enqueuers, flow, cpu, &err), &err);
  }
  assert_int_equal(enqueuers_add(enqueuers, FLOWS, cpu, &err), STATUS_INVALID);
  return enqueuers;
}

TEST(the_same_threads_are_let_go_in_every_trial) {
  struct seen seen = {.fails_from = FLOWS};
  const struct flow_cpu node_0 = {.choice = CPU_NODE, .node = 0};
  SCOPED(enqueuers_free_at) struct enqueuers *enqueuers = make(&seen, &node_0);
  for (uint32_t i = 0; i < TRIALS; i++) {
    atomic_store(&seen.let_go, false);
    enqueuers_wake(enqueuers);
    assert_int_equal(seen.prepared, FLOWS * (i + 1));
    atomic_store(&seen.let_go, true);
    assert_ok(enqueuers_run(enqueuers, STATUS_OK, err), err);
    assert_int_equal(seen.enqueued, FLOWS * (i + 1));
  }
  assert_int_equal(seen.early, 0);
  assert_int_equal(seen.moved, 0);
  struct cpu_set_bits cpus = {{0}};
  int of_node[NUMA_CPUS_MAX];
  enqueuers_cpus(enqueuers, &cpus);
  for (size_t i = 0; i < numa_node_cpus(&machine, 0, of_node, NUMA_CPUS_MAX); i++) {
    assert_true((cpus.bits[of_node[i] / 64] >> (of_node[i] % 64) & 1) != 0);
  }
}

TEST(errors_come_back_and_stop_nothing_for_good) {
  struct seen seen = {.let_go = true, .fails_from = 1};
  const struct flow_cpu any = {.choice = CPU_ANY};
  SCOPED(enqueuers_free_at) struct enqueuers *enqueuers = make(&seen, &any);
  enqueuers_wake(enqueuers);
  assert_int_equal(enqueuers_run(enqueuers, STATUS_TIMEOUT, err), STATUS_TIMEOUT);
  assert_int_equal(seen.enqueued, 0);
  enqueuers_wake(enqueuers);
  assert_int_equal(enqueuers_run(enqueuers, STATUS_OK, err), STATUS_CUDA);
  assert_string_equal(err->message, "flow 1 fails");
  seen.fails_from = FLOWS;
  enqueuers_wake(enqueuers);
  assert_ok(enqueuers_run(enqueuers, STATUS_OK, err), err);
  assert_int_equal(seen.enqueued, 2 * FLOWS);
  enqueuers_free(NULL);
}

TEST(a_node_that_is_not_there_is_an_error) {
  struct seen seen = {.let_go = true, .fails_from = FLOWS};
  const struct flow_cpu node_9 = {.choice = CPU_NODE, .node = 9};
  SCOPED(enqueuers_free_at) struct enqueuers *enqueuers = make(&seen, &node_9);
  enqueuers_wake(enqueuers);
  assert_int_equal(enqueuers_run(enqueuers, STATUS_OK, err), STATUS_NOT_FOUND);
  assert_contains(err->message, "NUMA node 9");
  assert_int_equal(seen.enqueued, 0);
}
