/* Splits of one side: quiet where nothing differs, loud where the processes are of two kinds. */
#include "runner/analysis/a_a_test.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 30, PROCESSES = 8 };

static struct diff_case cases[CASES];
static double values[CASES][PROCESSES];

/* Cases that differ by noise; the first half of the processes is slower by that much. */
static void make(double slower) {
  uint32_t state = 1;
  for (size_t i = 0; i < CASES; i++) {
    for (size_t p = 0; p < PROCESSES; p++) {
      state = state * 1664525 + 1013904223; /* about uniform is enough */
      values[i][p] =
          10 + 0.002 * ((double)(state >> 8) / (1 << 24) - 0.5) + (p < PROCESSES / 2 ? slower : 0);
    }
    cases[i] = (struct diff_case){.a = {.values = values[i], .count = PROCESSES}, .delta = 0.01};
  }
}

static const struct diff_options OPTIONS = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05};

TEST(one_kind_of_process_reports_nothing) {
  make(0);
  const struct a_a_result rate = a_a_test(cases, CASES, &OPTIONS, 50, 7);
  assert_int_equal(rate.splits, 50);
  assert_int_equal(rate.judged, 50 * CASES);
  assert_int_equal(rate.false_positives, 0);
  assert_int_equal(rate.splits_reporting, 0);
}

/* Half of the processes are 5 % slower in all cases: the splits that separate them report it. */
TEST(two_kinds_of_process_are_reported_in_some_splits) {
  make(0.05);
  const struct a_a_result rate = a_a_test(cases, CASES, &OPTIONS, 200, 7);
  assert_true(rate.splits_reporting > 0 && rate.splits_reporting < 200);
  assert_true(rate.false_positives >= rate.splits_reporting);
  struct a_a_result again;
  again = a_a_test(cases, CASES, &OPTIONS, 200, 7);
  assert_int_equal(again.false_positives, rate.false_positives);
}

/* Cases that lack the first process: a split that tells the kinds apart does so in these as well,
 * because a process is in one half in all cases. */
TEST(a_process_is_in_one_half_in_all_cases) {
  static const uint32_t NUMBERS[PROCESSES] = {0, 1, 2, 3, 4, 5, 6, 7};
  struct a_a_result rate;
  make(0.1);
  for (size_t i = 0; i < CASES; i++) {
    const size_t lacking = i % 2;
    cases[i].a =
        (struct process_sample){values[i] + lacking, PROCESSES - lacking, NUMBERS + lacking, NULL};
  }
  rate = a_a_test(cases, CASES, &OPTIONS, 400, 7);
  assert_true(rate.splits_reporting > 0);
  assert_int_equal(rate.false_positives, rate.splits_reporting * CASES);
}

/* Two runs are 5 % slower than two others: the splits that tell them apart report it, as nothing is
 * left between the runs of a half. */
TEST(whole_runs_are_split) {
  static const uint32_t RUNS[PROCESSES] = {0, 0, 1, 1, 2, 2, 3, 3};
  static const uint32_t TWO_RUNS[PROCESSES] = {0, 0, 0, 0, 1, 1, 1, 1};
  struct a_a_result rate;
  make(0);
  for (size_t i = 0; i < CASES; i++) {
    for (size_t p = 0; p < PROCESSES; p++) {
      values[i][p] += p < 4 ? 0 : 0.05; /* runs 0 and 1 against 2 and 3 */
    }
    cases[i].a.runs = RUNS;
  }
  rate = a_a_test(cases, CASES, &OPTIONS, 100, 7);
  assert_true(rate.by_run);
  assert_int_equal(rate.runs, 4);
  assert_true(rate.splits_reporting > 0 && rate.splits_reporting < 100); /* 0, 1 against 2, 3 */
  for (size_t i = 0; i < CASES; i++) {
    cases[i].a.runs = TWO_RUNS;
  }
  rate = a_a_test(cases, CASES, &OPTIONS, 10, 7);
  assert_false(rate.by_run);
  assert_int_equal(rate.runs, 2);
}

TEST(fewer_than_four_processes_cannot_be_split) {
  struct a_a_result rate;
  make(0);
  for (size_t i = 0; i < CASES; i++) {
    cases[i].a.count = 3;
  }
  rate = a_a_test(cases, CASES, &OPTIONS, 10, 7);
  assert_int_equal(rate.splits, 0);
  cases[0].a.count = PROCESSES; /* the others lack processes: judged where both halves have two */
  rate = a_a_test(cases, CASES, &OPTIONS, 10, 7);
  assert_int_equal(rate.splits, 10);
  assert_true(rate.judged >= 10);
}

/* A level that drifts is silent in random halves of runs, and loud in halves of time. */
TEST(halves_of_time_show_a_drift) {
  static const uint32_t RUNS[PROCESSES] = {3, 0, 7, 1, 5, 2, 6, 4};
  static int64_t started[PROCESSES];
  for (int drifts = 0; drifts < 2; drifts++) {
    make(0);
    for (size_t p = 0; p < PROCESSES; p++) {
      started[RUNS[p]] = (int64_t)p;
      for (size_t i = 0; i < CASES; i++) {
        values[i][p] += drifts * 0.01 * (double)p;
        cases[i].a.runs = RUNS;
        cases[i].started = started;
      }
    }
    const struct a_a_result rate = a_a_test(cases, CASES, &OPTIONS, 20, 7);
    assert_true(rate.by_run);
    assert_int_equal(rate.in_time_judged, CASES);
    assert_int_equal(rate.in_time_reported, drifts * CASES);
  }
}
