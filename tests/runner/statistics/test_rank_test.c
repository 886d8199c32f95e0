/* Reference values: R 4.2 (pwilcox, wilcox.test), and counts by hand. Change points are found where
 * they are, and not where there is only noise. */
#include "runner/statistics/rank_test.h"
#include "tests/runner/statistics/numbers.h"

static const double A[] = {10.1, 10.4, 9.9, 10.2};
static const double B[] = {10.6, 10.9, 10.3, 11.4, 10.7};

TEST(exact_distribution) {
  ASSERT_NEAR(rank_test_exact_upper(5, 5, 25), 1.0 / 252, 1e-14);
  ASSERT_NEAR(rank_test_exact_upper(5, 5, 23), 4.0 / 252, 1e-14);
  ASSERT_NEAR(rank_test_exact_upper(5, 5, 2), 0.9920634920634921, 1e-14);
  ASSERT_NEAR(rank_test_exact_upper(5, 5, 10), 0.7261904761904762, 1e-14);
  ASSERT_NEAR(rank_test_exact_upper(5, 5, 20), 0.0753968253968254, 1e-13);
  ASSERT_NEAR(rank_test_exact_upper(30, 20, 400), 0.0240647316588524, 1e-11);
  ASSERT_NEAR(rank_test_exact_upper(30, 30, 900), 8.45561694607239e-18, 1e-11);
  assert_true(rank_test_exact_upper(1, 1, 0) == 1 && rank_test_exact_upper(1, 1, 2) == 0);
}

TEST(one_sided_and_two_sided) {
  ASSERT_NEAR(rank_test_p(A, 4, B, 5, 0), 0.0317460317460317, 1e-13);
  ASSERT_NEAR(rank_test_upper_p(A, 4, B, 5, 0), 0.992063492063492, 1e-13);
  /* A margin of 0.4 moves b below a[1], a[3] and so on: U for "b exceeds a by more" falls. */
  assert_true(rank_test_p(A, 4, B, 5, 0.4) > rank_test_p(A, 4, B, 5, 0));
  assert_true(rank_test_p(A, 4, B, 5, 5) == 1);
  assert_true(isnan(rank_test_p(A, 0, B, 5, 0)));
}

TEST(ties_use_the_normal_approximation) {
  const double a[] = {1, 2, 2, 3, 5, 8};
  const double b[] = {0, 1, 2, 2, 3, 4, 4};
  ASSERT_NEAR(rank_test_upper_p(a, 6, b, 7, 0), 0.256345380130962, 1e-12);
  const double equal[] = {1, 1, 1};
  assert_true(rank_test_p(equal, 3, equal, 3, 0) == 1);
}

TEST(hodges_lehmann) {
  struct interval interval;
  ASSERT_NEAR(rank_test_difference(A, 4, B, 5, 0.95, &interval), -0.55, 1e-12);
  ASSERT_NEAR(interval.low, -1.3, 1e-12);
  ASSERT_NEAR(interval.high, -0.1, 1e-12);
  /* Three per side: 1 of 20 orders is the most extreme, so no interval has 95 %. */
  (void)rank_test_difference(A, 3, B, 3, 0.95, &interval);
  assert_true(isinf(interval.low) && isinf(interval.high));
  (void)rank_test_difference(A, 3, B, 3, 0.90, &interval);
  assert_true(isfinite(interval.low) && isfinite(interval.high));
  assert_true(isnan(rank_test_difference(A, 0, B, 3, 0.90, &interval)));
}

TEST(large_samples) {
  double a[40];
  double b[40];
  for (int i = 0; i < 40; i++) {
    a[i] = i;
    b[i] = i + 0.5;
  }
  struct interval interval;
  ASSERT_NEAR(rank_test_difference(a, 40, b, 40, 0.95, &interval), -0.5, 1e-12);
  assert_true(interval.low < -0.5 && interval.high > -0.5);
  assert_true(rank_test_p(a, 40, b, 40, 0) > 0.5);
  assert_true(rank_test_upper_p(a, 40, b, 40, -30) < 1e-6);
}

/* ---- change points ---- */

enum { COUNT = 60 };

static void fill(double *values, size_t change_at, double step, uint64_t *seed) {
  for (size_t i = 0; i < COUNT; i++) {
    values[i] = 10 + 0.0028 * noise_normal(seed) + (i >= change_at ? step : 0);
  }
}

TEST(a_step_is_found_where_it_is) {
  double values[COUNT];
  struct change_point changes[COUNT];
  uint64_t seed = 3;
  fill(values, 40, 0.03, &seed);
  assert_int_equal(change_point_find(values, COUNT, 0.01, 0.01, 1, changes), 1);
  assert_true(changes[0].at >= 39 && changes[0].at <= 41);
  assert_true(changes[0].p < 0.01);
  /* A step smaller than the margin does not matter. */
  assert_int_equal(change_point_find(values, COUNT, 0.05, 0.01, 1, changes), 0);
  assert_int_equal(change_point_find(values, 1, 0.01, 0.01, 1, changes), 0);
  assert_int_equal(change_point_find(values, 0, 0.01, 0.01, 1, changes), 0);
}

TEST(two_steps_are_found_in_order) {
  double values[COUNT];
  struct change_point changes[COUNT];
  uint64_t seed = 3;
  fill(values, 20, 0.03, &seed);
  for (size_t i = 40; i < COUNT; i++) {
    values[i] -= 0.06; /* below the first level: of a return to it, 60 values tell too little */
  }
  assert_int_equal(change_point_find(values, COUNT, 0.01, 0.01, 1, changes), 2);
  assert_true(changes[0].at >= 19 && changes[0].at <= 21);
  assert_true(changes[1].at >= 39 && changes[1].at <= 41);
}

/* At most one series in a hundred; with outliers too. */
TEST(noise_is_no_change) {
  double values[COUNT];
  struct change_point changes[COUNT];
  uint64_t seed = 11;
  size_t reported = 0;
  for (size_t series = 0; series < 1000; series++) {
    fill(values, COUNT, 0, &seed);
    values[series % COUNT] += 0.5;
    reported += change_point_find(values, COUNT, 0, 0.01, 1, changes) > 0;
  }
  assert_true(reported <= 15);
}
