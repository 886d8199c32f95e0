/* Tails, spreads and levels of two sides. */
#include "runner/analysis/distribution.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 60, RUNS = 20, TRIALS = ROUNDS(20, 4) };

static struct diff_case cases[CASES];
static struct diff_result levels[CASES];
static struct distribution_change changes[CASES];
static double values[CASES][2][RUNS], tails[CASES][2][RUNS];
static uint32_t runs[RUNS];

static void make(size_t count, uint64_t *seed) {
  for (size_t r = 0; r < RUNS; r++) {
    runs[r] = (uint32_t)r;
  }
  for (size_t i = 0; i < CASES; i++) {
    for (size_t s = 0; s < 2; s++) {
      for (size_t r = 0; r < RUNS; r++) {
        values[i][s][r] = 0.001 * noise_normal(seed);
        tails[i][s][r] = 0.02 + 0.004 * fabs(noise_normal(seed));
      }
    }
    cases[i] = (struct diff_case){.a = {values[i][0], count, NULL, runs},
                                  .b = {values[i][1], count, NULL, runs},
                                  .tails = {tails[i][0], tails[i][1]},
                                  .delta = 0.01};
  }
}

static size_t judge(void) {
  const struct diff_options options = {.false_discovery_rate = 0.05};
  struct diff_summary summary;
  size_t found = 0;
  diff_compare(cases, CASES, &options, levels, &summary);
  distribution_compare(cases, CASES, &options, levels, &summary, changes);
  for (size_t i = 0; i < CASES; i++) {
    found += changes[i].kind != DISTRIBUTION_SAME && !changes[i].is_provisional;
  }
  return found;
}

TEST(each_change_is_found_and_nothing_else) {
  uint64_t seed = 3;
  size_t wider = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    make(20, &seed);
    for (size_t r = 0; r < 20; r++) {
      tails[1][1][r] += log(1.39);
      tails[2][0][r] += log(1.39);
      values[3][1][r] *= 30;
      values[4][1][r] += r < 12 ? 0.05 : 0;
    }
    const size_t found = judge();
    wider += changes[3].kind == DISTRIBUTION_JITTER;
    assert_int_equal(found, changes[3].kind == DISTRIBUTION_JITTER ? 4 : 3);
    assert_int_equal(levels[1].verdict, VERDICT_SAME);
    assert_int_equal(changes[1].kind, DISTRIBUTION_TAIL);
    assert_true(changes[1].is_worse && changes[1].values[1] > 0.39 && changes[1].values[0] < 0.04);
    assert_false(changes[2].is_worse);
    assert_true(changes[3].kind == DISTRIBUTION_SAME ||
                (changes[3].is_worse && changes[3].values[1] > 5 * changes[3].values[0]));
    assert_int_equal(changes[4].kind, DISTRIBUTION_MODE);
    assert_true(changes[4].is_worse && fabs(changes[4].values[1] - 0.6) < 1e-9);
    assert_true(changes[4].q <= 0.05);
  }
  /* Now and then a wide side looks like a level of its own. */
  assert_in_range(wider, TRIALS - 3, TRIALS);
}

/* Of A/A diffs of plain values, of two levels, of wild values and of both, at most 5 % find one. */
TEST(nothing_is_found_where_nothing_changed) {
  enum { DIFFS = ROUNDS(100, 20) };
  static const size_t COUNTS[] = {4, 5, 10, 20};
  uint64_t seed = 4;
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    for (int world = 0; world < 4; world++) {
      size_t reports = 0;
      for (int trial = 0; trial < DIFFS; trial++) {
        make(COUNTS[c], &seed);
        for (size_t i = 0; i < 2 * (size_t)CASES * RUNS && world > 0; i++) {
          double *value = &values[0][0][0] + i;
          const bool slow = noise_uniform(&seed) < 0.5;
          const bool wild = noise_uniform(&seed) < 0.05;
          *value += (world & 1) != 0 && slow ? 0.05 : 0;
          *value += (world & 2) != 0 && wild ? 0.2 : 0;
          (&tails[0][0][0])[i] += wild ? 0.3 : 0;
        }
        reports += judge() > 0;
      }
      assert_in_range(reports, 0, ROUNDS(9, 2)); /* 5 % and two standard errors */
    }
  }
}

TEST(one_run_each_is_provisional_and_broken_cases_are_left_out) {
  uint64_t seed = 5;
  make(10, &seed);
  for (size_t i = 0; i < CASES; i++) {
    cases[i].a.runs = cases[i].b.runs = NULL;
  }
  for (size_t r = 0; r < 10; r++) {
    tails[1][1][r] += 0.4;
    tails[2][1][r] += 0.4;
  }
  cases[2].corrupt = 1;
  assert_int_equal(judge(), 0);
  assert_true(changes[1].kind == DISTRIBUTION_TAIL && changes[1].is_provisional);
  assert_int_equal(changes[2].kind, DISTRIBUTION_SAME);
  cases[1].tails[0] = NULL;
  assert_int_equal(judge(), 0);
  assert_int_equal(changes[1].kind, DISTRIBUTION_SAME);
}
