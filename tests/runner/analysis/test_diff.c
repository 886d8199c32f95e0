/* From medians to verdicts: cases made by a generator with a fixed seed. */
#include "runner/analysis/diff.h"
#include "runner/statistics/shift.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES_MAX = 80, PROCESSES_MAX = 30 };

static struct {
  size_t count;
  struct diff_case cases[CASES_MAX];
  struct diff_result results[CASES_MAX];
  struct diff_summary summary;
  double values[CASES_MAX][2][PROCESSES_MAX];
} data;

/* `count` cases of processes per side with spread sd; all alike but for what the test changes. */
static void make(size_t count, size_t processes, double sd) {
  uint64_t seed = 11;
  memset(&data, 0, sizeof data);
  data.count = count;
  for (size_t i = 0; i < count; i++) {
    for (size_t side = 0; side < 2; side++) {
      for (size_t p = 0; p < processes; p++) {
        data.values[i][side][p] = 10 + (double)i + sd * noise_normal(&seed);
      }
    }
    data.cases[i] = (struct diff_case){.a = {.values = data.values[i][0], .count = processes},
                                       .b = {.values = data.values[i][1], .count = processes},
                                       .delta = 0.01};
  }
}

/* Every process is a run of its own. */
static void make_runs_of_one(void) {
  static uint32_t runs[PROCESSES_MAX];
  for (size_t i = 0; i < data.count * PROCESSES_MAX; i++) {
    runs[i % PROCESSES_MAX] = (uint32_t)(i % PROCESSES_MAX);
    data.cases[i / PROCESSES_MAX].a.runs = data.cases[i / PROCESSES_MAX].b.runs = runs;
  }
}

/* Side b of a case takes that much longer. */
static void slow_down(size_t at, double ratio) {
  for (size_t p = 0; p < data.cases[at].b.count; p++) {
    data.values[at][1][p] += log(ratio);
  }
}

static void compare(enum diff_method method) {
  const struct diff_options options = {.method = method, .false_discovery_rate = 0.05};
  diff_compare(data.cases, data.count, &options, data.results, &data.summary);
}

static void expect(size_t at, enum verdict verdict) {
  assert_string_equal(verdict_text(data.results[at].verdict), verdict_text(verdict));
}

TEST(real_changes_are_found_and_the_rest_is_the_same) {
  make(40, 5, 0.002);
  make_runs_of_one();
  slow_down(3, 1 / 0.97);
  slow_down(7, 1 / 1.05);
  compare(DIFF_MODERATED);
  expect(3, VERDICT_REGRESSED);
  expect(7, VERDICT_IMPROVED);
  assert_int_equal(data.summary.verdicts[VERDICT_REGRESSED], 1);
  assert_int_equal(data.summary.verdicts[VERDICT_IMPROVED], 1);
  assert_int_equal(data.summary.verdicts[VERDICT_SAME], 38);
  assert_int_equal(data.summary.tests, 40);
  const struct diff_result *found = &data.results[3];
  assert_true(fabs(found->change + 0.03) < 0.004);
  assert_true(found->change_low < -0.03 + 0.004 && found->change_high > -0.03 - 0.004);
  assert_true(found->change_low < found->change && found->change < found->change_high);
  assert_int_equal(found->test, DIFF_TEST_MODERATED);
  assert_true(found->q <= 0.05 && found->p <= found->q);
  assert_int_equal(found->units_needed, 0);
}

/* Of all cases one is 3 % slower (or faster) than before. */
TEST(one_change_is_found_by_each_test) {
  static const struct {
    size_t count, processes, b_processes;
    double sd, ratio;
    enum diff_method method;
    enum diff_test test;
    enum verdict verdict;
    bool rest_is_same;
  } CASES[] = {
      {40, 5, 5, 0.001, 1.03, DIFF_MODERATED, DIFF_TEST_MODERATED, VERDICT_REGRESSED, true},
      {40, 5, 5, 0.001, 0.97, DIFF_MODERATED, DIFF_TEST_MODERATED, VERDICT_IMPROVED, true},
      /* Too few cases to learn from. */
      {DIFF_FAMILY_MIN - 1, 5, 5, 0.001, 1.05, DIFF_MODERATED, DIFF_TEST_WELCH, VERDICT_REGRESSED,
       true},
      /* Identical values on each side. */
      {5, 3, 3, 0, 1.03, DIFF_MODERATED, DIFF_TEST_WELCH, VERDICT_REGRESSED, true},
      {40, 3, 3, 0, 1.03, DIFF_MODERATED, DIFF_TEST_MODERATED, VERDICT_REGRESSED, true},
      {40, 20, 3, 0.002, 1.031, DIFF_MODERATED, DIFF_TEST_MODERATED, VERDICT_REGRESSED, false},
      /* Ranks need more processes, and then agree. */
      {4, 10, 10, 0.002, 1.05, DIFF_RANK, DIFF_TEST_RANK, VERDICT_REGRESSED, true},
      {40, 3, 3, 0.002, 1.05, DIFF_RANK, DIFF_TEST_RANK, VERDICT_INSUFFICIENT, false},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    make(CASES[i].count, CASES[i].processes, CASES[i].sd);
    for (size_t c = 0; c < CASES[i].count; c++) {
      data.cases[c].b.count = CASES[i].b_processes;
    }
    slow_down(2, CASES[i].ratio);
    compare(CASES[i].method);
    expect(2, CASES[i].verdict);
    assert_int_equal(data.results[2].test, CASES[i].test);
    const size_t *verdicts = data.summary.verdicts;
    assert_int_equal(verdicts[VERDICT_REGRESSED] + verdicts[VERDICT_IMPROVED],
                     CASES[i].verdict != VERDICT_INSUFFICIENT);
    if (CASES[i].rest_is_same) {
      assert_int_equal(verdicts[VERDICT_SAME], CASES[i].count - 1);
    }
    assert_true(isnan(data.results[2].change_low) ||
                data.results[2].change_low < data.results[2].change);
  }
}

/* Whoever may look five times has a fifth of the error rates for each look. */
TEST(looks_share_the_error_rates) {
  struct diff_options options = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  struct diff_result once[CASES_MAX];
  make(40, 4, 0.004);
  make_runs_of_one();
  slow_down(2, 1.03);
  diff_compare(data.cases, data.count, &options, once, &data.summary);
  const size_t same = data.summary.verdicts[VERDICT_SAME];
  options.looks = 5;
  diff_compare(data.cases, data.count, &options, data.results, &data.summary);
  assert_true(data.summary.verdicts[VERDICT_SAME] < same);
  for (size_t i = 0; i < data.count; i++) {
    assert_true(fabs(data.results[i].p - once[i].p) < 1e-12);
    assert_true(fabs(data.results[i].q - fmin(1, 5 * once[i].q)) < 1e-12);
    assert_true(fabs(data.results[i].change_low - once[i].change_low) < 1e-12); /* is no verdict */
    assert_true(fabs(data.results[i].change_high - once[i].change_high) < 1e-12);
    assert_true(data.results[i].verdict != VERDICT_SAME || once[i].verdict == VERDICT_SAME);
  }
}

/* Of 40 tests one alone must have p <= 0.05 / 40: 2 / choose(14, 7) is the first that does. */
TEST(ranks_say_how_many_processes_could_report) {
  static const struct {
    size_t count, processes;
    unsigned least;
    size_t too_few;
  } CASES[] = {{40, 5, 7, 40}, {40, 7, 7, 0}, {1, 4, 4, 0}, {1, 3, 4, 1}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    make(CASES[i].count, CASES[i].processes, 0.001);
    compare(DIFF_RANK);
    assert_int_equal(data.summary.rank_processes_least, CASES[i].least);
    assert_int_equal(data.summary.rank_too_few, CASES[i].too_few);
    compare(DIFF_MODERATED);
    assert_int_equal(data.summary.rank_processes_least, 0);
  }
}

TEST(families_learn_apart) {
  make(60, 3, 0.001);
  for (size_t i = 0; i < 60; i++) {
    data.cases[i].families[0] = (uint32_t)i / 25; /* 25, 25 and 10 cases */
    if (i >= 25 && i < 50) {
      for (size_t p = 0; p < 3; p++) { /* the second family is noisy */
        data.values[i][0][p] += (data.values[i][0][p] - 10 - (double)i) * 19;
        data.values[i][1][p] += (data.values[i][1][p] - 10 - (double)i) * 19;
      }
    }
  }
  compare(DIFF_MODERATED);
  double quiet = 0;
  double noisy = 0;
  for (size_t i = 0; i < 25; i++) {
    quiet += data.results[i].sd / 25;
    noisy += data.results[25 + i].sd / 25;
  }
  assert_true(noisy > 10 * quiet);
  assert_true(quiet < 0.002);
  /* A family too small learns in the next wider one, here with all. */
  assert_int_equal(data.results[55].test, DIFF_TEST_MODERATED);
}

/* Noise is no proof of equality: all cases are 1.5 % slower and scatter by 3 %, and none is the
 * same where 1 % matters, however many processes there are. */
TEST(noisy_cases_are_unclear_not_the_same) {
  make(40, PROCESSES_MAX, 0.03);
  for (size_t i = 0; i < 40; i++) {
    slow_down(i, 1.015);
  }
  for (unsigned method = 0; method < diff_method_name_count; method++) {
    compare((enum diff_method)method);
    assert_int_equal(data.summary.verdicts[VERDICT_SAME], 0);
    assert_int_equal(data.summary.verdicts[VERDICT_IMPROVED], 0);
    assert_true(data.summary.verdicts[VERDICT_UNCLEAR] > 10);
  }
}

/* Processes spread by 1.5 % and a quarter of the cases is 3 % slower: where a process of a and one
 * of b differ by 2.1 % for no reason, 10 a side find half of them and 30 nearly all. */
TEST(enough_processes_find_a_change_in_noise) {
  static const struct { size_t processes, least; } CASES[] = {{10, 10}, {30, 19}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    make(80, CASES[i].processes, 0.015);
    for (size_t c = 0; c < 20; c++) {
      slow_down(c, 1.03);
    }
    compare(DIFF_MODERATED);
    assert_true(data.summary.verdicts[VERDICT_REGRESSED] >= CASES[i].least);
    assert_true(data.results[20].verdict != VERDICT_REGRESSED);
  }
}

static void expect_the_same_of_exchanged_sides(void) {
  struct diff_result first[CASES_MAX];
  compare(DIFF_MODERATED);
  memcpy(first, data.results, sizeof first);
  for (size_t i = 0; i < data.count; i++) {
    const struct process_sample a = data.cases[i].a;
    data.cases[i].a = data.cases[i].b;
    data.cases[i].b = a;
  }
  compare(DIFF_MODERATED);
  for (size_t i = 0; i < data.count; i++) {
    ASSERT_NEAR(data.results[i].sd, first[i].sd, 1e-9);
    ASSERT_NEAR(data.results[i].p, first[i].p, 1e-9);
  }
}

/* Which side is noisy changes nothing but the sign. */
TEST(either_side_may_be_the_noisy_one) {
  make(30, 5, 0.002);
  for (size_t i = 0; i < 30; i++) {
    for (size_t p = 0; p < 5; p++) {
      data.values[i][1][p] = 10 + (double)i + 8 * (data.values[i][1][p] - 10 - (double)i);
    }
  }
  expect_the_same_of_exchanged_sides();
}

TEST(one_process_a_side_is_never_enough) {
  make(30, 1, 0.002);
  slow_down(0, 1.5);
  compare(DIFF_MODERATED);
  assert_int_equal(data.summary.verdicts[VERDICT_INSUFFICIENT], 30);
  assert_int_equal(data.summary.tests, 0);
  assert_int_equal(data.results[0].units_needed, DIFF_PROCESSES_USUAL);
  ASSERT_NEAR(data.results[0].change, 1 / 1.5 - 1, 0.02);
  assert_true(isnan(data.results[0].q) && isnan(data.results[0].change_low));
}

TEST(what_cannot_be_compared_says_so) {
  make(25, 4, 0.002);
  data.cases[0].a.count = 0;
  data.cases[1].b.count = 0;
  data.cases[2].incomparable = "another GPU";
  data.cases[3].b.count = 1;
  compare(DIFF_MODERATED);
  expect(0, VERDICT_NEW);
  expect(1, VERDICT_MISSING);
  expect(2, VERDICT_INCOMPARABLE);
  expect(3, VERDICT_INSUFFICIENT);
  assert_true(isnan(data.results[0].change) && isnan(data.results[2].change));
  assert_int_equal(data.summary.tests, 21);
}

TEST(undecided_says_how_many_more) {
  make(30, 3, 0.006);
  slow_down(0, 1.02);
  slow_down(1, 1.0101);
  compare(DIFF_MODERATED);
  size_t insufficient = 0;
  for (size_t i = 0; i < 30; i++) {
    const struct diff_result *r = &data.results[i];
    if (r->verdict == VERDICT_INSUFFICIENT) {
      assert_in_range(r->units_needed, 4, DIFF_PROCESSES_MAX);
      insufficient++;
    } else if (!r->is_provisional) {
      assert_int_equal(r->units_needed, 0);
    }
  }
  assert_true(insufficient > 0);
}

static struct shift shift_of(size_t count) {
  struct shift_pair pairs[CASES_MAX];
  for (size_t i = 0; i < count; i++) {
    pairs[i] = (struct shift_pair){data.cases[i].a, data.cases[i].b};
  }
  return shift_estimate(pairs, count);
}

TEST(a_common_shift_is_told_with_the_interval_of_runs) {
  make(50, 6, 0.002);
  make_runs_of_one();
  for (size_t i = 0; i < 50; i++) {
    slow_down(i, 1.003);
  }
  slow_down(9, 1.5);
  struct shift shift;
  shift = shift_of(50);
  assert_int_equal(shift.pairs, 50);
  ASSERT_NEAR(shift.change, 1 / 1.003 - 1, 0.2);
  assert_true(shift.change_low < shift.change && shift.change < shift.change_high);
  assert_true(shift.change_high < 0);
  /* What all cases of a process share widens the interval: it is one observation, not fifty. */
  const double narrow = shift.change_high - shift.change_low;
  for (size_t i = 0; i < 50; i++) {
    data.values[i][0][0] += 0.01;
    data.values[i][1][3] -= 0.01;
  }
  shift = shift_of(50);
  assert_true(shift.change_high - shift.change_low > 5 * narrow);
}

/* A shift of all cases is common; one of 60 % of them is that of the middle case alone, and so is
 * one that a third of the cases contradict, though their intervals hold it. */
TEST(a_shift_is_common_where_nearly_all_agree) {
  make(50, 6, 0.002);
  make_runs_of_one();
  for (size_t i = 0; i < 50; i++) {
    slow_down(i, 1.003);
  }
  compare(DIFF_MODERATED);
  assert_true(data.summary.shift_is_common && data.summary.shift_share >= DIFF_SHARE_COMMON);
  make(50, 6, 0.002);
  make_runs_of_one();
  for (size_t i = 0; i < 50; i++) {
    slow_down(i, i % 3 == 0 ? 0.9993 : 1.001);
  }
  compare(DIFF_MODERATED);
  assert_true(data.summary.shift.change_high < 0 && data.summary.shift_share < 0.8);
  assert_false(data.summary.shift_is_common);
  make(50, 6, 0.002);
  make_runs_of_one();
  compare(DIFF_MODERATED);
  assert_true(data.summary.shift_share >= DIFF_SHARE_COMMON); /* of no shift */
  for (size_t i = 0; i < 30; i++) {
    slow_down(i, 2);
  }
  compare(DIFF_MODERATED);
  assert_false(data.summary.shift_is_common);
  assert_true(data.summary.shift.change < -0.4 && data.summary.shift_share < 0.7);
}

TEST(a_shift_needs_runs_for_its_interval) {
  struct shift shift;
  make(10, 1, 0.001);
  shift = shift_of(10);
  assert_true(shift.pairs == 10 && isfinite(shift.change) && isnan(shift.change_low));
  /* Six of ten cases lack the last process of a, which says too little then: three are left. */
  make(10, 4, 0.001);
  make_runs_of_one();
  for (size_t i = 0; i < 6; i++) {
    data.cases[i].a.count = 3;
  }
  for (size_t i = 6; i < 10; i++) {
    data.values[i][0][3] += 0.5;
  }
  shift = shift_of(10);
  assert_true(shift.pairs == 10 && fabs(shift.change) < 0.002);
  assert_true(shift.change_high - shift.change_low < 0.01);
  shift = shift_of(0);
  assert_true(shift.pairs == 0 && isnan(shift.change));
}

/* Two hosts, each with processes and cases of its own: all of a side's processes tell of it, and
 * what a process shares is one observation wherever its values stand. */
TEST(runs_of_several_hosts_are_kept_apart) {
  static const uint32_t HOSTS[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  static const double SHARED[8] = {0.004, -0.004, 0.004, -0.004, 0.004, -0.004, 0.004, -0.004};
  struct shift shift;
  make(20, 4, 0.0001);
  for (size_t i = 0; i < 20; i++) {
    data.cases[i].a.processes = data.cases[i].b.processes = HOSTS[i % 2];
    data.cases[i].a.runs = data.cases[i].b.runs = HOSTS[i % 2];
    for (size_t p = 0; p < 4; p++) {
      data.values[i][0][p] += SHARED[HOSTS[i % 2][p]];
      data.values[i][1][p] += SHARED[HOSTS[i % 2][p]];
    }
  }
  shift = shift_of(20);
  /* Eight per side: sd sqrt(8/7) x 0.004, error sqrt(2/8) of it, t(14) = 2.1448: +- 0.00459. */
  assert_true(fabs(shift.change) < 0.0003);
  ASSERT_WITHIN(shift.change_high - shift.change_low, 2 * 0.00459, 0.0002);
}

TEST(nothing_to_compare) {
  make(0, 0, 0);
  compare(DIFF_MODERATED);
  assert_int_equal(data.summary.tests, 0);
}

/* Two processes that scatter by 2 % against twenty that scatter by 0.1 %, and nothing changed: the
 * variance of all together is nearly that of the twenty. */
static void expect_no_change_of_a_noisy_side(size_t cases) {
  enum { DIFFS = 60 };
  size_t reported = 0;
  uint64_t seed = 5;
  for (size_t d = 0; d < DIFFS; d++) {
    make(cases, 20, 0);
    for (size_t i = 0; i < cases; i++) {
      for (size_t p = 0; p < 20; p++) {
        data.values[i][0][p] = 0.001 * noise_normal(&seed);
        data.values[i][1][p] = 0.02 * noise_normal(&seed);
      }
      data.cases[i].b.count = 2;
    }
    compare(DIFF_MODERATED);
    reported +=
        data.summary.verdicts[VERDICT_REGRESSED] > 0 || data.summary.verdicts[VERDICT_IMPROVED] > 0;
  }
  assert_true(reported <= DIFFS / 20);
}

TEST(a_noisy_side_of_few_is_no_change) {
  expect_no_change_of_a_noisy_side(40);
  expect_no_change_of_a_noisy_side(10); /* too few cases to learn from */
}

/* Two equal values on each side are no certainty: a step hardly beyond the margin stays open, one
 * of 3 % does not. */
TEST(equal_values_are_no_certainty) {
  make(2, 2, 0);
  make_runs_of_one();
  slow_down(0, 1.0101);
  slow_down(1, 1.03);
  compare(DIFF_MODERATED);
  assert_int_equal(data.results[0].test, DIFF_TEST_WELCH);
  assert_int_not_equal(data.results[0].verdict, VERDICT_REGRESSED);
  expect(1, VERDICT_REGRESSED);
  assert_true(data.results[1].p > 0);
  assert_true(data.results[1].change_low < data.results[1].change);
}

/* How many of one side alone would decide: none where the other has one process. */
TEST(one_side_alone) {
  make(2, 5, 0.001);
  data.cases[0].a.count = 1;
  compare(DIFF_MODERATED);
  expect(0, VERDICT_INSUFFICIENT);
  assert_int_equal(data.results[0].needed_alone[0], DIFF_PROCESSES_USUAL);
  assert_int_equal(data.results[0].needed_alone[1], 0);
}

/* Runs of A and B with so many processes each; nothing changed. What all cases of a run share, and
 * what each has of its own, has that standard deviation. */
static const struct run_world {
  size_t runs[2], processes[2];
  double shared, own;
} RUN_WORLDS[] = {
    {{5, 5}, {2, 2}, 0, 0},      {{5, 5}, {2, 2}, 0.003, 0}, {{5, 5}, {2, 2}, 0.01, 0},
    {{10, 10}, {1, 1}, 0.01, 0}, {{5, 5}, {2, 2}, 0, 0.01},  {{5, 5}, {3, 1}, 0.003, 0.003},
    {{10, 1}, {2, 5}, 0.01, 0},  {{5, 1}, {4, 1}, 0, 0.003},
};

static void make_runs(const struct run_world *world, uint64_t *seed) {
  static uint32_t runs[2][PROCESSES_MAX];
  double shared[2][PROCESSES_MAX];
  make(40, PROCESSES_MAX, 0);
  for (size_t i = 0; i < data.count; i++) {
    for (size_t side = 0; side < 2; side++) {
      const size_t count = world->runs[side] * world->processes[side];
      double run = 0;
      assert_true(count <= PROCESSES_MAX);
      for (size_t p = 0; p < count; p++) {
        const size_t at = p / world->processes[side];
        if (p % world->processes[side] == 0) {
          shared[side][at] = i == 0 ? world->shared * noise_normal(seed) : shared[side][at];
          run = shared[side][at] + world->own * noise_normal(seed);
        }
        runs[side][p] = (uint32_t)(100 * side + at);
        data.values[i][side][p] = run + 0.002 * noise_normal(seed);
      }
      struct process_sample *sample = side == 0 ? &data.cases[i].a : &data.cases[i].b;
      sample->count = count;
      sample->runs = runs[side];
    }
  }
}

/* What processes of a run share is no change, and the intervals know it. */
TEST(runs_are_no_change) {
  enum { DIFFS = 120 };
  for (size_t w = 0; w < COUNT_OF(RUN_WORLDS); w++) {
    uint64_t seed = 40 + w;
    size_t reported = 0;
    double covered = 0;
    for (size_t d = 0; d < DIFFS; d++) {
      make_runs(&RUN_WORLDS[w], &seed);
      compare(DIFF_MODERATED);
      const size_t *verdicts = data.summary.verdicts;
      reported += verdicts[VERDICT_REGRESSED] + verdicts[VERDICT_IMPROVED] > 0;
      for (size_t i = 0; i < data.count; i++) {
        const struct diff_result *r = &data.results[i];
        covered += r->change_low <= 0 && r->change_high >= 0;
        assert_int_equal(r->unit, DIFF_UNIT_RUN);
      }
    }
    covered /= DIFFS * 40.0;
    assert_true(reported <= DIFFS / 20);
    assert_true(covered > 0.9);
    if (w == 0) { /* runs that are alike cost nothing */
      assert_true(covered < 0.97 && data.summary.verdicts[VERDICT_SAME] == 40);
      slow_down(3, 1 / 0.97);
      compare(DIFF_MODERATED);
      expect(3, VERDICT_REGRESSED);
      assert_false(data.results[3].is_provisional);
    }
  }
}

TEST(either_side_may_have_the_only_run) {
  uint64_t seed = 3;
  make_runs(&(struct run_world){{1, 5}, {1, 6}, 0.001, 0.001}, &seed);
  expect_the_same_of_exchanged_sides();
}

/* Without their runs, the same processes report what is not there. */
TEST(processes_of_one_run_would_report_it) {
  enum { DIFFS = 60 };
  uint64_t seed = 9;
  size_t reported = 0;
  for (size_t d = 0; d < DIFFS; d++) {
    make_runs(&(struct run_world){{1, 1}, {10, 10}, 0.01, 0}, &seed);
    compare(DIFF_MODERATED);
    const size_t *verdicts = data.summary.verdicts;
    reported += verdicts[VERDICT_REGRESSED] + verdicts[VERDICT_IMPROVED] > 0;
    assert_int_equal(data.results[0].unit, DIFF_UNIT_PROCESS);
  }
  assert_true(reported > DIFFS / 4);
}

/* Nodes differ by 5 %, a node from itself by 0.2 %: pairs find 3 %, even where one node is 20 %
 * off. */
TEST(nodes_are_compared_with_themselves) {
  static uint32_t nodes[10];
  uint64_t seed = 4;
  make_runs(&(struct run_world){{10, 10}, {1, 1}, 0, 0}, &seed);
  for (uint32_t n = 0; n < 10; n++) {
    nodes[n] = n;
  }
  for (size_t i = 0; i < data.count; i++) {
    for (size_t n = 0; n < 10; n++) {
      const double level = 0.05 * noise_normal(&seed);
      data.values[i][0][n] += level;
      data.values[i][1][n] += level + (n == 4 ? 0.2 : 0);
    }
    data.cases[i].a.runs = data.cases[i].b.runs = nodes;
  }
  slow_down(3, 1 / 0.97);
  compare(DIFF_MODERATED);
  assert_int_equal(data.summary.verdicts[VERDICT_REGRESSED], 0);
  for (size_t i = 0; i < data.count; i++) {
    data.cases[i].paired = true;
  }
  compare(DIFF_MODERATED);
  expect(3, VERDICT_REGRESSED);
  assert_int_equal(data.results[3].unit, DIFF_UNIT_NODE);
  assert_int_equal(data.summary.verdicts[VERDICT_REGRESSED], 1);
  assert_int_equal(data.summary.verdicts[VERDICT_IMPROVED], 0);
  /* One node is named by itself; with two of them, the mean over all nodes is no longer the same.
   */
  assert_true(data.summary.verdicts[VERDICT_SAME] + 2 >= data.count);
  for (size_t i = 0; i < data.count; i++) {
    data.values[i][1][7] += 0.2;
  }
  compare(DIFF_MODERATED);
  assert_int_equal(data.summary.verdicts[VERDICT_SAME], 0);
}

TEST(a_report_on_three_runs_is_provisional) {
  static const struct {
    size_t runs[2], processes[2];
    bool provisional;
  } CASES[] = {{{3, 3}, {4, 4}, true},
               {{4, 4}, {1, 1}, false},
               {{4, 1}, {1, 4}, false},
               {{4, 1}, {1, 3}, true},
               {{3, 1}, {4, 4}, true}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    uint64_t seed = 5;
    struct run_world world = {.own = 0.0005};
    memcpy(world.runs, CASES[i].runs, sizeof world.runs);
    memcpy(world.processes, CASES[i].processes, sizeof world.processes);
    make_runs(&world, &seed);
    slow_down(2, 1.2);
    compare(DIFF_MODERATED);
    expect(2, VERDICT_REGRESSED);
    assert_int_equal(data.results[2].is_provisional, CASES[i].provisional);
    assert_int_equal(data.results[2].units[0], CASES[i].runs[0]);
    assert_int_equal(data.results[2].units[1], CASES[i].runs[1]);
    assert_int_equal(data.results[2].units_needed, CASES[i].provisional ? DIFF_PROCESSES_FIRM : 0);
  }
}

/* A shift of all cases that is that of the runs has an interval that holds none. */
TEST(the_shift_knows_runs) {
  enum { DIFFS = 200 };
  uint64_t seed = 77;
  size_t by_run = 0;
  size_t by_process = 0;
  for (size_t d = 0; d < DIFFS; d++) {
    make_runs(&RUN_WORLDS[2], &seed);
    struct shift shift = shift_of(40);
    by_run += shift.change_low <= 0 && shift.change_high >= 0;
    for (size_t i = 0; i < 40; i++) {
      data.cases[i].a.runs = data.cases[i].b.runs = NULL;
    }
    shift = shift_of(40);
    by_process += shift.change_low <= 0 && shift.change_high >= 0;
  }
  assert_in_range(by_run, DIFFS * 91 / 100, DIFFS * 99 / 100);
  assert_true(by_process < DIFFS * 88 / 100);
}

TEST(usual_margins) {
  assert_true(diff_usual_margin(1 << 20) == 0.01);
  assert_true(diff_usual_margin((1 << 20) - 1) == 0.03);
  assert_true(diff_usual_margin(0) == 0.03);
}

TEST(families_are_told_apart) {
  static const struct {
    const char *method, *path;
    uint64_t size_bytes;
  } kinds[] = {{"ce", "host to gpu", 4096},    {"ce", "host to gpu", 1 << 16},
               {"ce", "host to gpu", 1 << 20}, {"ce", "gpu to gpu", 4096},
               {"sm", "host to gpu", 4096},    {"sm", "gpu to gpu", 4096}};
  enum { KINDS = COUNT_OF(kinds) };
  uint32_t families[KINDS][DIFF_FAMILY_LEVELS];
  for (size_t i = 0; i < KINDS; i++) {
    diff_families(kinds[i].method, kinds[i].path, kinds[i].size_bytes, families[i]);
    for (size_t j = 0; j < i; j++) {
      const bool method = strcmp(kinds[i].method, kinds[j].method) == 0;
      const bool path = method && strcmp(kinds[i].path, kinds[j].path) == 0;
      assert_int_equal(families[i][2] == families[j][2], method);
      assert_int_equal(families[i][1] == families[j][1], path);
      assert_int_not_equal(families[i][0], families[j][0]);
    }
  }
  diff_families("ce", "host to gpu", 65535, families[1]);
  assert_int_equal(families[0][0], families[1][0]);
}
