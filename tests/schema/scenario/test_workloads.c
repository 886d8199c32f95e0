/* [[stream]], [[arithmetic]], [[overhead]] and chases through a GPU's own memory: what they are
 * when nobody says. */
#include "support.h"

static struct setting setting_of(const struct scenario *scenario, size_t block, size_t i) {
  struct setting setting;
  assert_true(block < scenario->block_count);
  assert_true(i < block_setting_count(scenario->blocks[block]));
  block_setting(scenario->blocks[block], i, &setting);
  return setting;
}

static void streams_have_their_defaults(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[measure]\nverify = \"every\"\ndevice_cache = \"flushed\"\n"
           "[[stream]]\nname = \"gpu\"\nop = [\"copy\", \"triad\"]\nsize = \"1MiB\"\n"
           "[[stream]]\nname = \"host\"\nop = \"read\"\nat = { numa = \"*\" }\nsize = 8\n");
  struct setting setting = setting_of(scenario, 0, 1);
  const struct stream_setting *stream = &setting.stream;
  assert_int_equal(setting.kind, CASE_STREAM);
  assert_int_equal(setting.measure.verify, VERIFY_EVERY);
  assert_int_equal(setting.measure.device_cache, CACHE_FLUSHED);
  assert_int_equal(stream->op, STREAM_TRIAD);
  assert_int_equal(stream->type, NUMBER_F64);
  assert_int_equal(stream->at.place, PLACE_GPU);
  assert_int_equal(stream->at.selector.kind, SELECTOR_ALL);
  assert_int_equal(stream->at.memory, MEMORY_DEVICE);
  assert_int_equal(stream->size_bytes, 1 << 20);
  assert_int_equal(stream->passes, 1);
  assert_int_equal(stream->block, 0);
  assert_int_equal(stream->grid.kind, GRID_AUTO);
  assert_int_equal(stream->vector_bytes, 0);
  assert_int_equal(stream->unroll, 0);
  assert_int_equal(stream->clock, STREAM_CLOCK_EVENT);
  setting = setting_of(scenario, 1, 0);
  assert_int_equal(stream->at.place, PLACE_NUMA);
  assert_int_equal(stream->at.memory, MEMORY_PAGEABLE);
  assert_int_equal(stream->threads, 0);
  scenario_free(scenario);
}

static void grids_are_numbers_or_words(void **state) {
  (void)state;
  struct scenario *scenario =
      must_parse(HEAD "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 8\n"
                      "grid = [34, \"per_sm*12\", \"full\", \"auto\", \"7\"]\n"
                      "[[stream]]\nname = \"r\"\nop = \"copy\"\nsize = 8\n"
                      "grid = { from = 1, to = 48, step = 1 }\n");
  static const struct {
    enum grid_kind kind;
    uint32_t count;
    const char *text;
  } wanted[] = {{GRID_BLOCKS, 34, "34"},
                {GRID_PER_SM, 12, "per_sm*12"},
                {GRID_FULL, 0, "full"},
                {GRID_AUTO, 0, "auto"},
                {GRID_BLOCKS, 7, "7"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const struct setting setting = setting_of(scenario, 0, i);
    assert_int_equal(setting.stream.grid.kind, wanted[i].kind);
    assert_int_equal(setting.stream.grid.count, wanted[i].count);
    assert_string_equal(setting.axis_values[0].key, "grid");
    assert_string_equal(setting.axis_values[0].text, wanted[i].text);
  }
  assert_int_equal(block_setting_count(scenario->blocks[1]), 48);
  assert_int_equal(setting_of(scenario, 1, 47).stream.grid.count, 48);
  scenario_free(scenario);
}

static void arithmetic_is_latency_or_throughput(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[[arithmetic]]\nname = \"a\"\nop = \"fma\"\ntype = [\"f16\", \"i32\"]\n"
           "measure = [\"latency\", \"throughput\"]\n"
           "[[arithmetic]]\nname = \"b\"\nop = \"add\"\ntype = \"f32\"\nmeasure = \"throughput\"\n"
           "ilp = 8\nblock = 96\ngrid = 7\ninstructions = 1024\n");
  struct setting setting = setting_of(scenario, 0, 0);
  const struct arithmetic_setting *arithmetic = &setting.arithmetic;
  assert_int_equal(arithmetic->type, NUMBER_F16);
  assert_int_equal(arithmetic->at.selector.kind, SELECTOR_ALL);
  assert_int_equal(arithmetic->ilp, 1);
  assert_int_equal(arithmetic->block, 1);
  assert_int_equal(arithmetic->grid.kind, GRID_BLOCKS);
  assert_int_equal(arithmetic->grid.count, 1);
  assert_int_equal(arithmetic->instructions, 16384);
  setting = setting_of(scenario, 0, 3);
  assert_int_equal(arithmetic->type, NUMBER_I32);
  assert_int_equal(arithmetic->ilp, 4);
  assert_int_equal(arithmetic->block, 1024);
  assert_int_equal(arithmetic->grid.kind, GRID_PER_SM);
  assert_int_equal(arithmetic->grid.count, 2);
  setting = setting_of(scenario, 1, 0);
  assert_int_equal(arithmetic->ilp, 8);
  assert_int_equal(arithmetic->block, 96);
  assert_int_equal(arithmetic->grid.kind, GRID_BLOCKS);
  assert_int_equal(arithmetic->grid.count, 7);
  assert_int_equal(arithmetic->instructions, 1024);
  scenario_free(scenario);
}

static void overheads_keep_what_the_call_has(void **state) {
  (void)state;
  struct scenario *scenario =
      must_parse(HEAD "[[overhead]]\nname = \"o\"\noperation = [\"kernel_launch\", \"free\"]\n"
                      "memory = [\"pinned\", \"pageable\", \"device\"]\nsize = 4096\n");
  struct setting setting = setting_of(scenario, 0, 1);
  const struct overhead_setting *overhead = &setting.overhead;
  assert_int_equal(overhead->operation, OVERHEAD_KERNEL_LAUNCH);
  assert_int_equal(overhead->memory, MEMORY_DEVICE);
  assert_int_equal(overhead->size_bytes, 0);
  assert_int_equal(setting.measure.verify, VERIFY_OFF);
  setting = setting_of(scenario, 0, 3);
  assert_int_equal(overhead->operation, OVERHEAD_FREE);
  assert_int_equal(overhead->memory, MEMORY_PINNED);
  assert_int_equal(overhead->node.selector.kind, SELECTOR_LOCAL);
  assert_int_equal(overhead->size_bytes, 4096);
  setting = setting_of(scenario, 0, 4);
  assert_int_equal(overhead->memory, MEMORY_PAGEABLE);
  assert_int_equal(overhead->node.selector.kind, SELECTOR_ALL);
  scenario_free(scenario);
}

static void chases_of_the_own_gpu(void **state) {
  (void)state;
  struct scenario *scenario = must_parse(
      HEAD "[[chase]]\nname = \"c\"\nspace = [\"global\", \"shared\", \"host\"]\nat.gpu = 2\n"
           "cache = \"l2\"\nthreads = 32\nblocks = 4\n");
  struct setting setting = setting_of(scenario, 0, 0);
  const struct chase_setting *chase = &setting.chase;
  assert_int_equal(chase->of.place, PLACE_GPU);
  assert_int_equal(chase->of.memory, MEMORY_DEVICE);
  assert_int_equal(chase->of.selector.indices[0], 2);
  assert_int_equal(chase->footprint_bytes, 2 << 20);
  assert_int_equal(chase->cache, CACHE_L2);
  assert_int_equal(chase->threads, 32);
  assert_int_equal(chase->blocks, 4);
  setting = setting_of(scenario, 0, 1);
  assert_int_equal(chase->footprint_bytes, 32 << 10);
  assert_int_equal(chase->cache, CACHE_L1); /* so that a sweep over it is one case */
  setting = setting_of(scenario, 0, 2);
  assert_int_equal(chase->of.place, PLACE_NUMA);
  scenario_free(scenario);
}

static void set_reaches_every_kind(void **state) {
  (void)state;
  const struct scenario_override overrides[] = {{"stream.size", "[16, 32]"},
                                                {"stream.grid", "per_sm*3"},
                                                {"arithmetic.type", "f64"},
                                                {"o.size", "2MiB"},
                                                {"free_share", "0.5"}};
  struct scenario *scenario =
      must_parse_with(HEAD "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 8\n"
                           "[[arithmetic]]\nname = \"a\"\nop = \"add\"\ntype = \"f32\"\n"
                           "[[overhead]]\nname = \"o\"\noperation = \"allocate\"\n",
                      overrides, sizeof overrides / sizeof *overrides);
  assert_int_equal(setting_of(scenario, 0, 1).stream.size_bytes, 32);
  assert_int_equal(setting_of(scenario, 0, 0).stream.grid.kind, GRID_PER_SM);
  assert_int_equal(setting_of(scenario, 1, 0).arithmetic.type, NUMBER_F64);
  assert_int_equal(setting_of(scenario, 2, 0).overhead.size_bytes, 2 << 20);
  assert_true(setting_of(scenario, 2, 0).measure.free_share > 0.49);
  scenario_free(scenario);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_have_their_defaults),
      cmocka_unit_test(grids_are_numbers_or_words),
      cmocka_unit_test(arithmetic_is_latency_or_throughput),
      cmocka_unit_test(overheads_keep_what_the_call_has),
      cmocka_unit_test(chases_of_the_own_gpu),
      cmocka_unit_test(set_reaches_every_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
