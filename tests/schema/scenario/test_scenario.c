#include "support.h"

static void defaults_are_filled_in(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(HEAD BLOCK "size = \"64KiB\"\n");
  assert_string_equal(scenario->name, "t");
  assert_string_equal(scenario->description, "");
  assert_string_equal(scenario->path, "t.toml");
  assert_string_equal(scenario->text, HEAD BLOCK "size = \"64KiB\"\n");
  assert_int_equal(scenario->run.processes, 1);
  assert_int_equal(scenario->run.order, CASE_ORDER_FILE);
  assert_int_equal(scenario->run.telemetry_ns, 100000000);
  assert_int_equal(scenario->check_count, 0);
  assert_int_equal(scenario->block_count, 1);
  const struct block *block = scenario->blocks[0];
  assert_string_equal(block_name(block), "b");
  assert_int_equal(block_kind_of(block), CASE_TRANSFER);
  assert_int_equal(block_setting_count(block), 1);
  struct setting setting;
  block_setting(block, 0, &setting);
  assert_int_equal(setting.axis_value_count, 0);
  assert_int_equal(setting.measure.trials_min, 10);
  assert_int_equal(setting.measure.trials_max, 200);
  assert_int_equal(setting.measure.warmup, 1);
  assert_int_equal(setting.measure.iterations, 0);
  assert_int_equal(setting.measure.max_time_ns, 2000000000);
  assert_int_equal(setting.measure.min_trial_ns, 200000);
  assert_true(setting.measure.precision > 0.0049 && setting.measure.precision < 0.0051);
  assert_true(setting.measure.delta == 0); /* "auto" */
  assert_int_equal(setting.measure.verify, VERIFY_ONCE);
  assert_int_equal(setting.measure.host_cache, CACHE_WARM);
  const struct transfer_setting *transfer = &setting.transfer;
  assert_int_equal(transfer->direction, DIRECTION_FORWARD);
  assert_int_equal(transfer->concurrent, CONCURRENT_NONE);
  assert_false(transfer->pairs_given);
  assert_int_equal(transfer->load_count, 0);
  assert_int_equal(transfer->flow_count, 0);
  const struct flow_setting *flow = &transfer->flow;
  assert_int_equal(flow->method, METHOD_CE);
  assert_int_equal(flow->size_bytes, 65536);
  assert_false(flow->initiator_given);
  assert_true(flow->peer);
  assert_int_equal(flow->threads, 0);
  assert_int_equal(flow->from.place, PLACE_NUMA);
  assert_int_equal(flow->from.selector.kind, SELECTOR_LOCAL);
  assert_int_equal(flow->from.memory, MEMORY_PINNED);
  assert_int_equal(flow->to.place, PLACE_GPU);
  assert_int_equal(flow->to.selector.kind, SELECTOR_ALL);
  assert_int_equal(flow->to.memory, MEMORY_DEVICE);
  assert_int_equal(flow->shape.width_bytes, 0);
  scenario_free(scenario);
  scenario_free(NULL);
}

static void memory_follows_method_and_place(void **state) {
  (void)state;
  struct scenario *scenario =
      must_parse(HEAD "[[transfer]]\nname = \"cpu\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 1\n"
                      "size = 1\n[[transfer]]\nname = \"gpu\"\nmethod = [\"ce\", \"sm\", \"um\"]\n"
                      "from.numa = 0\nto.gpu = 0\nsize = 1\n");
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.from.memory, MEMORY_PAGEABLE);
  assert_int_equal(setting.transfer.flow.to.memory, MEMORY_PAGEABLE);
  static const enum memory_kind expected[][2] = {{MEMORY_PINNED, MEMORY_DEVICE},
                                                 {MEMORY_PINNED, MEMORY_DEVICE},
                                                 {MEMORY_MANAGED, MEMORY_MANAGED}};
  for (size_t i = 0; i < 3; i++) {
    block_setting(scenario->blocks[1], i, &setting);
    assert_int_equal(setting.transfer.flow.from.memory, expected[i][0]);
    assert_int_equal(setting.transfer.flow.to.memory, expected[i][1]);
  }
  scenario_free(scenario);
}

static void assert_axes(const struct block *block, size_t i, const char *expected) {
  struct setting setting;
  char text[512] = "";
  block_setting(block, i, &setting);
  for (size_t k = 0; k < setting.axis_value_count; k++) {
    const size_t length = strlen(text);
    (void)snprintf(text + length, sizeof text - length, "%s%s=%s", k == 0 ? "" : " ",
                   setting.axis_values[k].key, setting.axis_values[k].text);
  }
  assert_string_equal(text, expected);
}

static void axes_multiply_in_the_order_of_the_file(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[measure]\nhost_cache = [\"warm\", \"flushed\"]\nverify = [\"off\", \"once\"]\n"
           "[[transfer]]\nname = \"b\"\nverify = \"every\"\n"
           "from.numa = \"local\"\nsize = [\"4KiB\", 8192, \"1MiB\"]\n"
           "from.memory = [\"pinned\", \"pageable\"]\nmethod = \"ce\"\nto.gpu = [3, 1, 3]\n");
  const struct block *block = scenario->blocks[0];
  assert_int_equal(block_setting_count(block), 12);
  assert_axes(block, 0, "host_cache=warm size=4KiB from.memory=pinned");
  assert_axes(block, 1, "host_cache=warm size=4KiB from.memory=pageable");
  assert_axes(block, 2, "host_cache=warm size=8KiB from.memory=pinned");
  assert_axes(block, 6, "host_cache=flushed size=4KiB from.memory=pinned");
  assert_axes(block, 11, "host_cache=flushed size=1MiB from.memory=pageable");
  struct setting setting;
  block_setting(block, 11, &setting);
  assert_int_equal(setting.measure.host_cache, CACHE_FLUSHED);
  assert_int_equal(setting.measure.verify, VERIFY_EVERY);
  assert_int_equal(setting.transfer.flow.size_bytes, 1 << 20);
  assert_int_equal(setting.transfer.flow.from.memory, MEMORY_PAGEABLE);
  /* A set, not a sweep: ascending, each once. */
  assert_int_equal(setting.transfer.flow.to.selector.kind, SELECTOR_LIST);
  assert_int_equal(setting.transfer.flow.to.selector.count, 2);
  assert_int_equal(setting.transfer.flow.to.selector.indices[0], 1);
  assert_int_equal(setting.transfer.flow.to.selector.indices[1], 3);
  scenario_free(scenario);
}

static void zip_runs_axes_in_lockstep(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD BLOCK "size = [1, 2, 3]\nwarmup = [7, 8]\niterations = [4, 5, \"auto\"]\n"
                 "direction = [\"forward\", \"both\"]\nzip = [[\"iterations\", \"size\"]]\n");
  const struct block *block = scenario->blocks[0];
  assert_int_equal(block_setting_count(block), 12);
  assert_axes(block, 0, "size=1B warmup=7 iterations=4 direction=forward");
  assert_axes(block, 1, "size=1B warmup=7 iterations=4 direction=both");
  assert_axes(block, 2, "size=2B warmup=7 iterations=5 direction=forward");
  assert_axes(block, 11, "size=3B warmup=8 iterations=auto direction=both");
  scenario_free(scenario);
}

struct range_case {
  const char *key;
  const char *range;
  size_t count;
  const char *last;
};

static void ranges_have_the_right_values(void **state) {
  (void)state;
  static const struct range_case cases[] = {
      {"size", "{ from = \"4KiB\", to = \"1GiB\", factor = 2 }", 19, "size=1GiB"},
      {"size", "{ from = 1024, to = \"16GiB\", factor = 4 }", 13, "size=16GiB"},
      {"size", "{ from = 1, to = 10, factor = 2.5 }", 3, "size=6B"}, /* 1, 2.5, 6.25 */
      {"size", "{ from = 1, to = 4, factor = 1.1 }", 4, "size=4B"},  /* rounded: 1, 2, 3, 4 */
      {"size", "{ from = \"1MiB\", to = \"4MiB\", step = \"1MiB\" }", 4, "size=4MiB"},
      {"size", "{ from = 1, to = 9, step = 4 }", 3, "size=9B"},
      {"size", "{ from = 1, to = 8, step = 4 }", 2, "size=5B"},
      {"warmup", "{ from = 0, to = 3, step = 1 }", 4, "warmup=3"},
      {"max_time", "{ from = \"1ms\", to = \"1s\", factor = 10 }", 4, "max_time=1s"},
      {"precision", "{ from = 0.001, to = 0.003, step = 0.001 }", 3, "precision=0.003"},
      {"precision", "{ from = 0.001, to = 0.1, factor = 10 }", 3, "precision=0.1"},
      {"delta", "{ from = 0.01, to = 0.02, step = 0.01 }", 2, "delta=0.02"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    (void)snprintf(text, sizeof text, HEAD BLOCK "%s%s = %s\n",
                   strcmp(cases[i].key, "size") == 0 ? "" : "size = 1\n", cases[i].key,
                   cases[i].range);
    struct scenario *scenario = must_parse(text);
    const size_t count = block_setting_count(scenario->blocks[0]);
    assert_int_equal(count, cases[i].count);
    assert_axes(scenario->blocks[0], count - 1, cases[i].last);
    scenario_free(scenario);
  }
}

static void a_range_of_one_value_is_no_axis(void **state) {
  (void)state;
  struct scenario *scenario =
      must_parse(HEAD BLOCK "size = { from = 8, to = 9, factor = 2 }\nwarmup = [5]\n");
  assert_int_equal(block_setting_count(scenario->blocks[0]), 1);
  assert_axes(scenario->blocks[0], 0, "");
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.size_bytes, 8);
  assert_int_equal(setting.measure.warmup, 5);
  scenario_free(scenario);
}

static void selectors_are_sets(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[[transfer]]\nname = \"a\"\nmethod = \"ce\"\nfrom.gpu = \"1-3\"\nto.numa = \"remote\"\n"
           "size = 1\n[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = [2, 0]\n"
           "to.numa = 7\nsize = 1\n");
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.from.selector.count, 3);
  assert_int_equal(setting.transfer.flow.from.selector.indices[2], 3);
  assert_int_equal(setting.transfer.flow.to.selector.kind, SELECTOR_REMOTE);
  block_setting(scenario->blocks[1], 0, &setting);
  assert_int_equal(setting.transfer.flow.from.selector.indices[0], 0);
  assert_int_equal(setting.transfer.flow.from.selector.indices[1], 2);
  assert_int_equal(setting.transfer.flow.to.selector.indices[0], 7);
  scenario_free(scenario);
}

static void loads_and_flows_take_what_they_do_not_say_from_the_block(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD
      "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = [1024, 2048]\n"
      "[[transfer.load]]\nname = \"noise\"\nfrom.gpu = 0\nto.gpu = 1\nsize = [4, 8, 16]\n"
      "[[transfer.flow]]\nfrom.numa = 0\nto.gpu = 0\n"
      "[[transfer.flow]]\nfrom.gpu = 1\nto.numa = 1\nto.memory = \"pageable\"\nmethod = \"sm\"\n"
      "kernel.block = 512\nsize = 77\n");
  const struct block *block = scenario->blocks[0];
  assert_int_equal(block_setting_count(block), 6);
  assert_axes(block, 5, "size=2KiB load.noise.size=16B");
  struct setting setting;
  block_setting(block, 4, &setting);
  const struct transfer_setting *transfer = &setting.transfer;
  assert_int_equal(transfer->load_count, 1);
  assert_int_equal(transfer->flow_count, 2);
  assert_string_equal(transfer->loads[0].name, "noise");
  assert_int_equal(transfer->loads[0].size_bytes, 8);
  assert_int_equal(transfer->loads[0].method, METHOD_CE);
  assert_null(transfer->flows[0].name);
  assert_int_equal(transfer->flows[0].size_bytes, 2048);
  assert_int_equal(transfer->flows[0].from.memory, MEMORY_PINNED);
  assert_int_equal(transfer->flows[0].to.place, PLACE_GPU);
  assert_int_equal(transfer->flows[1].size_bytes, 77);
  assert_int_equal(transfer->flows[1].method, METHOD_SM);
  assert_int_equal(transfer->flows[1].kernel.block, 512);
  assert_int_equal(transfer->flows[1].to.memory, MEMORY_PAGEABLE);
  assert_int_equal(transfer->flows[1].to.selector.indices[0], 1);
  scenario_free(scenario);
}

static void a_sweep_over_methods_keeps_only_what_each_has(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[[transfer]]\nname = \"b\"\nmethod = [\"ce\", \"sm\"]\nfrom.gpu = 0\nto.gpu = 1\n"
           "size = 8\nkernel = { variant = \"vector\", block = 256 }\n"
           "initiator = [\"source\", \"target\"]\npeer = [true, false]\n");
  assert_int_equal(block_setting_count(scenario->blocks[0]), 8);
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.kernel.block, 0);
  assert_int_equal(setting.transfer.flow.kernel.variant, KERNEL_AUTO);
  assert_true(setting.transfer.flow.initiator_given);
  block_setting(scenario->blocks[0], 7, &setting);
  assert_int_equal(setting.transfer.flow.kernel.block, 256);
  assert_int_equal(setting.transfer.flow.kernel.variant, KERNEL_VECTOR);
  assert_int_equal(setting.transfer.flow.initiator, INITIATOR_TARGET);
  assert_false(setting.transfer.flow.peer);
  scenario_free(scenario);
}

static void a_shape_decides_the_size(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD BLOCK "shape = { width = [64, \"1KiB\"], height = 3, depth = 2, pitch = 4096 }\n"
                 "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\nsize = 5\n"
                 "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\n");
  struct setting setting;
  block_setting(scenario->blocks[0], 1, &setting);
  assert_int_equal(setting.transfer.flow.size_bytes, 6144);
  assert_int_equal(setting.transfer.flow.shape.pitch_bytes, 4096);
  assert_int_equal(setting.transfer.loads[0].size_bytes, 5);
  assert_int_equal(setting.transfer.loads[0].shape.width_bytes, 0);
  assert_int_equal(setting.transfer.loads[0].shape.height, 0);
  assert_int_equal(setting.transfer.loads[1].size_bytes, 6144);
  scenario_free(scenario);
  scenario = must_parse(HEAD BLOCK "shape = { width = 64, height = 3 }\n");
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.shape.pitch_bytes, 64);
  assert_int_equal(setting.transfer.flow.shape.depth, 1);
  scenario_free(scenario);
}

static void checks_have_a_canonical_want(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[checks]\ngovernor = { on_fail = \"skip\" }\ngpu_idle = { want = true }\n"
           "free_memory = { want = 0.95, on_fail = \"abort\" }\ndriver = { want = \">=570\" }\n"
           "gpu_name.want = \"*H200*\"\n" BLOCK "size = 1\n");
  static const struct check expected[] = {{CHECK_GOVERNOR, ON_FAIL_SKIP, "performance"},
                                          {CHECK_GPU_IDLE, ON_FAIL_WARN, "true"},
                                          {CHECK_FREE_MEMORY, ON_FAIL_ABORT, "0.95"},
                                          {CHECK_DRIVER, ON_FAIL_WARN, ">=570"},
                                          {CHECK_GPU_NAME, ON_FAIL_WARN, "*H200*"}};
  assert_int_equal(scenario->check_count, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(scenario->checks[i].kind, expected[i].kind);
    assert_int_equal(scenario->checks[i].on_fail, expected[i].on_fail);
    assert_string_equal(scenario->checks[i].want, expected[i].want);
  }
  scenario_free(scenario);
}

static void overrides_change_what_they_name(void **state) {
  (void)state;
  static const struct scenario_override overrides[] = {
      {"measure.max_time", "20ms"},
      {"trials.min", "3"},
      {"measure.trials", "{ max = 5 }"},
      {"transfer.size", "[1024, \"4KiB\"]"},
      {"b.size", "64KiB"},
      {"a.b.to.memory", "\"pageable\""},
      {"checks.governor.on_fail", "abort"},
      {"gpu_idle.want", "false"},
      {"processes", "4"},
      {"telemetry", "off"},
      {"description", "two words"},
      {"a.b.load.size", "9"},
  };
  struct scenario *scenario = must_parse_with(
      HEAD "[checks]\ngovernor = {}\n" BLOCK "size = 1\nmax_time = \"1s\"\n"
           "[[transfer]]\nname = \"a.b\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.numa = 0\nsize = 1\n"
           "[[transfer.load]]\nfrom.gpu = 1\nto.gpu = 0\n",
      overrides, sizeof overrides / sizeof *overrides);
  assert_int_equal(scenario->run.processes, 4);
  assert_int_equal(scenario->run.telemetry_ns, 0);
  assert_string_equal(scenario->description, "two words");
  assert_int_equal(scenario->check_count, 2);
  assert_int_equal(scenario->checks[0].on_fail, ON_FAIL_ABORT);
  assert_string_equal(scenario->checks[1].want, "false");
  struct setting setting;
  assert_int_equal(block_setting_count(scenario->blocks[0]), 1);
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow.size_bytes, 65536);
  assert_int_equal(setting.measure.max_time_ns, 1000000000); /* the block's own stays */
  assert_int_equal(setting.measure.trials_min, 3);
  assert_int_equal(setting.measure.trials_max, 5);
  assert_int_equal(block_setting_count(scenario->blocks[1]), 2);
  block_setting(scenario->blocks[1], 1, &setting);
  assert_int_equal(setting.measure.max_time_ns, 20000000);
  assert_int_equal(setting.transfer.flow.to.memory, MEMORY_PAGEABLE);
  assert_int_equal(setting.transfer.flow.size_bytes, 4096);
  assert_int_equal(setting.transfer.loads[0].size_bytes, 9);
  scenario_free(scenario);
}

static void overrides_complain_by_name(void **state) {
  (void)state;
  static const char *const pairs[][3] = {
      {"measure.max_tim", "1s", "unknown key \"max_tim\""},
      {"bb.size", "1", "unknown key \"bb.size\""},
      {"measure.max_time", "20", "lacks a unit"},
      {"transfer.size", "64XB", "\"64XB\""},
      {"transfer.size", "[1,", "unclosed array"},
      {"schema_version", "1", "unknown key"},
      {"include", "[\"x\"]", "unknown key"},
      {"measure.max_time", "1s\nwarmup = 2", "invalid value"},
      {"", "1", "unknown key"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const struct scenario_override override = {pairs[i][0], pairs[i][1]};
    struct diagnostics *diagnostics = must_refuse_with(HEAD BLOCK "size = 1\n", &override, 1);
    assert_one(diagnostics, 0, 0, pairs[i][2]);
    char file[128];
    (void)snprintf(file, sizeof file, "--set %s=%s", pairs[i][0], pairs[i][1]);
    assert_string_equal(diagnostics_at(diagnostics, 0)->error.position.file, file);
    assert_null(diagnostics_at(diagnostics, 0)->source_line);
    diagnostics_free(diagnostics);
  }
}

static void a_million_settings_are_enough(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(HEAD BLOCK "size = { from = 1, to = 1024, step = 1 }\n"
                                                    "warmup = { from = 1, to = 1024, step = 1 }\n");
  assert_int_equal(block_setting_count(scenario->blocks[0]), SCENARIO_SETTINGS_MAX);
  struct setting setting;
  block_setting(scenario->blocks[0], SCENARIO_SETTINGS_MAX - 1, &setting);
  assert_int_equal(setting.transfer.flow.size_bytes, 1024);
  assert_int_equal(setting.measure.warmup, 1024);
  scenario_free(scenario);
  struct diagnostics *diagnostics =
      must_refuse(HEAD BLOCK "size = { from = 1, to = 1024, step = 1 }\n"
                             "warmup = { from = 0, to = 1024, step = 1 }\n");
  assert_one(diagnostics, 3, 1, "more than 1048576 settings");
  diagnostics_free(diagnostics);
}

/* What [measure] says about caches and verification does not reach a chase. */
static void chases_have_their_own_defaults(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[measure]\nhost_cache = [\"warm\", \"flushed\"]\nverify = \"every\"\nwarmup = 7\n"
           "[[chase]]\nname = \"c\"\nspace = [\"host\", \"peer\"]\n" GPU_BLOCK "size = 1\n"
           "[[chase]]\nname = \"d\"\nspace = \"peer\"\nat.gpu = 1\nof.gpu = [0, 2]\n"
           "stride = 64\norder = \"strided\"\n");
  assert_int_equal(scenario->block_count, 3);
  assert_int_equal(block_kind_of(scenario->blocks[0]), CASE_CHASE); /* in the order of the file */
  assert_int_equal(block_kind_of(scenario->blocks[1]), CASE_TRANSFER);
  assert_string_equal(block_name(scenario->blocks[2]), "d");
  assert_int_equal(block_setting_count(scenario->blocks[0]), 2);
  assert_int_equal(block_setting_count(scenario->blocks[1]), 2);
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  const struct chase_setting *chase = &setting.chase;
  assert_int_equal(setting.kind, CASE_CHASE);
  assert_int_equal(setting.measure.warmup, 7);
  assert_int_equal(setting.measure.host_cache, CACHE_WARM);
  assert_int_equal(setting.measure.verify, VERIFY_OFF);
  assert_int_equal(chase->space, CHASE_HOST);
  assert_int_equal(chase->at.place, PLACE_GPU);
  assert_int_equal(chase->at.selector.kind, SELECTOR_ALL);
  assert_int_equal(chase->of.place, PLACE_NUMA);
  assert_int_equal(chase->of.selector.kind, SELECTOR_LOCAL);
  assert_int_equal(chase->of.memory, MEMORY_PINNED);
  assert_int_equal(chase->footprint_bytes, 2 << 20);
  assert_int_equal(chase->stride_bytes, 128);
  assert_int_equal(chase->order, CHASE_RANDOM);
  assert_int_equal(chase->hops, 4096);
  block_setting(scenario->blocks[0], 1, &setting);
  assert_int_equal(chase->space, CHASE_PEER);
  assert_int_equal(chase->of.place, PLACE_GPU);
  assert_int_equal(chase->of.selector.kind, SELECTOR_ALL);
  assert_int_equal(chase->of.memory, MEMORY_DEVICE);
  block_setting(scenario->blocks[2], 0, &setting);
  assert_int_equal(chase->at.selector.count, 1);
  assert_int_equal(chase->of.selector.count, 2);
  assert_int_equal(chase->order, CHASE_STRIDED);
  scenario_free(scenario);
}

static void set_reaches_chases(void **state) {
  (void)state;
  const struct scenario_override overrides[] = {{"chase.hops", "64"}, {"c.footprint", "1MiB"}};
  struct scenario *scenario = must_parse_with(
      HEAD "[[chase]]\nname = \"c\"\nspace = \"host\"\n" GPU_BLOCK "size = 1\n", overrides, 2);
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.chase.hops, 64);
  assert_int_equal(setting.chase.footprint_bytes, 1 << 20);
  scenario_free(scenario);
  struct diagnostics *diagnostics = must_refuse_with(HEAD GPU_BLOCK "size = 1\n", overrides, 1);
  assert_int_equal(diagnostics_count(diagnostics), 1); /* there is no chase to set it in */
  diagnostics_free(diagnostics);
}

static void a_load_without_ends_mirrors(void **state) {
  (void)state;
  struct scenario *scenario =
      must_parse(HEAD BLOCK "size = [1, 2]\n[[transfer.load]]\n[[transfer.load]]\nname = "
                            "\"more\"\nsize = [8, 16]\ndirection = \"forward\"\n");
  assert_int_equal(block_setting_count(scenario->blocks[0]), 4);
  struct setting setting;
  block_setting(scenario->blocks[0], 3, &setting);
  const struct flow_setting *loads = setting.transfer.loads;
  assert_int_equal(setting.transfer.load_count, 2);
  assert_true(loads[0].mirrors);
  assert_int_equal(loads[0].mirror_direction, DIRECTION_REVERSE);
  assert_false(loads[0].size_given);
  assert_false(loads[0].method_given);
  assert_false(loads[0].initiator_given);
  assert_true(loads[1].mirrors);
  assert_int_equal(loads[1].mirror_direction, DIRECTION_FORWARD);
  assert_true(loads[1].size_given);
  assert_int_equal(loads[1].size_bytes, 16);
  scenario_free(scenario);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_filled_in),
      cmocka_unit_test(memory_follows_method_and_place),
      cmocka_unit_test(axes_multiply_in_the_order_of_the_file),
      cmocka_unit_test(zip_runs_axes_in_lockstep),
      cmocka_unit_test(ranges_have_the_right_values),
      cmocka_unit_test(a_range_of_one_value_is_no_axis),
      cmocka_unit_test(selectors_are_sets),
      cmocka_unit_test(loads_and_flows_take_what_they_do_not_say_from_the_block),
      cmocka_unit_test(a_sweep_over_methods_keeps_only_what_each_has),
      cmocka_unit_test(a_shape_decides_the_size),
      cmocka_unit_test(checks_have_a_canonical_want),
      cmocka_unit_test(overrides_change_what_they_name),
      cmocka_unit_test(overrides_complain_by_name),
      cmocka_unit_test(a_million_settings_are_enough),
      cmocka_unit_test(chases_have_their_own_defaults),
      cmocka_unit_test(set_reaches_chases),
      cmocka_unit_test(a_load_without_ends_mirrors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
