/* One setting x machine -> cases: selectors, pairs, direction, initiator, concurrent, loads. */
#include "engine/case/chase.h"
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/plan/plan.h"
#include "schema/scenario/setting.h"
#include "tests/runner/plan/fixture.h"

/* The machine and the plan that make() was called for last. */
static struct {
  struct machine *machine;
  struct plan *plan;
} made;

static int unmake(void **state) {
  plan_free(made.plan);
  memory_free(&made.machine);
  made.plan = NULL;
  return 0;
}

TEST_GROUP(NULL, unmake);

/* Plan of one setting, of so many cases (0 = any number). The machine is freed with it. */
static void make(struct machine *machine, struct setting setting, size_t cases) {
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  struct error err;
  if (made.machine == machine) {
    made.machine = NULL;
  }
  (void)unmake(NULL);
  made.machine = machine;
  assert_ok(plan_builder_add(builder, "block", &setting, &err), &err);
  assert_ok(plan_builder_finish(builder, CASE_ORDER_FILE, 0, &made.plan, &err), &err);
  plan_builder_free(builder);
  assert_int_equal(made.plan->case_count, cases > 0 ? cases : made.plan->case_count);
}

static const struct plan_case *at(size_t i) {
  assert_true(i < made.plan->case_count);
  return &made.plan->cases[i];
}

static void expect_path(size_t i, const char *path) {
  assert_string_equal(at(i)->def.path, path);
}

static void expect_skip(size_t i, const char *path, const char *reason) {
  expect_path(i, path);
  assert_non_null(at(i)->skip_reason);
  assert_string_equal(at(i)->skip_reason, reason);
}

/* Both selectors are all GPUs. */
static struct setting all_to_all(void) {
  return setting_of(gpu_end(SELECT_ALL), gpu_end(SELECT_ALL));
}

TEST(eight_gpus_are_56_ordered_pairs) {
  make(machine_8xh100(), all_to_all(), 56);
  assert_int_equal(made.plan->skip_count, 0);
  expect_path(0, "gpu0-gpu1");
  expect_path(7, "gpu1-gpu0");
  expect_path(55, "gpu7-gpu6");
}

TEST(pairs_as_given) {
  struct setting setting = all_to_all();
  setting.transfer.pairs_given = true;
  setting.transfer.pairs = PAIRS_UNORDERED;
  make(machine_8xh100(), setting, 28);
  expect_path(27, "gpu6-gpu7");
  setting.transfer.pairs = PAIRS_SAME;
  make(machine_8xh100(), setting, 8);
  expect_path(3, "gpu3-gpu3");
}

/* How often each of the places is at either end of the measured flows. */
static void expect_balance(size_t places, size_t as_source, size_t as_target) {
  for (size_t place = 0; place < places; place++) {
    size_t sources = 0;
    size_t targets = 0;
    for (size_t i = 0; i < made.plan->case_count; i++) {
      const struct case_def *def = &at(i)->def;
      for (uint32_t f = 0; f < def->flow_count; f++) {
        sources += def->flows[f].source.index == (int32_t)place;
        targets += def->flows[f].target.index == (int32_t)place;
        assert_true(def->flows[f].source.index != def->flows[f].target.index);
      }
    }
    assert_int_equal(sources, as_source);
    assert_int_equal(targets, as_target);
  }
}

TEST(a_sample_has_every_place_as_often_at_either_end) {
  struct setting setting = all_to_all();
  setting.transfer.pairs_given = true;
  setting.transfer.pairs = PAIRS_SAMPLE;
  for (uint32_t samples = 1; samples <= 9; samples++) {
    const size_t each = samples < 7 ? samples : 7;
    setting.transfer.samples = samples;
    setting.transfer.direction = DIRECTION_FORWARD;
    make(machine_8xh100(), setting, 8 * each);
    assert_int_equal(made.plan->duplicate_count, 0);
    expect_balance(8, each, each);
    /* Both ways each case has a place at both ends. */
    setting.transfer.direction = DIRECTION_BOTH;
    make(machine_8xh100(), setting, 4 * each);
    assert_int_equal(made.plan->duplicate_count, 0);
    expect_balance(8, each, each);
  }
  setting.transfer.direction = DIRECTION_FORWARD;
  setting.transfer.flow.to = gpu_end(SELECT(0, 1));
  make(machine_8xh100(), setting, 0);
  expect_skip(0, "gpu.all-gpu0,1", "pairs = \"sample\" needs the same places in from and to");
}

/* What is measured is the case of the index, whatever names it. */
TEST(gpus_are_named_by_uuid) {
  static const char *const UUIDS[] = {"GPU-AAAA", "GPU-bbbb1111-2", "gpu-aaaa"};
  struct machine *machine = machine_8xh100();
  (void)snprintf(machine->gpus[2].uuid, sizeof machine->gpus[2].uuid, "GPU-aaaa1111-22");
  (void)snprintf(machine->gpus[5].uuid, sizeof machine->gpus[5].uuid, "GPU-bbbb1111-22");
  (void)snprintf(machine->gpus[6].uuid, sizeof machine->gpus[6].uuid, "GPU-bbbb1111-33");
  struct setting setting = all_to_all();
  setting.transfer.flow.from.selector =
      (struct selector){.kind = SELECTOR_LIST, .uuids = UUIDS, .uuid_count = COUNT_OF(UUIDS)};
  setting.transfer.flow.to = gpu_end(SELECT(0));
  make(machine, setting, 2);
  expect_path(0, "gpu2-gpu0");
  expect_path(1, "gpu5-gpu0");
  PRINTED(key, CASE_KEY_MAX, "%s", at(0)->def.key);
  setting.transfer.flow.from = gpu_end(SELECT(2));
  make(machine, setting, 0);
  assert_string_equal(at(0)->def.key, key);
  /* Of none, or of several. */
  setting.transfer.flow.from.selector =
      (struct selector){.kind = SELECTOR_LIST, .uuids = &UUIDS[1], .uuid_count = 1};
  machine->gpus[6].uuid[13] = '2';
  make(machine, setting, 0);
  assert_contains(at(0)->skip_reason, "GPU-bbbb1111-2 is the beginning of several");
  assert_contains(at(0)->skip_reason, "gpu2 GPU-aaaa1111-22, ");
  machine->gpus[5].uuid[4] = machine->gpus[6].uuid[4] = 'c';
  make(machine, setting, 0);
  assert_contains(at(0)->skip_reason, "no GPU with the UUID GPU-bbbb1111-2: here are");
}

TEST(unordered_keeps_pairs_that_have_no_reverse) {
  struct setting setting = setting_of(gpu_end(SELECT(2, 3)), gpu_end(SELECT(0, 2)));
  setting.transfer.pairs_given = true;
  setting.transfer.pairs = PAIRS_UNORDERED;
  make(machine_8xh100(), setting, 3);
  expect_path(0, "gpu2-gpu0");
  expect_path(1, "gpu3-gpu0");
  expect_path(2, "gpu3-gpu2");
}

TEST(nodes_are_paired_with_themselves_too) {
  struct setting setting =
      setting_of(numa_end(SELECT_ALL, MEMORY_PAGEABLE), numa_end(SELECT_ALL, MEMORY_PAGEABLE));
  setting.transfer.flow.base.method = METHOD_CPU;
  make(machine_cpu(), setting, 4);
  expect_path(0, "numa0:pageable-numa0:pageable");
  expect_path(1, "numa0:pageable-numa1:pageable");
  assert_int_equal(at(1)->def.flows[0].initiator, INITIATOR_SOURCE);
  setting.transfer.pairs_given = true;
  setting.transfer.pairs = PAIRS_ORDERED;
  make(machine_cpu(), setting, 2);
}

TEST(one_gpu_by_number_to_itself_is_a_local_copy) {
  make(machine_8xh100(), setting_of(gpu_end(SELECT(3)), gpu_end(SELECT(3))), 1);
  expect_path(0, "gpu3-gpu3");
  assert_null(at(0)->skip_reason);
}

TEST(local_and_remote_are_seen_from_the_gpu) {
  make(machine_8xh100(), setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(SELECT_ALL)), 8);
  expect_path(0, "numa0:pinned-gpu0");
  expect_path(7, "numa1:pinned-gpu7");
  assert_int_equal(at(0)->def.flows[0].initiator, INITIATOR_TARGET);
  make(machine_8xh100(), setting_of(gpu_end(SELECT(0, 7)), numa_end(SELECT_REMOTE, MEMORY_PINNED)),
       2);
  expect_path(0, "gpu0-numa1:pinned");
  expect_path(1, "gpu7-numa0:pinned");
  assert_int_equal(at(0)->def.flows[0].initiator, INITIATOR_SOURCE);
}

TEST(an_unknown_nearest_node_is_a_reason_but_with_one_node) {
  struct setting setting = setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(SELECT(0, 1)));
  struct machine *machine = machine_4xl40s();
  machine->gpus[1].numa_node = -1;
  make(machine, setting, 2);
  expect_skip(0, "numa.local:pinned-gpu1",
              "the NUMA node nearest to GPU 1 is not known, and this machine has 2: name the node "
              "by its number");
  expect_path(1, "numa0:pinned-gpu0");
  machine = machine_4xl40s();
  machine->gpus[1].numa_node = -1;
  machine->node_count = 1;
  make(machine, setting, 2);
  expect_path(1, "numa0:pinned-gpu1");
  assert_int_equal(made.plan->skip_count, 0);
}

TEST(local_without_a_gpu_at_the_other_end_is_refused) {
  make(machine_cpu(),
       setting_of(numa_end(SELECT_LOCAL, MEMORY_PAGEABLE), numa_end(SELECT_ALL, MEMORY_PAGEABLE)),
       1);
  expect_skip(0, "numa.local:pageable-numa.all:pageable",
              "\"local\" and \"remote\" are seen from the GPU at the other end, and there is none");
}

TEST(memory_only_nodes_are_measured_only_when_named) {
  make(machine_gh200(), setting_of(numa_end(SELECT_ALL, MEMORY_PINNED), gpu_end(SELECT_ALL)), 1);
  expect_path(0, "numa0:pinned-gpu0");
  struct setting setting =
      setting_of(numa_end(SELECT(0, 1), MEMORY_PAGEABLE), numa_end(SELECT(1), MEMORY_PAGEABLE));
  setting.transfer.flow.base.method = METHOD_CPU;
  make(machine_gh200(), setting, 2);
  assert_null(at(0)->skip_reason);
  expect_skip(1, "numa1:pageable-numa1:pageable",
              "NUMA node 1, the memory of GPU 0, has no processors to run threads on");
  /* From a node without processors to one that has some, the other side's threads copy. */
  setting = setting_of(numa_end(SELECT(1), MEMORY_PAGEABLE), numa_end(SELECT(0), MEMORY_PAGEABLE));
  setting.transfer.flow.base.method = METHOD_CPU;
  make(machine_gh200(), setting, 0);
  assert_null(at(0)->skip_reason);
  assert_int_equal(at(0)->def.flows[0].initiator, INITIATOR_TARGET);
  make(machine_gh200(), setting_of(numa_end(SELECT_REMOTE, MEMORY_PINNED), gpu_end(SELECT(0))), 0);
  expect_skip(0, "numa.remote:pinned-gpu0",
              "no NUMA node is remote to GPU 0: node 0 is the only one with processors and memory");
}

TEST(what_is_not_there_is_skipped_and_says_what_there_is) {
  make(machine_4xl40s(),
       setting_of(numa_end(SELECT(0, 5), MEMORY_PINNED), gpu_end(SELECT(0, 7, 8, 9))), 2);
  expect_skip(0, "numa0,5:pinned-gpu0,7..9",
              "there is no NUMA node 5 (nodes: 0,1); there is no GPU 7-9 (GPUs: 0-3)");
  assert_int_equal(at(0)->def.flow_count, 0);
  expect_path(1, "numa0:pinned-gpu0");
}

TEST(no_gpu_is_one_skip_with_the_state_of_cuda) {
  make(machine_cpu(), all_to_all(), 1);
  expect_skip(0, "gpu.all-gpu.all", "there is no NVIDIA driver (libcuda.so.1)");
  assert_int_equal(made.plan->estimate_ns, 0);
}

TEST(gpus_that_cuda_does_not_see_are_left_out) {
  struct machine *machine = machine_4xl40s();
  machine->gpus[1].cuda_ordinal = -1;
  make(machine, setting_of(numa_end(SELECT(0), MEMORY_PINNED), gpu_end(SELECT_ALL)), 3);
  machine = machine_4xl40s();
  machine->gpus[1].cuda_ordinal = -1;
  make(machine, setting_of(numa_end(SELECT(0), MEMORY_PINNED), gpu_end(SELECT(1))), 0);
  expect_skip(0, "numa0:pinned-gpu1",
              "there is no GPU 1 (GPUs: 0,2,3): of 4 GPUs, CUDA sees only these");
}

TEST(pairs_need_two_places) {
  make(machine_gh200(), all_to_all(), 1);
  expect_skip(0, "gpu.all-gpu.all", "needs two GPUs, this machine has 1");
}

TEST(reverse_and_both) {
  struct setting setting = setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(SELECT(5)));
  setting.transfer.direction = DIRECTION_REVERSE;
  make(machine_8xh100(), setting, 0);
  expect_path(0, "gpu5-numa1:pinned");
  assert_int_equal(at(0)->def.flows[0].initiator, INITIATOR_SOURCE);
  setting.transfer.direction = DIRECTION_BOTH;
  make(machine_8xh100(), setting, 1);
  expect_path(0, "numa1:pinned--gpu5");
  assert_int_equal(at(0)->def.flow_count, 2);
  assert_int_equal(at(0)->def.flows[0].initiator, INITIATOR_TARGET);
  assert_int_equal(at(0)->def.flows[1].initiator, INITIATOR_SOURCE);
  assert_int_equal(at(0)->def.payload_bytes, UINT64_C(128) << 20);
}

TEST(the_initiator_belongs_to_each_flow) {
  struct setting setting = setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(1)));
  setting.transfer.direction = DIRECTION_BOTH;
  setting.transfer.flow.initiator_given = true;
  setting.transfer.flow.base.initiator = INITIATOR_TARGET;
  make(machine_8xh100(), setting, 0);
  for (uint32_t i = 0; i < 2; i++) {
    assert_int_equal(at(0)->def.flows[i].initiator, INITIATOR_TARGET);
    assert_int_equal(at(0)->def.flows[i].target.index, 1 - i);
  }
}

TEST(both_ways_stands_once_unless_asked) {
  struct setting setting = all_to_all();
  setting.transfer.direction = DIRECTION_BOTH;
  make(machine_8xh100(), setting, 28);
  expect_path(0, "gpu0--gpu1");
  setting.transfer.pairs_given = true;
  setting.transfer.pairs = PAIRS_ORDERED;
  make(machine_8xh100(), setting, 56);
  setting.transfer.pairs_given = false;
  setting.transfer.flow.to.memory = MEMORY_MANAGED; /* now a--b differs from b--a */
  make(machine_8xh100(), setting, 56);
}

TEST(peer_access_is_needed_or_staged) {
  struct setting setting = setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(1)));
  make(machine_4xl40s(), setting, 0);
  expect_skip(
      0, "gpu0-gpu1",
      "no peer access between the two GPUs (to copy through the host instead: peer = false)");
  assert_int_equal(at(0)->def.flow_count, 1);
  setting.transfer.direction = DIRECTION_BOTH;
  make(machine_4xl40s(), setting, 0);
  expect_skip(
      0, "gpu0--gpu1",
      "GPU 0 and GPU 1 have no peer access (to copy through the host instead: peer = false)");
  setting.transfer.direction = DIRECTION_FORWARD;
  setting.transfer.flow.peer = false;
  make(machine_4xl40s(), setting, 0);
  assert_null(at(0)->skip_reason);
  assert_true(at(0)->def.flows[0].staged);
  /* A local copy is never staged. */
  setting.transfer.flow.to = gpu_end(SELECT(0));
  make(machine_4xl40s(), setting, 0);
  assert_false(at(0)->def.flows[0].staged);
}

static void make_concurrent(struct machine *machine, enum concurrent concurrent,
                            enum direction direction, size_t cases) {
  struct setting setting = all_to_all();
  setting.transfer.concurrent = concurrent;
  setting.transfer.direction = direction;
  make(machine, setting, cases);
}

TEST(many_at_once) {
  make_concurrent(machine_8xh100(), CONCURRENT_PER_TARGET, DIRECTION_FORWARD, 8);
  assert_int_equal(at(0)->def.flow_count, 7);
  expect_path(0, "gpu1..7-gpu0"); /* in the order of the targets */
  expect_path(7, "gpu0..6-gpu7");

  make_concurrent(machine_8xh100(), CONCURRENT_PER_TARGET, DIRECTION_REVERSE, 8);
  expect_path(0, "gpu1..7-gpu0");

  make_concurrent(machine_8xh100(), CONCURRENT_PER_SOURCE, DIRECTION_BOTH, 8);
  assert_int_equal(at(0)->def.flow_count, 14);
  expect_path(0, "gpu0--gpu1..7");

  make_concurrent(machine_8xh100(), CONCURRENT_ALL, DIRECTION_FORWARD, 1);
  assert_int_equal(at(0)->def.flow_count, 56);
  expect_path(0, "gpu0..7-gpu0..7");

  /* All pairs both ways at once are the same flows, none of them twice. */
  make_concurrent(machine_8xh100(), CONCURRENT_ALL, DIRECTION_BOTH, 0);
  assert_int_equal(at(0)->def.flow_count, 56);
}

static void expect_flows(const int32_t (*pairs)[2], uint32_t count) {
  const struct case_def *def = &at(0)->def;
  assert_int_equal(made.plan->case_count, 1);
  assert_int_equal(def->flow_count, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(def->flows[i].source.index, pairs[i][0]);
    assert_int_equal(def->flows[i].target.index, pairs[i][1]);
  }
}

TEST(ring_and_bisection) {
  make_concurrent(machine_8xh100(), CONCURRENT_RING, DIRECTION_FORWARD, 0);
  expect_flows(
      (const int32_t[8][2]){{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 0}}, 8);
  make_concurrent(machine_8xh100(), CONCURRENT_BISECT, DIRECTION_FORWARD, 0);
  expect_flows(
      (const int32_t[8][2]){{0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 0}, {5, 1}, {6, 2}, {7, 3}}, 8);
  struct setting setting = setting_of(gpu_end(SELECT(1, 3, 4)), gpu_end(SELECT(1, 3, 4)));
  setting.transfer.concurrent = CONCURRENT_BISECT;
  make(machine_8xh100(), setting, 0);
  expect_flows((const int32_t[2][2]){{1, 3}, {3, 1}}, 2);             /* the odd one is left out */
  setting = setting_of(gpu_end(SELECT(0, 5)), gpu_end(SELECT(2, 5))); /* places of either end */
  setting.transfer.concurrent = CONCURRENT_RING;
  make(machine_8xh100(), setting, 0);
  expect_flows((const int32_t[3][2]){{0, 2}, {2, 5}, {5, 0}}, 3);
  make_concurrent(machine_gh200(), CONCURRENT_RING, DIRECTION_FORWARD, 0);
  expect_skip(0, "gpu.all-gpu.all", "concurrent = \"ring\" needs two places, there is 1");
}

TEST(gpus_of_a_node_run_together_per_source) {
  struct setting setting = setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(SELECT_ALL));
  setting.transfer.concurrent = CONCURRENT_PER_SOURCE;
  make(machine_8xh100(), setting, 2);
  expect_path(0, "numa0:pinned-gpu0..3");
  expect_path(1, "numa1:pinned-gpu4..7");
}

TEST(loads_run_beside_every_case) {
  struct setting setting = all_to_all();
  struct flow_setting load = setting.transfer.flow;
  load.from = numa_end(SELECT_LOCAL, MEMORY_PINNED);
  load.to = gpu_end(SELECT(0, 1));
  setting.transfer.loads = &load;
  setting.transfer.load_count = 1;
  make(machine_8xh100(), setting, 56);
  assert_int_equal(at(0)->def.flow_count, 3);
  assert_int_equal(at(0)->def.flows[0].role, FLOW_MEASURED);
  assert_int_equal(at(0)->def.flows[2].role, FLOW_LOAD);
  assert_int_equal(at(0)->def.payload_bytes, UINT64_C(64) << 20);
  expect_path(0, "gpu0-gpu1");
  load.to = gpu_end(SELECT(9));
  make(machine_8xh100(), setting, 0);
  expect_skip(0, "gpu0-gpu1", "load: there is no GPU 9 (GPUs: 0-7)");
  /* Without its load it is no case at all, also not the one that has none. */
  assert_contains(at(0)->def.definition, "unresolved");
}

/* A case has room for so many flows: what does not fit is skipped with its reason. */
TEST(too_many_loads_are_skipped) {
  enum { LOADS = CASE_FLOWS_MAX / 8 };
  struct setting setting = all_to_all();
  struct flow_setting loads[LOADS];
  for (size_t i = 0; i < LOADS; i++) {
    loads[i] = setting.transfer.flow;
    loads[i].from = i == LOADS - 1 ? gpu_end(SELECT_ALL) : numa_end(SELECT_LOCAL, MEMORY_PINNED);
  }
  setting.transfer.loads = loads;
  setting.transfer.load_count = LOADS;
  make(machine_8xh100(), setting, 0); /* 1016, and then 56 */
  expect_skip(0, "gpu0-gpu1", "more than 1024 flows of load at once");
  loads[LOADS - 1].from = numa_end(SELECT_LOCAL, MEMORY_PINNED);
  make(machine_8xh100(), setting, 0); /* 1024, and one that is measured */
  assert_string_equal(at(0)->skip_reason, "1025 flows at once, at most 1024 can be measured");
  loads[0].to = gpu_end(SELECT(0));
  make(machine_8xh100(), setting, 0);
  assert_null(at(0)->skip_reason);
  assert_int_equal(at(0)->def.flow_count, CASE_FLOWS_MAX - 7 + 1);
}

/* Beside a chase: on its way, or back, for every pair; and where the load says. */
TEST(loads_take_the_way_of_a_chase) {
  struct flow_setting loads[2] = {all_to_all().transfer.flow, all_to_all().transfer.flow};
  loads[0].mirrors = loads[0].method_given = loads[0].size_given = true;
  loads[0].mirror_direction = DIRECTION_REVERSE;
  loads[1].from = numa_end(SELECT_LOCAL, MEMORY_PINNED);
  loads[1].to = gpu_end(SELECT(1));
  struct setting setting = {
      .kind = CASE_CHASE,
      .measure = all_to_all().measure,
      .at = gpu_end(SELECT(0, 1)),
      .of = gpu_end(SELECT(2)),
      .transfer = {.loads = loads, .load_count = 2},
      .work.chase = {
          .space = CHASE_PEER, .footprint_bytes = 1 << 20, .stride_bytes = 128, .hops = 64}};
  make(machine_8xh100(), setting, 2);
  for (int32_t i = 0; i < 2; i++) {
    const struct case_def *def = &at((size_t)i)->def;
    assert_int_equal(def->flow_count, 2);
    assert_int_equal(def->flows[0].target.index, 1);
    assert_int_equal(def->flows[1].role, FLOW_LOAD);
    assert_int_equal(def->flows[1].source.index, i);
    assert_int_equal(def->flows[1].target.index, 2);
    assert_int_equal(def->payload_bytes, 0);
    assert_contains(def->definition, "\"flows\":[{\"role\":\"load\"");
  }
  setting.transfer.load_count = 0;
  make(machine_8xh100(), setting, 0);
  assert_null(strstr(at(0)->def.definition, "flows"));
}

TEST(spelled_flows_are_one_case) {
  struct setting setting = all_to_all();
  struct flow_setting flows[2] = {setting.transfer.flow, setting.transfer.flow};
  flows[0].from = gpu_end(SELECT(0));
  flows[0].to = gpu_end(SELECT(0));
  flows[1].from = numa_end(SELECT_LOCAL, MEMORY_PINNED);
  flows[1].to = gpu_end(SELECT(0, 1));
  flows[1].base.size_bytes = 4096;
  setting.transfer.flows = flows;
  setting.transfer.flow_count = 2;
  make(machine_8xh100(), setting, 1);
  expect_path(0, "3flows");
  assert_string_equal(at(0)->def.name, "block/3flows"); /* no common size */
  assert_int_equal(at(0)->def.payload_bytes, (UINT64_C(64) << 20) + UINT64_C(2) * 4096);
  flows[1].to = gpu_end(SELECT(11));
  make(machine_8xh100(), setting, 1);
  expect_skip(0, "numa.local:pinned-gpu11", "there is no GPU 11 (GPUs: 0-7)");
}

TEST(a_shape_sets_the_size) {
  struct setting setting = setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(1)));
  setting.transfer.flow.base.shape = (struct copy_shape){.width_bytes = 1000, .height = 8};
  make(machine_8xh100(), setting, 0);
  const struct flow *flow = at(0)->def.flows;
  assert_int_equal(flow->size_bytes, 8000);
  assert_int_equal(flow->shape.depth, 1);
  assert_int_equal(flow->shape.pitch_bytes, 1000);
  assert_int_equal(at(0)->def.payload_bytes, 8000);
}
