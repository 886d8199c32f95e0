#include "scenarios/scenarios.h"

#include "support.h"

static void assert_equal_text(const char *a, const char *b) {
  assert_true((a == NULL) == (b == NULL));
  if (a != NULL) {
    assert_string_equal(a, b);
  }
}

static void assert_equal_ends(const struct endpoint_setting *a, const struct endpoint_setting *b) {
  assert_int_equal(a->place, b->place);
  assert_int_equal(a->memory, b->memory);
  assert_int_equal(a->selector.kind, b->selector.kind);
  assert_int_equal(a->selector.count, b->selector.count);
  for (size_t i = 0; i < a->selector.count; i++) {
    assert_int_equal(a->selector.indices[i], b->selector.indices[i]);
  }
}

static void assert_equal_flows(const struct flow_setting *a, const struct flow_setting *b) {
  assert_equal_text(a->name, b->name);
  assert_int_equal(a->method, b->method);
  assert_equal_ends(&a->from, &b->from);
  assert_equal_ends(&a->to, &b->to);
  assert_int_equal(a->initiator_given, b->initiator_given);
  assert_int_equal(a->initiator, b->initiator);
  assert_int_equal(a->peer, b->peer);
  assert_int_equal(a->size_bytes, b->size_bytes);
  assert_int_equal(a->threads, b->threads);
  assert_memory_equal(&a->kernel, &b->kernel, sizeof a->kernel);
  assert_memory_equal(&a->shape, &b->shape, sizeof a->shape);
  assert_int_equal(a->mirrors, b->mirrors);
  assert_int_equal(a->mirror_direction, b->mirror_direction);
  assert_int_equal(a->unified.mode, b->unified.mode);
  assert_int_equal(a->unified.touch_by, b->unified.touch_by);
  assert_int_equal(a->unified.threads, b->unified.threads);
  assert_int_equal(a->unified.advise, b->unified.advise);
  assert_int_equal(a->unified.stride_bytes, b->unified.stride_bytes);
}

static void assert_equal_measures(const struct measure *a, const struct measure *b) {
  assert_int_equal(a->trials_min, b->trials_min);
  assert_int_equal(a->trials_max, b->trials_max);
  assert_int_equal(a->warmup, b->warmup);
  assert_int_equal(a->iterations, b->iterations);
  assert_int_equal(a->max_time_ns, b->max_time_ns);
  assert_int_equal(a->min_trial_ns, b->min_trial_ns);
  assert_memory_equal(&a->precision, &b->precision, sizeof a->precision);
  assert_memory_equal(&a->free_share, &b->free_share, sizeof a->free_share);
  assert_memory_equal(&a->delta, &b->delta, sizeof a->delta);
  assert_int_equal(a->verify, b->verify);
  assert_int_equal(a->host_cache, b->host_cache);
  assert_int_equal(a->device_cache, b->device_cache);
  assert_int_equal(a->gating, b->gating);
}

static void assert_equal_chases(const struct chase_setting *a, const struct chase_setting *b) {
  assert_int_equal(a->space, b->space);
  assert_equal_ends(&a->at, &b->at);
  assert_equal_ends(&a->of, &b->of);
  assert_int_equal(a->footprint_bytes, b->footprint_bytes);
  assert_int_equal(a->stride_bytes, b->stride_bytes);
  assert_int_equal(a->order, b->order);
  assert_int_equal(a->cache, b->cache);
  assert_int_equal(a->threads, b->threads);
  assert_int_equal(a->blocks, b->blocks);
  assert_int_equal(a->hops, b->hops);
}

static void assert_equal_grids(const struct grid_setting *a, const struct grid_setting *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->count, b->count);
}

static void assert_equal_streams(const struct stream_setting *a, const struct stream_setting *b) {
  assert_int_equal(a->op, b->op);
  assert_int_equal(a->type, b->type);
  assert_equal_ends(&a->at, &b->at);
  assert_int_equal(a->size_bytes, b->size_bytes);
  assert_int_equal(a->passes, b->passes);
  assert_int_equal(a->threads, b->threads);
  assert_int_equal(a->block, b->block);
  assert_equal_grids(&a->grid, &b->grid);
  assert_int_equal(a->vector_bytes, b->vector_bytes);
  assert_int_equal(a->unroll, b->unroll);
  assert_int_equal(a->clock, b->clock);
}

static void assert_equal_arithmetic(const struct arithmetic_setting *a,
                                    const struct arithmetic_setting *b) {
  assert_int_equal(a->op, b->op);
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->measure, b->measure);
  assert_equal_ends(&a->at, &b->at);
  assert_int_equal(a->ilp, b->ilp);
  assert_int_equal(a->block, b->block);
  assert_equal_grids(&a->grid, &b->grid);
  assert_int_equal(a->instructions, b->instructions);
}

static void assert_equal_overheads(const struct overhead_setting *a,
                                   const struct overhead_setting *b) {
  assert_int_equal(a->operation, b->operation);
  assert_equal_ends(&a->at, &b->at);
  assert_equal_ends(&a->node, &b->node);
  assert_int_equal(a->memory, b->memory);
  assert_int_equal(a->size_bytes, b->size_bytes);
}

static void assert_equal_transfers(const struct transfer_setting *a,
                                   const struct transfer_setting *b) {
  assert_equal_flows(&a->flow, &b->flow);
  assert_int_equal(a->direction, b->direction);
  assert_int_equal(a->pairs_given, b->pairs_given);
  assert_int_equal(a->pairs, b->pairs);
  assert_int_equal(a->concurrent, b->concurrent);
  assert_int_equal(a->load_count, b->load_count);
  assert_int_equal(a->flow_count, b->flow_count);
  for (size_t i = 0; i < a->load_count; i++) {
    assert_equal_flows(&a->loads[i], &b->loads[i]);
  }
  for (size_t i = 0; i < a->flow_count; i++) {
    assert_equal_flows(&a->flows[i], &b->flows[i]);
  }
}

static void assert_equal_settings(const struct setting *a, const struct setting *b) {
  assert_equal_measures(&a->measure, &b->measure);
  assert_int_equal(a->kind, b->kind);
  switch (a->kind) {
  case CASE_TRANSFER:
    assert_equal_transfers(&a->transfer, &b->transfer);
    break;
  case CASE_CHASE:
    assert_equal_chases(&a->chase, &b->chase);
    break;
  case CASE_STREAM:
    assert_equal_streams(&a->stream, &b->stream);
    break;
  case CASE_ARITHMETIC:
    assert_equal_arithmetic(&a->arithmetic, &b->arithmetic);
    break;
  case CASE_OVERHEAD:
    assert_equal_overheads(&a->overhead, &b->overhead);
    break;
  case case_kind_name_count:
    fail();
  }
  assert_int_equal(a->axis_value_count, b->axis_value_count);
  for (size_t i = 0; i < a->axis_value_count; i++) {
    assert_string_equal(a->axis_values[i].key, b->axis_values[i].key);
    assert_string_equal(a->axis_values[i].text, b->axis_values[i].text);
  }
}

static void assert_equal_scenarios(const struct scenario *a, const struct scenario *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->description, b->description);
  assert_int_equal(a->run.processes, b->run.processes);
  assert_int_equal(a->run.order, b->run.order);
  assert_int_equal(a->run.seed, b->run.seed);
  assert_int_equal(a->run.telemetry_ns, b->run.telemetry_ns);
  assert_int_equal(a->check_count, b->check_count);
  for (size_t i = 0; i < a->check_count; i++) {
    assert_int_equal(a->checks[i].kind, b->checks[i].kind);
    assert_int_equal(a->checks[i].on_fail, b->checks[i].on_fail);
    assert_string_equal(a->checks[i].want, b->checks[i].want);
  }
  assert_int_equal(a->block_count, b->block_count);
  for (size_t i = 0; i < a->block_count; i++) {
    assert_string_equal(block_name(a->blocks[i]), block_name(b->blocks[i]));
    assert_int_equal(block_setting_count(a->blocks[i]), block_setting_count(b->blocks[i]));
    for (size_t k = 0; k < block_setting_count(a->blocks[i]); k++) {
      struct setting x;
      struct setting y;
      block_setting(a->blocks[i], k, &x);
      block_setting(b->blocks[i], k, &y);
      assert_equal_settings(&x, &y);
    }
  }
}

/* What is resolved stands alone and means the same. */
static void assert_round_trip(const struct scenario *scenario) {
  struct scenario *again = must_parse(scenario->resolved);
  assert_equal_scenarios(scenario, again);
  assert_string_equal(scenario->resolved, again->resolved);
  scenario_free(again);
}

static void every_shipped_scenario_validates(void **state) {
  (void)state;
  assert_true(scenarios_count() >= 2);
  for (size_t i = 0; i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    const char *text = (const char *)file->data;
    char include[512];
    char path[256];
    if (!scenarios_runnable(file)) { /* it must be good for an include */
      (void)snprintf(include, sizeof include, HEAD "include = [\"%s\"]\n" BLOCK "size = 1\n",
                     file->name);
      text = include;
    }
    (void)snprintf(path, sizeof path, "%s%s", SCENARIOS_PREFIX,
                   scenarios_runnable(file) ? file->name : "test.toml");
    struct diagnostics *diagnostics = diagnostics_new();
    struct scenario *scenario = NULL;
    if (scenario_parse(text, strlen(text), path, NULL, 0, &scenario, diagnostics) != STATUS_OK) {
      diagnostics_print(diagnostics, stderr, false);
      fail_msg("%s is not valid", file->name);
    }
    assert_true(scenario->description[0] != '\0' || !scenarios_runnable(file));
    assert_round_trip(scenario);
    scenario_free(scenario);
    diagnostics_free(diagnostics);
  }
}

static void names_find_scenarios(void **state) {
  (void)state;
  const struct embedded_file *quick = scenarios_find("quick");
  assert_non_null(quick);
  assert_string_equal(quick->name, "quick.toml");
  assert_ptr_equal(scenarios_find("quick.toml"), quick);
  assert_ptr_equal(scenarios_find("<embedded>/quick.toml"), quick);
  assert_true(scenarios_runnable(quick));
  assert_non_null(scenarios_find("common/careful.toml"));
  assert_false(scenarios_runnable(scenarios_find("common/careful")));
  assert_null(scenarios_find("quic"));
  assert_null(scenarios_find(""));
  assert_null(scenarios_find("nothing.toml"));
}

static void everything_survives_the_round_trip(void **state) {
  (void)state;
  static const struct scenario_override overrides[] = {{"transfer.max_time", "30ms"},
                                                       {"measure.precision", "0.25"},
                                                       {"everything.size", "[3, 5, 7]"}};
  struct scenario *scenario = must_parse_with(
      HEAD
      "description = \"with \\\"quotes\\\", \\t and \xe6\x97\xa5\"\ninclude = "
      "[\"common/careful\"]\n"
      "[measure]\nprocesses = 7\ntrials.min = [3, 4]\norder = \"shuffled\"\nseed = 99\n"
      "telemetry = \"off\"\niterations = [\"auto\", 64]\n[checks]\nfree_memory.want = 0.125\n"
      "[[transfer]]\nname = \"everything\"\nmethod = [\"ce\", \"sm\"]\nfrom.gpu = \"0-3\"\n"
      "to = { gpu = [4, 5], memory = [\"device\", \"managed\"] }\nsize = [1, 2, 3]\n"
      "warmup = [0, 1, 2]\nzip = [[\"size\", \"warmup\"]]\npeer = true\npairs = \"ordered\"\n"
      "kernel = { variant = \"scalar\", grid = { from = 1, to = 64, factor = 8 } }\n"
      "concurrent = \"per_target\"\ndirection = \"both\"\ninitiator = \"source\"\n"
      "[[transfer.load]]\nname = \"l\"\nfrom.numa = \"*\"\nto.gpu = 0\nmethod = \"ce\"\n"
      "size = { from = \"1MiB\", to = \"3MiB\", step = \"1MiB\" }\ninitiator = \"target\"\n"
      "[[transfer]]\nname = \"flows\"\nmethod = \"um\"\nsize = 4096\nunified.mode = \"prefetch\"\n"
      "[[transfer.flow]]\nfrom.numa = 0\nto.gpu = 0\n[[transfer.flow]]\nfrom.gpu = 1\nto.gpu = 0\n"
      "unified = { mode = \"demand\", stride = [64, \"page\"] }\n"
      "[[transfer.flow]]\nmethod = \"ce\"\nfrom.gpu = 1\nto.numa = 0\n"
      "shape = { width = 64, height = 2, depth = [1, 2], pitch = 128 }\n"
      "[[stream]]\nname = \"s\"\nop = [\"dot\", \"mul\"]\ntype = \"f32\"\nsize = \"4MiB\"\n"
      "grid = [1, \"per_sm*4\", \"full\", \"auto\"]\nblock = [64, \"auto\"]\nunroll = 4\n"
      "[[stream]]\nname = \"hs\"\nop = \"add\"\nat = { numa = [0, 1], memory = \"huge\" }\n"
      "size = { from = 8, to = 512, factor = 8 }\nthreads = [1, \"all\"]\npasses = 3\n"
      "[[arithmetic]]\nname = \"a\"\nop = \"mul\"\ntype = [\"f16\", \"i32\"]\n"
      "measure = [\"latency\", \"throughput\"]\n"
      "[[chase]]\nname = \"c\"\nspace = [\"global\", \"shared\", \"host\"]\ncache = \"l2\"\n"
      "threads = { from = 1, to = 32, factor = 2 }\nblocks = 2\n"
      "[[overhead]]\nname = \"o\"\noperation = [\"event_record\", \"free\"]\nsize = \"1GiB\"\n"
      "memory = [\"device\", \"pageable\"]\nfree_share = 0.125\n",
      overrides, sizeof overrides / sizeof *overrides);
  assert_int_equal(block_setting_count(scenario->blocks[0]), 2 * 2 * 2 * 2 * 3 * 3 * 3);
  assert_int_equal(block_setting_count(scenario->blocks[1]), 2 * 2 * 2 * 2);
  assert_round_trip(scenario);
  scenario_free(scenario);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shipped_scenario_validates),
      cmocka_unit_test(names_find_scenarios),
      cmocka_unit_test(everything_survives_the_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
