/* Processes and runs: what counts as one observation. */
#include "runner/statistics/process_sample.h"
#include "tests/runner/statistics/numbers.h"

TEST(runs_are_means_of_their_processes) {
  static const double VALUES[] = {1, 3, 10, 20, 30, 7};
  static const uint32_t PROCESSES[] = {0, 1, 2, 3, 4, 5};
  static const uint32_t RUNS[] = {4, 4, 9, 9, 9, 2};
  const struct process_sample sample = {VALUES, 6, PROCESSES, RUNS};
  double values[6];
  uint32_t numbers[6];
  assert_int_equal(process_sample_count_runs(&sample), 3);
  const struct process_sample runs = process_sample_by_run(&sample, values, numbers);
  assert_int_equal(runs.count, 3);
  assert_true(values[0] == 2 && values[1] == 20 && values[2] == 7);
  assert_true(numbers[0] == 4 && numbers[1] == 9 && numbers[2] == 2);
  assert_true(runs.runs == NULL && process_sample_process(&runs, 1) == 9);
  ASSERT_NEAR(process_sample_mean(&sample), 29.0 / 3, 1e-12);
  /* 2 x 1^2 and 2 x 10^2, of 1 + 2 + 0 degrees of freedom. */
  const struct within_runs within = process_sample_within_runs(&sample);
  ASSERT_NEAR(within.variance, 202.0 / 3, 1e-12);
  ASSERT_NEAR(within.df, 3, 1e-12);
  ASSERT_NEAR(within.per_run, (1.0 / 2 + 1.0 / 3 + 1) / 3, 1e-12);
}

TEST(without_runs_there_is_one) {
  static const double VALUES[] = {1, 2, 6};
  const struct process_sample sample = {.values = VALUES, .count = 3};
  const struct process_sample none = {0};
  assert_int_equal(process_sample_count_runs(&sample), 1);
  assert_int_equal(process_sample_count_runs(&none), 0);
  assert_int_equal(process_sample_process(&sample, 2), 2);
  ASSERT_NEAR(process_sample_mean(&sample), 3, 1e-12);
  assert_true(isnan(process_sample_mean(&none)));
  assert_true(process_sample_within_runs(&none).df == 0);
}
