#include "scenarios/scenarios.h"

#include "support.h"

static void assert_equal_settings(const struct block *a, const struct block *b, size_t i) {
  struct setting x;
  struct setting y;
  SCOPED(strbuf_fini) struct strbuf x_text;
  SCOPED(strbuf_fini) struct strbuf y_text;
  strbuf_init(&x_text, 1 << 16);
  strbuf_init(&y_text, 1 << 16);
  block_setting(a, i, &x);
  block_setting(b, i, &y);
  append_setting(&x_text, &x);
  append_setting(&y_text, &y);
  assert_int_equal(x.kind, y.kind);
  assert_string_equal(x_text.text, y_text.text);
  assert_int_equal(x.axis_value_count, y.axis_value_count);
  for (size_t k = 0; k < x.axis_value_count; k++) {
    assert_string_equal(x.axis_values[k].key, y.axis_values[k].key);
    assert_string_equal(x.axis_values[k].text, y.axis_values[k].text);
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
      assert_equal_settings(a->blocks[i], b->blocks[i], k);
    }
  }
}

/* What is resolved stands alone and means the same. */
static void assert_round_trip(const struct scenario *scenario) {
  SCOPED(scenario_free_at) struct scenario *again = must_parse(scenario->resolved);
  assert_equal_scenarios(scenario, again);
  assert_string_equal(scenario->resolved, again->resolved);
}

TEST(every_shipped_scenario_validates) {
  assert_true(scenarios_count() >= 2);
  for (size_t i = 0; i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    const char *text = (const char *)file->data;
    char include[512];
    if (!scenarios_runnable(file)) { /* it must be good for an include */
      (void)snprintf(include, sizeof include, HEAD "include = [\"%s\"]\n" BLOCK "size = 1\n",
                     file->name);
      text = include;
    }
    PRINTED(path, 256, "%s%s", SCENARIOS_PREFIX,
            scenarios_runnable(file) ? file->name : "test.toml");
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
    SCOPED(scenario_free_at) struct scenario *scenario = NULL;
    if (scenario_parse(text, strlen(text), path, NULL, 0, &scenario, diagnostics) != STATUS_OK) {
      diagnostics_print(diagnostics, stderr, 0, false);
      fail_msg("%s is not valid", file->name);
    }
    assert_true(scenario->description[0] != '\0' || !scenarios_runnable(file));
    assert_round_trip(scenario);
  }
}

TEST(names_find_scenarios) {
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

TEST(everything_survives_the_round_trip) {
  static const struct scenario_override overrides[] = {{"transfer.max_time", "30ms"},
                                                       {"measure.precision", "0.25"},
                                                       {"everything.size", "[3, 5, 7]"}};
  SCOPED(scenario_free_at)
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
      overrides, COUNT_OF(overrides));
  assert_int_equal(block_setting_count(scenario->blocks[0]), 2 * 2 * 2 * 2 * 3 * 3 * 3);
  assert_int_equal(block_setting_count(scenario->blocks[1]), 2 * 2 * 2 * 2);
  assert_round_trip(scenario);
}
