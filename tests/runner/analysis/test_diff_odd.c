/* Units that are far from all others. */
#include "runner/analysis/diff.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 40, UNITS = 10, CHANGED = 5, OTHER = 6 };

static double values[CASES][2][UNITS];
static struct diff_result results[CASES];

/* Runs of one process in turn, which spread by 0.2 %. */
static void make(void) {
  uint64_t seed = 11;
  for (size_t i = 0; i < CASES * 2 * UNITS; i++) {
    values[i / 2 / UNITS][i / UNITS % 2][i % UNITS] = 10 + 0.002 * noise_normal(&seed);
  }
}

static void compare(void) {
  static const struct diff_options OPTIONS = {.method = DIFF_MODERATED,
                                              .false_discovery_rate = 0.05};
  static uint32_t runs[2][UNITS];
  static int64_t started[2 * UNITS];
  struct diff_case cases[CASES];
  struct diff_summary summary;
  for (uint32_t u = 0; u < UNITS; u++) {
    runs[0][u] = 2 * u;
    runs[1][u] = 2 * u + 1;
    started[2 * u] = 2 * u;
    started[2 * u + 1] = 2 * u + 1;
  }
  for (size_t i = 0; i < CASES; i++) {
    cases[i] = (struct diff_case){.a = {values[i][0], UNITS, runs[0], runs[0]},
                                  .b = {values[i][1], UNITS, runs[1], runs[1]},
                                  .started = started,
                                  .delta = 0.01};
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
}

static void expect(size_t at, enum verdict verdict) {
  assert_string_equal(verdict_text(results[at].verdict), verdict_text(verdict));
}

static void slow_down(size_t at) {
  for (size_t u = 0; u < UNITS; u++) {
    values[at][1][u] += log(1.03);
  }
}

TEST(two_that_are_slow_hide_no_change) {
  make();
  slow_down(CHANGED);
  values[CHANGED][0][3] += log(1.2);
  values[CHANGED][1][6] += log(1.2);
  compare();
  expect(CHANGED, VERDICT_REGRESSED);
  assert_false(results[CHANGED].is_provisional);
  assert_true(results[CHANGED].sd < 0.004);
  assert_int_equal(results[CHANGED].units[0], UNITS - 1);
  assert_int_equal(results[CHANGED].odd.counts[0], 1);
  assert_true(fabs(results[CHANGED].odd.shifts[0] - log(1.2) / UNITS) < 0.001);
}

/* Then there are two levels, and which side has which may be chance. */
TEST(one_at_the_level_of_the_other_side_counts) {
  make();
  slow_down(CHANGED);
  values[CHANGED][0][3] += log(1.03);
  values[CHANGED][1][6] -= log(1.03);
  compare();
  assert_true(results[CHANGED].sd > 0.005);
  assert_int_equal(results[CHANGED].units[0], UNITS);
}

TEST(more_of_one_side_are_not_the_same) {
  make();
  values[CHANGED][0][3] += log(1.2);
  values[CHANGED][0][4] += log(1.2);
  values[OTHER][0][3] += log(1.2);
  values[OTHER][1][3] += log(1.2);
  compare();
  expect(CHANGED, VERDICT_UNCLEAR);
  expect(OTHER, VERDICT_SAME);
}

TEST(three_of_twenty_are_how_the_case_is) {
  make();
  for (size_t u = 0; u < 3; u++) {
    values[CHANGED][u % 2][u] += log(1.2);
  }
  compare();
  assert_true(results[CHANGED].sd > 0.02);
}
