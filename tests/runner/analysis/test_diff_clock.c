/* What the steps of a clock add to the intervals of cases and of groups. */
#include "runner/analysis/diff_group.h"
#include "runner/statistics/sample.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 60, RUNS = 5, TRIALS = 60 };

static struct diff_case cases[CASES];
static double values[CASES][2][RUNS], truth[CASES];
static uint32_t numbers[2][RUNS];

static double ln_of_time(double ns, double step_ns) {
  return log(step_ns > 0 ? round(ns / step_ns) * step_ns : ns);
}

/* Cases of 2 to 4 us, each with a change of its own of up to 2 %, of runs that differ by `noise`.
 */
static void make(double step_ns, double noise, uint64_t seed) {
  for (size_t side = 0; side < 2; side++) {
    for (size_t r = 0; r < RUNS; r++) {
      numbers[side][r] = (uint32_t)(side * RUNS + r);
    }
  }
  for (size_t i = 0; i < CASES; i++) {
    const double ns = 2000 * exp(log(2) * noise_uniform(&seed));
    truth[i] = 0.04 * (noise_uniform(&seed) - 0.5);
    for (size_t r = 0; r < 2 * (size_t)RUNS; r++) {
      const double longer = (r % 2 == 1 ? -truth[i] : 0) + noise * noise_normal(&seed);
      values[i][r % 2][r / 2] = ln_of_time(ns * exp(longer), step_ns);
    }
    cases[i] = (struct diff_case){.a = {values[i][0], RUNS, numbers[0], numbers[0]},
                                  .b = {values[i][1], RUNS, numbers[1], numbers[1]},
                                  .delta = 0.01};
  }
  diff_find_rounding(cases, CASES);
}

/* Every process reads 3,104 ns, whatever it took between 3,088 and 3,120. */
TEST(intervals_hold_what_the_steps_of_a_clock_hide) {
  const struct diff_options options = {.false_discovery_rate = 0.05};
  struct diff_options apart = options;
  static struct diff_result results[CASES];
  struct diff_summary summary;
  size_t members[CASES];
  size_t held[2] = {0, 0};
  apart.apart = true;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    SCOPED(arena_fini) struct arena arena = {0};
    double mean = 0;
    make(32, 0.001, 100 + trial);
    diff_compare(cases, CASES, &options, results, &summary);
    for (size_t i = 0; i < CASES; i++) {
      members[i] = i;
      mean += truth[i] / CASES;
      held[0] +=
          results[i].change_low <= expm1(truth[i]) && expm1(truth[i]) <= results[i].change_high;
    }
    const struct diff_case group = diff_group_make(cases, members, CASES, &arena);
    struct diff_result of_group;
    diff_compare(&group, 1, &apart, &of_group, &summary);
    held[1] += of_group.change_low <= expm1(mean) && expm1(mean) <= of_group.change_high;
  }
  assert_in_range(held[0], TRIALS * CASES * 93 / 100, TRIALS * CASES * 98 / 100);
  assert_in_range(held[1], TRIALS * 90 / 100, TRIALS);
}

/* Sides of equal values are not near the middle of two steps: what others vary there is not theirs,
 * and less so the rarer it is. */
TEST(noise_of_others_is_not_that_of_equal_values) {
  size_t equal = 0;
  make(32, 0.001, 7);
  for (size_t i = 0; i < CASES; i++) {
    const double halves = (sample_summary(values[i][0], RUNS).variance == 0 ? 0.5 : 0) +
                          (sample_summary(values[i][1], RUNS).variance == 0 ? 0.5 : 0);
    equal += halves == 1;
    assert_true(cases[i].rounded_noise >= 0.4 * halves && cases[i].rounded_noise <= halves);
  }
  assert_true(equal > CASES / 4);
}

/* Noise of two steps is averaged; times in whole ns of cases that differ by more have no step; nor
 * have equal times, of which nothing tells the step. */
TEST(only_steps_that_noise_does_not_hide_count) {
  static const struct {
    double step_ns, noise;
  } FINE[] = {{32, 0.03}, {1, 0.003}, {0, 0.003}, {0.01, 0}};
  for (size_t k = 0; k < COUNT_OF(FINE); k++) {
    make(FINE[k].step_ns, FINE[k].noise, 7);
    for (size_t i = 0; i < CASES; i++) {
      assert_true(cases[i].rounding < 1e-5);
    }
  }
  make(32, 0, 7);
  for (size_t i = 0; i < CASES; i++) {
    /* Of a triangular distribution of two steps, 95 % are within 1 - sqrt(0.05) of a step. */
    const double half = 32 / exp(values[i][0][0]) * (1 - sqrt(0.05));
    assert_true(fabs(cases[i].rounding * 1.95996 / half - 1) < 0.02);
  }
  diff_find_rounding(cases, 1);
  assert_true(cases[0].rounding < 1e-9);
}
