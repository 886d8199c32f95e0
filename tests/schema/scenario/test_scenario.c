/* What a scenario says, key by key: defaults, axes, ranges, what loads and flows take from their
 * block, and --set. */
#include "support.h"

static void assert_kind(const struct block *block, enum case_kind kind) {
  struct setting setting;
  block_setting(block, 0, &setting);
  assert_int_equal(setting.kind, kind);
}

TEST(a_scenario_has_its_head_and_run) {
  SCOPED(scenario_free_at) struct scenario *scenario = must_parse(HEAD BLOCK "size = \"64KiB\"\n");
  assert_string_equal(scenario->name, "t");
  assert_string_equal(scenario->description, "");
  assert_string_equal(scenario->path, "t.toml");
  assert_string_equal(scenario->text, HEAD BLOCK "size = \"64KiB\"\n");
  assert_int_equal(scenario->run.processes, 1);
  assert_int_equal(scenario->run.order, CASE_ORDER_FILE);
  assert_int_equal(scenario->run.telemetry_ns, 100000000);
  assert_int_equal(scenario->check_count, 0);
  assert_int_equal(scenario->block_count, 1);
  assert_string_equal(block_name(scenario->blocks[0]), "b");
  assert_kind(scenario->blocks[0], CASE_TRANSFER);
  scenario_free(NULL);
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

#define METHODS                                                                                    \
  "[[transfer]]\nname = \"cpu\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 1\nsize = 1\n"         \
  "[[transfer]]\nname = \"gpu\"\nmethod = [\"ce\", \"sm\", \"um\"]\nfrom.numa = 0\nto.gpu = 0\n"   \
  "size = 1\n"
#define AXES                                                                                       \
  "[measure]\nhost_cache = [\"warm\", \"flushed\"]\nverify = [\"off\", \"once\"]\n"                \
  "[[transfer]]\nname = \"b\"\nverify = \"every\"\n"                                               \
  "from.numa = \"local\"\nsize = [\"4KiB\", 8192, \"1MiB\"]\n"                                     \
  "from.memory = [\"pinned\", \"pageable\"]\nmethod = \"ce\"\nto.gpu = [3, 1, 3]\n"
#define ZIP                                                                                        \
  BLOCK "size = [1, 2, 3]\nwarmup = [7, 8]\niterations = [4, 5, \"auto\"]\n"                       \
        "direction = [\"forward\", \"both\"]\nzip = [[\"iterations\", \"size\"]]\n"
#define SELECTORS                                                                                  \
  "[[transfer]]\nname = \"a\"\nmethod = \"ce\"\nfrom.gpu = \"1-3\"\nto.numa = \"remote\"\nsize = " \
  "1\n"                                                                                            \
  "[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = [2, 0]\nto.numa = 7\nsize = 1\n"
#define FLOWS                                                                                      \
  "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = [1024, 2048]\n"                             \
  "[[transfer.load]]\nname = \"noise\"\nfrom.gpu = 0\nto.gpu = 1\nsize = [4, 8, 16]\n"             \
  "[[transfer.flow]]\nfrom.numa = 0\nto.gpu = 0\n"                                                 \
  "[[transfer.flow]]\nfrom.gpu = 1\nto.numa = 1\nto.memory = \"pageable\"\nmethod = \"sm\"\n"      \
  "kernel.block = 512\nsize = 77\n"
#define SWEEP                                                                                      \
  "[[transfer]]\nname = \"b\"\nmethod = [\"ce\", \"sm\"]\nfrom.gpu = 0\nto.gpu = 1\nsize = 8\n"    \
  "kernel = { variant = \"vector\", block = 256 }\ninitiator = [\"source\", \"target\"]\n"         \
  "peer = [true, false]\n"
#define SHAPE                                                                                      \
  BLOCK "shape = { width = [64, \"1KiB\"], height = 3, depth = 2, pitch = 4096 }\n"                \
        "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\nsize = 5\n"                                  \
        "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\n"
#define PIECES                                                                                     \
  BLOCK "size = 64\npiece_size = [4, 8]\nsubmit = [\"loop\", \"batch\"]\n"                         \
        "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\nsize = 5\n"                                  \
        "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\n"                                            \
        "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\npieces = 10\npiece_size = 3\n"               \
        "[[transfer]]\nname = \"c\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\npieces = 3\n"      \
        "piece_size = 2\nplaces = \"strided\"\nsubmit = \"batch\"\nbatch.order = \"any\"\n"
#define MIRRORS                                                                                    \
  BLOCK "size = [1, 2]\n[[transfer.load]]\n"                                                       \
        "[[transfer.load]]\nname = \"more\"\nsize = [8, 16]\ndirection = \"forward\"\n"
/* What [measure] says about caches and verification does not reach a chase. */
#define CHASES                                                                                     \
  "[measure]\nhost_cache = [\"warm\", \"flushed\"]\nverify = \"every\"\nwarmup = 7\n"              \
  "[[chase]]\nname = \"c\"\nspace = [\"host\", \"peer\"]\n" GPU_BLOCK "size = 1\n"                 \
  "[[chase]]\nname = \"d\"\nspace = \"peer\"\nat.gpu = 1\nof.gpu = [0, 2]\nstride = 64\n"          \
  "order = \"strided\"\n"
#define OWN_CHASES                                                                                 \
  "[[chase]]\nname = \"c\"\nspace = [\"global\", \"shared\", \"host\"]\nat.gpu = 2\n"              \
  "cache = \"l2\"\nthreads = 32\nblocks = 4\n"
#define STREAMS                                                                                    \
  "[measure]\nverify = \"every\"\ndevice_cache = \"flushed\"\n"                                    \
  "[[stream]]\nname = \"gpu\"\nop = [\"copy\", \"triad\"]\nsize = \"1MiB\"\n"                      \
  "[[stream]]\nname = \"host\"\nop = \"read\"\nat = { numa = \"*\" }\nsize = 8\n"
#define GRIDS                                                                                      \
  "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 8\n"                                            \
  "grid = [34, \"per_sm*12\", \"full\", \"auto\", \"7\"]\n"                                        \
  "[[stream]]\nname = \"r\"\nop = \"copy\"\nsize = 8\ngrid = { from = 1, to = 48, step = 1 }\n"
#define ARITHMETIC                                                                                 \
  "[[arithmetic]]\nname = \"a\"\nop = \"fma\"\ntype = [\"f16\", \"i32\"]\n"                        \
  "measure = [\"latency\", \"throughput\"]\n"                                                      \
  "[[arithmetic]]\nname = \"b\"\nop = \"add\"\ntype = \"f32\"\nmeasure = \"throughput\"\n"         \
  "ilp = 8\nblock = 96\ngrid = 7\ninstructions = 1024\n"
#define OVERHEADS                                                                                  \
  "[[overhead]]\nname = \"o\"\noperation = [\"kernel_launch\", \"free\"]\n"                        \
  "memory = [\"pinned\", \"pageable\", \"device\"]\nsize = 4096\n"

/* One setting of one block of the scenario. */
static const struct expected {
  const char *text;
  size_t block, count, i; /* the i-th of `count` settings */
  const char *axes;       /* NULL = not looked at */
  const char *values;     /* as assert_setting() takes them */
} settings[] = {
    /* Defaults */
    {BLOCK "size = \"64KiB\"\n", 0, 1, 0, "",
     "trials.min=10 trials.max=200 warmup=1 iterations=auto max_time=2s min_trial=200us "
     "precision=0.005 delta=auto verify=once host_cache=as_is direction=forward concurrent=none "
     "pairs_given=0 loads=0 flows=0 method=ce size=64KiB initiator_given=0 peer=true threads=all "
     "from.numa=local from.memory=pinned to.gpu=* to.memory=device shape.width=0B"},
    /* Memory follows method and place. */
    {METHODS, 0, 1, 0, "", "from.memory=pageable to.memory=pageable"},
    {METHODS, 1, 3, 0, "method=ce", "from.memory=pinned to.memory=device"},
    {METHODS, 1, 3, 1, "method=sm", "from.memory=pinned to.memory=device"},
    {METHODS, 1, 3, 2, "method=um", "from.memory=managed to.memory=managed"},
    /* Axes multiply in the order of the file. A selector is a set: ascending, each once. */
    {AXES, 0, 12, 0, "host_cache=warm size=4KiB from.memory=pinned", ""},
    {AXES, 0, 12, 1, "host_cache=warm size=4KiB from.memory=pageable", ""},
    {AXES, 0, 12, 2, "host_cache=warm size=8KiB from.memory=pinned", ""},
    {AXES, 0, 12, 6, "host_cache=flushed size=4KiB from.memory=pinned", ""},
    {AXES, 0, 12, 11, "host_cache=flushed size=1MiB from.memory=pageable",
     "host_cache=flushed verify=every size=1MiB from.memory=pageable to.gpu=1,3"},
    {ZIP, 0, 12, 0, "size=1B warmup=7 iterations=4 direction=forward", ""},
    {ZIP, 0, 12, 1, "size=1B warmup=7 iterations=4 direction=both", ""},
    {ZIP, 0, 12, 2, "size=2B warmup=7 iterations=5 direction=forward", ""},
    {ZIP, 0, 12, 11, "size=3B warmup=8 iterations=auto direction=both", ""},
    /* One value is no axis, however it is written. */
    {BLOCK "size = { from = 8, to = 9, factor = 2 }\nwarmup = [5]\n", 0, 1, 0, "",
     "size=8B warmup=5"},
    {SELECTORS, 0, 1, 0, "", "from.gpu=1,2,3 to.numa=remote"},
    {SELECTORS, 1, 1, 0, "", "from.numa=0,2 to.numa=7"},
    /* Loads and flows take from the block what they do not say. */
    {FLOWS, 0, 6, 5, "size=2KiB load.noise.size=16B", ""},
    {FLOWS, 0, 6, 4, NULL,
     "loads=1 flows=2 load.0.name=noise load.0.size=8B load.0.method=ce flow.0.name=- "
     "flow.0.size=2KiB flow.0.from.memory=pinned flow.0.to.gpu=0 flow.1.size=77B "
     "flow.1.method=sm flow.1.kernel.block=512 flow.1.to.memory=pageable flow.1.to.numa=1"},
    {MIRRORS, 0, 4, 3, NULL,
     "loads=2 load.0.mirrors=1 load.0.direction=reverse load.0.size_given=0 "
     "load.0.method_given=0 load.0.initiator_given=0 load.1.mirrors=1 load.1.direction=forward "
     "load.1.size_given=1 load.1.size=16B"},
    /* A sweep over methods keeps what each has. */
    {SWEEP, 0, 8, 0, NULL, "kernel.block=auto kernel.variant=auto initiator_given=1"},
    {SWEEP, 0, 8, 7, NULL, "kernel.block=256 kernel.variant=vector initiator=target peer=false"},
    /* A shape decides the size. */
    {SHAPE, 0, 2, 1, NULL,
     "size=6KiB shape.pitch=4KiB load.0.size=5B load.0.shape.width=0B load.0.shape.height=0 "
     "load.1.size=6KiB"},
    {BLOCK "shape = { width = 64, height = 3 }\n", 0, 1, 0, "", "shape.pitch=64B shape.depth=1"},
    /* Size and number of pieces follow from each other; a load with a size of its own has none. */
    {PIECES, 0, 4, 2, "piece_size=8B submit=loop",
     "size=64B piece_size=8B pieces=8 places=random submit=loop load.0.size=5B load.0.pieces=0 "
     "load.1.size=64B load.1.pieces=8 load.2.size=30B load.2.pieces=10 load.2.piece_size=3B"},
    {PIECES, 1, 1, 0, "", "size=6B pieces=3 piece_size=2B places=strided submit=batch"},
    /* Chases */
    {CHASES, 0, 2, 0, NULL,
     "warmup=7 host_cache=as_is verify=off space=host at.gpu=* of.numa=local of.memory=pinned "
     "footprint=2MiB stride=128B order=random hops=4096"},
    {CHASES, 0, 2, 1, NULL, "space=peer of.gpu=* of.memory=device"},
    {CHASES, 1, 2, 0, NULL, "host_cache=warm"},
    {CHASES, 2, 1, 0, NULL, "at.gpu=1 of.gpu=0,2 order=strided"},
    {OWN_CHASES, 0, 3, 0, NULL,
     "of.gpu=2 of.memory=device footprint=2MiB cache=l2 threads=32 blocks=4"},
    {OWN_CHASES, 0, 3, 1, NULL, "footprint=32KiB cache=l1"}, /* one case in a sweep over caches */
    {OWN_CHASES, 0, 3, 2, NULL, "of.numa=local"},
    /* Streams */
    {STREAMS, 0, 2, 1, NULL,
     "verify=every device_cache=flushed op=triad type=f64 at.gpu=* at.memory=device size=1MiB "
     "passes=1 block=auto grid=auto vector_bytes=auto unroll=auto clock=event"},
    {STREAMS, 1, 1, 0, NULL, "at.numa=* at.memory=pageable threads=all"},
    {GRIDS, 0, 5, 0, "grid=34", "grid=34"},
    {GRIDS, 0, 5, 1, "grid=per_sm*12", "grid=per_sm*12"},
    {GRIDS, 0, 5, 2, "grid=full", "grid=full"},
    {GRIDS, 0, 5, 3, "grid=auto", "grid=auto"},
    {GRIDS, 0, 5, 4, "grid=7", "grid=7"},
    {GRIDS, 1, 48, 47, "grid=48", "grid=48"},
    /* Arithmetic is latency or throughput. */
    {ARITHMETIC, 0, 4, 0, NULL, "type=f16 at.gpu=* ilp=1 block=1 grid=1 instructions=16384"},
    {ARITHMETIC, 0, 4, 3, NULL, "type=i32 ilp=4 block=1024 grid=per_sm*2"},
    {ARITHMETIC, 1, 1, 0, NULL, "ilp=8 block=96 grid=7 instructions=1024"},
    /* Overheads keep what the call has. */
    {OVERHEADS, 0, 6, 1, NULL, "operation=kernel_launch memory=device size=0B verify=off"},
    {OVERHEADS, 0, 6, 3, NULL, "operation=free memory=pinned at.numa=local size=4KiB"},
    {OVERHEADS, 0, 6, 4, NULL, "memory=pageable at.numa=*"},
};

TEST(settings_have_what_the_scenario_says) {
  for (size_t i = 0; i < COUNT_OF(settings); i++) {
    const struct expected *expected = &settings[i];
    PRINTED(text, 2048, HEAD "%s", expected->text);
    SCOPED(scenario_free_at) struct scenario *scenario = must_parse(text);
    assert_true(expected->block < scenario->block_count);
    const struct block *block = scenario->blocks[expected->block];
    assert_int_equal(block_setting_count(block), expected->count);
    if (expected->axes != NULL) {
      assert_axes(block, expected->i, expected->axes);
    }
    assert_block(scenario, expected->block, expected->i, expected->values);
  }
}

struct range_case {
  const char *key;
  const char *range;
  size_t count;
  const char *last;
};

TEST(ranges_have_the_right_values) {
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
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    PRINTED(text, 1024, HEAD BLOCK "%s%s = %s\n",
            strcmp(cases[i].key, "size") == 0 ? "" : "size = 1\n", cases[i].key, cases[i].range);
    SCOPED(scenario_free_at) struct scenario *scenario = must_parse(text);
    const size_t count = block_setting_count(scenario->blocks[0]);
    assert_int_equal(count, cases[i].count);
    assert_axes(scenario->blocks[0], count - 1, cases[i].last);
  }
}

TEST(blocks_stand_in_the_order_of_the_file) {
  SCOPED(scenario_free_at) struct scenario *scenario = must_parse(HEAD CHASES);
  assert_int_equal(scenario->block_count, 3);
  assert_kind(scenario->blocks[0], CASE_CHASE);
  assert_kind(scenario->blocks[1], CASE_TRANSFER);
  assert_string_equal(block_name(scenario->blocks[2]), "d");
}

TEST(checks_have_a_canonical_want) {
  SCOPED(scenario_free_at)
  struct scenario *scenario = must_parse(
      HEAD "[checks]\ngovernor = { on_fail = \"skip\" }\ngpu_idle = { want = true, on_unknown = "
           "\"abort\" }\n"
           "free_memory = { want = 0.95, on_fail = \"abort\" }\ndriver = { want = \">=570\" }\n"
           "gpu_name.want = \"*H200*\"\n" BLOCK "size = 1\n");
  static const struct check expected[] = {
      {CHECK_GOVERNOR, ON_FAIL_SKIP, ON_FAIL_WARN, "performance"},
      {CHECK_GPU_IDLE, ON_FAIL_WARN, ON_FAIL_ABORT, "true"},
      {CHECK_FREE_MEMORY, ON_FAIL_ABORT, ON_FAIL_WARN, "0.95"},
      {CHECK_DRIVER, ON_FAIL_WARN, ON_FAIL_RECORD, ">=570"},
      {CHECK_GPU_NAME, ON_FAIL_WARN, ON_FAIL_RECORD, "*H200*"}};
  assert_int_equal(scenario->check_count, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(scenario->checks[i].kind, expected[i].kind);
    assert_int_equal(scenario->checks[i].on_fail, expected[i].on_fail);
    assert_int_equal(scenario->checks[i].on_unknown, expected[i].on_unknown);
    assert_string_equal(scenario->checks[i].want, expected[i].want);
  }
}

TEST(overrides_change_what_they_name) {
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
      {"chase.hops", "64"},
      {"c.footprint", "1MiB"},
      {"stream.size", "[16, 32]"},
      {"stream.grid", "per_sm*3"},
      {"arithmetic.type", "f64"},
      {"o.size", "2MiB"},
      {"free_share", "0.5"},
  };
  SCOPED(scenario_free_at)
  struct scenario *scenario = must_parse_with(
      HEAD "[checks]\ngovernor.want = \"performance\"\n" BLOCK "size = 1\nmax_time = \"1s\"\n"
           "[[transfer]]\nname = \"a.b\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.numa = 0\nsize = 1\n"
           "[[transfer.load]]\nfrom.gpu = 1\nto.gpu = 0\n"
           "[[chase]]\nname = \"c\"\nspace = \"host\"\n"
           "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 8\n"
           "[[arithmetic]]\nname = \"a\"\nop = \"add\"\ntype = \"f32\"\n"
           "[[overhead]]\nname = \"o\"\noperation = \"allocate\"\n",
      overrides, COUNT_OF(overrides));
  assert_int_equal(scenario->run.processes, 4);
  assert_int_equal(scenario->run.telemetry_ns, 0);
  assert_string_equal(scenario->description, "two words");
  assert_int_equal(scenario->check_count, 2);
  assert_int_equal(scenario->checks[0].on_fail, ON_FAIL_ABORT);
  assert_string_equal(scenario->checks[1].want, "false");
  assert_int_equal(block_setting_count(scenario->blocks[0]), 1);
  assert_int_equal(block_setting_count(scenario->blocks[1]), 2);
  /* The block's own max_time stays. */
  assert_block(scenario, 0, 0, "size=64KiB max_time=1s trials.min=3 trials.max=5");
  assert_block(scenario, 1, 1, "max_time=20ms to.memory=pageable size=4KiB load.0.size=9B");
  assert_block(scenario, 2, 0, "hops=64 footprint=1MiB");
  assert_block(scenario, 3, 1, "size=32B grid=per_sm*3");
  assert_block(scenario, 4, 0, "type=f64");
  assert_block(scenario, 5, 0, "size=2MiB free_share=0.5");
}

TEST(overrides_rename) {
  static const struct scenario_override overrides[] = {{"transfer.name", "z"},
                                                       {"z.size", "64KiB"},
                                                       {"z.load.1.name", "noise"},
                                                       {"z.load.noise.size", "9"}};
  struct scenario *scenario =
      must_parse_with(HEAD BLOCK "size = 1\n[[transfer.load]]\nfrom.gpu = 1\nto.gpu = 0\n"
                                 "[[chase]]\nname = \"c\"\nspace = \"host\"\n",
                      overrides, COUNT_OF(overrides));
  assert_string_equal(block_name(scenario->blocks[0]), "z");
  assert_string_equal(block_name(scenario->blocks[1]), "c");
  assert_block(scenario, 0, 0, "size=64KiB load.0.name=noise load.0.size=9B");
  scenario_free(scenario);
  static const struct scenario_override same = {"transfer.name", "c"};
  SCOPED(diagnostics_free_at)
  struct diagnostics *diagnostics = must_refuse_with(
      HEAD BLOCK "size = 1\n[[chase]]\nname = \"c\"\nspace = \"host\"\n", &same, 1);
  assert_int_equal(diagnostics_count(diagnostics), 1);
  assert_contains(diagnostics_at(diagnostics, 0)->error.message, "duplicate name \"c\"");
}

TEST(overrides_complain_by_name) {
  static const char *const pairs[][3] = {
      {"measure.max_tim", "1s", "unknown key \"max_tim\""},
      {"bb.size", "1", "unknown key \"bb.size\""},
      {"measure.max_time", "20", "lacks a unit"},
      {"transfer.size", "64XB", "\"64XB\""},
      {"transfer.size", "[1,", "unclosed array"},
      {"schema_version", "1", "unknown key"},
      {"include", "[\"x\"]", "unknown key"},
      {"measure.max_time", "1s\nwarmup = 2", "invalid value"},
      {"chase.hops", "64", "this scenario has no [[chase]]"},
      {"", "1", "unknown key"},
  };
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    const struct scenario_override override = {pairs[i][0], pairs[i][1]};
    SCOPED(diagnostics_free_at)
    struct diagnostics *diagnostics = must_refuse_with(HEAD BLOCK "size = 1\n", &override, 1);
    assert_one(diagnostics, 0, 0, pairs[i][2]);
    PRINTED(file, 128, "--set %s=%s", pairs[i][0], pairs[i][1]);
    assert_string_equal(diagnostics_at(diagnostics, 0)->error.position.file, file);
    assert_null(diagnostics_at(diagnostics, 0)->source_line);
  }
}

TEST(a_million_settings_are_enough) {
  SCOPED(scenario_free_at)
  struct scenario *scenario = must_parse(HEAD BLOCK "size = { from = 1, to = 1024, step = 1 }\n"
                                                    "warmup = { from = 1, to = 1024, step = 1 }\n");
  assert_int_equal(block_setting_count(scenario->blocks[0]), SCENARIO_SETTINGS_MAX);
  assert_block(scenario, 0, SCENARIO_SETTINGS_MAX - 1, "size=1KiB warmup=1024");
  struct diagnostics *diagnostics =
      must_refuse(HEAD BLOCK "size = { from = 1, to = 1024, step = 1 }\n"
                             "warmup = { from = 0, to = 1024, step = 1 }\n");
  assert_one(diagnostics, 3, 1, "more than 1048576 settings");
  diagnostics_free(diagnostics);
}

/* Of all blocks together, whatever their number. */
TEST(many_blocks_have_no_more_settings_than_one) {
  static char text[1 << 16];
  enum { BLOCKS = 40 };
  static const struct {
    const char *axes, *message;
    unsigned line; /* of the block that is too much */
  } files[] = {
      {"size = { from = 1, to = 1000, step = 1 }\nwarmup = { from = 1, to = 1000, step = 1 }\n",
       "more than 1048576 settings in the scenario, reached in block \"b1\"", 10},
      {"size = { from = 1, to = 1000000, step = 1 }\n",
       "more than 1048576 settings in the scenario, reached in block \"b1\"", 9},
  };
  for (size_t f = 0; f < COUNT_OF(files); f++) {
    char *end = stpcpy(text, HEAD);
    for (int i = 0; i < BLOCKS; i++) {
      end += sprintf(end,
                     "[[transfer]]\nname = \"b%d\"\nmethod = \"ce\"\nfrom.numa = 0\nto.gpu = 0\n%s",
                     i, files[f].axes);
    }
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
    bool found = false;
    for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
      const struct error *error = &diagnostics_at(diagnostics, i)->error;
      if (strcmp(error->message, files[f].message) == 0) {
        assert_int_equal(error->position.line, files[f].line);
        found = true;
      } else {
        assert_contains(error->message, "ranges of the scenario have more than 4194304");
      }
    }
    assert_true(found);
  }
}
