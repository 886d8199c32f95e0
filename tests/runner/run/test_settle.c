/* Which cases have another visit, and what becomes of a visit that goes wrong. */
#include "runner/run/settle.h"

#include "engine/case/transfer.h"
#include "runner/supervise/supervise.h"
#include "schema/scenario/scenario.h"
#include "tests/cmocka.h"

enum { CASES = 4, LOCAL = 3, TRIALS = 8 };

struct set {
  struct scenario scenario;
  struct flow flows[CASES];
  struct plan_case cases[CASES];
  struct plan plan;
  struct settle settle;
};

static int set_up(void **state) {
  struct set *set = memory_new(1, sizeof *set);
  set->scenario.run.settle_ns = 1;
  for (size_t i = 0; i < CASES; i++) {
    struct case_def *def = &set->cases[i].def;
    set->flows[i] = (struct flow){.source = {.place = i == LOCAL ? PLACE_GPU : PLACE_NUMA},
                                  .target = {.place = PLACE_GPU}};
    *def = (struct case_def){.kind = CASE_TRANSFER, .name = "case", .key = "key"};
    def->flows = &set->flows[i];
    def->flow_count = 1;
    def->measure =
        (struct measure){.trials_min = 6, .trials_max = 60, .precision = 0.002, .max_time_ns = 1};
  }
  set->plan = (struct plan){.scenario = &set->scenario, .cases = set->cases, .case_count = CASES};
  settle_init(&set->settle, &set->plan, false);
  *state = set;
  return 0;
}

static int tear_down(void **state) {
  SCOPED(memory_free) struct set *set = *state;
  settle_fini(&set->settle);
  return 0;
}

struct visit {
  uint32_t number; /* in this session */
  double ns, scatter;
  uint32_t flow;       /* whose times are recorded */
  uint32_t iterations; /* 0 = 1 */
  enum case_status status;
  bool killed;
};

/* Half of its trials take as long, the others longer by up to that share. */
static bool add(struct set *set, size_t case_index, struct visit visit, struct case_report *whole) {
  static struct trial trials[TRIALS];
  static struct flow_trial flow_trials[TRIALS];
  static struct case_outcome outcome;
  outcome = (struct case_outcome){.status = visit.status, .stop = STOP_TIME};
  const uint32_t iterations = visit.iterations > 0 ? visit.iterations : 1;
  for (uint32_t i = 0; i < TRIALS; i++) {
    const double factor = 1 + (i % 2) * visit.scatter * i / TRIALS;
    trials[i] = (struct trial){.ordinal = i,
                               .phase = TRIAL_MEASURE,
                               .iterations = iterations,
                               .elapsed_ns = (uint64_t)(visit.ns * factor) * iterations};
    flow_trials[i] = (struct flow_trial){.ordinal = i, .flow = visit.flow, .elapsed_ns = 1};
  }
  const struct case_report report = {.case_index = case_index,
                                     .visit = visit.number,
                                     .outcome = &outcome,
                                     .trials = trials,
                                     .trial_count = TRIALS,
                                     .flow_trials = flow_trials,
                                     .flow_trial_count = TRIALS,
                                     .killed = visit.killed};
  return settle_add(&set->settle, &report, whole);
}

static void first_round(struct set *set, const double scatter[CASES]) {
  struct case_report whole;
  for (size_t i = 0; i < CASES; i++) {
    assert_true(add(set, i, (struct visit){.ns = 1e6, .scatter = scatter[i]}, &whole));
    assert_int_equal(whole.trial_count, TRIALS);
    assert_int_equal(whole.recorded_trials, 0);
  }
}

static void assert_open(struct set *set, const bool open[CASES]) {
  for (size_t i = 0; i < CASES; i++) {
    assert_int_equal(settle_is_open(&set->settle, NULL, 0, i), open[i]);
  }
}

TEST_WITH(a_quiet_host_is_not_visited_again, set_up, tear_down, struct set *set) {
  first_round(set, (double[]){0, 0, 0.004, 0});
  assert_open(set, (bool[]){false, false, false, false});
}

/* One of three is many; within a GPU nobody else is at work. */
TEST_WITH(on_a_noisy_host_precise_cases_are_confirmed, set_up, tear_down, struct set *set) {
  struct case_report whole;
  first_round(set, (double[]){0.2, 0, 0, 0});
  assert_open(set, (bool[]){true, true, true, false});
  assert_true(add(set, 1, (struct visit){.number = 1, .ns = 1e6}, &whole));
  assert_int_equal(whole.visits->settled, SETTLED_YES);
  assert_true(whole.visits->narrows);
  assert_int_equal(whole.trial_count, 2 * TRIALS);
  assert_int_equal(whole.flow_trial_count, 2 * TRIALS);
  assert_int_equal(whole.recorded_trials, TRIALS);
  assert_int_equal(whole.recorded_flow_trials, TRIALS);
  assert_int_equal(whole.trials[TRIALS].ordinal, TRIALS);
  assert_int_equal(whole.trials[TRIALS].visit, 1);
  assert_int_equal(whole.flow_trials[TRIALS].ordinal, TRIALS);
  for (uint32_t visit = 2; visit <= VISITS_PATIENCE; visit++) {
    assert_open(set, (bool[]){true, true, true, false});
    assert_true(add(set, 1, (struct visit){.number = visit, .ns = 1e6}, &whole));
  }
  assert_int_equal(whole.visits->settled, SETTLED_YES);
  assert_open(set, (bool[]){true, false, true, false});
}

/* Its own trials vary by 20 %, those of the copies back do not: each is 1 ns long. */
TEST_WITH(a_load_in_the_other_direction_makes_a_case_precise, set_up, tear_down, struct set *set) {
  struct case_report whole;
  struct flow flows[2] = {
      set->flows[0],
      {.role = FLOW_LOAD, .source = set->flows[0].target, .target = set->flows[0].source}};
  set->cases[0].def.flows = flows;
  set->cases[0].def.flow_count = 2;
  assert_true(add(set, 0, (struct visit){.ns = 1e6, .scatter = 0.05, .flow = 1}, &whole));
  assert_int_equal(whole.visits->settled, SETTLED_YES);
  assert_true(whole.visits->precise);
  struct visit other = {.ns = 2e6, .scatter = 0.05, .flow = 1, .iterations = 2};
  for (other.number = 1; other.number <= 2; other.number++) { /* that load has another rate */
    assert_true(add(set, 0, other, &whole));
  }
  assert_true(whole.visits->low_ns > 1.9e6);
  set->settle.cases[0].visits.trial_count = 0;
  set->settle.cases[0].visits.flow_trial_count = 0;
  flows[1].target.index++; /* elsewhere */
  assert_true(add(set, 0, (struct visit){.ns = 1e6, .scatter = 0.05, .flow = 1}, &whole));
  assert_false(whole.visits->precise);
}

/* Of two measured directions, the one from the GPU is the steady one. */
TEST_WITH(a_measured_flow_in_the_other_direction_makes_a_case_precise, set_up, tear_down,
          struct set *set) {
  struct case_report whole;
  struct flow flows[2] = {set->flows[0],
                          {.source = set->flows[0].target, .target = set->flows[0].source}};
  set->cases[0].def.flows = flows;
  set->cases[0].def.flow_count = 2;
  for (uint32_t flow = 0; flow < 2; flow++) { /* the times of the other are 0 */
    assert_true(add(set, 0, (struct visit){.ns = 1e6, .scatter = 0.2, .flow = flow}, &whole));
    assert_int_equal(whole.visits->precise, flow == 1);
    set->settle.cases[0].visits.trial_count = 0;
    set->settle.cases[0].visits.flow_trial_count = 0;
  }
}

/* Others use the links to the host, and not those between GPUs. */
TEST_WITH(what_disturbs_the_host_leaves_links_between_gpus_alone, set_up, tear_down,
          struct set *set) {
  set->flows[1].source = set->flows[2].source = (struct endpoint){.place = PLACE_GPU, .index = 1};
  first_round(set, (double[]){0.2, 0, 0, 0});
  assert_open(set, (bool[]){true, false, false, false});
  set->settle.looked = false;
  set->flows[2].staged = true; /* through the host */
  assert_open(set, (bool[]){true, false, true, false});
}

/* Nothing disturbed the second visits: the first one met a short episode. */
TEST_WITH(a_host_that_is_hardly_disturbed_is_left_alone, set_up, tear_down, struct set *set) {
  struct case_report whole;
  first_round(set, (double[]){0.2, 0, 0, 0});
  for (size_t i = 0; i < LOCAL; i++) {
    assert_open(set, (bool[]){true, true, true, false});
    assert_true(add(set, i, (struct visit){.number = 1, .ns = 1e6}, &whole));
  }
  assert_open(set, (bool[]){false, false, false, false});
  set->settle.doubted = true; /* a link that fell short is not judged by two visits */
  assert_open(set, (bool[]){true, true, true, false});
}

/* What fell short once may have met an episode that slowed all of it alike, and so may all visits
 * of a second. */
TEST_WITH(precise_cases_that_fell_short_have_all_their_visits, set_up, tear_down, struct set *set) {
  struct case_report whole;
  set->settle.doubted = true;
  first_round(set, (double[]){0, 0, 0, 0});
  for (uint32_t visit = 1; visit < VISITS_MAX; visit++) {
    assert_open(set, (bool[]){true, true, true, false});
    assert_true(add(set, 1, (struct visit){.number = visit, .ns = 1e6}, &whole));
  }
  assert_int_equal(whole.visits->settled, SETTLED_YES);
  assert_open(set, (bool[]){true, false, true, false});
}

TEST_WITH(another_process_begins_anew, set_up, tear_down, struct set *set) {
  first_round(set, (double[]){0.2, 0, 0, 0});
  assert_open(set, (bool[]){true, true, true, false});
  for (size_t i = 0; i < CASES; i++) {
    assert_false(settle_is_open(&set->settle, NULL, 1, i));
  }
}

TEST_WITH(a_visit_that_failed_leaves_the_case_as_it_was, set_up, tear_down, struct set *set) {
  static const struct visit rows[] = {
      {.number = 1, .ns = 1e6, .status = CASE_FAILED},
      {.number = 1, .ns = 1e6, .status = CASE_SKIPPED},
      {.number = 1, .ns = 1, .status = CASE_CRASHED, .killed = true}};
  struct case_report whole;
  first_round(set, (double[]){0.2, 0.2, 0.2, 0.2});
  assert_open(set, (bool[]){true, true, true, true});
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    assert_false(add(set, i, rows[i], &whole));
  }
  assert_open(set, (bool[]){false, false, false, true});
}

TEST_WITH(a_visit_that_crashed_says_so_of_the_case, set_up, tear_down, struct set *set) {
  struct case_report whole;
  first_round(set, (double[]){0.2, 0.2, 0.2, 0.2});
  assert_open(set, (bool[]){true, true, true, true});
  assert_true(add(set, 0, (struct visit){.number = 1, .ns = 1e6, .status = CASE_CRASHED}, &whole));
  assert_int_equal(whole.trial_count, 2 * TRIALS);
  assert_int_equal(whole.visits->settled, SETTLED_NOT);
  assert_int_equal(whole.visits->visits, 2);
  assert_open(set, (bool[]){false, true, true, true});
}

/* It is noisy and says nothing of the host: others decide when it is visited, and when it is not.
 */
TEST_WITH(a_case_with_a_number_of_trials_is_visited_beside_others, set_up, tear_down,
          struct set *set) {
  struct case_report whole;
  set->cases[1].def.measure.trials_min = set->cases[1].def.measure.trials_max;
  first_round(set, (double[]){0, 0.2, 0, 0});
  assert_open(set, (bool[]){false, false, false, false});
  set->settle.looked = false;
  set->settle.cases[0].visits.trial_count = 0;
  set->settle.cases[1].visits.trial_count = 0;
  assert_true(add(set, 0, (struct visit){.ns = 1e6, .scatter = 0.2}, &whole));
  assert_true(add(set, 1, (struct visit){.ns = 1e6, .scatter = 0.2}, &whole));
  assert_int_equal(whole.visits->settled, SETTLED_NOT); /* as if there were no visits */
  assert_int_equal(whole.visits->visits, 1);
  assert_false(whole.visits->undisturbed_ns > 0);
  for (uint32_t visit = 1; visit < 2 * SETTLE_ROUNDS; visit++) {
    assert_open(set, (bool[]){true, false, true, false});
    assert_true(add(set, 0, (struct visit){.number = visit, .ns = 1e6 * (1 + visit)}, &whole));
    if ((visit + 1) % SETTLE_ROUNDS == 0) {
      assert_open(set, (bool[]){true, true, true, false});
      assert_true(add(set, 1, (struct visit){.number = visit, .ns = 1e6}, &whole));
      assert_int_equal(whole.visits->visits, 1 + (visit + 1) / SETTLE_ROUNDS);
      assert_true(whole.visits->undisturbed_ns > 0);
    }
  }
  assert_true(add(set, 2, (struct visit){.number = 1, .ns = 1e6}, &whole));
  set->settle.cases[0].found.settled = SETTLED_NOISE; /* the last one is over */
  set->settle.cases[0].found.narrows = false;
  assert_open(set, (bool[]){false, false, false, false});
}

TEST_WITH(who_asks_for_so_many_trials_has_them_and_no_visit, set_up, tear_down, struct set *set) {
  set->cases[0].def.measure.trials_min = 60;
  set->cases[1].def.measure.trials_max = 5;
  set->cases[2].def.measure.min_time_ns = 1;
  first_round(set, (double[]){0.2, 0.2, 0.2, 0.2});
  assert_open(set, (bool[]){false, false, false, true});
  set->settle.wanted = false;
  set->settle.looked = false;
  first_round(set, (double[]){0.2, 0.2, 0.2, 0.2});
  assert_open(set, (bool[]){false, false, false, false});
}

TEST_WITH(what_fell_short_is_visited_whatever_was_asked, set_up, tear_down, struct set *set) {
  struct case_report whole;
  set->cases[0].def.measure.trials_min = 60;
  set->cases[1].def.measure.trials_max = 5;
  set->cases[2].def.measure.min_time_ns = 1;
  set->cases[LOCAL].def.measure.trials_min = 60;
  set->settle.doubted = true;
  first_round(set, (double[]){0.2, 0.2, 0.2, 0.2});
  assert_open(set, (bool[]){true, true, true, true});
  for (uint32_t visit = 1; visit < VISITS_MAX; visit++) {
    for (size_t i = 0; i < CASES; i++) {
      assert_true(settle_is_open(&set->settle, NULL, 0, i) || i == LOCAL);
      assert_true(add(set, i, (struct visit){.number = visit, .ns = 1e6}, &whole));
      assert_true(whole.visits->undisturbed_ns > 0);
    }
  }
  assert_open(set, (bool[]){false, false, false, false});
}
