#include "engine/case/summary.h"

#include "tests/cmocka.h"

#include <math.h>

static void assert_near(double found, double expected) {
  double tolerance = 1e-12 * (1 + fabs(expected));
  if (!(fabs(found - expected) <= tolerance)) {
    fail_msg("found %.17g, expected %.17g", found, expected);
  }
}

/* Ranks from 1, as tables print them. n to 20: Table A.7 "Confidence Intervals for the Population
 * Median" of teaching texts, the narrowest interval of each n at 95 % or more. Above: from the
 * binomial distribution in exact integer arithmetic. */
TEST(ranks_are_those_of_published_tables) {
  static const struct {
    size_t n, low, high;
  } table[] = {
      {6, 1, 6},    {7, 1, 7},     {8, 1, 8},      {9, 2, 8},        {10, 2, 9},
      {11, 2, 10},  {12, 3, 10},   {13, 3, 11},    {14, 3, 12},      {15, 4, 12},
      {16, 4, 13},  {17, 5, 13},   {18, 5, 14},    {19, 5, 15},      {20, 6, 15},
      {25, 8, 18},  {30, 10, 21},  {40, 14, 27},   {50, 18, 33},     {70, 27, 44},
      {71, 27, 45}, {100, 40, 61}, {200, 86, 115}, {1000, 469, 532}, {10000, 4902, 5099},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    size_t low = 0;
    size_t high = 0;
    assert_true(median_interval_ranks(table[i].n, &low, &high));
    assert_int_equal(low + 1, table[i].low);
    assert_int_equal(high + 1, table[i].high);
  }
}

TEST(interval_needs_six_values) {
  size_t low = 77;
  size_t high = 78;
  for (size_t n = 0; n < 6; n++) {
    assert_false(median_interval_ranks(n, &low, &high));
  }
  assert_int_equal(low, 77);
  assert_int_equal(high, 78);
}

TEST(ranks_are_symmetric_and_in_range_for_many_counts) {
  for (size_t n = 6; n < 100000; n = n * 3 / 2 + 1) {
    size_t low = 0;
    size_t high = 0;
    assert_true(median_interval_ranks(n, &low, &high));
    assert_true(low < high && high < n);
    assert_int_equal(low + high, n - 1);
  }
}

/* R 4: quantile(c(...), type = 7), and NIST's certified values of its data set NumAcc1 (10000001,
 * 10000003, 10000002: mean 10000002, standard deviation 1). */
TEST(summary_matches_references) {
  double ten[] = {10, 9, 1, 2, 3, 8, 7, 6, 5, 4};
  struct summary summary;
  summary_of_values(ten, 10, &summary);
  assert_int_equal(summary.count, 10);
  assert_near(summary.median_ns, 5.5);
  assert_near(summary.p5_ns, 1.45);
  assert_near(summary.p95_ns, 9.55);
  assert_near(summary.min_ns, 1);
  assert_near(summary.max_ns, 10);
  assert_near(summary.mean_ns, 5.5);
  assert_near(summary.cv, 3.0276503540974917 / 5.5);
  assert_near(summary.median_low_ns, 2);
  assert_near(summary.median_high_ns, 9);
  for (size_t i = 0; i < 10; i++) {
    assert_near(ten[i], (double)(i + 1));
  }

  double nist[] = {10000001, 10000003, 10000002};
  summary_of_values(nist, 3, &summary);
  assert_near(summary.mean_ns, 10000002);
  assert_near(summary.cv, 1.0 / 10000002);
  assert_near(summary.median_low_ns, 0);
  assert_near(summary.median_high_ns, 0);
}

TEST(small_counts_interpolate_as_large_ones) {
  struct summary summary;
  summary_of_values(NULL, 0, &summary);
  assert_int_equal(summary.count, 0);
  assert_near(summary.median_ns, 0);
  assert_near(summary.p95_ns, 0);

  double one[] = {42};
  summary_of_values(one, 1, &summary);
  assert_int_equal(summary.count, 1);
  assert_near(summary.median_ns, 42);
  assert_near(summary.p5_ns, 42);
  assert_near(summary.p95_ns, 42);
  assert_near(summary.cv, 0);

  double zeros[] = {0, 0};
  summary_of_values(zeros, 2, &summary);
  assert_near(summary.cv, 0);
}

TEST(only_good_measured_trials_count) {
  const struct trial trials[] = {
      {.phase = TRIAL_WARMUP, .status = TRIAL_OK, .iterations = 1, .elapsed_ns = 900},
      {.phase = TRIAL_MEASURE, .status = TRIAL_OK, .iterations = 4, .elapsed_ns = 10},
      {.phase = TRIAL_MEASURE, .status = TRIAL_GATE_TIMEOUT, .iterations = 1, .elapsed_ns = 800},
      {.phase = TRIAL_MEASURE, .status = TRIAL_CORRUPT, .iterations = 1, .elapsed_ns = 700},
      {.phase = TRIAL_MEASURE, .status = TRIAL_OK, .iterations = 2, .elapsed_ns = 7},
      {.phase = TRIAL_MEASURE, .status = TRIAL_OK, .iterations = 0, .elapsed_ns = 600},
  };
  double scratch[6];
  struct summary summary;
  summary_of_trials(trials, 6, scratch, &summary);
  assert_int_equal(summary.count, 2);
  assert_near(summary.min_ns, 2.5);
  assert_near(summary.max_ns, 3.5);
  assert_near(summary.median_ns, 3);
}

TEST(each_visit_has_one_vote) {
  struct trial trials[10];
  /* Medians 2, 10 and 30; of all trials it would be 2. */
  static const uint64_t times[] = {1, 2, 3, 2, 2, 2, 2, 10, 30, 30};
  static const uint32_t visits[] = {0, 0, 0, 0, 0, 0, 0, 1, 3, 3};
  for (size_t i = 0; i < 10; i++) {
    trials[i] = (struct trial){
        .visit = visits[i], .phase = TRIAL_MEASURE, .iterations = 1, .elapsed_ns = times[i]};
  }
  double scratch[10];
  struct summary summary;
  summary_of_trials(trials, 10, scratch, &summary);
  assert_int_equal(summary.count, 10);
  assert_near(summary.median_ns, 10);
  assert_near(summary.median_low_ns, 2);
  assert_near(summary.median_high_ns, 30);
  assert_near(summary.max_ns, 30);
  assert_near(summary.mean_ns, 8.4);
  summary_of_trials(trials, 7, scratch, &summary);
  assert_near(summary.median_ns, 2);
  assert_near(summary.median_low_ns, 1);
}

/* Two of three visits are slow for the most part, and all together for 47 % of the time. */
TEST(a_visit_is_not_slow_as_a_whole) {
  static const uint64_t times[] = {10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 10, 10, 20, 20, 20};
  struct trial trials[15];
  for (uint32_t i = 0; i < 15; i++) {
    trials[i] = (struct trial){
        .visit = i / 5, .phase = TRIAL_MEASURE, .iterations = 1, .elapsed_ns = times[i]};
  }
  double scratch[15];
  struct summary summary;
  summary_of_trials(trials, 15, scratch, &summary);
  assert_near(summary.median_ns, 10);
  assert_near(summary.median_low_ns, 10);
  assert_near(summary.median_high_ns, 20);
}

TEST(half_of_each_of_two_visits_is_the_middle) {
  static const uint64_t times[] = {10, 10, 10, 20, 20};
  struct trial trials[5];
  for (uint32_t i = 0; i < 5; i++) {
    trials[i] = (struct trial){
        .visit = i > 2, .phase = TRIAL_MEASURE, .iterations = 1, .elapsed_ns = times[i]};
  }
  double scratch[5];
  struct summary summary;
  summary_of_trials(trials, 5, scratch, &summary);
  assert_near(summary.median_ns, 15);
}
