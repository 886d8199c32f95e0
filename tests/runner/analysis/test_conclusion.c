/* What changed cases have in common is told where it explains most of them, and nowhere else. */
#include "runner/analysis/conclusion.h"
#include "tests/runner/analysis/made.h"

#include <string.h>

enum { GPUS = 4, METHODS = 2, SIZES = 3, CASES_MAX = 256 };

static const uint64_t SIZE_BYTES[SIZES] = {UINT64_C(1) << 14, UINT64_C(1) << 18, UINT64_C(1) << 26};
static const char *const METHOD_NAMES[METHODS] = {"ce", "sm"};

/* A verdict for every path between the GPUs, method and size. */
typedef enum verdict judge_rule(int from, int to, const char *method, uint64_t size_bytes);

struct made {
  struct measured *measured;
  struct comparison comparison;
  struct comparison_row rows[CASES_MAX];
  struct arena arena;
  const struct conclusion *conclusions;
  size_t count;
};

static void make(struct made *made, judge_rule *judge) {
  *made = (struct made){.measured = measured_new()};
  for (int i = 0; i < GPUS * GPUS * METHODS * SIZES; i++) {
    const int from = i % GPUS;
    const int to = i / GPUS % GPUS;
    const char *method = METHOD_NAMES[i / GPUS / GPUS % METHODS];
    const uint64_t size_bytes = SIZE_BYTES[i / GPUS / GPUS / METHODS];
    if (from == to) {
      continue;
    }
    const size_t bench = made_case(made->measured, "k", "pairs", from, size_bytes);
    struct measured_case *c = &made->measured->cases[bench];
    struct measured_flow *flow = arena_alloc(&made->measured->arena, sizeof *flow);
    *flow = (struct measured_flow){.source_is_gpu = true,
                                   .target_is_gpu = true,
                                   .source = from,
                                   .target = to,
                                   .source_memory = "device",
                                   .target_memory = "device"};
    c->flows = flow;
    c->method = method;
    struct comparison_row *row = &made->rows[made->comparison.row_count++];
    row->bench = bench;
    row->result.verdict = judge(from, to, method, size_bytes);
    row->result.change = row->result.verdict == VERDICT_REGRESSED  ? -0.05
                         : row->result.verdict == VERDICT_IMPROVED ? 0.10
                                                                   : 0.0001;
  }
  made->comparison.rows = made->rows;
  made->conclusions =
      conclusions_find(made->measured, &made->comparison, &made->arena, &made->count);
}

static void done(struct made *made) {
  arena_fini(&made->arena);
  measured_free(made->measured);
}

static enum verdict nothing(int from, int to, const char *method, uint64_t size_bytes) {
  (void)from, (void)to, (void)method, (void)size_bytes;
  return VERDICT_SAME;
}

static enum verdict gpu_2_source(int from, int to, const char *method, uint64_t size_bytes) {
  (void)to, (void)method, (void)size_bytes;
  return from == 2 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict one_path(int from, int to, const char *method, uint64_t size_bytes) {
  (void)method, (void)size_bytes;
  return from == 1 && to == 3 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict one_link(int from, int to, const char *method, uint64_t size_bytes) {
  (void)method, (void)size_bytes;
  return from + to == 4 && from != to ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict method_sm(int from, int to, const char *method, uint64_t size_bytes) {
  (void)from, (void)to, (void)size_bytes;
  return strcmp(method, "sm") == 0 ? VERDICT_IMPROVED : VERDICT_SAME;
}

static enum verdict small_sm(int from, int to, const char *method, uint64_t size_bytes) {
  (void)from, (void)to;
  return strcmp(method, "sm") == 0 && size_bytes < 1 << 20 ? VERDICT_REGRESSED : VERDICT_SAME;
}

static enum verdict everything(int from, int to, const char *method, uint64_t size_bytes) {
  (void)from, (void)to, (void)method, (void)size_bytes;
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
  (void)to;
  return from == 2                                                  ? VERDICT_REGRESSED
         : size_bytes == SIZE_BYTES[2] && strcmp(method, "ce") == 0 ? VERDICT_IMPROVED
                                                                    : VERDICT_SAME;
}

/* The slow path of one GPU and that of another have nothing in common. */
static enum verdict two_causes(int from, int to, const char *method, uint64_t size_bytes) {
  (void)method;
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

static void what_they_have_in_common_is_named(void **state) {
  (void)state;
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
      {one_path, "from gpu1 to gpu3", VERDICT_REGRESSED, 1, 6, 6, 66, 0, -1},
      {one_link, "the link gpu1--gpu3", VERDICT_REGRESSED, 1, 12, 12, 60, 0, -1},
      {method_sm, "method sm", VERDICT_IMPROVED, 1, 36, 36, 36, 0, -1},
      {small_sm, "method sm, sizes below 1MiB", VERDICT_REGRESSED, 1, 24, 24, 48, 0, -1},
      {everything, NULL, VERDICT_REGRESSED, 1, 72, 72, 0, 0, -1},
      {untidy, "gpu3 as source", VERDICT_REGRESSED, 1, 18, 17, 54, 1, 3},
      {both_ways, "gpu2 as source", VERDICT_REGRESSED, 2, 18, 18, 54, 0, 2},
      {two_causes, "gpu2 as source", VERDICT_REGRESSED, 2, 18, 18, 54, 8, 2},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
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

static void each_verdict_has_its_own(void **state) {
  (void)state;
  struct made made;
  make(&made, both_ways);
  assert_int_equal(made.conclusions[1].verdict, VERDICT_IMPROVED);
  assert_string_equal(made.conclusions[1].what, "method ce, size 64MiB");
  done(&made);
}

static void what_one_cause_leaves_another_explains(void **state) {
  (void)state;
  struct made made;
  make(&made, two_causes);
  assert_int_equal(made.count, 2);
  assert_string_equal(made.conclusions[1].what, "gpu0 as target, sizes below 1MiB");
  assert_int_equal(made.conclusions[1].changed, 12);
  done(&made);
}

/* A GPU counts where it is an end of half of the flows at least. */
static void many_flows_at_once_are_about_none_of_their_ends(void **state) {
  (void)state;
  struct made made;
  make(&made, gpu_2_source);
  struct measured_flow *flows = arena_array(&made.arena, GPUS, sizeof *flows);
  for (int gpu = 0; gpu < GPUS; gpu++) {
    flows[gpu] = (struct measured_flow){.source_is_gpu = true, .source = gpu, .target = 0};
  }
  for (size_t i = 0; i < 20; i++) { /* gathered by the host: none changed */
    const size_t bench = made_case(made.measured, "g", "gather", 0, SIZE_BYTES[2]);
    made.measured->cases[bench].flows = flows;
    made.measured->cases[bench].flow_count = GPUS;
    struct comparison_row *row = &made.rows[made.comparison.row_count++];
    *row = (struct comparison_row){.bench = bench, .result = {.verdict = VERDICT_SAME}};
  }
  made.conclusions = conclusions_find(made.measured, &made.comparison, &made.arena, &made.count);
  assert_int_equal(made.count, 1);
  assert_string_equal(made.conclusions[0].what, "gpu2 as source");
  assert_int_equal(made.conclusions[0].cases, 18);
  assert_int_equal(made.conclusions[0].others, 74);
  done(&made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_they_have_in_common_is_named),
      cmocka_unit_test(each_verdict_has_its_own),
      cmocka_unit_test(what_one_cause_leaves_another_explains),
      cmocka_unit_test(many_flows_at_once_are_about_none_of_their_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
