/* Changes of level: found where they are, and not where there is only noise. */
#include "runner/statistics/rank_test.h"
#include "runner/analysis/history.h"
#include "tests/runner/analysis/made.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 60 };

static double uniform(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return (double)(*state >> 8) / (1 << 24);
}

/* About normal: a sum of six. */
static double noise(uint32_t *state) {
  double sum = -3;
  for (int i = 0; i < 6; i++) {
    sum += uniform(state);
  }
  return sum;
}

static void fill(double *values, size_t *starts, size_t change_at, double step, uint32_t *state) {
  for (size_t i = 0; i < COUNT; i++) {
    values[i] = 10 + 0.004 * noise(state) + (i >= change_at ? step : 0);
    starts[i] = i;
  }
}

static void a_step_is_found_where_it_is(void **state) {
  (void)state;
  double values[COUNT];
  size_t starts[COUNT];
  struct change_point changes[COUNT];
  uint32_t seed = 3;
  fill(values, starts, 40, 0.03, &seed);
  assert_int_equal(change_point_find(values, COUNT, starts, COUNT, 0.01, 0.01, changes), 1);
  assert_true(changes[0].at >= 39 && changes[0].at <= 41);
  assert_true(changes[0].p < 0.01);
  /* A step smaller than the margin does not matter. */
  assert_int_equal(change_point_find(values, COUNT, starts, COUNT, 0.05, 0.01, changes), 0);
}

static void two_steps_are_found_in_order(void **state) {
  (void)state;
  double values[COUNT];
  size_t starts[COUNT];
  struct change_point changes[COUNT];
  uint32_t seed = 3;
  fill(values, starts, 20, 0.03, &seed);
  for (size_t i = 40; i < COUNT; i++) {
    values[i] -= 0.03;
  }
  assert_int_equal(change_point_find(values, COUNT, starts, COUNT, 0.01, 0.01, changes), 2);
  assert_true(changes[0].at >= 19 && changes[0].at <= 21);
  assert_true(changes[1].at >= 39 && changes[1].at <= 41);
}

static void a_change_falls_between_runs_only(void **state) {
  (void)state;
  double values[COUNT];
  size_t starts[COUNT];
  struct change_point changes[COUNT];
  uint32_t seed = 3;
  fill(values, starts, 33, 0.03, &seed);
  const size_t runs[] = {0, 10, 20, 30, 40, 50};
  assert_int_equal(change_point_find(values, COUNT, runs, 6, 0.01, 0.01, changes), 1);
  assert_int_equal(changes[0].at, 30);
  assert_int_equal(change_point_find(values, COUNT, runs, 1, 0.01, 0.01, changes), 0);
  assert_int_equal(change_point_find(values, 0, runs, 0, 0.01, 0.01, changes), 0);
}

/* At most one series in a hundred; with outliers too. */
static void noise_is_no_change(void **state) {
  (void)state;
  double values[COUNT];
  size_t starts[COUNT];
  struct change_point changes[COUNT];
  uint32_t seed = 11;
  size_t alarms = 0;
  for (size_t series = 0; series < 1000; series++) {
    fill(values, starts, COUNT, 0, &seed);
    values[series % COUNT] += 0.5;
    alarms += change_point_find(values, COUNT, starts, COUNT, 0, 0.01, changes) > 0;
  }
  assert_true(alarms <= 15);
}

static void history_marks_drivers_and_changes(void **state) {
  (void)state;
  struct measured *m = measured_new();
  const size_t a = made_environment(m, "node", "580.1", false);
  const size_t b = made_environment(m, "node", "590.1", false);
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < 12; run++) {
    made_run(m, run < 4 ? a : b);
    made_medians(m, bench, run, run < 8 ? 50 : 45, 6);
  }
  struct history *history = history_new(m);
  assert_int_equal(history->series_count, 1);
  const struct history_series *series = &history->series[0];
  assert_int_equal(series->point_count, 12);
  for (size_t i = 0; i < 12; i++) {
    const enum history_mark mark = i == 4   ? HISTORY_DRIVER
                                   : i == 8 ? HISTORY_CHANGE
                                            : HISTORY_NO_MARK;
    assert_int_equal(series->points[i].mark, mark);
    assert_int_equal(series->points[i].processes, 6);
  }
  assert_string_equal(series->points[4].what, "driver 580.1 to 590.1");
  assert_true(fabs(series->points[4].change) < 0.001);
  assert_true(fabs(series->points[8].change - -0.1) < 0.002);
  assert_null(series->points[8].what);
  assert_true(fabs(series->points[0].value - 50) < 0.05);
  assert_true(series->points[0].low < series->points[0].high);
  history_free(history);
  measured_free(m);
}

static void history_of_nothing_is_empty(void **state) {
  (void)state;
  struct measured *m = measured_new();
  struct history *history = history_new(m);
  assert_int_equal(history->series_count, 0);
  history_free(history);
  measured_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_is_found_where_it_is),
      cmocka_unit_test(two_steps_are_found_in_order),
      cmocka_unit_test(a_change_falls_between_runs_only),
      cmocka_unit_test(noise_is_no_change),
      cmocka_unit_test(history_marks_drivers_and_changes),
      cmocka_unit_test(history_of_nothing_is_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
