/* Cases over time: drivers and changes of level are marked. */
#include "runner/analysis/history.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

RELEASE(history_free, struct history)

TEST(history_marks_drivers_and_changes) {
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t a = made_environment(m, "node", "580.1", false);
  const size_t b = made_environment(m, "node", "590.1", false);
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < 12; run++) {
    made_run(m, run < 4 ? a : b);
    made_medians(m, bench, run, run < 8 ? 50 : 45, 6);
  }
  SCOPED(history_free_at) struct history *history = history_new(m);
  assert_int_equal(history->series_count, 1);
  const struct history_series *series = &history->series[0];
  assert_int_equal(series->point_count, 12);
  for (size_t i = 0; i < 12; i++) {
    const enum history_mark mark = i == 4   ? HISTORY_DRIVER
                                   : i == 8 ? HISTORY_LATEST
                                            : HISTORY_NO_MARK;
    assert_int_equal(series->points[i].mark, mark);
    assert_int_equal(series->points[i].processes, 6);
  }
  assert_string_equal(series->points[4].what, "driver 580.1 to 590.1");
  assert_true(fabs(series->points[4].change) < 0.001);
  assert_true(fabs(series->points[8].change - -0.1) < 0.002);
  assert_null(series->points[8].what);
  assert_true(series->points[4].p > 0.5 && series->points[8].p < 0.001);
  assert_int_equal(series->earlier, 7);
  assert_true(fabs(series->points[0].value - 50) < 0.05);
  assert_true(series->points[0].low < series->points[0].high);
}

enum { PROCESSES = 5 };

/* Runs of five processes that scatter by 0.3 %, runs by run_sd, the last `stepped` of them lower by
 * that much. */
static struct results *make_series(size_t runs, double run_sd, size_t stepped, double step,
                                   uint64_t *seed) {
  struct results *m = results_new();
  const size_t a = made_environment(m, "node", "580.1", false);
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < runs; run++) {
    made_run(m, a);
    const double level = run_sd * noise_normal(seed) + (run + stepped >= runs ? -log1p(step) : 0);
    for (unsigned p = 0; p < PROCESSES; p++) {
      made_median(m, (struct results_median){.run = (uint32_t)run,
                                             .bench = (uint32_t)bench,
                                             .process = (int64_t)(1 + p + 100 * run),
                                             .ns = 20000 * exp(level + 0.003 * noise_normal(seed)),
                                             .status = CASE_OK});
    }
  }
  return m;
}

/* How many of `series` series have a mark, and a mark of the step. */
static size_t count_marks(size_t series, size_t runs, double run_sd, size_t stepped, double step,
                          size_t *found) {
  uint64_t seed = 100 * runs + stepped;
  size_t marked = 0;
  *found = 0;
  for (size_t i = 0; i < series; i++) {
    SCOPED(results_free_at) struct results *m = make_series(runs, run_sd, stepped, step, &seed);
    SCOPED(history_free_at) struct history *history = history_new(m);
    const struct history_point *points = history->series[0].points;
    bool any = false;
    for (size_t p = 0; p < runs; p++) {
      any = any || points[p].mark != HISTORY_NO_MARK;
    }
    marked += any;
    bool is_there = false; /* Pettitt's test may be off by two runs */
    for (size_t p = runs - stepped - 2; p < runs && p <= runs - stepped + 2; p++) {
      is_there =
          is_there || (points[p].mark != HISTORY_NO_MARK && fabs(points[p].change - step) < 0.05);
    }
    *found += stepped > 0 && is_there;
  }
  return marked;
}

/* Runs that differ by 1 % are marked in less than one series in twenty, though each process agrees
 * with the others of its run far better. */
TEST(runs_that_differ_are_no_change) {
  static const size_t RUNS[] = {4, 6, 8, 12, 20, 40};
  enum { SERIES = 400 };
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    size_t found;
    assert_in_range(count_marks(SERIES, RUNS[i], 0.01, 0, 0, &found), 0, SERIES / 20);
  }
}

/* A look at 200 cases whose runs differ by 1 %, of which one became 10 % slower: that is marked,
 * and seldom another. */
TEST(a_look_at_many_cases_marks_what_changed) {
  enum { SERIES = 200, RUNS = 10, LOOKS = 40 };
  size_t looks_with_false_marks = 0;
  size_t found = 0;
  uint64_t seed = 17;
  for (size_t look = 0; look < LOOKS; look++) {
    SCOPED(results_free_at) struct results *m = results_new();
    const size_t environment = made_environment(m, "node", "580.1", false);
    for (size_t run = 0; run < RUNS; run++) {
      made_run(m, environment);
    }
    for (size_t i = 0; i < SERIES; i++) {
      const char *key = arena_format(&m->arena, "%03zu", i);
      const size_t bench = made_case(m, key, key, 0, 1 << 20);
      for (size_t run = 0; run < RUNS; run++) {
        const double step = i == 0 && run == RUNS - 1 ? 0.9 : 1;
        made_medians(m, bench, run, 50 * step * exp(0.01 * noise_normal(&seed)), PROCESSES);
      }
    }
    SCOPED(history_free_at) struct history *history = history_new(m);
    size_t false_marks = 0;
    for (size_t i = 1; i < SERIES; i++) {
      for (size_t run = 0; run < RUNS; run++) {
        false_marks += history->series[i].points[run].mark != HISTORY_NO_MARK;
      }
    }
    looks_with_false_marks += false_marks > 0;
    found += history->series[0].points[RUNS - 1].mark == HISTORY_LATEST;
  }
  assert_in_range(looks_with_false_marks, 0, LOOKS / 8);
  assert_in_range(found, LOOKS * 9 / 10, LOOKS);
}

TEST(a_step_of_the_latest_runs_is_marked) {
  static const struct {
    size_t runs, stepped;
    size_t least; /* in a thousand */
  } CASES[] = {{6, 1, 1000}, {8, 1, 1000},  {20, 1, 1000},
               {8, 2, 1000}, {10, 4, 1000}, {20, 7, 950}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    enum { SERIES = 200 };
    size_t found;
    (void)count_marks(SERIES, CASES[i].runs, 0.01, CASES[i].stepped, -0.1, &found);
    assert_true(1000 * found >= CASES[i].least * SERIES);
  }
}

/* One series of runs by itself; level: of run i, ln. */
static struct results *series_of(const double *levels, size_t runs) {
  struct results *m = results_new();
  const size_t environment = made_environment(m, "node", "580.1", false);
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < runs; run++) {
    made_run(m, environment);
    made_medians(m, bench, run, 50 * exp(levels[run]), PROCESSES);
  }
  return m;
}

enum { YEAR = 52 };

/* A level that wanders by 1 %, each run being like the one before, is seldom marked: by Pettitt's
 * test in one series of a hundred, and by the latest runs in three. */
TEST(a_wandering_level_is_seldom_marked) {
  enum { SERIES = 300 };
  uint64_t seed = 21;
  size_t marked = 0;
  for (size_t i = 0; i < SERIES; i++) {
    double levels[YEAR];
    double level = noise_normal(&seed);
    for (size_t run = 0; run < YEAR; run++) {
      level = 0.9 * level + sqrt(1 - 0.81) * noise_normal(&seed);
      levels[run] = 0.01 * level;
    }
    SCOPED(results_free_at) struct results *m = series_of(levels, YEAR);
    SCOPED(history_free_at) struct history *history = history_new(m);
    bool any = false;
    for (size_t run = 0; run < YEAR; run++) {
      any = any || history->series[0].points[run].mark != HISTORY_NO_MARK;
    }
    marked += any;
  }
  print_message("%zu of %d marked\n", marked, SERIES);
  assert_in_range(marked, 0, SERIES * 7 / 100);
}

/* Series that wander by 1 % each show it too seldom, but together they do. */
TEST(series_that_wander_together_are_seldom_marked) {
  enum { SERIES = 100, LOOKS = 20 };
  uint64_t seed = 28;
  size_t marked = 0;
  for (size_t look = 0; look < LOOKS; look++) {
    SCOPED(results_free_at) struct results *m = results_new();
    double common[YEAR];
    const size_t environment = made_environment(m, "node", "580.1", false);
    for (size_t run = 0; run < YEAR; run++) {
      made_run(m, environment);
      common[run] = (run > 0 ? 0.5 * common[run - 1] : 0) + sqrt(0.75) * noise_normal(&seed);
    }
    for (size_t i = 0; i < SERIES; i++) {
      const char *key = arena_format(&m->arena, "%03zu", i);
      const size_t bench = made_case(m, key, key, 0, 1 << 20);
      double own = 0;
      for (size_t run = 0; run < YEAR; run++) {
        own = 0.5 * own + sqrt(0.75) * noise_normal(&seed);
        made_medians(m, bench, run, 50 * exp(0.007 * (own + common[run])), 1);
      }
    }
    SCOPED(history_free_at) struct history *history = history_new(m);
    bool any = false;
    for (size_t i = 0; i < SERIES; i++) {
      for (size_t run = 0; run < YEAR; run++) {
        any = any || history->series[i].points[run].mark != HISTORY_NO_MARK;
      }
    }
    marked += any;
  }
  assert_in_range(marked, 0, 2);
}

/* 3 % slower little by little is a drift over the year, at once a change that began between two
 * weeks that hold the true one. */
TEST(a_drift_is_no_step) {
  uint64_t seed = 4;
  for (size_t step = 0; step < 2; step++) {
    enum { AT = 30 };
    double levels[YEAR];
    for (size_t run = 0; run < YEAR; run++) {
      levels[run] = 0.002 * noise_normal(&seed) -
                    0.03 * (step == 1 ? (double)(run >= AT) : (double)run / (YEAR - 1));
    }
    SCOPED(results_free_at) struct results *m = series_of(levels, YEAR);
    SCOPED(history_free_at) struct history *history = history_new(m);
    const struct history_point *points = history->series[0].points;
    const size_t at = step == 1 ? AT : YEAR - 1;
    for (size_t run = 0; run < YEAR; run++) {
      assert_int_equal(points[run].mark, run != at   ? HISTORY_NO_MARK
                                         : step == 1 ? HISTORY_CHANGE
                                                     : HISTORY_DRIFT);
    }
    ASSERT_WITHIN(points[at].change, -0.03, 0.004);
    assert_true(points[at].since <= at && at <= points[at].until);
    assert_int_equal(points[YEAR - 1].mark == HISTORY_DRIFT ? points[YEAR - 1].since : 0, 0);
    assert_true(step == 0 || points[at].until - points[at].since < 3);
  }
}

TEST(the_latest_run_needs_earlier_ones) {
  for (size_t runs = 1; runs <= 6; runs++) {
    uint64_t seed = 4;
    SCOPED(results_free_at) struct results *m = make_series(runs, 0.001, 0, 0, &seed);
    SCOPED(history_free_at) struct history *history = history_new(m);
    const struct history_series *series = &history->series[0];
    assert_int_equal(series->earlier, runs - 1);
    if (runs - 1 < HISTORY_EARLIER_MIN) {
      assert_true(isnan(series->least_change));
    } else {
      assert_true(series->least_change > 0.01 && series->least_change < 0.05);
    }
  }
}

/* The first four facts that differ; of the GPUs, those of the same one. boot_id says nothing. */
TEST(facts_that_changed_with_a_level_are_named) {
  static const struct {
    size_t changed;
    const char *what;
  } CASES[] = {
      {0, NULL}, {1, "f0"}, {2, "f0, f1"}, {4, "f0, f1, f2, f3"}, {6, "f0, f1, f2, f3, ..."}};
  enum { FACTS = 8, RUNS = 8 };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(results_free_at) struct results *m = results_new();
    struct results_fact facts[2][FACTS];
    const size_t environments[] = {made_environment(m, "node", "580.1", false),
                                   made_environment(m, "node", "580.1", false)};
    for (size_t side = 0; side < 2; side++) {
      for (size_t f = 0; f < FACTS - 2; f++) {
        facts[side][f] = (struct results_fact){arena_format(&m->arena, "f%zu", f), 0,
                                               side == 1 && f < CASES[i].changed ? "new" : "old"};
      }
      facts[side][FACTS - 2] = (struct results_fact){"f0", 1, "that of another GPU"};
      facts[side][FACTS - 1] = (struct results_fact){"boot_id", -1, side == 0 ? "1" : "2"};
      m->environments[environments[side]].facts = facts[side];
      m->environments[environments[side]].fact_count = FACTS;
    }
    const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
    for (size_t run = 0; run < RUNS; run++) {
      made_run(m, environments[run == RUNS - 1]);
      made_medians(m, bench, run, run == RUNS - 1 ? 40 : 50, PROCESSES);
    }
    SCOPED(history_free_at) struct history *history = history_new(m);
    assert_int_equal(history->series_count, 1);
    const struct history_point *last = &history->series[0].points[RUNS - 1];
    assert_int_equal(last->mark, HISTORY_LATEST);
    if (CASES[i].what == NULL) {
      assert_null(last->what);
    } else {
      assert_string_equal(last->what, CASES[i].what);
    }
  }
}

/* The latest run changed by a tenth less than what history says it can tell, and by a tenth more.
 */
TEST(the_least_change_is_what_is_marked) {
  static const double LEVELS[] = {0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003, 0};
  enum { RUNS = COUNT_OF(LEVELS) };
  double least = 0;
  for (int i = 0; i < 3; i++) {
    const double change = i == 0 ? 0 : i == 1 ? 0.9 * least : 1.1 * least;
    SCOPED(results_free_at) struct results *m = results_new();
    const size_t environment = made_environment(m, "node", "580.1", false);
    const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
    for (size_t run = 0; run < RUNS; run++) {
      made_run(m, environment);
      made_medians(m, bench, run, 50 * exp(LEVELS[run]) * (run == RUNS - 1 ? 1 + change : 1),
                   PROCESSES);
    }
    SCOPED(history_free_at) struct history *history = history_new(m);
    const struct history_series *series = &history->series[0];
    least = series->least_change;
    assert_int_equal(series->points[RUNS - 1].mark, i == 2 ? HISTORY_LATEST : HISTORY_NO_MARK);
  }
  assert_true(least > 0.005 && least < 0.05);
}

TEST(a_driver_after_the_first_run_has_its_change) {
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t a = made_environment(m, "node", "580.1", false);
  const size_t b = made_environment(m, "node", "590.1", false);
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < 2; run++) {
    made_run(m, run == 0 ? a : b);
    made_medians(m, bench, run, run == 0 ? 50 : 45, PROCESSES);
  }
  SCOPED(history_free_at) struct history *history = history_new(m);
  const struct history_point *point = &history->series[0].points[1];
  assert_int_equal(point->mark, HISTORY_DRIVER);
  assert_true(fabs(point->change - -0.1) < 0.002);
}

TEST(history_of_nothing_is_empty) {
  SCOPED(results_free_at) struct results *m = results_new();
  SCOPED(history_free_at) struct history *history = history_new(m);
  assert_int_equal(history->series_count, 0);
}

TEST(cases_of_one_name_say_what_tells_them_apart) {
  static const char *const SETTINGS[] = {"n 1", "case_key b", "n 3, o true", NULL};
  SCOPED(results_free_at) struct results *m = results_new();
  made_run(m, made_environment(m, "node", "580.1", false));
  for (size_t i = 0; i < 4; i++) {
    static const char *const DEFINITIONS[] = {"{\"n\":1}", "{}", "{\"n\":3,\"o\":true}", "{}"};
    static const char *const KEYS[] = {"a", "b", "c", "d"};
    const size_t bench = made_case(m, KEYS[i], i < 3 ? "block" : "other", 0, 1 << 20);
    m->cases[bench].definition = DEFINITIONS[i];
    made_medians(m, bench, 0, 50, 1);
  }
  SCOPED(history_free_at) struct history *history = history_new(m);
  assert_int_equal(history->series_count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(history->series[i].bench, i);
    if (SETTINGS[i] == NULL) {
      assert_null(history->series[i].settings);
    } else {
      assert_string_equal(history->series[i].settings, SETTINGS[i]);
    }
  }
}
