#include "runner/statistics/wander.h"
#include "tests/runner/statistics/numbers.h"

#include <stdlib.h>

enum { SIDE = 10, RUNS = 2 * SIDE, SERIES = 40, WALK_ALONE = WANDER_MODELS - 1 };

static const bool A_THEN_B[RUNS] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Of SERIES series, each with that correlation of neighbours, and a slope per run. */
static double weigh(double correlation, double slope, double weights[WANDER_MODELS]) {
  double logs[WANDER_LOGS] = {0};
  uint64_t seed = 5;
  for (int s = 0; s < SERIES; s++) {
    double values[RUNS];
    double level = noise_normal(&seed);
    for (int i = 0; i < RUNS; i++) {
      level = correlation * level + sqrt(1 - correlation * correlation) * noise_normal(&seed);
      values[i] = 12 + level + slope * i;
    }
    wander_add_likelihood(&(struct wander_runs){values, A_THEN_B, RUNS}, logs);
  }
  return wander_weigh(logs, 1, NULL, weights);
}

static double sum_of(const double *weights, size_t first, size_t last) {
  double sum = 0;
  for (size_t m = first; m <= last; m++) {
    sum += weights[m];
  }
  return sum;
}

/* Of an autoregressive series: the variance of the difference of two means of ten, over that within
 * and the fifth that independent runs have. */
static double factor_of(double correlation) {
  double difference = 0;
  double within = 1;
  for (int i = 0; i < RUNS; i++) {
    for (int j = 0; j < RUNS; j++) {
      const double covariance = pow(correlation, abs(i - j));
      difference += (A_THEN_B[i] == A_THEN_B[j] ? 1 : -1) * covariance / SIDE / SIDE;
      within -= A_THEN_B[i] == A_THEN_B[j] && i != j ? covariance / (RUNS * (SIDE - 1)) : 0;
    }
  }
  return difference / within / (2.0 / SIDE);
}

TEST(series_tell_how_they_wander) {
  static const double CORRELATIONS[] = {0, 0.7, 0.95};
  const struct wander_effects effects = wander_find_effects(A_THEN_B, RUNS);
  for (size_t i = 0; i < sizeof CORRELATIONS / sizeof *CORRELATIONS; i++) {
    double weights[WANDER_MODELS];
    const double wanted = factor_of(CORRELATIONS[i]);
    assert_true(weigh(CORRELATIONS[i], 0, weights) < 0.1);
    ASSERT_WITHIN(sum_of(weights, 0, WALK_ALONE), 1, 1e-9);
    ASSERT_NEAR(wander_average(&effects, weights, RUNS - 2).factor, wanted, 0.25);
  }
}

TEST(a_line_is_a_trend) {
  double weights[WANDER_MODELS];
  assert_true(weigh(0, 1, weights) > 0.99);
  assert_true(weigh(0.95, 0, weights) < 0.1);
}

/* Of a random walk, the variance of the difference is (2 n^2 + 1) / (3 n) steps, and that within a
 * side (n + 1) / 6. */
TEST(orders_differ_in_what_wandering_does) {
  const struct wander_effects blocked = wander_find_effects(A_THEN_B, RUNS);
  ASSERT_WITHIN(blocked.factor[0], 1, 1e-9);
  ASSERT_WITHIN(blocked.df[0], RUNS - 2, 1e-9);
  const double n = SIDE;
  const double walk = (2 * n * n + 1) / (3 * n) / ((n + 1) / 6) / (2 / n);
  ASSERT_WITHIN(blocked.factor[WALK_ALONE], walk, 0.05 * walk);
  assert_true(blocked.df[WALK_ALONE] > 3 && blocked.df[WALK_ALONE] < 6);
  bool in_turn[RUNS];
  for (int i = 0; i < RUNS; i++) {
    in_turn[i] = i % 2 == 1;
  }
  assert_true(wander_find_effects(in_turn, RUNS).factor[WALK_ALONE] < 0.2);
}

/* Of 400 runs every second one is looked at. */
TEST(many_runs_are_as_few) {
  static bool is_b[400];
  for (int i = 0; i < 400; i++) {
    is_b[i] = i >= 200;
  }
  const struct wander_effects many = wander_find_effects(is_b, 400);
  ASSERT_WITHIN(many.factor[0], 1, 1e-9);
  const double n = 200;
  const double walk = (2 * n * n + 1) / (3 * n) / ((n + 1) / 6) / (2 / n);
  ASSERT_WITHIN(many.factor[WALK_ALONE], walk, 0.05 * walk);
}

TEST(averages_lie_between) {
  const struct wander_effects effects = wander_find_effects(A_THEN_B, RUNS);
  double weights[WANDER_MODELS] = {[0] = 1};
  struct wander one = wander_average(&effects, weights, 18);
  ASSERT_NEAR(one.factor, 1, 1e-3);
  ASSERT_NEAR(one.df, 18, 0.02);
  weights[0] = weights[WALK_ALONE] = 0.5;
  one = wander_average(&effects, weights, 18);
  ASSERT_NEAR(one.factor, (1 + effects.factor[WALK_ALONE]) / 2, 1e-9);
  assert_true(one.df < 4); /* the factor itself is not known */
}

/* A mean of many cases has less noise: all proportions are as likely as before. */
TEST(means_wander_as_slowly) {
  double weights[WANDER_MODELS] = {[5] = 1}; /* 0.7, mostly noise */
  double means[WANDER_MODELS];
  wander_of_means(weights, means);
  ASSERT_WITHIN(sum_of(means, 5, 8), 1, 1e-9);
  ASSERT_WITHIN(means[8], 0.25, 1e-9);
}
