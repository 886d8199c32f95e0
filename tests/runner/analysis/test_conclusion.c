/* What changed cases have in common is told where it explains most of them, and nowhere else. */
#include "runner/analysis/conclusion.h"
#include "tests/runner/analysis/made.h"

enum { GPUS = 4, METHODS = 2, SIZES = 3, CASES_MAX = 256 };

static const uint64_t SIZE_BYTES[SIZES] = {UINT64_C(1) << 14, UINT64_C(1) << 18, UINT64_C(1) << 26};
static const char *const METHOD_NAMES[METHODS] = {"ce", "sm"};

/* A verdict for every path between the GPUs, method and size. */
typedef enum verdict judge_rule(int from, int to, const char *method, uint64_t size_bytes);

struct made {
  struct results *results;
  struct comparison comparison;
  struct comparison_row rows[CASES_MAX];
  struct arena arena;
  const struct conclusion *conclusions;
  size_t count;
};

static void make(struct made *made, judge_rule *judge) {
  *made = (struct made){.results = results_new()};
  for (int i = 0; i < GPUS * GPUS * METHODS * SIZES; i++) {
    const int from = i % GPUS;
    const int to = i / GPUS % GPUS;
    const char *method = METHOD_NAMES[i / GPUS / GPUS % METHODS];
    const uint64_t size_bytes = SIZE_BYTES[i / GPUS / GPUS / METHODS];
    if (from == to) {
      continue;
    }
    const size_t bench = made_case(made->results, "k", "pairs", from, size_bytes);
    made_flow(made->results, bench,
              (struct results_flow){.source_is_gpu = true,
                                    .target_is_gpu = true,
                                    .source = from,
                                    .target = to,
                                    .source_memory = "device",
                                    .target_memory = "device"});
    made->results->cases[bench].method = method;
    struct comparison_row *row = &made->rows[made->comparison.row_count++];
    row->bench = bench;
    row->result.verdict = judge(from, to, method, size_bytes);
    row->result.change = row->result.verdict == VERDICT_REGRESSED  ? -0.05
                         : row->result.verdict == VERDICT_IMPROVED ? 0.10
                                                                   : 0.0001;
  }
  made->comparison.results = made->results;
  made->comparison.rows = made->rows;
  made->conclusions = conclusions_find(&made->comparison, &made->arena, &made->count);
}

static void done(struct made *made) {
  arena_fini(&made->arena);
  results_free(made->results);
}

static enum verdict nothing(int from, int to, const char *method, uint64_t size_bytes) {
  return VERDICT_SAME;
}

static enum verdict gpu_2_source(int from, int to, const char *method, uint64_t size_bytes) {
  return from == 2 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict one_path(int from, int to, const char *method, uint64_t size_bytes) {
  return from == 1 && to == 3 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict one_link(int from, int to, const char *method, uint64_t size_bytes) {
  return from + to == 4 && from != to ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict method_sm(int from, int to, const char *method, uint64_t size_bytes) {
  return strcmp(method, "sm") == 0 ? VERDICT_IMPROVED : VERDICT_SAME;
}

static enum verdict small_sm(int from, int to, const char *method, uint64_t size_bytes) {
  return strcmp(method, "sm") == 0 && size_bytes < 1 << 20 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict everything(int from, int to, const char *method, uint64_t size_bytes) {
  return VERDICT_REGRESSED;
}

/* Most of one GPU's cases, one that is not, and some of which nothing is known. */
static enum verdict untidy(int from, int to, const char *method, uint64_t size_bytes) {
  if (from == 3) {
    return to == 0 && method[0] == 'c' && size_bytes == SIZE_BYTES[0] ? VERDICT_UNCLEAR
                                                                      : VERDICT_REGRESSED;
  }
  return from == 0 && to == 1 && method[0] == 's' && size_bytes == SIZE_BYTES[2] ? VERDICT_REGRESSED
                                                                                 : VERDICT_SAME;
}

/* Two causes in opposite directions. */
static enum verdict both_ways(int from, int to, const char *method, uint64_t size_bytes) {
  return from == 2                                                  ? VERDICT_REGRESSED
         : size_bytes == SIZE_BYTES[2] && strcmp(method, "ce") == 0 ? VERDICT_IMPROVED
                                                                    : VERDICT_SAME;
}

/* The slow path of one GPU and that of another have nothing in common. */
static enum verdict two_causes(int from, int to, const char *method, uint64_t size_bytes) {
  return from == 2 || (to == 0 && size_bytes < 1 << 20) ? VERDICT_REGRESSED : VERDICT_SAME;
}

/* Every 5th case by an arbitrary rule. */
static enum verdict scattered(int from, int to, const char *method, uint64_t size_bytes) {
  const unsigned mixed = (unsigned)from * 7 + (unsigned)to * 3 + (unsigned)method[0] * 11 +
                         (unsigned)(size_bytes >> 14) * 5;
  return mixed * 2654435761U >> 16 & 3 ? VERDICT_SAME : VERDICT_REGRESSED;
}

/* Two cases of one GPU: their rows say as much. */
static enum verdict two_cases(int from, int to, const char *method, uint64_t size_bytes) {
  return from == 2 && to == 1 && method[0] == 's' && size_bytes != SIZE_BYTES[0] ? VERDICT_REGRESSED
                                                                                 : VERDICT_SAME;
}

TEST(what_they_have_in_common_is_named) {
  static const struct {
    judge_rule *judge;
    const char *what; /* of the first; NULL = all cases; "" = nothing is told */
    enum verdict verdict;
    size_t count, cases, changed, others, others_changed;
    int gpu;
  } CASES[] = {
      {nothing, "", VERDICT_SAME, 0, 0, 0, 0, 0, -1},
      {scattered, "", VERDICT_SAME, 0, 0, 0, 0, 0, -1},
      {two_cases, "", VERDICT_SAME, 0, 0, 0, 0, 0, -1},
      {gpu_2_source, "gpu2 as source", VERDICT_REGRESSED, 1, 18, 18, 54, 0, 2},
      {one_path, "gpu1->gpu3", VERDICT_REGRESSED, 1, 6, 6, 66, 0, -1},
      {one_link, "the link gpu1--gpu3", VERDICT_REGRESSED, 1, 12, 12, 60, 0, -1},
      {method_sm, "method sm", VERDICT_IMPROVED, 1, 36, 36, 36, 0, -1},
      {small_sm, "method sm, sizes below 1MiB", VERDICT_REGRESSED, 1, 24, 24, 48, 0, -1},
      {everything, NULL, VERDICT_REGRESSED, 1, 72, 72, 0, 0, -1},
      {untidy, "gpu3 as source", VERDICT_REGRESSED, 1, 18, 17, 54, 1, 3},
      {both_ways, "gpu2 as source", VERDICT_REGRESSED, 2, 18, 18, 54, 0, 2},
      {two_causes, "gpu2 as source", VERDICT_REGRESSED, 2, 18, 18, 54, 8, 2},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct made made;
    make(&made, CASES[i].judge);
    assert_int_equal(made.count, CASES[i].count);
    if (made.count > 0) {
      const struct conclusion *first = &made.conclusions[0];
      if (CASES[i].what == NULL) {
        assert_null(first->what);
      } else {
        assert_string_equal(first->what, CASES[i].what);
      }
      assert_int_equal(first->verdict, CASES[i].verdict);
      assert_int_equal(first->cases, CASES[i].cases);
      assert_int_equal(first->changed, CASES[i].changed);
      assert_int_equal(first->others, CASES[i].others);
      assert_int_equal(first->others_changed, CASES[i].others_changed);
      assert_int_equal(first->gpu, CASES[i].gpu);
      assert_true(fabs(first->change - (first->verdict == VERDICT_REGRESSED ? -0.05 : 0.10)) <
                  1e-9);
    }
    done(&made);
  }
}

TEST(each_verdict_has_its_own) {
  struct made made;
  make(&made, both_ways);
  assert_int_equal(made.conclusions[1].verdict, VERDICT_IMPROVED);
  assert_string_equal(made.conclusions[1].what, "method ce, size 64MiB");
  done(&made);
}

/* Where noise alone slowed all of them. */
TEST(changes_by_noise_are_called_that) {
  struct made made;
  make(&made, gpu_2_source);
  struct case_rates still = {.of[RATE_UNDISTURBED].result.verdict = VERDICT_SAME};
  for (size_t i = 0; i < made.comparison.row_count; i++) {
    const bool changed = made.rows[i].result.verdict == VERDICT_REGRESSED;
    made.rows[i].rates = &still;
    made.rows[i].moved = changed ? MOVED_TYPICAL : MOVED_UNKNOWN;
  }
  made.conclusions = conclusions_find(&made.comparison, &made.arena, &made.count);
  assert_int_equal(made.count, 1);
  assert_true(conclusion_is_noise(&made.conclusions[0]));
  still.of[RATE_UNDISTURBED].result.verdict = VERDICT_UNCLEAR; /* the link may have changed, too */
  made.conclusions = conclusions_find(&made.comparison, &made.arena, &made.count);
  assert_false(conclusion_is_noise(&made.conclusions[0]));
  done(&made);
}

TEST(what_one_cause_leaves_another_explains) {
  struct made made;
  make(&made, two_causes);
  assert_int_equal(made.count, 2);
  assert_string_equal(made.conclusions[1].what, "gpu0 as target, sizes below 1MiB");
  assert_int_equal(made.conclusions[1].changed, 12);
  done(&made);
}

/* Size and method of the axes are traits of their own, and not told twice. */
TEST(a_value_of_an_axis_is_named) {
  static const char *const AXES[] = {"size=16KiB threads=1 method=ce",
                                     "size=16KiB threads=4 method=ce"};
  struct made made = {.results = results_new()};
  for (int i = 0; i < 24; i++) {
    const size_t bench = made_case(made.results, "k", "pairs", i % GPUS, SIZE_BYTES[0]);
    made.results->cases[bench].axes = AXES[i / GPUS % 2];
    made.rows[made.comparison.row_count++] = (struct comparison_row){
        .bench = bench,
        .result = {.verdict = i / GPUS % 2 == 1 ? VERDICT_REGRESSED : VERDICT_SAME,
                   .change = i / GPUS % 2 == 1 ? -0.05 : 0}};
  }
  made.comparison.results = made.results;
  made.comparison.rows = made.rows;
  made.conclusions = conclusions_find(&made.comparison, &made.arena, &made.count);
  assert_int_equal(made.count, 1);
  assert_string_equal(made.conclusions[0].what, "threads=4");
  assert_int_equal(made.conclusions[0].changed, 12);
  assert_int_equal(made.conclusions[0].others_changed, 0);
  done(&made);
}

/* Two cases, which are all of their path: one of three paths changes so by chance too often, one of
 * a hundred does not. */
TEST(a_path_of_two_cases_stands_out_of_many) {
  static const int PATHS[] = {3, 100};
  for (size_t trial = 0; trial < COUNT_OF(PATHS); trial++) {
    struct made made = {.results = results_new()};
    for (int i = 0; i < 2 * PATHS[trial]; i++) {
      const int path = i / 2;
      const size_t bench = made_case(made.results, "k", "pairs", 0, SIZE_BYTES[i % 2]);
      made_flow(made.results, bench,
                (struct results_flow){.source_is_gpu = true,
                                      .target_is_gpu = true,
                                      .source = path % 16,
                                      .target = 16 + path / 16,
                                      .source_memory = "device",
                                      .target_memory = "device"});
      made.rows[made.comparison.row_count++] = (struct comparison_row){
          .bench = bench, .result = {.verdict = path == 1 ? VERDICT_REGRESSED : VERDICT_SAME}};
    }
    made.comparison.results = made.results;
    made.comparison.rows = made.rows;
    made.conclusions = conclusions_find(&made.comparison, &made.arena, &made.count);
    assert_int_equal(made.count, PATHS[trial] > 3);
    if (made.count > 0) {
      assert_string_equal(made.conclusions[0].what, "gpu1->gpu16");
    }
    done(&made);
  }
}

/* A GPU counts where it is an end of half of the flows at least. */
TEST(many_flows_at_once_are_about_none_of_their_ends) {
  struct made made;
  make(&made, gpu_2_source);
  struct results_flow *flows = arena_array(&made.arena, GPUS, sizeof *flows);
  for (int gpu = 0; gpu < GPUS; gpu++) {
    flows[gpu] = (struct results_flow){.source_is_gpu = true, .source = gpu, .target = 0};
  }
  for (size_t i = 0; i < 20; i++) { /* gathered by the host: none changed */
    const size_t bench = made_case(made.results, "g", "gather", 0, SIZE_BYTES[2]);
    made.results->cases[bench].flows = flows;
    made.results->cases[bench].flow_count = GPUS;
    struct comparison_row *row = &made.rows[made.comparison.row_count++];
    *row = (struct comparison_row){.bench = bench, .result = {.verdict = VERDICT_SAME}};
  }
  made.conclusions = conclusions_find(&made.comparison, &made.arena, &made.count);
  assert_int_equal(made.count, 1);
  assert_string_equal(made.conclusions[0].what, "gpu2 as source");
  assert_int_equal(made.conclusions[0].cases, 18);
  assert_int_equal(made.conclusions[0].others, 74);
  done(&made);
}

enum { HOST = -1 };

struct recorded {
  const char *block, *host_memory, *method;
  int source, target;
  uint64_t size_bytes;
  enum verdict verdict;
  double change;
};

#define KIB(n) (UINT64_C(n) << 10)
#define MIB(n) (UINT64_C(n) << 20)

/* `haul diff tag:A1 tag:loaded` of "quick", five processes each, on two H200s; on side B another
 * program copied within gpu1 and from the host to it without a pause. */
static const struct recorded LOADED[] = {
    {"host_latency", "pinned", "chase", HOST, 1, MIB(2), VERDICT_REGRESSED, -0.683},
    {"host_latency", "pinned", "chase", HOST, 0, MIB(2), VERDICT_REGRESSED, -0.0366},
    {"host_to_device", "pinned", "ce", HOST, 1, KIB(4), VERDICT_REGRESSED, -0.5},
    {"host_to_device", "pinned", "ce", HOST, 1, MIB(256), VERDICT_REGRESSED, -0.786},
    {"host_to_device", "pageable", "ce", HOST, 1, KIB(4), VERDICT_REGRESSED, -0.5},
    {"host_to_device", "pageable", "ce", HOST, 1, MIB(256), VERDICT_REGRESSED, -0.5},
    {"host_to_device", "pageable", "ce", HOST, 0, MIB(256), VERDICT_REGRESSED, -0.114},
    {"host_to_device", "pageable", "ce", HOST, 0, KIB(4), VERDICT_INSUFFICIENT, -0.241},
    {"host_to_device", "pinned", "ce", HOST, 0, KIB(4), VERDICT_UNCLEAR, -0.0753},
    {"host_to_device", "pinned", "ce", HOST, 0, MIB(256), VERDICT_UNCLEAR, -0.0425},
    {"device_to_host", "pinned", "ce", 1, HOST, KIB(4), VERDICT_REGRESSED, -0.537},
    {"device_to_host", "pinned", "ce", 1, HOST, MIB(256), VERDICT_REGRESSED, -0.0716},
    {"device_to_host", "pageable", "ce", 1, HOST, KIB(4), VERDICT_REGRESSED, -0.421},
    {"device_to_host", "pageable", "ce", 1, HOST, MIB(256), VERDICT_INSUFFICIENT, -0.229},
    {"device_to_host", "pageable", "ce", 0, HOST, KIB(4), VERDICT_UNCLEAR, -0.122},
    {"device_to_host", "pageable", "ce", 0, HOST, MIB(256), VERDICT_INSUFFICIENT, -0.233},
    {"device_to_host", "pinned", "ce", 0, HOST, KIB(4), VERDICT_SAME, 0},
    {"device_to_host", "pinned", "ce", 0, HOST, MIB(256), VERDICT_SAME, 0},
    {"device_to_device", NULL, "ce", 1, 0, KIB(4), VERDICT_REGRESSED, -0.497},
    {"device_to_device", NULL, "ce", 1, 0, MIB(256), VERDICT_SAME, 0},
    {"device_to_device", NULL, "ce", 0, 1, KIB(4), VERDICT_SAME, 0},
    {"device_to_device", NULL, "ce", 0, 1, MIB(256), VERDICT_SAME, 0},
    {"device_local_copy", NULL, "ce", 1, 1, MIB(256), VERDICT_REGRESSED, -0.0211},
    {"device_local_copy", NULL, "ce", 0, 0, MIB(256), VERDICT_SAME, 0},
    {"peer_latency", NULL, "chase", 1, 0, MIB(2), VERDICT_REGRESSED, -0.151},
    {"peer_latency", NULL, "chase", 0, 1, MIB(2), VERDICT_SAME, 0},
    {"host_to_host", "huge", "cpu", HOST, HOST, KIB(4), VERDICT_INSUFFICIENT, -0.964},
    {"host_to_host", "huge", "cpu", HOST, HOST, MIB(64), VERDICT_UNCLEAR, -0.602},
    {"host_to_host", "pageable", "cpu", HOST, HOST, KIB(4), VERDICT_UNCLEAR, -0.876},
    {"host_to_host", "pageable", "cpu", HOST, HOST, MIB(64), VERDICT_UNCLEAR, -0.37},
};
enum { LOADED_COUNT = COUNT_OF(LOADED) };

/* suspect: a GPU of which a check failed on side B; HOST = of none. */
static void make_recorded(struct made *made, const struct recorded *rows, size_t count,
                          int suspect) {
  static struct comparison_condition busy = {.kind = CONDITION_CHECK, .runs = {0, 1}};
  *made = (struct made){.results = results_new()};
  for (size_t i = 0; i < count; i++) {
    const size_t bench = made_case(made->results, "k", rows[i].block,
                                   rows[i].source == HOST ? 0 : rows[i].source, rows[i].size_bytes);
    const bool from_gpu = rows[i].source != HOST;
    const bool to_gpu = rows[i].target != HOST;
    made_flow(made->results, bench,
              (struct results_flow){.source_is_gpu = from_gpu,
                                    .target_is_gpu = to_gpu,
                                    .source = from_gpu ? rows[i].source : 0,
                                    .target = to_gpu ? rows[i].target : 0,
                                    .source_memory = from_gpu ? "device" : rows[i].host_memory,
                                    .target_memory = to_gpu ? "device" : rows[i].host_memory});
    made->results->cases[bench].method = rows[i].method;
    made->rows[made->comparison.row_count++] = (struct comparison_row){
        .bench = bench, .result = {.verdict = rows[i].verdict, .change = rows[i].change}};
  }
  busy.gpu = suspect;
  made->comparison.results = made->results;
  made->comparison.rows = made->rows;
  made->comparison.conditions = &busy;
  made->comparison.condition_count = 1;
  made->conclusions = conclusions_find(&made->comparison, &made->arena, &made->count);
}

/* Most of its cases between GPUs did not change, and one of its cases could not be judged. */
TEST(a_loaded_gpu_of_two_is_named) {
  struct made made;
  make_recorded(&made, LOADED, LOADED_COUNT, HOST);
  assert_int_equal(made.count, 1);
  assert_string_equal(made.conclusions[0].what, "gpu1's host link");
  assert_int_equal(made.conclusions[0].gpu, 1);
  assert_int_equal(made.conclusions[0].cases, 9);
  assert_int_equal(made.conclusions[0].changed, 8);
  assert_int_equal(made.conclusions[0].others, 21);
  assert_int_equal(made.conclusions[0].others_changed, 5);
  done(&made);
}

/* `haul diff tag:quiet tag:loaded`, four processes each, on two H200s, with such a program on gpu1.
 */
static const struct recorded IN_USE[] = {
    {"host_to_device", "pinned", "ce", HOST, 1, MIB(64), VERDICT_REGRESSED, -0.468},
    {"host_to_device", "pinned", "ce", HOST, 1, MIB(16), VERDICT_REGRESSED, -0.0262},
    {"device_to_host", "pinned", "ce", 1, HOST, MIB(16), VERDICT_REGRESSED, -0.194},
    {"device_to_host", "pinned", "ce", 1, HOST, MIB(64), VERDICT_REGRESSED, -0.121},
    {"device_to_device", NULL, "ce", 1, 0, MIB(16), VERDICT_REGRESSED, -0.2},
    {"device_to_device", NULL, "ce", 1, 0, MIB(64), VERDICT_REGRESSED, -0.172},
    {"device_local_copy", NULL, "sm", 1, 1, MIB(256), VERDICT_REGRESSED, -0.062},
    {"device_to_device", NULL, "ce", 0, 1, MIB(16), VERDICT_INSUFFICIENT, 0.0142},
    {"device_to_device", NULL, "ce", 0, 1, MIB(64), VERDICT_SAME, -0.0065},
    {"host_to_device", "pinned", "ce", HOST, 0, MIB(64), VERDICT_SAME, 0},
    {"host_to_device", "pinned", "ce", HOST, 0, MIB(16), VERDICT_SAME, 0},
    {"device_to_host", "pinned", "ce", 0, HOST, MIB(64), VERDICT_SAME, 0},
    {"device_to_host", "pinned", "ce", 0, HOST, MIB(16), VERDICT_SAME, 0},
    {"device_local_copy", NULL, "sm", 0, 0, MIB(256), VERDICT_SAME, 0},
};
enum { IN_USE_COUNT = COUNT_OF(IN_USE) };

/* Seven of fourteen cases alone might be an accident; of a GPU that was in use they are none. */
TEST(a_suspect_gpu_is_named_on_less_evidence) {
  struct made made;
  make_recorded(&made, IN_USE, IN_USE_COUNT, 1);
  assert_int_equal(made.count, 1);
  assert_string_equal(made.conclusions[0].what, "gpu1");
  assert_int_equal(made.conclusions[0].cases, 9);
  assert_int_equal(made.conclusions[0].changed, 7);
  assert_int_equal(made.conclusions[0].others_changed, 0);
  done(&made);
  for (int suspect = HOST; suspect <= 0; suspect++) { /* nobody, or the other GPU */
    make_recorded(&made, IN_USE, IN_USE_COUNT, suspect);
    assert_int_equal(made.count, 0);
    done(&made);
  }
}

/* Both ways of one link of four GPUs, once each; and two cases that share less than that. */
TEST(two_cases_are_told_if_they_are_a_whole_link) {
  enum { WAYS = GPUS * (GPUS - 1) };
  static const struct {
    int from, to;
    const char *what; /* NULL = nothing is told */
  } SECOND[] = {{3, 1, "the link gpu1--gpu3"}, {1, 2, NULL}, {2, 0, NULL}};
  for (size_t i = 0; i < COUNT_OF(SECOND); i++) {
    struct recorded rows[3 * WAYS];
    for (int way = 0; way < 3 * WAYS; way++) {
      const int from = way % WAYS / (GPUS - 1);
      const int to = (from + 1 + way % (GPUS - 1)) % GPUS;
      const bool peer = way < WAYS;
      const bool slow =
          peer && ((from == 1 && to == 3) || (from == SECOND[i].from && to == SECOND[i].to));
      rows[way] = (struct recorded){peer ? "peer" : "host",
                                    "pinned",
                                    "ce",
                                    peer ? from : HOST,
                                    peer ? to : from,
                                    peer ? MIB(64) : UINT64_C(1024) * (uint64_t)(1 + way),
                                    slow ? VERDICT_REGRESSED : VERDICT_SAME,
                                    slow ? -0.1 : 0};
    }
    struct made made;
    make_recorded(&made, rows, 3 * WAYS, HOST);
    assert_int_equal(made.count, SECOND[i].what != NULL);
    if (made.count > 0) {
      assert_string_equal(made.conclusions[0].what, SECOND[i].what);
      assert_int_equal(made.conclusions[0].cases, 2);
      assert_int_equal(made.conclusions[0].others, 3 * WAYS - 2);
    }
    done(&made);
  }
}

/* The same cases with verdicts that have nothing to do with them: a conclusion is an accident. */
TEST(verdicts_at_random_have_nothing_in_common) {
  enum { TRIALS = 2000 };
  struct recorded rows[LOADED_COUNT];
  uint64_t random = 1;
  size_t told = 0;
  memcpy(rows, LOADED, sizeof rows);
  for (size_t trial = 0; trial < TRIALS; trial++) {
    for (size_t i = LOADED_COUNT - 1; i > 0; i--) { /* shuffled */
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      const size_t other = (size_t)(random >> 33) % (i + 1);
      const enum verdict verdict = rows[i].verdict;
      rows[i].verdict = rows[other].verdict;
      rows[other].verdict = verdict;
    }
    struct made made;
    make_recorded(&made, rows, LOADED_COUNT, HOST);
    told += made.count > 0;
    done(&made);
  }
  print_message("%zu of %d random comparisons draw a conclusion\n", told, (int)TRIALS);
  assert_true((double)told <= CONCLUSION_CHANCE_MOST * TRIALS);
}
