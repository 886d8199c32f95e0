/* How far cases see the same noise: none, all, and the noise of one GPU in four. */
#include "runner/statistics/dependence.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 160, UNITS = 5, GPUS = 4 };

static double values[CASES][2][UNITS];
static double room[CASES][2 * UNITS];
static uint32_t numbers[CASES][2 * UNITS];

/* shared: of the standard deviation, by all cases of a GPU among that many. */
static double estimate(double shared, size_t gpus, size_t units, uint64_t seed) {
  struct deviations cases[CASES];
  double common[GPUS][2][UNITS];
  for (size_t g = 0; g < gpus; g++) {
    for (size_t u = 0; u < 2 * units; u++) {
      common[g][u / units][u % units] = noise_normal(&seed);
    }
  }
  for (size_t i = 0; i < CASES; i++) {
    for (size_t u = 0; u < 2 * units; u++) {
      values[i][u / units][u % units] =
          shared * common[i % gpus][u / units][u % units] + (1 - shared) * noise_normal(&seed);
    }
    const struct process_sample a = {.values = values[i][0], .count = units};
    const struct process_sample b = {.values = values[i][1], .count = units};
    cases[i] = (struct deviations){.values = room[i], .numbers = numbers[i]};
    deviations_set(&cases[i], &a, &b, UNITS);
    assert_int_equal(cases[i].count, 2 * units);
    ASSERT_NEAR(cases[i].df, 2 * ((double)units - 1), 1e-12);
  }
  return dependence_estimate(cases, CASES, (size_t)2 * UNITS);
}

TEST(dependence_is_what_cases_share) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    ASSERT_WITHIN(estimate(0, 1, UNITS, seed), 0, 0.02);
    ASSERT_WITHIN(estimate(0, 1, 2, seed), 0, 0.05);
    ASSERT_WITHIN(estimate(1, 1, UNITS, seed), 1, 1e-9);
  }
  double one_in_four = 0;
  double in_part = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    one_in_four += estimate(1, GPUS, UNITS, seed) / 20;
    in_part += estimate(0.7, 1, UNITS, seed) / 20;
  }
  ASSERT_WITHIN(one_in_four, 1.0 / GPUS, 0.06);
  ASSERT_WITHIN(in_part, 0.71, 0.1); /* (49 / 58)^2: parts of the variance */
}

TEST(one_dimension_tells_nothing_apart) {
  uint64_t seed = 3;
  struct deviations cases[CASES];
  for (size_t i = 0; i < CASES; i++) {
    values[i][0][0] = noise_normal(&seed);
    values[i][0][1] = noise_normal(&seed);
    const struct process_sample a = {.values = values[i][0], .count = 2};
    cases[i] = (struct deviations){.values = room[i], .numbers = numbers[i]};
    deviations_set(&cases[i], &a, NULL, UNITS);
  }
  ASSERT_NEAR(dependence_estimate(cases, CASES, (size_t)2 * UNITS), 1, 1e-12);
  assert_true(dependence_estimate(cases, 1, (size_t)2 * UNITS) == 0);
  assert_true(dependence_estimate(cases, 0, 0) == 0);
}
