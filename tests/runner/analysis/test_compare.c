/* Every verdict from data made by hand, and what is told apart before anything is judged. */
#include "runner/analysis/compare.h"
#include "runner/analysis/definition.h"
#include "tests/runner/analysis/made.h"

RELEASE(comparison_free, struct comparison)

enum { MIB = 1 << 20 };

static const struct compare_options OPTIONS = {
    .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
static const enum side A_AND_B[] = {SIDE_A, SIDE_B};

static const struct comparison_row *find(const struct results *m,
                                         const struct comparison *comparison, const char *key) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    if (strcmp(m->cases[comparison->rows[i].bench].key, key) == 0) {
      return &comparison->rows[i];
    }
  }
  fail_msg("no row of case %s", key);
  return NULL;
}

static struct comparison *compared(const struct results *m, const enum side *sides,
                                   const struct compare_options *options) {
  struct comparison *comparison = NULL;
  struct error err = {0};
  assert_ok(compare(m, sides, options, &comparison, &err), &err);
  return comparison;
}

/* Five processes per side of one case, in GB/s on each. */
static size_t add_case(struct results *m, const char *key, int gpu, double a, double b) {
  const size_t bench = made_case(m, key, "block", gpu, MIB);
  made_medians(m, bench, 0, a, 5);
  made_medians(m, bench, 1, b, 5);
  return bench;
}

/* Runs 0 and 1 on one machine, under two drivers. */
static struct results *two_drivers(void) {
  struct results *m = results_new();
  const size_t a = made_environment(m, "node", "580.1", false);
  const size_t b = made_environment(m, "node", "590.1", false);
  m->environments[b].gpus = m->environments[a].gpus;
  made_run(m, a);
  made_run(m, b);
  return m;
}

/* The same drivers in four runs each. */
static const enum side IN_TURN[] = {[1] = SIDE_B, [3] = SIDE_B, [5] = SIDE_B, [7] = SIDE_B};
static struct results *drivers_in_turn(void) {
  struct results *m = two_drivers();
  while (m->run_count < COUNT_OF(IN_TURN)) {
    (void)made_run(m, m->run_count % 2);
  }
  return m;
}

TEST(each_verdict_is_found) {
  static const struct {
    const char *key;
    double a, b; /* GB/s */
    unsigned a_processes, b_processes;
    enum verdict verdict;
  } CASES[] = {
      {"a", 50, 48.5, 5, 5, VERDICT_REGRESSED}, {"b", 50, 51.5, 5, 5, VERDICT_IMPROVED},
      {"c", 50, 50.02, 5, 5, VERDICT_SAME},     {"d", 50, 0, 5, 0, VERDICT_MISSING},
      {"e", 0, 50, 0, 5, VERDICT_NEW},          {"f", 50, 48, 1, 1, VERDICT_INSUFFICIENT},
  };
  SCOPED(results_free_at) struct results *m = two_drivers();
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const size_t bench = made_case(m, CASES[i].key, "block", (int)i % MADE_GPUS, (i + 1) * MIB);
    made_medians(m, bench, 0, CASES[i].a, CASES[i].a_processes);
    made_medians(m, bench, 1, CASES[i].b, CASES[i].b_processes);
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->row_count, COUNT_OF(CASES));
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const struct comparison_row *row = find(m, comparison, CASES[i].key);
    assert_string_equal(verdict_text(row->result.verdict), verdict_text(CASES[i].verdict));
    assert_int_equal(row->sides[SIDE_A].processes, CASES[i].a_processes);
    assert_int_equal(row->sides[SIDE_B].processes, CASES[i].b_processes);
  }
  const struct comparison_row *worst = &comparison->rows[0]; /* first */
  assert_int_equal(worst->result.verdict, VERDICT_REGRESSED);
  assert_int_equal(comparison->rows[5].result.verdict, VERDICT_SAME);
  assert_true(fabs(worst->sides[SIDE_A].value - 50) < 0.05);
  assert_true(fabs(worst->change - -0.03) < 0.002);
  assert_true(isnan(worst->change_low));                           /* one run each */
  assert_int_equal(comparison->units_needed, DIFF_PROCESSES_FIRM); /* of one process a side */
  assert_int_equal(comparison->units_least[SIDE_A], 1);
  assert_int_equal(comparison->fact_count, 1); /* the drivers */
  assert_string_equal(comparison->facts[0].name, "driver_version");
  assert_string_equal(comparison->facts[0].values[SIDE_B], "590.1");
  assert_int_equal(comparison->totals[SIDE_A].gpus, MADE_GPUS);
  assert_int_equal(comparison->totals[SIDE_A].boots, 1);
}

/* Medians of processes on a host that others use, in GB/s, and the rates that came back. */
static const double TYPICAL[SIDES][5] = {{52.06, 54.84, 54.90, 54.73, 52.78},
                                         {48.36, 54.86, 52.82, 54.71, 54.95}};
static const double UNDISTURBED[SIDES][5] = {{55.00, 54.97, 55.00, 54.99, 54.98},
                                             {55.01, 55.00, 54.98, 54.97, 55.00}};

static void add_visited(struct results *m, const char *key, double typical_b, double undisturbed_b,
                        bool noisy) {
  const size_t bench = made_case(m, key, "block", 0, MIB);
  const double factors[SIDES][2] = {{1, 1}, {typical_b, undisturbed_b}};
  for (uint32_t s = 0; s < SIDES; s++) {
    for (size_t i = 0; i < 5; i++) {
      const double typical = (noisy ? TYPICAL : UNDISTURBED)[s][i] * (noisy ? 1 : 0.98);
      const double units = (double)m->cases[bench].units;
      made_median(
          m, (struct results_median){.run = s,
                                     .bench = (uint32_t)bench,
                                     .process = (int64_t)(1 + i + 100 * s),
                                     .ns = units / (typical * factors[s][0]),
                                     .undisturbed_ns = units / (UNDISTURBED[s][i] * factors[s][1]),
                                     .status = CASE_OK});
    }
  }
}

/* A link that is 3 % slower behind noise that hides it; and noise that slows what programs get. */
TEST(visits_tell_a_link_from_its_noise) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  add_visited(m, "a", 0.97, 0.97, true);
  add_visited(m, "b", 0.95, 1, false);
  add_visited(m, "c", 0.95, 0.97, false);
  add_visited(m, "d", 1, 1, true);
  (void)add_case(m, "e", 0, 50, 48.5);
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  static const struct {
    const char *key;
    bool regressed;
    enum moved moved;
    double change, undisturbed; /* of the row; of the link, NAN = not known */
  } ROWS[] = {{"a", true, MOVED_UNDISTURBED, -0.03, -0.03},
              {"b", true, MOVED_TYPICAL, -0.05, 0},
              {"c", true, MOVED_BOTH, -0.03, -0.03},
              {"d", false, MOVED_UNKNOWN, -0.014, 0},
              {"e", true, MOVED_UNKNOWN, -0.03, NAN}};
  for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
    const struct comparison_row *row = find(m, comparison, ROWS[i].key);
    assert_int_equal(row->result.verdict == VERDICT_REGRESSED, ROWS[i].regressed);
    assert_int_equal(row->moved, ROWS[i].moved);
    assert_true(fabs(row->change - ROWS[i].change) < 0.002);
    assert_true(fabs(row->sides[SIDE_B].value / row->sides[SIDE_A].value - 1 - ROWS[i].change) <
                0.002);
    assert_int_equal(row->rates == NULL, isnan(ROWS[i].undisturbed));
    if (row->rates != NULL) {
      const struct rate_change *link = &row->rates->of[RATE_UNDISTURBED];
      assert_true(fabs(link->change - ROWS[i].undisturbed) < 0.002);
      assert_true(fabs(link->values[SIDE_A] - 54.99) < 0.02);
    }
    assert_int_equal(comparison_row_is_noise(row), row->moved == MOVED_TYPICAL);
  }
  const struct comparison_row *both = find(m, comparison, "c");
  assert_true(fabs(both->rates->of[RATE_TYPICAL].change - -0.05) < 0.002);
  /* Two questions of each visited case, and one of the other, under one false discovery rate. */
  assert_int_equal(comparison->summary.tests, 9);
}

/* A group is of typical rates, and knows how many links did not change. */
TEST(a_group_counts_the_links_that_are_the_same) {
  static const char *const KEYS[] = {"a", "b", "c", "d"};
  SCOPED(results_free_at) struct results *m = two_drivers();
  for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
    add_visited(m, KEYS[i], 0.95, i == 3 ? 0.97 : 1, false);
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_true(comparison->group_count > 0);
  assert_int_equal(comparison->groups[0].kind, GROUP_ALL);
  assert_int_equal(comparison->groups[0].undisturbed, COUNT_OF(KEYS));
  assert_int_equal(comparison->groups[0].undisturbed_same, 3);
}

/* Noise hid the link from one run of B, so that its change is provisional; that of the case is not.
 */
TEST(a_firm_change_is_firm_where_the_link_tells_its_size) {
  SCOPED(results_free_at) struct results *m = drivers_in_turn();
  const size_t bench = made_case(m, "a", "block", 0, MIB);
  const double units = (double)m->cases[bench].units;
  for (uint32_t run = 0; run < m->run_count; run++) {
    const bool is_b = run % 2 == 1;
    made_median(m,
                (struct results_median){
                    .run = run,
                    .bench = (uint32_t)bench,
                    .process = run + 1,
                    .ns = units / (UNDISTURBED[is_b][run / 2] * (is_b ? 0.92 : 0.98)),
                    .undisturbed_ns =
                        run == 7 ? NAN : units / (UNDISTURBED[is_b][run / 2] * (is_b ? 0.97 : 1))});
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, IN_TURN, &OPTIONS);
  const struct comparison_row *row = &comparison->rows[0];
  assert_int_equal(row->moved, MOVED_BOTH);
  assert_true(fabs(row->change - -0.03) < 0.002);
  assert_true(row->rates->of[RATE_UNDISTURBED].result.is_provisional);
  assert_false(row->result.is_provisional);
  assert_int_equal(comparison->summary.provisional[VERDICT_REGRESSED], 0);
  assert_int_equal(comparison->to_decide, 0);
}

/* Each link is 0.4 % slower, which a clock of 32 ns hides: its interval knows that. */
TEST(undisturbed_rates_know_the_steps_of_the_clock) {
  static const char *const KEYS[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  SCOPED(results_free_at) struct results *m = drivers_in_turn();
  for (uint32_t i = 0; i < COUNT_OF(KEYS); i++) {
    (void)made_case(m, KEYS[i], "block", 0, MIB);
    for (uint32_t run = 0; run < m->run_count; run++) {
      const double ns = (2000 + 217 * i) * (run % 2 == 1 ? 1.004 : 1);
      made_median(m, (struct results_median){run, i, run + 1, ns * (1.1 + 0.01 * run),
                                             .undisturbed_ns = 32 * round(ns / 32)});
    }
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, IN_TURN, &OPTIONS);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct rate_change *link = &comparison->rows[i].rates->of[RATE_UNDISTURBED];
    assert_true(link->result.change_low < -0.004 && -0.004 < link->result.change_high);
  }
}

/* Of five processes per side, how many are not ok on each. */
TEST(a_case_that_is_less_often_ok_is_broken) {
  enum { NEVER = 6 }; /* it did not run in A */
  static const struct {
    const char *key;
    unsigned a_not_ok, b_not_ok;
    enum case_status status;
    enum verdict verdict;
  } CASES[] = {
      {"a", 0, 3, CASE_CORRUPT, VERDICT_BROKEN},     {"b", 0, 4, CASE_CRASHED, VERDICT_BROKEN},
      {"c", 2, 2, CASE_HUNG, VERDICT_SAME},          {"d", 2, 0, CASE_FAILED, VERDICT_SAME},
      {"e", 0, 5, CASE_FAILED, VERDICT_BROKEN},      {"f", 5, 5, CASE_FAILED, VERDICT_INCOMPARABLE},
      {"g", 5, 0, CASE_CORRUPT, VERDICT_BROKEN},     {"h", 0, 1, CASE_FAILED, VERDICT_SAME},
      {"i", 1, 2, CASE_CORRUPT, VERDICT_BROKEN},     {"j", 1, 2, CASE_HUNG, VERDICT_SAME},
      {"k", NEVER, 5, CASE_FAILED, VERDICT_BROKEN},  {"l", NEVER, 4, CASE_CRASHED, VERDICT_BROKEN},
      {"m", NEVER, 1, CASE_CORRUPT, VERDICT_BROKEN}, {"n", NEVER, 5, CASE_HUNG, VERDICT_BROKEN},
  };
  SCOPED(results_free_at) struct results *m = two_drivers();
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const size_t bench = made_case(m, CASES[i].key, "block", (int)i % MADE_GPUS, (i + 1) * MIB);
    const unsigned not_ok[SIDES] = {CASES[i].a_not_ok, CASES[i].b_not_ok};
    for (size_t s = 0; s < SIDES; s++) {
      if (not_ok[s] < 5) {
        made_medians(m, bench, s, 50, 5 - not_ok[s]);
      }
      made_not_ok(m, bench, s, CASES[i].status, not_ok[s] < NEVER ? not_ok[s] : 0);
    }
  }
  m->runs[0].only =
      "[a-j]"; /* what A was not asked for, and is not ok in B, is told all the same */
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->row_count, COUNT_OF(CASES));
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const struct comparison_row *row = find(m, comparison, CASES[i].key);
    assert_string_equal(verdict_text(row->result.verdict), verdict_text(CASES[i].verdict));
    assert_int_equal(row->sides[SIDE_A].not_ok, CASES[i].a_not_ok % NEVER);
    assert_int_equal(row->sides[SIDE_B].by_status[CASES[i].status], CASES[i].b_not_ok);
  }
  assert_int_equal(comparison->rows[0].result.verdict, VERDICT_BROKEN); /* the worst first */
  assert_int_equal(comparison->flaky_count, 4);
}

/* Two modes of side A, and one process of side B apart, are told with the row. */
TEST(shapes_of_sides_are_known) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  const size_t bench = made_case(m, "a", "block", 0, MIB);
  for (unsigned p = 0; p < 20; p++) {
    const bool is_b = p >= 10;
    const double gbps = is_b ? (p == 17 ? 35 : 50) : p % 5 < 3 ? 55.2 : 53.9;
    made_median(m, (struct results_median){.run = is_b,
                                           .bench = (uint32_t)bench,
                                           .process = (int64_t)p + 100,
                                           .ns = (double)MIB / gbps * (1 + 0.0001 * (p % 3)),
                                           .status = CASE_OK});
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  const struct side_shape *a = &comparison->rows[0].sides[SIDE_A].shape;
  const struct side_shape *b = &comparison->rows[0].sides[SIDE_B].shape;
  assert_int_equal(a->kind, SHAPE_TWO_MODES);
  assert_int_equal(a->counts[0], 6);
  assert_int_equal(a->counts[1], 4);
  assert_true(fabs(a->values[0] - 55.2) < 0.02 && fabs(a->values[1] - 53.9) < 0.02);
  assert_int_equal(b->kind, SHAPE_OUTLIER);
  assert_int_equal(b->process_id, 117);
  assert_int_equal(b->run_id, m->runs[1].ref.id);
  assert_int_equal(b->counts[1], 9);
  assert_true(fabs(b->values[0] - 35) < 0.02 && fabs(b->values[1] - 50) < 0.02);
  assert_true(fabs(comparison->rows[0].sides[SIDE_B].value - 50) < 0.02); /* it is left out */
}

/* UNCLEAR by hand, through the whole comparison. One case, four processes per side, logarithms of
 * ns:
 *
 *   A  -e  +e  -e  +e     mean 0, variance 4 e^2 / 3
 *   B  +e  -e  +e  -e + d with e = 0.002 and d = ln 1.01, which is delta of a bandwidth
 *
 *   delta            ln 1.01 = 0.0099503
 *   standard error   sqrt(2 x (4 e^2 / 3) / 4) = sqrt(2/3) e = 0.0016330
 *   degrees          Welch, as one case teaches nothing, of equal counts and variances: 6
 *   p                P(t > (d - delta) / error = 0) + P(t > 2 d / error = 12.187)
 *                    = 0.5 + 0.0000093, and q is the same: one test
 *   95 % interval    d +- 2.44691 x 0.0016330 = d +- 0.0039958; of the rate, whose logarithm falls
 *                    by it, exp(-0.0139461) - 1 = -1.38493 % to exp(-0.0059545) - 1 = -0.59368 %
 *   not SAME         that is not within delta
 *   more processes   the change is no larger than delta, and no smaller: the power stays at
 *                    5 % with any number, so it is not INSUFFICIENT */
TEST(unclear_by_hand) {
  static const double STEPS[] = {-0.002, 0.002, -0.002, 0.002};
  SCOPED(results_free_at) struct results *m = drivers_in_turn();
  const size_t bench = made_case(m, "a", "block", 0, MIB);
  for (uint32_t run = 0; run < m->run_count; run++) {
    const double ns = 1e6 * (run % 2 == 1 ? exp(-STEPS[run / 2]) * 1.01 : exp(STEPS[run / 2]));
    made_median(m, (struct results_median){run, (uint32_t)bench, .process = run + 1, .ns = ns});
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, IN_TURN, &OPTIONS);
  const struct comparison_row *row = &comparison->rows[0];
  const struct diff_result *result = &row->result;
  assert_int_equal(result->verdict, VERDICT_UNCLEAR);
  assert_int_equal(result->test, DIFF_TEST_WELCH);
  assert_true(fabs(result->df - 6) < 1e-6);
  assert_true(fabs(result->p - 0.5000093) < 5e-7);
  assert_true(fabs(result->q - result->p) < 1e-15);
  assert_true(fabs(row->change - (1 / 1.01 - 1)) < 1e-9);
  assert_true(fabs(row->change_low - -0.0138493) < 1e-6);
  assert_true(fabs(row->change_high - -0.0059368) < 1e-6);
  assert_int_equal(result->units_needed, 0);
  assert_int_equal(comparison->summary.verdicts[VERDICT_UNCLEAR], 1);
  assert_int_equal(comparison->units_needed, 0);
}

TEST(more_ns_are_worse) {
  SCOPED(results_free_at) struct results *m = drivers_in_turn();
  const size_t bench = made_case(m, "a", "latency", 0, 2 * MIB);
  for (size_t run = 0; run < m->run_count; run++) {
    made_medians(m, bench, run, run % 2 == 0 ? 50 : 45, 5);
  }
  m->cases[bench].figure = FIGURE_HOP;
  m->cases[bench].units = 1000;
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, IN_TURN, &OPTIONS);
  const struct comparison_row *row = &comparison->rows[0];
  assert_int_equal(row->figure, FIGURE_HOP);
  assert_int_equal(row->result.verdict, VERDICT_REGRESSED);
  assert_true(fabs(row->change - (50.0 / 45 - 1)) < 0.002);
  assert_true(row->change_low < row->change && row->change < row->change_high);
  assert_true(fabs(row->sides[SIDE_A].value - 2 * MIB / 50.0 / 1000) < 0.1);
  assert_true(fabs(row->delta - 0.03) < 1e-9);
}

/* -3 % with a standard deviation near 0.06 %: who says what matters decides the verdict. */
TEST(what_matters_is_said_by_the_option_then_the_scenario) {
  static const struct {
    double option, scenario; /* 0 = not said */
    enum delta_source from;
    double delta;
    enum verdict verdict;
  } CASES[] = {{0, 0, DELTA_USUAL, 0.01, VERDICT_REGRESSED},
               {0, 0.05, DELTA_SCENARIO, 0.05, VERDICT_SAME},
               {0.05, 0, DELTA_OPTION, 0.05, VERDICT_SAME},
               {0.02, 0.05, DELTA_OPTION, 0.02, VERDICT_REGRESSED},
               {0, 0.0001, DELTA_SCENARIO, 0.0001, VERDICT_REGRESSED}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(results_free_at) struct results *m = two_drivers();
    const size_t bench = add_case(m, "a", 0, 50, 48.5);
    m->cases[bench].delta = CASES[i].scenario;
    struct compare_options options = OPTIONS;
    options.margin = CASES[i].option;
    SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &options);
    const struct comparison_row *row = &comparison->rows[0];
    assert_int_equal(row->delta_from, CASES[i].from);
    assert_true(fabs(row->delta - CASES[i].delta) < 1e-12);
    assert_int_equal(row->result.verdict, CASES[i].verdict);
  }
}

/* The rows that are left are those of the whole comparison, number by number. */
/* Results that the same thing slowed are one condition, whatever share of the time it took. One
 * side comes before both, and many results before few. */
TEST(conditions_are_counted_without_their_shares) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  add_case(m, "a", 0, 50, 50);
  struct results_condition conditions[] = {
      {0, CONDITION_SLOWED, "heat for 70 %", "heat", 1, 2, 0},
      {0, CONDITION_SLOWED, "heat for 5 %", "heat", 1, 1, 0},
      {1, CONDITION_SLOWED, "in use", "in use", 1, 1, 0},
      {1, CONDITION_SLOWED, "power for 9 %", "power", 1, 4, 0},
      {1, CONDITION_SLOWED, "heat for 20 %", "heat", 1, 3, 0},
  };
  m->conditions = conditions;
  m->condition_count = COUNT_OF(conditions);
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  static const struct comparison_condition EXPECTED[] = {
      {.text = "power", .runs = {0, 1}, .results = {0, 4}},
      {.text = "in use", .runs = {0, 1}, .results = {0, 1}},
      {.text = "heat", .runs = {1, 1}, .results = {3, 3}},
  };
  assert_int_equal(comparison->condition_count, COUNT_OF(EXPECTED));
  for (size_t i = 0; i < comparison->condition_count; i++) {
    const struct comparison_condition *found = &comparison->conditions[i];
    assert_string_equal(found->text, EXPECTED[i].text);
    assert_memory_equal(found->runs, EXPECTED[i].runs, sizeof found->runs);
    assert_memory_equal(found->results, EXPECTED[i].results, sizeof found->results);
  }
  m->conditions = NULL;
  m->condition_count = 0;
}

TEST(only_filters_what_all_cases_were_judged_for) {
  static const char *const KEYS[] = {"a", "b", "c", "d", "e", "f"};
  SCOPED(results_free_at) struct results *m = two_drivers();
  for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
    (void)add_case(m, KEYS[i], (int)i % MADE_GPUS, 50, i == 1 ? 49.3 : 50);
  }
  SCOPED(comparison_free_at) struct comparison *whole = compared(m, A_AND_B, &OPTIONS);
  struct compare_options options = OPTIONS;
  options.only = "b";
  SCOPED(comparison_free_at) struct comparison *part = compared(m, A_AND_B, &options);
  assert_int_equal(part->row_count, 1);
  assert_int_equal(part->judged_count, 6);
  assert_int_equal(part->tested_count, 1);
  const struct diff_result *found = &part->rows[0].result;
  const struct diff_result *wanted = &find(m, whole, "b")->result;
  assert_int_equal(part->summary.verdicts[wanted->verdict], 1);
  assert_true(found->q == wanted->q && found->q > found->p);
}

TEST(simulated_and_real_are_not_mixed) {
  SCOPED(results_free_at) struct results *m = results_new();
  made_run(m, made_environment(m, "node", "580.1", false));
  made_run(m, made_environment(m, "node", "580.1", true));
  struct comparison *comparison = NULL;
  assert_fails(compare(m, A_AND_B, &OPTIONS, &comparison, err), STATUS_INVALID, err, "simulated");
  assert_null(comparison);
}

TEST(a_side_without_runs_is_an_error) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  const enum side only_a[] = {SIDE_A, SIDE_A};
  struct comparison *comparison = NULL;
  assert_int_equal(compare(m, only_a, &OPTIONS, &comparison, err), STATUS_INVALID);
  assert_string_equal(err->message, "side B has no run");
}

TEST(runs_without_cases_compare_nothing) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->row_count, 0);
  assert_int_equal(comparison->summary.tests, 0);
}

/* What the processes of a side share is said where nothing else can tell it from the driver; where
 * a side has several runs, these are judged. */
TEST(one_run_or_boot_a_side_is_warned_of) {
  static const struct {
    enum side sides[4];
    bool same_boot;
    const char *begin;  /* NULL = no warning */
    const char *judged; /* NULL = processes are */
  } CASES[] = {
      {{SIDE_A, SIDE_NONE, SIDE_NONE, SIDE_B},
       false,
       "One run per side: run-to-run variation",
       NULL},
      {{SIDE_A, SIDE_B, SIDE_NONE, SIDE_B},
       false,
       NULL,
       "Each run counts once. A has one run, so its uncertainty is estimated from the 2 runs of B"},
      {{SIDE_A, SIDE_A, SIDE_NONE, SIDE_B},
       false,
       "One boot each: a difference may be the boot's",
       "Each run counts once. B has one run, so its uncertainty is estimated from the 2 runs of A"},
      {{SIDE_A, SIDE_A, SIDE_B, SIDE_B},
       false,
       "One boot each: a difference may be the boot's",
       "Each run counts once, as the mean of its processes"},
      {{SIDE_A, SIDE_A, SIDE_B, SIDE_B},
       true,
       NULL,
       "Each run counts once, as the mean of its processes"},
      {{SIDE_A, SIDE_B, SIDE_A, SIDE_B},
       false,
       NULL,
       "Each run counts once, as the mean of its processes"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(results_free_at) struct results *m = results_new();
    const size_t a = made_environment(m, "node", "580.1", false);
    const size_t b = made_environment(m, "node", "590.1", false);
    m->environments[b].gpus = m->environments[a].gpus;
    if (CASES[i].same_boot) {
      m->environments[b].boot_id = m->environments[a].boot_id;
    }
    const size_t bench = made_case(m, "a", "block", 0, MIB);
    for (size_t run = 0; run < 4; run++) {
      made_run(m, run < 2 ? a : b);
      made_medians(m, bench, run, 50, 5);
    }
    SCOPED(comparison_free_at)
    struct comparison *comparison = compared(m, CASES[i].sides, &OPTIONS);
    const bool by_run = CASES[i].judged != NULL;
    assert_string_equal(by_run ? comparison->judged : "", by_run ? CASES[i].judged : "");
    assert_int_equal(comparison->judged != NULL, by_run);
    assert_int_equal(comparison->rows[0].result.unit, by_run);
    for (size_t s = 0; s < SIDES; s++) {
      assert_int_equal(comparison->rows[0].sides[s].runs, comparison->totals[s].runs);
      assert_int_equal(comparison->rows[0].result.units[s],
                       by_run ? comparison->totals[s].runs : 5);
    }
    if (CASES[i].begin == NULL) {
      assert_null(comparison->confounded);
    } else {
      assert_non_null(comparison->confounded);
      assert_memory_equal(comparison->confounded, CASES[i].begin, strlen(CASES[i].begin));
      assert_true(strncmp(CASES[i].begin, "One boot", 8) != 0 ||
                  strstr(comparison->confounded, "haul run test --tag TAG") != NULL);
    }
  }
}

TEST(runs_made_until_decided_are_judged_so) {
  SCOPED(results_free_at) struct results *m = drivers_in_turn();
  const size_t bench = made_case(m, "a", "block", 0, MIB);
  for (size_t run = 0; run < m->run_count; run++) {
    made_medians(m, bench, run, 50, 5);
  }
  struct comparison *comparison = compared(m, IN_TURN, &OPTIONS);
  const double q = comparison->rows[0].result.q;
  const double low = comparison->rows[0].change_low;
  assert_int_equal(comparison->looks, 0);
  comparison_free(comparison);
  m->runs[m->run_count - 1].looks = 4;
  comparison = compared(m, IN_TURN, &OPTIONS);
  assert_int_equal(comparison->looks, 4);
  assert_true(fabs(comparison->rows[0].result.q - fmin(1, 4 * q)) < 1e-12);
  assert_true(fabs(comparison->rows[0].change_low - low) < 1e-12); /* that of one comparison */
  comparison_free(comparison);
}

/* What compiled the kernels of both sides matters to cases that kernels do. */
TEST(kernels_of_two_drivers_are_told_where_they_count) {
  static const char *const METHODS[] = {"ce", "cpu", "sm"};
  static const char *const CODES[] = {"PTX 9.0 by the driver", "sm_90 by nvcc 13.0"};
  for (size_t i = 0; i < 2 * COUNT_OF(METHODS); i++) {
    SCOPED(results_free_at) struct results *m = two_drivers();
    for (size_t e = 0; e < 2; e++) {
      struct results_fact *facts = arena_array(&m->arena, 3, sizeof *facts);
      memcpy(facts, m->environments[e].facts, 2 * sizeof *facts);
      facts[2] = (struct results_fact){"kernel_code", 0, CODES[i % 2]};
      m->environments[e].facts = facts;
      m->environments[e].fact_count = 3;
    }
    const size_t bench = add_case(m, "a", 0, 50, 50);
    m->cases[bench].method = METHODS[i / 2];
    SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
    assert_int_equal(comparison->driver_compiled, i / 2 == 2 && i % 2 == 0);
  }
}

TEST(another_gpu_in_its_place_is_incomparable) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  struct results_gpu *gpus = arena_array(&m->arena, MADE_GPUS, sizeof *gpus);
  memcpy(gpus, m->environments[0].gpus, MADE_GPUS * sizeof *gpus);
  gpus[0].uuid = "GPU-new";
  m->environments[1].gpus = gpus;
  (void)add_case(m, "a", 0, 50, 48);
  (void)add_case(m, "b", 1, 50, 50);
  struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(find(m, comparison, "a")->result.verdict, VERDICT_INCOMPARABLE);
  assert_contains(find(m, comparison, "a")->reason, "GPU-new");
  assert_int_equal(find(m, comparison, "b")->result.verdict, VERDICT_SAME);
  comparison_free(comparison);
  struct compare_options options = OPTIONS;
  options.any_hardware = true;
  comparison = compared(m, A_AND_B, &options);
  assert_int_equal(find(m, comparison, "a")->result.verdict, VERDICT_REGRESSED);
  comparison_free(comparison);
}

TEST(each_gpu_of_a_cluster_is_compared_with_itself) {
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t x = made_environment(m, "x", "580.1", false);
  const size_t y = made_environment(m, "y", "580.1", false);
  made_run(m, x);
  made_run(m, y);
  made_run(m, x);
  made_run(m, y);
  const enum side sides[] = {SIDE_A, SIDE_A, SIDE_B, SIDE_B};
  const size_t bench = made_case(m, "a", "block", 0, MIB);
  made_medians(m, bench, 0, 50, 5);
  made_medians(m, bench, 1, 40, 5); /* y is slower, and was before */
  made_medians(m, bench, 2, 50, 5);
  made_medians(m, bench, 3, 38, 5); /* and is slower still */
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, sides, &OPTIONS);
  assert_int_equal(comparison->row_count, 2);
  assert_int_equal(comparison->rows[0].result.verdict, VERDICT_REGRESSED);
  assert_string_equal(comparison->rows[0].hardware, "GPU-y-0");
  assert_string_equal(comparison->rows[0].node, "y");
  assert_int_equal(comparison->rows[1].result.verdict, VERDICT_SAME);
  assert_false(comparison->other_machine);
  /* Two GPUs of one node are not told by its name. */
  m->environments[y].node = m->environments[x].node;
  SCOPED(comparison_free_at) struct comparison *one_node = compared(m, sides, &OPTIONS);
  assert_int_equal(one_node->row_count, 2);
  assert_null(one_node->rows[0].node);
}

TEST(two_machines_are_compared_and_that_is_said) {
  SCOPED(results_free_at) struct results *m = results_new();
  made_run(m, made_environment(m, "x", "580.1", false));
  made_run(m, made_environment(m, "y", "580.1", false));
  (void)add_case(m, "a", 0, 50, 40);
  struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->rows[0].result.verdict, VERDICT_REGRESSED);
  assert_true(comparison->other_machine);
  comparison_free(comparison);
  /* Other models are not. */
  struct results_gpu *gpus = arena_array(&m->arena, MADE_GPUS, sizeof *gpus);
  memcpy(gpus, m->environments[1].gpus, MADE_GPUS * sizeof *gpus);
  gpus[0].name = "H100";
  m->environments[1].gpus = gpus;
  comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->rows[0].result.verdict, VERDICT_INCOMPARABLE);
  assert_string_equal(comparison->rows[0].reason, "gpu_name: H200 in A, H100 in B");
  comparison_free(comparison);
}

TEST(another_measurement_under_one_name_says_what_differs) {
  SCOPED(results_free_at) struct results *m = two_drivers();
  const size_t before = made_case(m, "a", "block", 0, MIB);
  made_medians(m, before, 0, 50, 5);
  const size_t after = made_case(m, "b", "block", 0, MIB);
  m->cases[before].definition = "{\"method\":\"ce\",\"min_trial_ns\":200000}";
  m->cases[after].definition = "{\"method\":\"ce\",\"min_trial_ns\":100000}";
  made_medians(m, after, 1, 40, 5);
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, A_AND_B, &OPTIONS);
  assert_int_equal(comparison->row_count, 1);
  assert_int_equal(comparison->rows[0].result.verdict, VERDICT_INCOMPARABLE);
  assert_string_equal(comparison->rows[0].reason,
                      "measured differently: min_trial 200us became 100us");
  assert_int_equal(comparison->summary.verdicts[VERDICT_NEW], 0);
  assert_int_equal(comparison->summary.verdicts[VERDICT_MISSING], 0);
  assert_int_equal(comparison->summary.verdicts[VERDICT_INCOMPARABLE], 1);
}

TEST(definitions_differ_in_words_and_numbers) {
  static const char *const OTHERWISE = "it is defined otherwise";
  const struct {
    const char *a, *b, *difference, *own;
  } CASES[] = {
      {"{\"a\":1,\"b\":22}", "{\"a\":1,\"b\":23}", "b 22 became 23", "b 22"},
      {"{\"a\":\"ce\",\"b\":2}", "{\"a\":\"sm\",\"b\":2}", "a \"ce\" became \"sm\"", "a \"ce\""},
      {"{\"f\":[{\"a\":1},{\"a\":2}]}", "{\"f\":[{\"a\":1},{\"a\":3}]}", "a 2 became 3", "a 2"},
      {"{\"a\":1}", "{\"a\":1,\"b\":2}", OTHERWISE, ""},
      {"{\"a\":1,\"m\":{\"b\":2,\"c\":3}}", "{\"a\":4}", "a 1 became 4", "a 1, b 2, c 3"},
      {"{\"f\":[{\"a\":2},{\"a\":2},{\"a\":22}]}", "{\"f\":[]}", OTHERWISE, "a 2, a 22"},
      {"{\"f\":[1]}", "{\"f\":[1,2]}", OTHERWISE, ""},
      {"", "{\"a\":1}", OTHERWISE, ""},
      {"{}", "{}", OTHERWISE, ""},
  };
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    assert_string_equal(definition_difference(&arena, CASES[i].a, CASES[i].b), CASES[i].difference);
    assert_string_equal(definition_add_own_values(&arena, "", CASES[i].a, CASES[i].b),
                        CASES[i].own);
  }
}

TEST(definitions_of_peers_have_one_hash) {
  static const char *const ONE = "{\"flows\":[{\"source\":{\"index\":0},\"gpu\":1}],\"n\":2}";
  static const char *const PEER = "{\"flows\":[{\"source\":{\"index\":3},\"gpu\":2}],\"n\":2}";
  static const char *const OTHER = "{\"flows\":[{\"source\":{\"index\":0},\"gpu\":1}],\"n\":3}";
  static const char *const SAME_GPU = "{\"flows\":[{\"source\":{\"index\":2},\"gpu\":2}],\"n\":2}";
  static const char *const NODE =
      "{\"flows\":[{\"source\":{\"place\":\"numa\",\"index\":%d},\"gpu\":%d}],\"n\":2}";
  const uint64_t hash = definition_hash_without_places(ONE);
  assert_true(hash == definition_hash_without_places(PEER));
  assert_true(hash != definition_hash_without_places(OTHER));
  assert_true(hash != definition_hash_without_places("no JSON"));
  assert_true(hash != definition_hash_without_places(SAME_GPU));
  char near[128]; /* GPU 0 of node 0 and GPU 1 of it: the numbers are of two kinds */
  (void)snprintf(near, sizeof near, NODE, 0, 0);
  PRINTED(other, 128, NODE, 0, 1);
  assert_true(definition_hash_without_places(near) == definition_hash_without_places(other));
}

/* A load in the direction of what is measured, and one against it. */
TEST(a_load_with_and_one_against_are_no_peers) {
  static const char *const LOADED =
      "{\"chase\":{\"gpu\":0,\"memory\":{\"place\":\"gpu\",\"index\":1}},\"flows\":[{\"source\":"
      "{\"place\":\"gpu\",\"index\":%d},\"target\":{\"place\":\"gpu\",\"index\":%d}}]}";
  PRINTED(with, 256, LOADED, 1, 0);
  PRINTED(against, 256, LOADED, 0, 1);
  assert_true(definition_hash_without_places(with) != definition_hash_without_places(against));
}
