/* Groups of cases, and what makes a verdict provisional. */
#include "runner/analysis/diff_group.h"
#include "runner/statistics/sample.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 40, RUNS = 8 };

static struct diff_case cases[CASES];
static struct diff_result results[CASES];
static struct diff_summary summary;
static double values[CASES][2][RUNS];
static uint32_t numbers[2][RUNS];
static int64_t started[2 * RUNS];
static const struct diff_options OPTIONS = {.false_discovery_rate = 0.05};

/* Runs of one process, a and b in turn or one side after the other; b takes `longer`. */
static void make(size_t runs, double sd, double longer, bool in_turn, uint64_t seed) {
  for (size_t side = 0; side < 2; side++) {
    for (size_t r = 0; r < runs; r++) {
      numbers[side][r] = (uint32_t)(side * RUNS + r);
      started[numbers[side][r]] = (int64_t)(in_turn ? 2 * r + side : side * runs + r);
    }
  }
  for (size_t i = 0; i < CASES; i++) {
    for (size_t r = 0; r < 2 * runs; r++) {
      values[i][r % 2][r / 2] = (r % 2 == 1 ? longer : 0) + sd * noise_normal(&seed);
    }
    cases[i] = (struct diff_case){.a = {values[i][0], runs, numbers[0], numbers[0]},
                                  .b = {values[i][1], runs, numbers[1], numbers[1]},
                                  .delta = 0.01,
                                  .started = started};
  }
}

static struct diff_result judge_group(void) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct diff_result result;
  struct diff_summary of_group;
  size_t members[CASES];
  for (size_t i = 0; i < CASES; i++) {
    members[i] = i;
  }
  const struct diff_case group = diff_group_make(cases, members, CASES, &arena);
  const struct diff_options options = {.false_discovery_rate = 0.05, .apart = true};
  diff_compare(&group, 1, &options, &result, &of_group);
  return result;
}

/* 2 % in all cases, which spread by 3 %: none is found alone, all together are. */
TEST(a_common_change_is_found_though_no_case_shows_it) {
  make(5, 0.03, 0.02, true, 12);
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_int_equal(summary.verdicts[VERDICT_REGRESSED], 0);
  const struct diff_result group = judge_group();
  assert_int_equal(group.verdict, VERDICT_REGRESSED);
  assert_false(group.is_provisional);
  assert_true(fabs(group.change - expm1(-0.02)) < 0.01);
  assert_true(group.change_low < group.change && group.change < group.change_high);
  make(5, 0.03, 0, true, 4);
  assert_int_not_equal(judge_group().verdict, VERDICT_REGRESSED);
}

/* The interval holds the mean change as often as it says, also of what runs share; more often
 * where no case tells that the level of runs in blocks does not wander. */
TEST(intervals_of_groups_hold_the_change) {
  enum { TRIALS = 1000 };
  size_t held = 0;
  uint64_t seed = 9;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    make(4, 0.002, 0.02, false, 100 + trial);
    for (size_t r = 0; r < 8; r++) {
      const double shared = 0.01 * noise_normal(&seed);
      for (size_t i = 0; i < CASES; i++) {
        values[i][r % 2][r / 2] += shared;
      }
    }
    const struct diff_result group = judge_group();
    held += log1p(group.change_low) <= -0.02 && -0.02 <= log1p(group.change_high);
  }
  assert_in_range(held, TRIALS * 93 / 100, TRIALS - 1);
}

/* Two on each side have two degrees of freedom. */
TEST(intervals_of_groups_of_two_a_side_hold_the_change) {
  enum { TRIALS = 1000 };
  size_t held = 0;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    make(2, 0.002, 0.02, true, 2000 + trial);
    const struct diff_result group = judge_group();
    held += log1p(group.change_low) <= -0.02 && -0.02 <= log1p(group.change_high);
  }
  assert_in_range(held, TRIALS * 93 / 100, TRIALS * 97 / 100 - 1);
}

/* One side after the other cannot tell what wanders from a change; a line it can take out. */
TEST(a_level_that_wanders_is_no_change) {
  make(5, 0.0002, 0, false, 5);
  for (size_t i = 0; i < CASES; i++) {
    for (size_t r = 0; r < 10; r++) {
      values[i][r / 5][r % 5] += 0.006 * (double)r; /* 6 % over ten runs */
    }
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_true(summary.wanders && summary.drifts && !summary.independent);
  size_t held = 0;
  for (size_t i = 0; i < CASES; i++) {
    assert_int_not_equal(results[i].verdict, VERDICT_REGRESSED);
    assert_true(fabs(results[i].change) < 0.002);
    held += results[i].change_low < 0 && results[i].change_high > 0;
  }
  assert_true(10 * held >= 9 * CASES);
  /* What no case shows in four runs a side, all show in common. */
  make(4, 0.003, 0, false, 5);
  for (size_t i = 0; i < CASES; i++) {
    for (size_t r = 0; r < 8; r++) {
      values[i][r / 4][r % 4] += 0.005 * (double)r;
    }
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_true(summary.drifts);
  diff_compare(cases, 1, &OPTIONS, results, &summary);
  assert_false(summary.drifts);
  /* The same without a line, up and down by as much as the sides differ. */
  make(5, 0.0002, 0, false, 5);
  for (size_t i = 0; i < CASES; i++) {
    static const double LEVELS[] = {0, 1, 3, 2, 2, 4, 5, 5, 3, 4};
    for (size_t r = 0; r < 10; r++) {
      values[i][r / 5][r % 5] += 0.01 * LEVELS[r];
    }
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_true(!summary.drifts && !summary.independent);
  for (size_t i = 0; i < CASES; i++) {
    assert_true(results[i].verdict != VERDICT_REGRESSED || results[i].is_provisional);
    /* Half as wide again as of independent runs, of which a standard error is 0.0063. */
    assert_true(results[i].change_high - results[i].change_low > 3 * 2.3 * 0.0063 * 0.95);
  }
  /* Few cases do not show that runs are independent: what is far beyond their spread counts. */
  make(4, 0.004, 0.03, false, 6);
  diff_compare(cases, 1, &OPTIONS, results, &summary);
  assert_int_equal(results[0].doubt, DIFF_DOUBT_ORDER);
  make(4, 0.0002, 0.03, false, 6);
  diff_compare(cases, 1, &OPTIONS, results, &summary);
  assert_int_equal(results[0].verdict, VERDICT_REGRESSED);
  assert_int_equal(results[0].doubt, DIFF_DOUBT_NONE);
  make(4, 0.004, 0.03, true, 6);
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_int_equal(summary.verdicts[VERDICT_REGRESSED], CASES);
  assert_int_equal(summary.doubts[DIFF_DOUBT_NONE], CASES);
}

/* Among cases with two levels on one side, which a deal could put on either, one that has one level
 * on either may be chance. Five such cases are one of 5 * 2 / 70 = 0.14 on average: more than 5 %
 * of one report, less than 5 % of three. */
TEST(two_levels_elsewhere_are_a_doubt) {
  enum { MIXED = 4, REPORTS_MANY = 3 };
  for (size_t high = 0; high <= 4; high++) {
    for (size_t reports = 1; reports <= REPORTS_MANY; reports += REPORTS_MANY - 1) {
      make(4, 0.0003, 0, true, 7);
      for (size_t i = 0; i < MIXED; i++) {
        for (size_t r = 0; r < high; r++) {
          values[i][r % 2][r] += 0.05;
        }
      }
      for (size_t i = CASES - reports; i < CASES; i++) {
        for (size_t r = 0; r < 4; r++) {
          values[i][1][r] += 0.2;
        }
      }
      diff_compare(cases, CASES, &OPTIONS, results, &summary);
      const bool is_chance = high == 4 && reports == 1;
      assert_int_equal(results[CASES - 1].verdict, VERDICT_REGRESSED);
      assert_int_equal(results[CASES - 1].doubt, is_chance ? DIFF_DOUBT_MODES : DIFF_DOUBT_NONE);
    }
  }
}

TEST(a_report_on_three_runs_is_provisional) {
  for (size_t runs = 3; runs <= 5; runs++) {
    make(runs, 0.001, 0.03, true, 9);
    diff_compare(cases, CASES, &OPTIONS, results, &summary);
    const bool is_few = runs < DIFF_PROCESSES_FIRM;
    assert_int_equal(results[2].verdict, VERDICT_REGRESSED);
    assert_int_equal(results[2].doubt, is_few ? DIFF_DOUBT_FEW : DIFF_DOUBT_NONE);
    assert_int_equal(results[2].is_provisional, is_few);
    assert_int_equal(results[2].units_needed, is_few ? DIFF_PROCESSES_FIRM : 0);
    assert_int_equal(summary.provisional[VERDICT_REGRESSED], is_few ? CASES : 0);
  }
}

/* One run each: firm where earlier runs tell how runs differ, else never. */
TEST(one_run_each_needs_a_history) {
  for (size_t known = 0; known < 3; known++) {
    make(5, 0.001, 0.05, true, 8);
    for (size_t i = 0; i < CASES; i++) {
      cases[i].a.runs = cases[i].b.runs = NULL;
      cases[i].run_df = known > 0 ? 9 : 0;
      cases[i].run_variance = known == 1 ? 0.002 * 0.002 : known == 2 ? 0.04 * 0.04 : 0;
    }
    diff_compare(cases, CASES, &OPTIONS, results, &summary);
    if (known < 2) {
      assert_int_equal(results[0].verdict, VERDICT_REGRESSED);
      assert_int_equal(results[0].doubt, known == 0 ? DIFF_DOUBT_ONE_RUN : DIFF_DOUBT_NONE);
    } else {
      assert_int_equal(summary.verdicts[VERDICT_REGRESSED], 0);
    }
  }
}

/* One run each: earlier runs say how much of what runs differ by the cases share. */
TEST(a_group_of_one_run_each_varies_as_it_did_in_earlier_runs) {
  enum { TRIALS = 1000, EARLIER = 10 };
  static double earlier[CASES][EARLIER];
  static uint32_t earlier_runs[EARLIER];
  for (size_t share = 0; share <= 10; share += 5) { /* of ten, of the variance */
    const double common = 0.01 * sqrt((double)share / 10);
    const double own = 0.01 * sqrt(1 - (double)share / 10);
    size_t held = 0;
    uint64_t seed = 5 + share;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
      double level[EARLIER + 2];
      make(1, 0, 0, true, 1);
      for (size_t r = 0; r < EARLIER + 2; r++) {
        level[r] = common * noise_normal(&seed);
      }
      for (size_t i = 0; i < CASES; i++) {
        for (size_t r = 0; r < EARLIER; r++) {
          earlier[i][r] = level[r] + own * noise_normal(&seed);
          earlier_runs[r] = (uint32_t)r;
        }
        const struct sample sample = sample_summary(earlier[i], EARLIER);
        for (size_t r = 0; r < EARLIER; r++) {
          earlier[i][r] -= sample.mean;
        }
        values[i][0][0] = level[EARLIER] + own * noise_normal(&seed);
        values[i][1][0] = level[EARLIER + 1] + own * noise_normal(&seed);
        cases[i].run_df = EARLIER - 1;
        cases[i].run_variance = sample.variance;
        cases[i].earlier = (struct process_sample){earlier[i], EARLIER, earlier_runs, NULL};
      }
      const struct diff_result group = judge_group();
      held += group.change_low <= 0 && 0 <= group.change_high;
    }
    assert_in_range(held, TRIALS * 93 / 100, TRIALS * 97 / 100);
  }
}

/* One run each: of earlier runs, one half of the cases was measured in these, the other in those,
 * and all in `all_cases`. A half shares what its runs differ by. */
TEST(a_group_of_one_run_each_learns_from_runs_of_all_cases) {
  enum { TRIALS = 1000, EARLIER = 10, HALVES = 2 };
  static double earlier[CASES][EARLIER];
  static uint32_t earlier_runs[CASES][EARLIER];
  static const size_t ALL_CASES[] = {1, 2, 4, 6};
  for (size_t k = 0; k < COUNT_OF(ALL_CASES); k++) {
    const size_t all_cases = ALL_CASES[k];
    size_t held = 0;
    uint64_t seed = 50 + all_cases;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
      double level[HALVES][EARLIER + 2];
      make(1, 0, 0, true, 1);
      for (size_t r = 0; r < (size_t)HALVES * (EARLIER + 2); r++) {
        level[r % HALVES][r / HALVES] = 0.03 * noise_normal(&seed);
      }
      for (size_t i = 0; i < CASES; i++) {
        size_t known = 0;
        for (size_t r = 0; r < EARLIER; r++) {
          if (r < all_cases || r % HALVES == i % HALVES) {
            earlier_runs[i][known] = (uint32_t)r;
            earlier[i][known++] = level[i % HALVES][r] + 0.002 * noise_normal(&seed);
          }
        }
        const struct sample sample = sample_summary(earlier[i], known);
        for (size_t r = 0; r < known; r++) {
          earlier[i][r] -= sample.mean;
        }
        for (size_t side = 0; side < 2; side++) {
          values[i][side][0] = level[i % HALVES][EARLIER + side] + 0.002 * noise_normal(&seed);
        }
        cases[i].run_df = (double)known - 1;
        cases[i].run_variance = sample.variance;
        cases[i].earlier = (struct process_sample){earlier[i], known, earlier_runs[i], NULL};
      }
      const struct diff_result group = judge_group();
      held += group.change_low <= 0 && 0 <= group.change_high;
    }
    assert_true(held >= (size_t)TRIALS * 93 / 100);
  }
}

/* Four runs a side, one side after the other, of a level that has a memory: too few to show it
 * firmly, and yet the interval holds what did not change, and says that it may do so more often. */
TEST(intervals_know_of_a_level_that_may_wander) {
  enum { TRIALS = 300, OF_SIDE = 4 };
  const double memory = 0.7;
  size_t held = 0;
  size_t wide = 0;
  uint64_t seed = 23;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    double level[CASES + 1] = {0}; /* the last is of all */
    make(OF_SIDE, 0.002, 0, false, 500 + trial);
    for (size_t r = 0; r < (size_t)2 * OF_SIDE; r++) {
      for (size_t i = 0; i <= CASES; i++) {
        level[i] = r == 0 ? noise_normal(&seed)
                          : memory * level[i] + sqrt(1 - memory * memory) * noise_normal(&seed);
      }
      for (size_t i = 0; i < CASES; i++) {
        values[i][r / OF_SIDE][r % OF_SIDE] += 0.007 * (level[i] + level[CASES]);
      }
    }
    diff_compare(cases, CASES, &OPTIONS, results, &summary);
    for (size_t i = 0; i < CASES; i++) {
      held += results[i].change_low <= 0 && 0 <= results[i].change_high;
      wide += results[i].is_conservative; /* but for levels that look like a line */
    }
  }
  assert_true(wide > (size_t)TRIALS * CASES * 9 / 10);
  assert_in_range(held, TRIALS * CASES * 95 / 100, TRIALS * CASES * 98 / 100);
}

/* Of runs in turn, each side shows how its level wanders; two runs do not show it. */
TEST(intervals_say_that_they_are_conservative) {
  static const struct {
    size_t runs;
    bool in_turn, independent, conservative;
  } sides[] = {{5, true, false, false},
               {5, false, false, true},
               {5, false, true, false},
               {2, true, false, true},
               {2, true, true, false}};
  for (size_t k = 0; k < COUNT_OF(sides); k++) {
    const struct diff_options options = {.false_discovery_rate = 0.05,
                                         .independent = sides[k].independent};
    make(sides[k].runs, 0.002, 0, sides[k].in_turn, 3);
    diff_compare(cases, CASES, &options, results, &summary);
    for (size_t i = 0; i < CASES; i++) {
      assert_int_equal(results[i].is_conservative, sides[k].conservative);
    }
  }
}

/* Two runs a side that happen to be at the slower of two levels, both: other cases, of which each
 * side has one of either, show how easily that comes by chance. */
TEST(two_a_side_at_two_levels_are_no_change) {
  make(2, 0.0005, 0, true, 24);
  values[0][1][0] += 0.05;
  values[0][1][1] += 0.05;
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_true(results[0].verdict == VERDICT_REGRESSED && results[0].is_provisional);
  for (size_t i = 1; i < 5; i++) {
    values[i][0][i % 2] += 0.05;
    values[i][1][i / 2 % 2] += 0.05;
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_int_equal(results[0].verdict, VERDICT_INSUFFICIENT);
  assert_true(results[0].q >= 0.5);
}

/* So it is of two a side: chance puts all of one level on one side in an eighth of the cases. */
TEST(intervals_of_two_a_side_know_of_levels) {
  enum { TRIALS = 100 };
  size_t held[2] = {0, 0};
  uint64_t seed = 3;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    for (size_t levels = 0; levels < 2; levels++) {
      make(2, 0.001, 0, true, 300 + trial);
      for (size_t i = 0; i < CASES && levels > 0; i++) {
        for (size_t r = 0; r < 4; r++) {
          values[i][r % 2][r / 2] += noise_uniform(&seed) < 0.5 ? 0.03 : 0;
        }
      }
      diff_compare(cases, CASES, &OPTIONS, results, &summary);
      for (size_t i = 0; i < CASES; i++) {
        held[levels] += results[i].change_low <= 0 && 0 <= results[i].change_high;
      }
    }
  }
  assert_in_range(held[0], TRIALS * CASES * 93 / 100, TRIALS * CASES * 97 / 100);
  assert_true(held[1] >= TRIALS * CASES * 93 / 100);
}

/* Runs in turn are pairs where the level moves with time; else pairs would only lose half of the
 * degrees of freedom. */
TEST(pairs_are_judged_where_the_level_moves) {
  const struct diff_options options = {.false_discovery_rate = 0.05, .apart = true};
  uint64_t seed = 23;
  make(RUNS, 0.005, 0, true, 21);
  diff_compare(cases, CASES, &options, results, &summary);
  double df = 0;
  for (size_t i = 0; i < CASES; i++) {
    df += results[i].df / CASES;
  }
  assert_true(df > 1.5 * (RUNS - 1));
  for (size_t i = 0; i < CASES; i++) {
    for (size_t r = 0; r < (size_t)2 * RUNS; r++) {
      values[i][r % 2][r / 2] += 0.04 * (double)r / (2 * RUNS - 1);
    }
  }
  diff_compare(cases, CASES, &options, results, &summary);
  for (size_t i = 0; i < CASES; i++) {
    assert_true(results[i].df <= RUNS - 1 && results[i].sd < 0.01);
  }
  /* Steps of 0.67: chance, if all cases share them, as one does; a level that moves, if not. */
  for (size_t shared = 0; shared < 2; shared++) {
    static const double LEVELS[2][RUNS] = {{0, 1, 2, 2, 1, 2, 0, 0}, {0, 0, 1, 1, 2, 2, 2, 0}};
    make(RUNS, 0.0001, 0, true, 22);
    for (size_t i = 0; i < CASES; i++) {
      for (size_t r = 0; r < (size_t)2 * RUNS; r++) {
        values[i][r % 2][r / 2] += shared > 0   ? 0.02 * LEVELS[0][r / 2]
                                   : i % 2 == 0 ? 0.02 * LEVELS[1][r / 2]
                                                : 0.01 * noise_normal(&seed);
      }
    }
    diff_compare(cases, CASES, &options, results, &summary);
    assert_true(shared > 0 ? results[0].sd > 0.01 : results[0].sd < 0.001);
  }
}

/* Processes of one run do not tell how runs differ: an interval of theirs would hold the change far
 * less often than it says. */
TEST(one_run_each_has_no_interval) {
  make(5, 0.002, 0.03, true, 22);
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  assert_true(isfinite(results[0].change_low) && isfinite(summary.shift.change_low));
  for (size_t i = 0; i < CASES; i++) {
    cases[i].a.runs = cases[i].b.runs = NULL;
  }
  diff_compare(cases, CASES, &OPTIONS, results, &summary);
  for (size_t i = 0; i < CASES; i++) {
    assert_true(results[i].verdict == VERDICT_REGRESSED && results[i].is_provisional);
    assert_true(isfinite(results[i].change) && isnan(results[i].change_low));
  }
  assert_true(isfinite(summary.shift.change) && isnan(summary.shift.change_low));
  assert_true(isnan(judge_group().change_low));
}
