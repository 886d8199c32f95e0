/* Kernels that compute: verified alone and beside loads, refused where they cannot run, and as
 * loads themselves. */
#include "engine/gpu/session.h"
#include "engine/workload/workload.h"
#include "tests/engine/workload/fixture.h"

enum { WORKING = 0, LEFT_OUT = 3, SIZE = 1 << 20 };

static struct flow kernel(enum compute_op op, int32_t gpu) {
  return (struct flow){.role = FLOW_MEASURED,
                       .method = METHOD_COMPUTE,
                       .source = fixture_gpu(gpu, MEMORY_DEVICE),
                       .target = fixture_gpu(gpu, MEMORY_DEVICE),
                       .size_bytes = SIZE,
                       .compute = {.op = op, .sm_percent = 100, .intensity = 3}};
}

static struct flow copy(enum flow_role role) {
  return (struct flow){.role = role,
                       .method = METHOD_CE,
                       .source = fixture_gpu(WORKING, MEMORY_DEVICE),
                       .target = fixture_node(0, MEMORY_PINNED),
                       .size_bytes = SIZE};
}

static struct case_def computing(const struct flow *flows, uint32_t count) {
  struct case_def def = fixture_transfer(flows, count);
  def.kind = CASE_COMPUTE;
  return def;
}

TEST(results_are_right, struct fixture *fixture) {
  for (unsigned op = 0; op < compute_op_name_count; op++) {
    struct flow flow = kernel((enum compute_op)op, WORKING);
    for (uint32_t percent = 1; percent <= 100; percent += 33) {
      flow.compute.sm_percent = percent;
      const struct case_def def = computing(&flow, 1);
      fixture_run_ok(fixture, &def);
      assert_true(fixture->outcome.gated);
    }
  }
}

TEST(a_kernel_that_does_nothing_is_corrupt, struct fixture *fixture) {
  for (unsigned op = 0; op < compute_op_name_count; op++) {
    const struct flow flow = kernel((enum compute_op)op, LEFT_OUT);
    const struct case_def def = computing(&flow, 1);
    fixture_fails(fixture, &def, CASE_CORRUPT, "results are wrong, the first is number 0");
    assert_non_null(strstr(fixture->outcome.reason, compute_op_text((enum compute_op)op)));
  }
}

/* Half of the SMs take twice as long for the same work; each block of fma has its own. */
TEST(the_share_of_the_sms_is_the_share_of_the_rate, struct fixture *fixture) {
  uint64_t elapsed_ns[2];
  for (int half = 0; half < 2; half++) {
    struct flow flow = kernel(COMPUTE_TRIAD, WORKING);
    flow.compute.intensity = COMPUTE_INTENSITY_MAX;
    flow.compute.sm_percent = half ? 50 : 100;
    struct case_def def = computing(&flow, 1);
    def.measure.iterations = 64;
    fixture_run_ok(fixture, &def);
    elapsed_ns[half] = fixture->trials[fixture->trial_count - 1].elapsed_ns;
  }
  assert_true(elapsed_ns[1] > elapsed_ns[0] * 17 / 10 && elapsed_ns[1] < elapsed_ns[0] * 21 / 10);
}

/* In a context of their own, on as many SMs: alone, and as a load. */
TEST(kernels_run_in_green_contexts, struct fixture *fixture) {
  for (unsigned op = 0; op < compute_op_name_count; op++) {
    struct flow flows[2] = {kernel((enum compute_op)op, WORKING), copy(FLOW_MEASURED)};
    flows[0].compute.sm_percent = 34; /* 45 of 132 SMs, which the driver gives in pairs */
    flows[0].compute.sm_share = SM_SHARE_GREEN;
    struct case_def def = computing(flows, 1);
    fixture_run_ok(fixture, &def);
    const struct note *note = &fixture->outcome.notes.items[0];
    assert_int_equal(note->kind, NOTE_GREEN_CONTEXT);
    assert_true(note->amounts[0] == 46);
    flows[0].role = FLOW_LOAD;
    def = fixture_transfer(flows, 2);
    fixture_run_ok(fixture, &def);
  }
}

/* test_compute.toml: the driver refuses them on GPU 2. */
TEST(a_driver_without_green_contexts_is_told, struct fixture *fixture) {
  struct flow flow = kernel(COMPUTE_FMA, 2);
  flow.compute.sm_share = SM_SHARE_GREEN;
  struct case_def def = computing(&flow, 1);
  fixture_fails(fixture, &def, CASE_SKIPPED, "cuGreenCtxCreate with");
}

/* Any of their calls may be missing. */
TEST(a_driver_with_some_of_their_calls_is_told, struct fixture *fixture) {
  struct cuda_driver *driver = &fixture->engine->context.cuda->driver;
  struct cuda_driver whole;
  struct flow flow = kernel(COMPUTE_FMA, WORKING);
  flow.compute.sm_share = SM_SHARE_GREEN;
  const struct case_def def = computing(&flow, 1);
  memcpy(&whole, driver, sizeof whole);
  for (int i = 0; i < 6; i++) {
    driver->cuDeviceGetDevResource = i == 0 ? NULL : whole.cuDeviceGetDevResource;
    driver->cuDevSmResourceSplitByCount = i == 1 ? NULL : whole.cuDevSmResourceSplitByCount;
    driver->cuDevResourceGenerateDesc = i == 2 ? NULL : whole.cuDevResourceGenerateDesc;
    driver->cuGreenCtxCreate = i == 3 ? NULL : whole.cuGreenCtxCreate;
    driver->cuGreenCtxDestroy = i == 4 ? NULL : whole.cuGreenCtxDestroy;
    driver->cuGreenCtxStreamCreate = i == 5 ? NULL : whole.cuGreenCtxStreamCreate;
    fixture_fails(fixture, &def, CASE_SKIPPED, "no green contexts");
  }
  driver->cuGreenCtxStreamCreate = whole.cuGreenCtxStreamCreate;
}

/* Pages that go to and fro beside a kernel. */
TEST(unified_memory_is_a_load, struct fixture *fixture) {
  struct flow flows[2] = {kernel(COMPUTE_FMA, WORKING), copy(FLOW_LOAD)};
  flows[1].method = METHOD_UM;
  flows[1].unified.mode = UNIFIED_PREFETCH;
  flows[1].source.memory = MEMORY_MANAGED;
  flows[1].target.memory = MEMORY_MANAGED;
  const struct case_def def = computing(flows, 2);
  fixture_run_ok(fixture, &def);
  assert_true(fixture->flow_trial_count > 0);
}

/* Both ways: what is measured is verified, and the load has a time of its own. */
TEST(kernels_and_copies_run_beside_each_other, struct fixture *fixture) {
  for (int measured = 0; measured < 2; measured++) {
    struct flow flows[2] = {kernel(COMPUTE_FMA, WORKING), copy(FLOW_LOAD)};
    if (measured == 1) {
      flows[0] = copy(FLOW_MEASURED);
      flows[1] = kernel(COMPUTE_FMA, WORKING);
      flows[1].role = FLOW_LOAD;
    }
    const struct case_def def = measured == 1 ? fixture_transfer(flows, 2) : computing(flows, 2);
    fixture_run_ok(fixture, &def);
    assert_true(fixture->flow_trial_count >= 4);
    for (uint32_t i = 0; i < fixture->flow_trial_count; i++) {
      assert_true(fixture->flow_trials[i].elapsed_ns > 0);
    }
  }
}

/* Every priority that there is makes a stream. */
TEST(flows_have_streams_of_their_priority, struct fixture *fixture) {
  for (unsigned priority = 0; priority < stream_priority_name_count; priority++) {
    struct flow flows[2] = {kernel(COMPUTE_FMA, WORKING), copy(FLOW_LOAD)};
    flows[0].priority = (enum stream_priority)priority;
    flows[1].priority = STREAM_PRIORITY_LOWEST;
    const struct case_def def = computing(flows, 2);
    fixture_run_ok(fixture, &def);
  }
}

TEST(unsupported_kernel_gives_its_reason, struct fixture *fixture) {
  struct flow flow = kernel(COMPUTE_MATMUL, WORKING);
  flow.size_bytes = 262143;
  fixture_refuse(fixture, flow, "256 x 256, take 256 KiB");
  flow = kernel(COMPUTE_TRIAD, WORKING);
  flow.size_bytes = 31;
  fixture_refuse(fixture, flow, "at least 32 bytes");
  flow = kernel(COMPUTE_FMA, WORKING);
  flow.size_bytes = 4096;
  fixture_refuse(fixture, flow, "the results of 132 SMs take 540672 bytes");
  flow = kernel(COMPUTE_FMA, WORKING);
  flow.target.index = 1;
  fixture_refuse(fixture, flow, "both ends are that GPU");
  const uint32_t major = fixture->machine->gpus[WORKING].compute_major;
  fixture->machine->gpus[WORKING].compute_major = 7;
  fixture_refuse(fixture, kernel(COMPUTE_MATMUL, WORKING), "needs compute capability 8.0");
  fixture->machine->gpus[WORKING].compute_major = major;
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
