/* Cases over time: drivers and changes of level are marked. */
#include "runner/analysis/history.h"
#include "tests/runner/analysis/made.h"

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
      cmocka_unit_test(history_marks_drivers_and_changes),
      cmocka_unit_test(history_of_nothing_is_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
