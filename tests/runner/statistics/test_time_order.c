/* Runs of two sides in time: whether they are pairs, and what a level that wanders does. */
#include "runner/statistics/time_order.h"
#include "tests/runner/statistics/numbers.h"

enum { RUNS_MAX = 64 };

static double values[2][RUNS_MAX];
static uint32_t runs[2][RUNS_MAX];
static int64_t started[RUNS_MAX];
static bool pair = true;

/* 'A' and 'B' in the order of time; level: of each run. */
static struct time_order apply(const char *order, const double *level) {
  size_t counts[2] = {0, 0};
  for (size_t i = 0; order[i] != '\0'; i++) {
    const size_t side = order[i] == 'B';
    const size_t at = counts[side]++;
    runs[side][at] = (uint32_t)(i * 7 % RUNS_MAX); /* numbers say nothing of time */
    started[runs[side][at]] = (int64_t)(1000 * i);
    values[side][at] = level[i] + (side == 1 ? 0.1 : 0);
  }
  return time_order_apply(values[0], runs[0], counts[0], values[1], runs[1], counts[1], started,
                          pair);
}

TEST(runs_in_turn_are_pairs_without_their_trend) {
  static const double DRIFT[] = {0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07};
  static const char *const PAIRED[] = {"ABABAB", "ABBAAB", "BABABA", "ABBAABBA"};
  static const char *const NOT[] = {"ABAB", "AAABBB", "AABBAB", "ABABA"};
  for (size_t i = 0; i < COUNT_OF(PAIRED); i++) {
    const struct time_order order = apply(PAIRED[i], DRIFT);
    assert_true(order.paired);
    assert_true(order.trend_inflation >= 1 && order.trend_df >= 0 && order.trend_df <= 1);
    for (size_t p = 0; PAIRED[i][2 * p] != '\0'; p++) {
      assert_true(fabs(values[1][p] - values[0][p] - 0.1) < 1e-12);
    }
  }
  for (size_t i = 0; i < COUNT_OF(NOT); i++) {
    assert_false(apply(NOT[i], DRIFT).paired);
  }
  pair = false; /* where it is not asked for, the values stay */
  assert_false(apply(PAIRED[0], DRIFT).paired);
  assert_true(fabs(values[1][2] - DRIFT[5] - 0.1) < 1e-12);
  pair = true;
}

/* The variance of the difference of two random walks' means, over that within sides, from 4000 of
 * each. */
TEST(a_random_walk_does_what_is_said) {
  static const char *const ORDERS[] = {"AAAABBBB", "AAAAAAAAAABBBBBBBBBB", "AABBAABB", "ABBBBB"};
  uint64_t seed = 5;
  for (size_t o = 0; o < COUNT_OF(ORDERS); o++) {
    double difference = 0;
    double within = 0;
    double walk = 0;
    for (int trial = 0; trial < 4000; trial++) {
      double level[RUNS_MAX] = {0};
      double mean[2] = {0, 0};
      double n[2] = {0, 0};
      for (size_t i = 0; ORDERS[o][i] != '\0'; i++) {
        level[i] = (i > 0 ? level[i - 1] : 0) + noise_normal(&seed);
        mean[ORDERS[o][i] == 'B'] += level[i];
        n[ORDERS[o][i] == 'B']++;
      }
      const double d = mean[0] / n[0] - mean[1] / n[1];
      difference += d * d;
      for (size_t i = 0; ORDERS[o][i] != '\0'; i++) {
        const size_t side = ORDERS[o][i] == 'B';
        const double e = level[i] - mean[side] / n[side];
        within += e * e / (n[0] + n[1] - 2);
      }
      walk = apply(ORDERS[o], level).walk;
    }
    assert_true(fabs(difference / within / walk - 1) < 0.1);
  }
}

TEST(steps_are_one_of_independent_runs_and_less_of_others) {
  uint64_t seed = 6;
  double mean[2] = {0, 0};
  double squares = 0;
  double variance = 0;
  enum { TRIALS = 4000 };
  for (int trial = 0; trial < TRIALS; trial++) {
    double level[RUNS_MAX] = {0};
    double walk[RUNS_MAX] = {0};
    for (size_t i = 0; i < 10; i++) {
      level[i] = noise_normal(&seed);
      walk[i] = (i > 0 ? walk[i - 1] : 0) + level[i];
    }
    const struct time_order order = apply("AAAAABBBBB", level);
    mean[0] += order.steps / TRIALS;
    squares += (order.steps - 1) * (order.steps - 1) / TRIALS;
    variance = order.steps_variance;
    mean[1] += apply("AAAAABBBBB", walk).steps / TRIALS;
  }
  assert_true(fabs(mean[0] - 1) < 0.02 && mean[1] < 0.6);
  assert_true(fabs(squares / variance - 1) < 0.1);
  assert_true(isnan(apply("AABB", (const double[]){1, 2, 3, 4}).steps));
  assert_true(isnan(apply("AAABBB", (const double[]){1, 1, 1, 1, 1, 1}).steps));
}
