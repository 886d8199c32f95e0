/* Flows that a gate holds, and the same without it. */
#include "engine/trial/event_trial.h"

#include "engine/gpu/session.h"
#include "engine/workload/transfer_flows.h"
#include "engine/workload/workload.h"
#include "tests/engine/workload/fixture.h"

enum { SIZE_BYTES = 1 << 20 };

static struct flow between_gpus(int32_t source, int32_t target) {
  return fixture_flow(METHOD_CE, fixture_gpu(source, MEMORY_DEVICE),
                      fixture_gpu(target, MEMORY_DEVICE), SIZE_BYTES);
}

static void both_ways(struct fixture *fixture, enum gating gating) {
  const struct flow flows[] = {between_gpus(0, 1), between_gpus(1, 0)};
  struct case_def def = fixture_transfer(flows, 2);
  def.measure.gating = gating;
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.gated, gating == GATING_ON);
  assert_int_equal(notes_have(&fixture->outcome.notes, NOTE_GATE_OFF), gating == GATING_OFF);
}

TEST(flows_are_held_unless_the_scenario_says_no, struct fixture *fixture) {
  both_ways(fixture, GATING_ON);
  both_ways(fixture, GATING_OFF);
}

TEST(load_outlasts_what_it_loads_without_a_gate, struct fixture *fixture) {
  struct flow flows[] = {between_gpus(0, 1), between_gpus(1, 0)};
  flows[1].role = FLOW_LOAD;
  struct case_def def = fixture_transfer(flows, 2);
  def.measure.gating = GATING_OFF;
  fixture_run_ok(fixture, &def);
  assert_false(fixture->outcome.gated);
}

static struct case_def beside_small_load(struct flow flows[2]) {
  flows[0] = between_gpus(0, 1);
  flows[0].size_bytes = 16 * (uint64_t)SIZE_BYTES;
  flows[1] = between_gpus(1, 0);
  flows[1].role = FLOW_LOAD;
  flows[1].size_bytes = 1;
  return fixture_transfer(flows, 2);
}

/* As under a tool that runs one copy after the other. */
TEST(load_that_cannot_outlast_is_an_error_only_behind_a_gate, struct fixture *fixture) {
  struct flow flows[2];
  struct case_def def = beside_small_load(flows);
  def.measure.verify = VERIFY_OFF;
  def.measure.iterations = 32;
  flows[1].graph = true; /* all its repeats are one launch, before the gate opens */
  fixture_fails(fixture, &def, CASE_FAILED, "give them a larger size");
  def.measure.gating = GATING_OFF;
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_OK);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_LOAD_ENDED));
}

/* A slow tool would take minutes for as many repeats as there may be. */
TEST(loads_that_fill_the_window_need_not_be_repeated_more_often, struct fixture *fixture) {
  struct flow flows[] = {between_gpus(0, 1), between_gpus(1, 0), between_gpus(1, 0)};
  flows[1].role = flows[2].role = FLOW_LOAD;
  const struct case_def def = fixture_transfer(flows, 3);
  struct flow_times times[] = {{.elapsed_ns = 1}, {.elapsed_ns = 3101}, {.elapsed_ns = 3101}};
  const struct trial_times trial = {.window_ns = 3200, .flows = times};
  (void)fixture;
  assert_true(transfer_loads_fill_window(&def, &trial));
  times[2].elapsed_ns = 3100;
  assert_false(transfer_loads_fill_window(&def, &trial));
}

/* As many as the queue of a stream takes beside the gate. */
TEST(load_is_repeated_more_often_than_what_it_loads, struct fixture *fixture) {
  struct flow flows[2];
  struct case_def def = beside_small_load(flows);
  def.measure.iterations = 8;
  fixture_run_ok(fixture, &def);
  assert_true(fixture->flow_trials[1].iterations > EVENT_ITERATIONS_MAX);
  assert_true(fixture->outcome.gated);
  def.measure.iterations = 32; /* more than that: the others follow while it runs */
  fixture_run_ok(fixture, &def);
  assert_true(fixture->flow_trials[1].iterations > EVENT_LOAD_ITERATIONS_MAX);
  assert_true(fixture->outcome.gated);
  assert_false(notes_have(&fixture->outcome.notes, NOTE_LOAD_PAUSED));
}

/* It copies twice as often as what it loads, and by a quarter longer: 7.5 repeats, of which 7 have
 * a time. */
TEST(load_outlasts_what_it_loads_by_a_quarter, struct fixture *fixture) {
  struct flow flows[2];
  struct case_def def = beside_small_load(flows);
  flows[1].size_bytes = flows[0].size_bytes / 2;
  def.measure.iterations = 3;
  fixture_run_ok(fixture, &def);
  const struct flow_trial *load = &fixture->flow_trials[fixture->flow_trial_count - 1];
  assert_int_equal(load->flow, 1);
  assert_int_equal(load->iterations, 7);
}

/* Only the gate lets them start together. */
TEST(host_threads_beside_gpus_need_the_gate, struct fixture *fixture) {
  struct flow flows[] = {
      between_gpus(0, 1),
      fixture_flow(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE), fixture_node(0, MEMORY_PAGEABLE),
                   SIZE_BYTES),
  };
  struct case_def def = fixture_transfer(flows, 2);
  fixture_run_ok(fixture, &def);
  def.measure.gating = GATING_OFF;
  fixture_fails(fixture, &def, CASE_SKIPPED, "gate = \"off\"");
  flows[0].copies = EVENT_ITERATIONS_MAX + 1;
  def = fixture_transfer(flows, 2);
  fixture_fails(fixture, &def, CASE_SKIPPED, "more copies than a gate can hold");
}

static enum case_status status_of(struct fixture *fixture, const struct measure *measure) {
  const struct flow flow = between_gpus(2, 3);
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure = *measure;
  fixture_run(fixture, &def);
  return fixture->outcome.status;
}

TEST(a_small_copy_goes_first_only_behind_a_gate, struct fixture *fixture) {
  struct measure measure = fixture_measure();
  assert_int_equal(status_of(fixture, &measure), CASE_FAILED);
  assert_contains(fixture->outcome.reason, "before the timed part");
  measure.gating = GATING_OFF;
  assert_int_equal(status_of(fixture, &measure), CASE_OK);
  measure.gating = GATING_ON;
  measure.device_cache = CACHE_FLUSHED;
  assert_int_equal(status_of(fixture, &measure), CASE_FAILED);
}

static struct flow with_host(bool to_gpu, enum memory_kind memory, uint64_t size_bytes) {
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  const struct endpoint host = fixture_node(0, memory);
  return (struct flow){.method = METHOD_CE,
                       .source = to_gpu ? host : gpu,
                       .target = to_gpu ? gpu : host,
                       .initiator = to_gpu ? INITIATOR_TARGET : INITIATOR_SOURCE,
                       .size_bytes = size_bytes,
                       .cpu = {.choice = memory == MEMORY_PAGEABLE ? CPU_NODE : CPU_ANY}};
}

/* From the first start to the last end, whichever flows these are. */
TEST(window_without_a_gate_has_both_flows_of_one_caller, struct fixture *fixture) {
  /* The later one of the list is 16 times as long. */
  const struct flow flows[] = {with_host(true, MEMORY_PINNED, SIZE_BYTES),
                               with_host(false, MEMORY_PINNED, 16 * (uint64_t)SIZE_BYTES)};
  struct case_def def = fixture_transfer(flows, 2);
  def.measure.gating = GATING_OFF;
  def.measure.callers = CALLERS_ONE;
  fixture_run_ok(fixture, &def);
  assert_false(fixture->outcome.gated);
  assert_int_equal(fixture->flow_trial_count, 2 * fixture->trial_count);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    const struct flow_trial *of = &fixture->flow_trials[2 * i];
    const uint64_t last_ns = of[1].start_ns + of[1].elapsed_ns;
    assert_true(of[0].start_ns == 0 || of[1].start_ns == 0);
    assert_true(of[0].start_ns + of[0].elapsed_ns < last_ns);
    /* Events are read in floats of ms. */
    assert_true(fixture->trials[i].elapsed_ns + 100 >= last_ns);
    assert_true(fixture->trials[i].elapsed_ns <= last_ns + 100);
  }
}

/* The second call is made when the first has returned, so that the first copy ends long before. */
TEST(one_thread_calls_one_copy_after_the_other, struct fixture *fixture) {
  const struct flow flows[] = {with_host(true, MEMORY_PAGEABLE, 4 * (uint64_t)SIZE_BYTES),
                               with_host(true, MEMORY_PAGEABLE, 4 * (uint64_t)SIZE_BYTES)};
  struct case_def def = fixture_transfer(flows, 2);
  def.measure.callers = CALLERS_ONE;
  fixture_run_ok(fixture, &def);
  assert_false(fixture->outcome.gated);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    const struct flow_trial *of = &fixture->flow_trials[2 * i];
    assert_true(4 * of[0].elapsed_ns < 3 * of[1].elapsed_ns);
  }
}

/* One page for all cases, zeroed each time; a trial beside another one has its own. */
TEST(the_gate_is_kept_between_cases, struct fixture *fixture) {
  struct cuda_session *session = fixture->engine->context.cuda;
  unsigned char *first = NULL;
  void *hosts[2];
  CUdeviceptr devices[2];
  both_ways(fixture, GATING_ON);
  first = session->gate.host;
  assert_non_null(first);
  assert_false(session->gate.taken);
  first[7] = 1;
  both_ways(fixture, GATING_ON);
  assert_ptr_equal(session->gate.host, first);
  first[7] = 1;
  assert_ok(cuda_session_take_gate(session, 8, &hosts[0], &devices[0], err), err);
  assert_ok(cuda_session_take_gate(session, 8, &hosts[1], &devices[1], err), err);
  assert_ptr_equal(hosts[0], first);
  assert_int_equal(first[7], 0);
  assert_ptr_not_equal(hosts[1], first);
  cuda_session_give_gate(session, hosts[1]);
  assert_true(session->gate.taken);
  cuda_session_give_gate(session, hosts[0]);
  cuda_session_give_gate(session, NULL);
  assert_ok(cuda_session_take_gate(session, 5000, &hosts[0], &devices[0], err), err);
  assert_int_equal(session->gate.size_bytes, 5000);
  cuda_session_give_gate(session, hosts[0]);
  both_ways(fixture, GATING_ON);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
