/* Autocorrelation, drifts told from steps, and the place of a step: each as often right as said. */
#include "runner/statistics/series.h"
#include "tests/runner/statistics/numbers.h"

enum { COUNT = 52, COUNT_MAX = 156, SERIES = 400 };

static double values[COUNT_MAX];
static struct change_point changes[COUNT_MAX];

/* Levels that follow one another with that correlation, of standard deviation sd; with a step, or a
 * drift, that is so large. */
static void fill(size_t count, double r, double sd, double step, size_t at, double drift,
                 uint64_t *seed) {
  double level = noise_normal(seed);
  for (size_t i = 0; i < count; i++) {
    level = i == 0 ? level : r * level + sqrt(1 - r * r) * noise_normal(seed);
    values[i] = sd * level + (i >= at ? step : 0) + drift * (double)i / (double)count;
  }
}

static size_t find(size_t count, double r) {
  return change_point_find(values, count, 0.01, 0.01, series_worth(r), changes);
}

/* Of a series by itself. */
static double autocorrelation(const double *of, size_t count) {
  return series_autocorrelation(series_seen_autocorrelation(of, count), 0, count);
}

TEST(autocorrelation_is_known) {
  static const double TRUE[] = {0, 0.5, 0.9};
  for (size_t t = 0; t < COUNT_OF(TRUE); t++) {
    double sum[2] = {0, 0};
    uint64_t seed = 5 + t;
    for (size_t i = 0; i < SERIES; i++) {
      fill(COUNT_MAX, TRUE[t], 0.01, 0, 0, 0, &seed);
      sum[0] += autocorrelation(values, COUNT_MAX) / SERIES;
      fill(COUNT_MAX, TRUE[t], 0.01, 0.05, COUNT_MAX / 2, 0, &seed);
      sum[1] += autocorrelation(values, COUNT_MAX) / SERIES;
    }
    ASSERT_WITHIN(sum[0], TRUE[t], 0.08);
    ASSERT_WITHIN(sum[1], TRUE[t], 0.08); /* a step is no autocorrelation */
  }
  assert_true(series_seen_autocorrelation(values, SERIES_MIN - 1) <= 0);
  for (size_t i = 0; i < COUNT; i++) {
    values[i] = 1;
  }
  assert_true(autocorrelation(values, COUNT) <= 0);
}

/* A level that wanders by 1 % is said to have changed, where 1 % matters, in few of the series. */
TEST(wandering_is_no_change) {
  static const double TRUE[] = {0, 0.7, 0.9};
  for (size_t t = 0; t < COUNT_OF(TRUE); t++) {
    uint64_t seed = 50 + t;
    size_t found = 0;
    for (size_t i = 0; i < SERIES; i++) {
      fill(COUNT, TRUE[t], 0.01, 0, 0, 0, &seed);
      found += find(COUNT, autocorrelation(values, COUNT)) > 0;
    }
    print_message("r %.1f: %.1f %% marked\n", TRUE[t], 100.0 * (double)found / SERIES);
    assert_true((double)found / SERIES <= 0.05 + 2 * 0.011);
  }
}

TEST(drifts_and_steps_are_told_apart) {
  uint64_t seed = 9;
  size_t drifts[2] = {0, 0};
  size_t marked[2] = {0, 0};
  size_t covered = 0;
  size_t width = 0;
  for (size_t i = 0; i < SERIES; i++) {
    for (size_t steps = 0; steps < 2; steps++) {
      struct series_drift drift;
      const size_t at = 10 + i % 32;
      fill(COUNT, 0, 0.002, steps == 1 ? 0.03 : 0, at, steps == 1 ? 0 : 0.03, &seed);
      const double r = autocorrelation(values, COUNT);
      const size_t found = find(COUNT, r);
      marked[steps] += found > 0;
      drifts[steps] += found > 0 && series_is_drift(values, COUNT, changes, found, r, &drift);
      if (steps == 0 && found > 0) {
        ASSERT_WITHIN(drift.change, 0.03, 0.01);
        assert_true(drift.p < 1e-6);
      }
    }
    fill(COUNT, 0, 0.01, 0.02, 10 + i % 32, 0, &seed);
    const struct series_range range = series_change_range(values, COUNT, 0);
    covered += range.first <= 10 + i % 32 && 10 + i % 32 <= range.last;
    width += range.last - range.first;
  }
  print_message("drifts %zu of %zu, %zu of %zu steps; covered %zu, width %.1f\n", drifts[0],
                marked[0], drifts[1], marked[1], covered, (double)width / SERIES);
  assert_true(marked[0] >= SERIES * 95 / 100 && marked[1] >= SERIES * 95 / 100);
  assert_true(drifts[0] >= marked[0] * 95 / 100);
  assert_true(drifts[1] <= SERIES * 5 / 100);
  assert_true(covered >= SERIES * 93 / 100);
  assert_true(width < (size_t)SERIES * COUNT / 3);
}
