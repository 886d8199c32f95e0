#include "engine/case/visits.h"

#include "tests/cmocka.h"

#include <math.h>

enum { TRIALS = 12 };

static void assert_near(double found, double expected, double tolerance) {
  assert_true(fabs(found - expected) <= tolerance);
}

/* A visit per level: half of its trials at that level, the others slower by those shares. */
static void judge(const double *levels, size_t visits, bool noisy, double slower,
                  struct visits_found *found) {
  struct trial trials[VISITS_MAX * (TRIALS + 1)] = {{0}};
  size_t count = 0;
  for (uint32_t visit = 0; visit < visits; visit++) {
    for (unsigned i = 0; i < TRIALS; i++) {
      const double factor = i % 2 == 0 ? 1 : 1 + slower * i;
      trials[count++] = (struct trial){.visit = visit,
                                       .phase = TRIAL_MEASURE,
                                       .iterations = 2,
                                       .elapsed_ns = (uint64_t)(2000 * levels[visit] * factor)};
    }
    trials[count++] =
        (struct trial){.visit = visit, .phase = TRIAL_WARMUP, .iterations = 1, .elapsed_ns = 1};
  }
  visits_judge(trials, NULL, count, 0.002, noisy, found);
  assert_int_equal(found->visits, visits);
}

TEST(the_rate_is_what_several_visits_agree_on) {
  struct visits_found found;
  judge((double[]){1200, 1000, 1000.5, 1001}, 4, false, 0.011, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1000500, 1); /* the mean of the last three */
  assert_near(found.high_ns, 1001000, 1);
  assert_near(found.low_ns, 998000, 1); /* twice their span before the fastest */
  /* All of the first visit, and five of twelve trials in the others. */
  assert_near(found.disturbed_share, 27.0 / 48, 1e-9);
  assert_near(found.disturbed_most, 1200 * 1.121 / 1000 - 1, 0.001);
}

TEST(two_that_agree_on_a_noisy_host_may_share_an_episode) {
  struct visits_found found;
  const double levels[] = {1100, 1100, 1100, 1000, 1000, 1000};
  judge(levels, 3, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_true(found.narrows); /* where many cases are open */
  assert_near(found.undisturbed_ns, 1100000, 1);
  judge(levels, 4, true, 0, &found);
  assert_near(found.undisturbed_ns, 0, 0); /* 1000 and twice 1100 */
  judge(levels, 5, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  judge(levels, 6, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_false(found.narrows);
  assert_near(found.undisturbed_ns, 1000000, 1);
}

TEST(one_fast_visit_is_not_believed) {
  struct visits_found found;
  judge((double[]){1000, 1100, 1101, 1100}, 4, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
  judge((double[]){1100, 1092, 1101, 1100}, 4, false, 0.01, &found); /* the interval holds both */
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_true(found.low_ns < 1092000 && found.high_ns > 1100000 - 1);
}

TEST(a_neighbour_who_never_rests_leaves_no_number) {
  struct visits_found found;
  double levels[VISITS_MAX];
  for (unsigned i = 0; i < VISITS_MAX; i++) {
    levels[i] = 1100 + (i % 2 == 0 ? 10.0 : -10.0) * i;
  }
  judge(levels, VISITS_MAX, true, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_NOISE);
  assert_near(found.undisturbed_ns, 0, 0);
  assert_near(found.disturbed_share, 0, 0);
}

/* Trials of evenly spread times: the faster, the rarer. */
TEST(a_level_of_few_trials_is_chance) {
  struct visits_found found;
  struct trial trials[4 * TRIALS];
  for (unsigned i = 0; i < 4 * TRIALS; i++) {
    trials[i] = (struct trial){.visit = i / TRIALS,
                               .phase = TRIAL_MEASURE,
                               .iterations = 1,
                               .elapsed_ns = 1000000 + 15000 * (i % TRIALS)};
  }
  for (size_t visits = 2; visits <= 4; visits++) {
    visits_judge(trials, NULL, visits * TRIALS, 0.002, false, &found);
    assert_int_equal(found.settled, SETTLED_BUDGET);
    assert_near(found.undisturbed_ns, 0, 0);
  }
}

TEST(too_few_trials_leave_no_number) {
  struct visits_found found;
  struct trial trials[3];
  for (unsigned i = 0; i < 3; i++) {
    trials[i] =
        (struct trial){.visit = i, .phase = TRIAL_MEASURE, .iterations = 1, .elapsed_ns = 1000000};
  }
  visits_judge(trials, NULL, 3, 0.002, true, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
}

TEST(levels_that_drift_have_a_wide_interval) {
  struct visits_found found;
  judge((double[]){1000, 1012, 1024, 1036, 1048}, 5, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
  judge((double[]){1048, 1036, 1024, 1012, 1000}, 5, false, 0.01, &found); /* warms up */
  assert_near(found.undisturbed_ns, 0, 0);
  judge((double[]){1004, 1003, 1002, 1001, 1000}, 5, false, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_true(found.narrows);
  assert_true(found.low_ns < 1000000 && found.high_ns - found.low_ns > 4000);
}

TEST(the_fast_one_of_two_levels_is_taken_if_it_comes_back) {
  struct visits_found found;
  judge((double[]){1030, 1000, 1030, 1000, 1000, 1030, 1030}, 7, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1000000, 1);
  assert_near(found.disturbed_share, 4.0 / 7, 1e-9);
}

/* Undisturbed trials vary by 0.8 %. On the noisy host, every second one is disturbed. */
TEST(the_rate_is_that_of_a_quiet_host) {
  struct visits_found quiet;
  struct visits_found noisy;
  struct trial trials[6 * TRIALS];
  for (unsigned i = 0; i < COUNT_OF(trials); i++) {
    const unsigned step = i * 7 % TRIALS;
    trials[i] = (struct trial){.visit = i / TRIALS,
                               .phase = TRIAL_MEASURE,
                               .iterations = 1,
                               .elapsed_ns = 1000000 + 8000 * step / (TRIALS - 1)};
  }
  visits_judge(trials, NULL, TRIALS, 0.005, false, &quiet);
  assert_near(quiet.undisturbed_ns, 1004000, 100);
  for (unsigned i = 0; i < COUNT_OF(trials); i++) {
    const bool disturbed = (i / 3 + i / TRIALS) % 2 == 0;
    trials[i].elapsed_ns += disturbed ? 100000 + 1000 * i : 0;
  }
  visits_judge(trials, NULL, COUNT_OF(trials), 0.005, true, &noisy);
  assert_near(noisy.undisturbed_ns / quiet.undisturbed_ns, 1, 0.001);
  assert_near(noisy.disturbed_share, 0.5, 1e-9);
  assert_true(noisy.high_ns >= noisy.undisturbed_ns);
}

/* Most of the trials of others who never rest are slow, and the fast ones may agree by chance. Here
 * they agree within half a percent. */
TEST(the_rarer_undisturbed_trials_are_the_more_closely_they_agree) {
  struct visits_found found;
  struct trial trials[4 * TRIALS];
  for (unsigned disturbed = 0; disturbed < TRIALS - 2; disturbed++) {
    for (unsigned i = 0; i < 4 * TRIALS; i++) {
      const bool fast = i % TRIALS >= disturbed;
      trials[i] = (struct trial){.visit = i / TRIALS,
                                 .phase = TRIAL_MEASURE,
                                 .iterations = 1,
                                 .elapsed_ns = fast ? 1000000 + 3300 * (i % 2) : 1040000 + i};
    }
    visits_judge(trials, NULL, COUNT_OF(trials), 0.002, true, &found);
    const double half_width = 0.0033 * 3 / 2;
    const double undisturbed = (double)(TRIALS - disturbed) / TRIALS;
    const bool known = half_width <= VISITS_WIDE * undisturbed * undisturbed;
    assert_near(found.undisturbed_ns, known ? 1001650 : 0, 600);
    assert_int_equal(known, disturbed <= 7);
  }
}

/* Copies to a GPU while others leave it: they vary by 10 %, the load does not but where others are
 * at work. */
TEST(the_load_says_what_is_undisturbed) {
  struct visits_found found;
  struct trial trials[VISITS_MAX * TRIALS];
  double load_ns[VISITS_MAX * TRIALS];
  for (unsigned i = 0; i < VISITS_MAX * TRIALS; i++) {
    const bool disturbed = i / TRIALS == 1;
    trials[i] =
        (struct trial){.visit = i / TRIALS,
                       .phase = TRIAL_MEASURE,
                       .iterations = 1,
                       .elapsed_ns = (disturbed ? 1500000 : 1000000) + 10000 * (i % TRIALS)};
    load_ns[i] = (disturbed ? 1200000 : 1100000) + 100 * (i % TRIALS);
  }
  visits_judge(trials, load_ns, TRIALS, 0.002, false, &found); /* a quiet host */
  assert_true(found.precise);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1055000, 1); /* the median */
  assert_near(found.low_ns, 1000000, 1);
  visits_judge(trials, NULL, TRIALS, 0.002, false, &found);
  assert_false(found.precise);
  assert_near(found.undisturbed_ns, 0, 0);
  for (size_t visits = 4; visits <= VISITS_MAX; visits++) {
    visits_judge(trials, load_ns, visits * TRIALS, 0.002, false, &found);
    assert_int_equal(found.settled, SETTLED_YES);
    visits_judge(trials, load_ns, visits * TRIALS, 0.002, true, &found); /* it may drift */
    assert_int_equal(found.settled, visits < VISITS_MAX ? SETTLED_BUDGET : SETTLED_NOISE);
    assert_near(found.undisturbed_ns, 1055000, 1);
    assert_near(found.low_ns, 1055000, 1);
    assert_near(found.high_ns, 1055000, 1);
    assert_near(found.disturbed_share, 1.0 / (double)visits, 1e-9);
    assert_near(found.disturbed_most, 1610000 / found.undisturbed_ns - 1, 1e-6);
  }
  visits_judge(trials, NULL, COUNT_OF(trials), 0.002, true, &found);
  assert_near(found.undisturbed_ns, 0, 0);
  for (unsigned i = 0; i < 2 * TRIALS; i++) {
    load_ns[i] = 0; /* two visits that cannot be compared with the others */
  }
  for (size_t visits = 2; visits <= VISITS_MAX; visits++) {
    visits_judge(trials, load_ns, visits * TRIALS, 0.002, true, &found);
    assert_false(found.precise); /* which would be of the first visit */
    assert_near(found.undisturbed_ns, visits < 4 ? 0 : 1055000, 1);
    assert_near(found.disturbed_share, 0, 0);
    assert_int_equal(found.settled, visits < VISITS_MAX ? SETTLED_BUDGET : SETTLED_NOISE);
    assert_int_equal(found.narrows, visits < VISITS_MAX && visits - 2 <= VISITS_PATIENCE);
  }
}

/* Of every third trial, when the load is fast. */
TEST(a_load_that_is_fast_when_the_others_are_slow_tells_nothing) {
  struct visits_found found;
  struct trial trials[4 * TRIALS];
  double load_ns[4 * TRIALS];
  for (unsigned slow_ns = 1000000; slow_ns <= 1300000; slow_ns += 300000) {
    for (unsigned i = 0; i < 4 * TRIALS; i++) {
      trials[i] =
          (struct trial){.visit = i / TRIALS,
                         .phase = TRIAL_MEASURE,
                         .iterations = 1,
                         .elapsed_ns = i % 3 == 0 ? slow_ns : 1000000 + 20000 * (i % TRIALS)};
      load_ns[i] = i % 3 == 0 ? 1000000 : 1100000;
    }
    visits_judge(trials, load_ns, COUNT_OF(trials), 0.002, true, &found);
    assert_near(found.undisturbed_ns, slow_ns == 1000000 ? 1000000 : 0, 1);
  }
}

TEST(one_visit_is_enough_on_a_quiet_host) {
  struct visits_found found;
  judge((double[]){1000}, 1, false, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_true(found.precise);
  assert_near(found.undisturbed_ns, 1000000, 1);
  assert_true(found.low_ns <= found.undisturbed_ns && found.undisturbed_ns <= found.high_ns);
  judge((double[]){1000}, 1, false, 0.001, &found); /* the median is 0.3 % above the second */
  assert_int_equal(found.settled, SETTLED_YES);
  assert_false(found.precise);
  assert_near(found.undisturbed_ns, 1002000, 3000);
  assert_near(found.low_ns, 1000000, 1);
  judge((double[]){1000}, 1, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
}

TEST(a_precise_visit_on_a_noisy_host_is_confirmed_by_others) {
  struct visits_found found;
  for (size_t visits = 1; visits <= VISITS_PATIENCE + 1; visits++) {
    judge((double[]){1000, 1001, 1000, 1001}, visits, true, 0, &found);
    assert_int_equal(found.settled, visits > 1 ? SETTLED_YES : SETTLED_BUDGET);
    assert_int_equal(found.narrows, visits <= VISITS_PATIENCE);
    assert_near(found.undisturbed_ns, 1000000, 1000);
  }
  judge((double[]){1050, 1000}, 2, true, 0, &found); /* an even episode */
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
}

TEST(a_host_is_noisy_if_many_cases_are_imprecise_or_some_are_disturbed) {
  assert_true(visits_is_noisy(9, 2, 0));
  assert_false(visits_is_noisy(9, 1, 0));
  assert_true(visits_is_noisy(9, 1, 1));
  assert_false(visits_is_noisy(16, 3, 1));
  assert_false(visits_is_noisy(0, 0, 0));
  assert_true(visits_is_disturbed(&(struct visits_found){.undisturbed_ns = 0}));
  assert_true(
      visits_is_disturbed(&(struct visits_found){.undisturbed_ns = 1, .disturbed_share = 0.3}));
  assert_false(
      visits_is_disturbed(&(struct visits_found){.undisturbed_ns = 1, .disturbed_share = 0.2}));
}

/* Of eight cases that cross a link, as nvbandwidth has for one GPU. */
TEST(settled_cases_are_visited_while_many_are_open) {
  static const struct {
    struct visits_found found;
    bool beside_many, alone;
  } rows[] = {
      {{.settled = SETTLED_YES}, false, false},
      {{.settled = SETTLED_YES, .narrows = true}, true, false},
      {{.settled = SETTLED_BUDGET, .visits = VISITS_PATIENCE, .undisturbed_ns = 1}, true, true},
      {{.settled = SETTLED_BUDGET, .visits = VISITS_PATIENCE + 1, .undisturbed_ns = 1},
       true,
       false},
      {{.settled = SETTLED_BUDGET, .visits = VISITS_PATIENCE + 1}, true, true},
      {{.settled = SETTLED_NOISE}, false, false},
      {{.settled = SETTLED_NOT}, false, false}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    assert_int_equal(visits_is_open(&rows[i].found, 8, 2), rows[i].beside_many);
    assert_int_equal(visits_is_open(&rows[i].found, 0, 0), rows[i].beside_many);
    assert_int_equal(visits_is_open(&rows[i].found, 8, 1), rows[i].alone);
  }
}

TEST(a_rate_is_settled_if_it_is_close_for_its_disturbance) {
  struct visits_found found;
  judge((double[]){1000, 1008, 1000, 1008}, 4, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES); /* +/- 1.2 % */
  judge((double[]){1000, 1008, 1000, 1100}, 4, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET); /* a quarter is disturbed */
  assert_near(found.undisturbed_ns, 1002667, 1);
}

TEST(later_visits_are_shorter) {
  const struct measure nvbandwidth = {
      .trials_min = 12, .trials_max = 60, .max_time_ns = 100000000, .min_trial_ns = 8000000};
  struct measure measure = nvbandwidth;
  visits_shorten(&measure, 7);
  assert_int_equal(measure.iterations, 4);
  assert_int_equal(measure.max_time_ns, 25000000);
  assert_int_equal(measure.trials_min, VISITS_VOTES);
  measure = nvbandwidth;
  visits_shorten(&measure, 1);
  assert_int_equal(measure.iterations, 1);
  measure = nvbandwidth;
  measure.min_trial_ns = 400000; /* short ones stay */
  visits_shorten(&measure, 7);
  assert_int_equal(measure.iterations, 0);
  measure.iterations = 3; /* as the scenario says */
  visits_shorten(&measure, 3);
  assert_int_equal(measure.iterations, 3);
}

TEST(without_trials_there_is_nothing) {
  struct visits_found found;
  visits_judge(NULL, NULL, 0, 0.002, false, &found);
  assert_int_equal(found.settled, SETTLED_NOT);
  assert_int_equal(found.visits, 0);
}
