/* Groups of cases with verdicts of their own. */
#include "runner/analysis/compare.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

RELEASE(comparison_free, struct comparison)

enum { RUNS = 10, SIZES = 6, MIB = 1 << 20 };
static enum side sides[RUNS];

/* Runs of A and B in turn; cases of four GPUs, of which one takes so much longer in B, as all do;
 * they spread by sd. */
static struct results *make(double sd, double all, double of_gpu2) {
  struct results *m = results_new();
  uint64_t seed = 12;
  const size_t environment = made_environment(m, "n1", "580.1", false);
  for (size_t r = 0; r < RUNS; r++) {
    (void)made_run(m, environment);
    sides[r] = r % 2 == 0 ? SIDE_A : SIDE_B;
  }
  for (size_t c = 0; c < (size_t)MADE_GPUS * SIZES; c++) {
    const int gpu = (int)(c % MADE_GPUS);
    const size_t bench = made_case(m, arena_format(&m->arena, "%02zu", c),
                                   c % 2 == 0 ? "even" : "odd", gpu, (c / MADE_GPUS + 1) * MIB);
    for (size_t r = 0; r < RUNS; r++) {
      const double longer = sides[r] == SIDE_B ? all + (gpu == 2 ? of_gpu2 : 0) : 0;
      made_median(m, (struct results_median){.run = (uint32_t)r,
                                             .bench = (uint32_t)bench,
                                             .process = 1 + (int64_t)r,
                                             .ns = 1e6 * exp(longer + sd * noise_normal(&seed)),
                                             .status = CASE_OK});
    }
  }
  return m;
}

static struct comparison *judge(struct results *m, const char *only) {
  const struct compare_options options = {.diff = {.false_discovery_rate = 0.05}, .only = only};
  struct comparison *comparison = NULL;
  struct error err;
  assert_int_equal(compare(m, sides, &options, &comparison, &err), STATUS_OK);
  return comparison;
}

static const struct comparison_group *find(const struct comparison *comparison, const char *what) {
  for (size_t i = 0; i < comparison->group_count; i++) {
    if (strcmp(comparison->groups[i].what, what) == 0) {
      return &comparison->groups[i];
    }
  }
  return NULL;
}

static size_t count_news(const struct comparison *comparison) {
  return SUM_OF(i, comparison->group_count, comparison->groups[i].is_news);
}

TEST(what_all_cases_share_is_one_line) {
  SCOPED(results_free_at) struct results *m = make(0.02, 0.026, 0);
  struct comparison *comparison = judge(m, NULL);
  const struct comparison_group *all = find(comparison, "all cases");
  assert_non_null(all);
  assert_int_equal(all->kind, GROUP_ALL);
  assert_int_equal(all->case_count, MADE_GPUS * SIZES);
  assert_int_equal(all->result.verdict, VERDICT_REGRESSED);
  assert_false(all->result.is_provisional);
  assert_true(all->is_news && all->delta > 0.0099 && all->delta < 0.0101);
  assert_int_equal(count_news(comparison), 1);
  assert_null(find(comparison, "GPU to host")); /* the same cases again */
  assert_null(find(comparison, "gpu0"));
  comparison_free(comparison);
  /* Of a part of the cases, only groups that lie in it are kept. */
  comparison = judge(m, "even");
  assert_int_equal(comparison->row_count, MADE_GPUS * SIZES / 2);
  assert_false(find(comparison, "all cases")->is_kept);
  assert_true(find(comparison, "block even")->is_kept);
  comparison_free(comparison);
}

TEST(a_slow_part_is_the_news_and_not_what_contains_it) {
  SCOPED(results_free_at) struct results *m = make(0.03, 0, 0.06);
  SCOPED(comparison_free_at) struct comparison *comparison = judge(m, NULL);
  assert_string_equal(comparison->groups[0].what, "gpu2's host link");
  assert_int_equal(comparison->groups[0].result.verdict, VERDICT_REGRESSED);
  assert_true(comparison->groups[0].is_news);
  assert_int_equal(count_news(comparison), 1);
}

TEST(nothing_is_no_news) {
  struct results *m = make(0.03, 0, 0);
  struct comparison *comparison = judge(m, NULL);
  assert_int_equal(count_news(comparison), 0);
  comparison_free(comparison);
  results_free(m);
  /* What the cases say by themselves is no news either. */
  m = make(0.001, 0.05, 0);
  comparison = judge(m, NULL);
  assert_int_equal(comparison->summary.verdicts[VERDICT_REGRESSED], MADE_GPUS * SIZES);
  assert_int_equal(find(comparison, "all cases")->result.verdict, VERDICT_REGRESSED);
  assert_int_equal(count_news(comparison), 0);
  comparison_free(comparison);
  results_free(m);
}

/* What --only left out of the runs of a side is not missing there. */
TEST(cases_that_a_side_was_not_asked_for_are_no_rows) {
  SCOPED(results_free_at) struct results *m = make(0.002, 0, 0);
  const size_t bench = made_case(m, "another", "other", 1, MIB);
  made_median(m,
              (struct results_median){
                  .run = 0, .bench = (uint32_t)bench, .process = 1, .ns = 1e6, .status = CASE_OK});
  for (size_t r = 0; r < RUNS; r++) {
    m->runs[r].only = sides[r] == SIDE_B ? "even,odd" : NULL;
  }
  struct comparison *comparison = judge(m, NULL);
  assert_int_equal(comparison->row_count, MADE_GPUS * SIZES);
  assert_int_equal(comparison->judged_count, MADE_GPUS * SIZES);
  assert_int_equal(comparison->summary.verdicts[VERDICT_MISSING], 0);
  assert_int_equal(comparison->unasked[SIDE_B], 1);
  assert_int_equal(comparison->unasked[SIDE_A], 0);
  comparison_free(comparison);
  m->runs[1].only = NULL;
  comparison = judge(m, NULL);
  assert_int_equal(comparison->summary.verdicts[VERDICT_MISSING], 1);
  comparison_free(comparison);
}
