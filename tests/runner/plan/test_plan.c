/* Names, keys, uniqueness, --only, order, refusals, estimates: what a plan makes of its cases. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/plan/definition.h"
#include "runner/plan/plan.h"
#include "schema/scenario/setting.h"
#include "tests/runner/plan/fixture.h"

static struct setting host_to_device(void) {
  static const int32_t zero[] = {0};
  const struct selector gpu0 = {.kind = SELECTOR_LIST, .indices = zero, .count = 1};
  return setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(gpu0));
}

static void add(struct plan_builder *builder, const char *block, struct setting setting) {
  struct error err;
  assert_ok(plan_builder_add(builder, block, &setting, &err), &err);
}

static struct plan *finish(struct plan_builder *builder, enum case_order order, uint64_t seed) {
  struct plan *plan = NULL;
  struct error err;
  assert_ok(plan_builder_finish(builder, order, seed, &plan, &err), &err);
  plan_builder_free(builder);
  return plan;
}

/* Plan of one setting in block "block" on 8 x H100. */
static struct plan *plan_one(const struct machine *machine, struct setting setting) {
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  add(builder, "block", setting);
  return finish(builder, CASE_ORDER_FILE, 0);
}

TEST(names_show_block_path_axes_and_size) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct setting setting = host_to_device();
  const struct axis_value axes[] = {
      {"from.memory", "pinned"}, {"direction", "forward"}, {"measure.host_cache", "warm"},
      {"to.gpu", "*"},           {"odd key", "a b*"},      {"size", "64MiB"}};
  setting.axis_values = axes;
  setting.axis_value_count = COUNT_OF(axes);
  SCOPED(plan_free_at) struct plan *plan = plan_one(machine, setting);
  const struct plan_case *c = &plan->cases[0];
  assert_string_equal(c->def.name,
                      "block/numa0:pinned-gpu0/measure.host_cache=warm/odd_key=a_b_/64MiB");
  assert_string_equal(c->axes, "from.memory=pinned direction=forward measure.host_cache=warm "
                               "to.gpu=* odd key=a b* size=64MiB");
  assert_string_equal(c->def.block, "block");
}

TEST(equal_names_of_different_cases_are_numbered) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  struct setting setting = host_to_device();
  for (uint32_t i = 0; i < 3; i++) {
    setting.measure.iterations = i; /* varied without an axis: cannot come from a scenario */
    add(builder, "block", setting);
  }
  SCOPED(plan_free_at) struct plan *plan = finish(builder, CASE_ORDER_FILE, 0);
  assert_int_equal(plan->case_count, 3);
  assert_string_equal(plan->cases[0].def.name, "block/numa0:pinned-gpu0/64MiB");
  assert_string_equal(plan->cases[1].def.name, "block/numa0:pinned-gpu0/64MiB/2");
  assert_string_equal(plan->cases[2].def.name, "block/numa0:pinned-gpu0/64MiB/3");
}

TEST(identical_cases_are_measured_once) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  add(builder, "first", host_to_device());
  add(builder, "first", host_to_device()); /* even the name: vanishes */
  add(builder, "second", host_to_device());
  add(builder, "second", host_to_device()); /* as where a value is listed twice: vanishes, too */
  SCOPED(plan_free_at) struct plan *plan = finish(builder, CASE_ORDER_FILE, 0);
  assert_int_equal(plan->case_count, 1);
  assert_int_equal(plan->duplicate_count, 1);
  assert_string_equal(plan->duplicates[0].name, "second/numa0:pinned-gpu0/64MiB");
  assert_string_equal(plan->duplicates[0].same_as, "first/numa0:pinned-gpu0/64MiB");
  assert_string_equal(plan->duplicates[0].block, "second");
  assert_int_equal(plan->duplicates[0].listed, 1);
}

TEST(the_definition_is_canonical) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at) struct plan *plan = plan_one(machine, host_to_device());
  assert_string_equal(
      plan->cases[0].def.definition,
      "{\"version\":1,\"kind\":\"transfer\",\"flows\":[{\"role\":\"measured\",\"method\":\"ce\","
      "\"method_version\":2,"
      "\"source\":{\"place\":\"numa\",\"index\":0,\"memory\":\"pinned\"},"
      "\"target\":{\"place\":\"gpu\",\"index\":0,\"memory\":\"device\"},"
      "\"initiator\":\"target\",\"staged\":0,\"size_bytes\":67108864}],"
      "\"measure\":{\"min_trial_ns\":200000,\"host_cache\":\"warm\",\"device_cache\":\"warm\"}}");
}

TEST(the_key_is_xxh3_128) {
  char key[CASE_KEY_MAX];
  definition_key("", 0, key); /* published value of the empty input, seed 0 */
  assert_string_equal(key, "99aa06d3014798d86001c324468d497f");
}

/* Key of a setting that the change function altered. */
static void key_of(void (*change)(struct setting *), char key[CASE_KEY_MAX]) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct setting setting = host_to_device();
  change(&setting);
  SCOPED(plan_free_at) struct plan *plan = plan_one(machine, setting);
  (void)snprintf(key, CASE_KEY_MAX, "%s", plan->cases[0].def.key);
}

static void nothing(struct setting *s) {}
static void care(struct setting *s) {
  s->measure.trials_min = 3;
  s->measure.trials_max = 4;
  s->measure.precision = 0.1;
  s->measure.max_time_ns = 1;
  s->measure.warmup = 9;
  s->measure.verify = VERIFY_EVERY;
}
static void threads(struct setting *s) {
  s->transfer.flow.base.threads = 3;
}
static void unified(struct setting *s) {
  s->transfer.flow.base.unified.advise = ADVISE_READ_MOSTLY;
}
static void kernel(struct setting *s) {
  s->transfer.flow.base.kernel.block = 256;
}
static void iterations(struct setting *s) {
  s->measure.iterations = 8;
}
static void min_trial(struct setting *s) {
  s->measure.min_trial_ns = 1;
}
static void warm_host_cache(struct setting *s) {
  s->measure.host_cache = HOST_CACHE_WARM;
}
static void host_cache(struct setting *s) {
  s->measure.host_cache = HOST_CACHE_FLUSHED;
}
static void device_cache(struct setting *s) {
  s->measure.device_cache = CACHE_FLUSHED;
}
static void gate(struct setting *s) {
  s->measure.gating = GATING_OFF;
}
static void size(struct setting *s) {
  s->transfer.flow.base.size_bytes++;
}
static void memory(struct setting *s) {
  s->transfer.flow.from.memory = MEMORY_PAGEABLE;
}
static void gpu(struct setting *s) {
  static const int32_t one[] = {1};
  s->transfer.flow.to.selector =
      (struct selector){.kind = SELECTOR_LIST, .indices = one, .count = 1};
}
static void reverse(struct setting *s) {
  s->transfer.direction = DIRECTION_REVERSE;
}
static void initiator(struct setting *s) {
  s->transfer.flow.initiator_given = true;
}
static void method(struct setting *s) {
  s->transfer.flow.base.method = METHOD_SM;
}
static void shape(struct setting *s) {
  s->transfer.flow.base.shape = (struct copy_shape){1 << 20, 64, 1, 2 << 20};
}

TEST(the_key_has_what_changes_the_number_and_no_more) {
  char base[CASE_KEY_MAX];
  char key[CASE_KEY_MAX];
  key_of(nothing, base);
  void (*const same[])(struct setting *) = {care, threads, unified, kernel};
  for (size_t i = 0; i < COUNT_OF(same); i++) {
    key_of(same[i], key);
    assert_string_equal(key, base);
  }
  void (*const other[])(struct setting *) = {
      iterations, min_trial, warm_host_cache, host_cache, device_cache, size, memory,
      gpu,        reverse,   initiator,       method,     shape,        gate};
  char keys[COUNT_OF(other) + 1][CASE_KEY_MAX];
  const size_t count = COUNT_OF(other);
  (void)snprintf(keys[count], CASE_KEY_MAX, "%s", base);
  for (size_t i = 0; i < count; i++) {
    key_of(other[i], keys[i]);
    assert_string_not_equal(keys[i], base);
    for (size_t j = 0; j < i; j++) {
      assert_string_not_equal(keys[i], keys[j]);
    }
  }
}

TEST(caches_that_a_case_does_not_touch_are_not_in_its_key) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct setting setting = setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(1)));
  SCOPED(plan_free_at) struct plan *warm = plan_one(machine, setting);
  setting.measure.host_cache = HOST_CACHE_FLUSHED;
  SCOPED(plan_free_at) struct plan *flushed = plan_one(machine, setting);
  assert_string_equal(warm->cases[0].def.key, flushed->cases[0].def.key);
}

/* A copy of pageable memory of node 0, or one between GPUs 0 and 5 through the host. */
static struct plan *plan_host_copy(const struct machine *machine, bool staged,
                                   struct flow_cpu cpu) {
  struct setting setting =
      staged ? setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(5)))
             : setting_of(numa_end(SELECT(0), MEMORY_PAGEABLE), gpu_end(SELECT(5)));
  setting.transfer.flow.peer = !staged;
  setting.transfer.flow.cpu = cpu;
  return plan_one(machine, setting);
}

static const struct flow_cpu cpu_any = {.choice = CPU_ANY};
static const struct flow_cpu cpu_local = {.choice = CPU_LOCAL};
static const struct flow_cpu cpu_remote = {.choice = CPU_REMOTE};
static const struct flow_cpu cpu_1 = {.choice = CPU_NODE, .node = 1};

/* The definition of copies that no processor makes is what it was before they had a place. */
TEST(a_copy_by_a_processor_says_where_that_is) {
  const struct {
    bool staged;
    struct flow_cpu cpu;
    int32_t node;
    const char *definition; /* NULL: nothing of it */
  } cases[] = {
      {false, cpu_any, 0, "\"cpu\":\"any\""},
      {false, cpu_local, 0, NULL},
      {false, {.choice = CPU_NODE, .node = 0}, 0, NULL},
      {false, cpu_remote, 1, "\"cpu\":1"},
      {false, cpu_1, 1, "\"cpu\":1"},
      {true, cpu_local, 0, NULL},
      {true, cpu_remote, 1, "\"cpu\":1"},
      {true, {.choice = CPU_NODE, .node = 0}, 0, "\"cpu\":0"}, /* of another source it is another */
      {true, cpu_any, 0, "\"cpu\":\"any\""},
  };
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(plan_free_at) struct plan *plan = plan_host_copy(machine, cases[i].staged, cases[i].cpu);
    const struct case_def *def = &plan->cases[0].def;
    assert_null(plan->cases[0].skip_reason);
    assert_int_equal(def->flows[0].cpu.node, cases[i].node);
    assert_contains(def->definition, "\"method_version\":3");
    const char *cpu = strstr(def->definition, "\"cpu\"");
    assert_true(cases[i].definition == NULL
                    ? cpu == NULL
                    : cpu != NULL &&
                          strncmp(cpu, cases[i].definition, strlen(cases[i].definition)) == 0);
  }
  struct setting pinned = host_to_device();
  pinned.transfer.flow.cpu = cpu_remote;
  SCOPED(plan_free_at) struct plan *plan = plan_one(machine, pinned);
  assert_int_equal(plan->cases[0].def.flows[0].cpu.choice, CPU_ANY);
  assert_null(strstr(plan->cases[0].def.definition, "cpu"));
}

static void check_skip(const struct machine *machine, bool staged, struct flow_cpu cpu,
                       const char *reason) {
  SCOPED(plan_free_at) struct plan *plan = plan_host_copy(machine, staged, cpu);
  assert_non_null(plan->cases[0].skip_reason);
  assert_contains(plan->cases[0].skip_reason, reason);
}

TEST(a_copying_thread_that_has_no_processor_is_skipped) {
  struct machine *machine = machine_8xh100();
  check_skip(machine, false, (struct flow_cpu){.choice = CPU_NODE, .node = 2},
             "this machine has no NUMA node 2");
  machine->nodes[1].cpu_count = 0; /* taskset leaves node 0 alone */
  check_skip(machine, false, cpu_1, "of whose processors this process may use none (taskset");
  check_skip(machine, false, cpu_remote, "no NUMA node with processors is remote");
  machine->nodes[1].cpu_count = 8;
  machine->nodes[0].cpu_count = 0;
  check_skip(machine, false, cpu_local, "would run on NUMA node 0");
  machine->nodes[0].cpu_count = 8;
  machine->gpus[0].numa_node = -1;
  check_skip(machine, true, cpu_local, "which NUMA node is nearest to GPU 0 is not known");
  struct plan *plan = plan_host_copy(machine, true, cpu_any);
  assert_null(plan->cases[0].skip_reason);
  plan_free(plan);
  free(machine);
  /* Pageable memory in a GPU's own node: its processors are those nearest to the GPU. */
  machine = machine_gh200();
  struct setting setting = setting_of(numa_end(SELECT(1), MEMORY_PAGEABLE), gpu_end(SELECT(0)));
  setting.transfer.flow.cpu = cpu_local;
  plan = plan_one(machine, setting);
  assert_int_equal(plan->cases[0].def.flows[0].cpu.node, 0);
  plan_free(plan);
  free(machine);
}

static struct plan_builder *three_blocks(const struct machine *machine, const char *only) {
  struct plan_builder *builder = plan_builder_new(machine, only);
  struct setting setting = host_to_device();
  setting.transfer.flow.to = gpu_end(SELECT_ALL);
  add(builder, "host_to_device", setting);
  setting.transfer.direction = DIRECTION_REVERSE;
  add(builder, "device_to_host", setting);
  add(builder, "device_to_device", setting_of(gpu_end(SELECT_ALL), gpu_end(SELECT_ALL)));
  return builder;
}

TEST(only_takes_globs_on_blocks_and_cases) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  static const struct {
    const char *only;
    size_t count;
  } cases[] = {{"device_to_device", 56},
               {"*_to_device", 64},
               {"host_to_device/*gpu3*", 1},
               {"*gpu3*", 16},
               {"*/64MiB", 72}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(plan_free_at)
    struct plan *plan = finish(three_blocks(machine, cases[i].only), CASE_ORDER_FILE, 0);
    assert_int_equal(plan->case_count, cases[i].count);
  }
}

TEST(only_that_matches_nothing_names_what_is_near) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct plan_builder *builder = three_blocks(machine, "host_to_devise");
  struct plan *plan = NULL;
  assert_int_equal(plan_builder_finish(builder, CASE_ORDER_FILE, 0, &plan, err), STATUS_NOT_FOUND);
  assert_string_equal(
      err->message,
      "no block and no case matches \"host_to_devise\"; did you mean \"host_to_device\"; there "
      "are blocks \"host_to_device\", \"device_to_host\", \"device_to_device\" and cases such as "
      "\"host_to_device/numa0:pinned-gpu0/64MiB\"");
  assert_null(plan);
  plan_builder_free(builder);
}

TEST(a_duplicate_is_measured_when_only_names_it) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct plan_builder *builder = plan_builder_new(machine, "second");
  add(builder, "first", host_to_device());
  add(builder, "second", host_to_device());
  SCOPED(plan_free_at) struct plan *plan = finish(builder, CASE_ORDER_FILE, 0);
  assert_int_equal(plan->case_count, 1);
  assert_string_equal(plan->cases[0].def.block, "second");
}

TEST(shuffled_is_one_order_a_seed_whatever_else_is_there) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at)
  struct plan *one = finish(three_blocks(machine, NULL), CASE_ORDER_SHUFFLED, 42);
  SCOPED(plan_free_at)
  struct plan *two = finish(three_blocks(machine, NULL), CASE_ORDER_SHUFFLED, 42);
  SCOPED(plan_free_at)
  struct plan *other = finish(three_blocks(machine, NULL), CASE_ORDER_SHUFFLED, 43);
  SCOPED(plan_free_at)
  struct plan *part = finish(three_blocks(machine, "device_to_device"), CASE_ORDER_SHUFFLED, 42);
  size_t moved = 0;
  size_t at = 0;
  for (size_t i = 0; i < one->case_count; i++) {
    assert_string_equal(one->cases[i].def.name, two->cases[i].def.name);
    moved += strcmp(one->cases[i].def.name, other->cases[i].def.name) != 0;
    if (strcmp(one->cases[i].def.block, "device_to_device") == 0) {
      assert_string_equal(one->cases[i].def.name, part->cases[at++].def.name);
    }
  }
  assert_int_equal(at, 56);
  assert_true(moved > one->case_count / 2);
}

TEST(what_the_engine_refuses_is_skipped_with_its_reason) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  fake_engine.refuses = true;
  fake_engine.refused = MEMORY_PINNED;
  SCOPED(plan_free_at) struct plan *plan = plan_one(machine, host_to_device());
  fake_engine.refuses = false;
  assert_int_equal(plan->skip_count, 1);
  assert_string_equal(plan->cases[0].skip_reason, "no pinned memory here");
  assert_int_equal(plan->cases[0].def.flow_count, 1);
  assert_int_equal(plan->cases[0].estimate_ns, 0);
}

TEST(what_does_not_fit_is_skipped_with_the_numbers) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct setting setting = setting_of(gpu_end(SELECT(0)), gpu_end(SELECT(0)));
  setting.transfer.flow.base.size_bytes = UINT64_C(40) << 30;
  struct plan *plan = plan_one(machine, setting);
  assert_string_equal(plan->cases[0].skip_reason,
                      "needs 80.0 GiB on GPU 0, which has 79.0 GiB free");
  plan_free(plan);
  setting = host_to_device();
  fake_engine.host_buffer_bytes = UINT64_C(900) << 30;
  plan = plan_one(machine, setting);
  fake_engine.host_buffer_bytes = 0;
  assert_string_equal(plan->cases[0].skip_reason,
                      "needs 900.1 GiB of host memory, NUMA node 0 has 900.0 GiB free");
  plan_free(plan);
  /* Fits: what it needs is in the plan. */
  plan = plan_one(machine, setting);
  assert_null(plan->cases[0].skip_reason);
  assert_int_equal(plan->gpu_bytes, UINT64_C(64) << 20);
  assert_int_equal(plan->host_bytes, UINT64_C(64) << 20);
  plan_free(plan);
}

/* 200 us trials, 10 of them, 1 warm-up: the bytes add 1.07 ms a copy. */
TEST(estimates_follow_the_settings) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct setting setting = host_to_device();
  struct plan *plan = plan_one(machine, setting);
  const uint64_t usual = plan->cases[0].estimate_ns;
  /* 11 trials of 1.3 ms, allocation 22 ms, pattern and check 14 ms: about 55 ms. */
  assert_in_range(usual, 25000000, 110000000);
  assert_true(plan->cases[0].longest_ns > usual);
  assert_true(plan->cases[0].longest_ns < UINT64_C(3000000000));
  assert_true(plan->estimate_ns >= usual);
  plan_free(plan);
  setting.measure.trials_min = 1000;
  setting.measure.trials_max = 1000;
  plan = plan_one(machine, setting);
  assert_in_range(plan->cases[0].estimate_ns, 900000000, 2200000000);
  plan_free(plan);
}

/* A precision of 0.5 % takes some tens of trials where the host has a part in the copy, and no more
 * than the least where it has none. */
TEST(what_the_host_does_scatters_more) {
  static const enum memory_kind MEMORY[] = {MEMORY_PINNED, MEMORY_PAGEABLE};
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  for (size_t i = 0; i < 2; i++) {
    struct setting setting = host_to_device();
    setting.transfer.flow.from.memory = MEMORY[i];
    setting.measure.max_time_ns = UINT64_C(60000000000);
    setting.measure.trials_min = 4;
    setting.measure.trials_max = 1000;
    setting.measure.precision = 0.5;
    SCOPED(plan_free_at) struct plan *loose = plan_one(machine, setting);
    setting.measure.precision = 0.005;
    SCOPED(plan_free_at) struct plan *tight = plan_one(machine, setting);
    const uint64_t more = tight->cases[0].estimate_ns - loose->cases[0].estimate_ns;
    assert_int_equal(more > loose->cases[0].estimate_ns, MEMORY[i] == MEMORY_PAGEABLE);
  }
}

TEST(buffers_are_allocated_once) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  struct setting setting = host_to_device();
  add(builder, "first", setting);
  setting.measure.iterations = 1;
  add(builder, "second", setting);
  SCOPED(plan_free_at) struct plan *plan = finish(builder, CASE_ORDER_FILE, 0);
  assert_true(plan->cases[0].estimate_ns > plan->cases[1].estimate_ns + 15000000);
}
