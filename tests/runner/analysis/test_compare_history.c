/* Few runs: earlier runs of the machine tell how runs differ, and one run more hides nothing. */
#include "runner/analysis/compare.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

RELEASE(comparison_free, struct comparison)

enum { MIB = 1 << 20, CASES = 3 };
static const char *const KEYS[CASES] = {"a", "b", "c"};
static const enum side SIDES_OF[] = {SIDE_A, SIDE_B};
static const int64_t DAY_NS = INT64_C(86400000000000);

static struct comparison *compare_again(const struct results *m, const struct results *earlier) {
  struct comparison *comparison = NULL;
  struct error err = {0};
  const struct compare_options options = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}, .earlier = earlier};
  assert_int_equal(compare(m, SIDES_OF, &options, &comparison, &err), STATUS_OK);
  return comparison;
}

/* So many runs, a day apart, whose levels differ by spread; of the last two, which are A and B, B
 * is slower. */
static struct comparison *compared(size_t runs, double spread, double slower, int64_t apart_ns,
                                   struct results *earlier, struct results *m) {
  uint64_t seed = 7;
  const size_t before = made_environment(earlier, "node", "580.1", false);
  const size_t now = made_environment(m, "node", "580.1", false);
  for (size_t r = 0; r < runs; r++) {
    const size_t run = made_run(earlier, before);
    earlier->runs[run].started_at_ns = (int64_t)r * apart_ns;
  }
  for (size_t r = 0; r < 2; r++) {
    const size_t run = made_run(m, now);
    m->runs[run].started_at_ns = (int64_t)(runs + r) * DAY_NS;
  }
  for (size_t i = 0; i < CASES; i++) {
    (void)made_case(earlier, KEYS[i], "block", (int)i, MIB);
    (void)made_case(m, KEYS[i], "block", (int)i, MIB);
    for (size_t r = 0; r < runs; r++) {
      made_medians(earlier, i, r, 50 * exp(spread * noise_normal(&seed)), 3);
    }
    made_medians(m, i, 0, 50, 3);
    made_medians(m, i, 1, 50 * (1 - slower), 3);
  }
  return compare_again(m, earlier);
}

struct expected {
  size_t runs;
  double spread, slower;
  int64_t apart_ns;
  enum verdict verdict;
  enum diff_doubt doubt;
};

static void check(const struct expected *e) {
  SCOPED(results_free_at) struct results *earlier = results_new();
  SCOPED(results_free_at) struct results *m = results_new();
  SCOPED(comparison_free_at)
  struct comparison *comparison = compared(e->runs, e->spread, e->slower, e->apart_ns, earlier, m);
  assert_int_equal(comparison->row_count, CASES);
  for (size_t i = 0; i < CASES; i++) {
    const struct diff_result *result = &comparison->rows[i].result;
    assert_int_equal(result->verdict, e->verdict);
    assert_int_equal(result->doubt, e->doubt);
    assert_int_equal(result->unit,
                     e->doubt == DIFF_DOUBT_ONE_RUN ? DIFF_UNIT_PROCESS : DIFF_UNIT_RUN);
  }
  assert_int_equal(comparison->confounded != NULL, e->doubt == DIFF_DOUBT_ONE_RUN);
  for (size_t i = 0; i < comparison->input_count; i++) {
    const struct diff_case *c = &comparison->inputs[i];
    const double squares =
        TOTAL_OF(r, c->earlier.count, c->earlier.values[r] * c->earlier.values[r]);
    assert_int_equal(c->earlier.count, e->doubt == DIFF_DOUBT_ONE_RUN ? 0 : e->runs);
    ASSERT_NEAR(squares, c->run_variance * c->run_df, 1e-6);
  }
}

TEST(earlier_runs_make_one_run_firm) {
  check(&(struct expected){12, 0.001, 0.03, DAY_NS, VERDICT_REGRESSED, DIFF_DOUBT_NONE});
  check(&(struct expected){12, 0.001, 0, DAY_NS, VERDICT_SAME, DIFF_DOUBT_NONE});
}

/* Processes of a run agree to 0.1 %, runs do not: 3 % is nothing between two of them. */
TEST(runs_that_differ_hide_a_change) {
  check(&(struct expected){12, 0.05, 0.03, DAY_NS, VERDICT_UNCLEAR, DIFF_DOUBT_NONE});
}

/* The variance of the group of all cases, in one run of one process per side, as runs of several
 * processes tell it: cases share what processes differ by, and nothing of what runs do. */
static double vary_together(double process_sd, double run_sd, uint64_t *seed) {
  enum { RUNS = 12, BEFORE = 8 };
  SCOPED(results_free_at) struct results *earlier = results_new();
  SCOPED(results_free_at) struct results *m = results_new();
  comparison_free(compared(RUNS, 0, 0, DAY_NS, earlier, m));
  double processes[RUNS][BEFORE];
  for (size_t p = 0; p < (size_t)RUNS * BEFORE; p++) {
    processes[p / BEFORE][p % BEFORE] = process_sd * noise_normal(seed);
  }
  earlier->median_count = m->median_count = 0;
  for (uint32_t i = 0; i < CASES; i++) {
    for (uint32_t r = 0; r < RUNS; r++) {
      const double own = run_sd * noise_normal(seed);
      for (uint32_t p = 0; p < BEFORE; p++) {
        made_median(earlier, (struct results_median){.run = r,
                                                     .bench = i,
                                                     .process = 1 + p + 100 * r,
                                                     .ns = 1e6 * exp(own + processes[r][p])});
      }
    }
    made_medians(m, i, 0, 50, 1);
    made_medians(m, i, 1, 50, 1);
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compare_again(m, earlier);
  assert_true(comparison->group_count > 0);
  return pow(log1p(comparison->groups[0].result.sd), 2);
}

TEST(fewer_processes_than_before_vary_more) {
  enum { TRIALS = 40 };
  uint64_t seed = 11;
  const double mean = TOTAL_OF(trial, TRIALS, vary_together(0.03, 0.03, &seed) / TRIALS);
  assert_in_range(100 * mean / (0.03 * 0.03 * (1 + 1.0 / CASES)), 90, 110);
}

/* Three runs, or twelve within a minute, do not tell how those of two days differ. */
TEST(few_or_hasty_runs_tell_nothing) {
  check(&(struct expected){3, 0.001, 0.03, DAY_NS, VERDICT_REGRESSED, DIFF_DOUBT_ONE_RUN});
  check(&(struct expected){12, 0.001, 0.03, DAY_NS / 1440, VERDICT_REGRESSED, DIFF_DOUBT_ONE_RUN});
}

/* Other GPUs are other hardware. */
TEST(other_hardware_tells_nothing) {
  SCOPED(results_free_at) struct results *earlier = results_new();
  SCOPED(results_free_at) struct results *m = results_new();
  comparison_free(compared(12, 0.001, 0.03, DAY_NS, earlier, m));
  for (size_t g = 0; g < MADE_GPUS; g++) {
    earlier->environments[0].gpus[g].uuid = "GPU-other";
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compare_again(m, earlier);
  assert_int_equal(comparison->rows[0].result.doubt, DIFF_DOUBT_ONE_RUN);
}

/* Two runs of A leave a change open that one run a side shows: it is reported all the same, but
 * provisionally, and with the runs that would confirm it. */
TEST(one_run_more_hides_no_change) {
  enum { BENCHES = 40, FURTHER = 2 };
  static const enum side A_B_A[] = {SIDE_A, SIDE_B, SIDE_A};
  const struct compare_options options = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  char keys[BENCHES][8];
  SCOPED(comparison_free_at) struct comparison *comparison = NULL;
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t node = made_environment(m, "node", "580.1", false);
  for (int r = 0; r <= FURTHER; r++) {
    (void)made_run(m, node);
  }
  for (int i = 0; i < BENCHES; i++) {
    (void)snprintf(keys[i], sizeof keys[i], "c%d", i);
    const size_t bench = made_case(m, keys[i], "block", i % MADE_GPUS, MIB);
    made_medians(m, bench, 0, 50, 5);
    made_medians(m, bench, 1, i == 0 ? 48 : 50, 5);
    made_medians(m, bench, FURTHER, i % 2 == 0 ? 50.1 : 49.9, 1);
  }
  assert_int_equal(compare(m, A_B_A, &options, &comparison, err), STATUS_OK);
  const struct comparison_row *row = &comparison->rows[0];
  assert_string_equal(m->cases[row->bench].key, "c0");
  assert_int_equal(row->result.unit, DIFF_UNIT_RUN);
  assert_string_equal(verdict_text(row->result.verdict), "regressed");
  assert_int_equal(row->result.doubt, DIFF_DOUBT_FEW);
  assert_true(row->result.is_provisional && row->result.q < 0.05 && row->result.p > 0.05 / BENCHES);
  assert_true(row->change_high < -0.01);
  assert_int_equal(comparison->summary.verdicts[VERDICT_REGRESSED], 1);
  assert_int_equal(comparison->summary.provisional[VERDICT_REGRESSED], 1);
  assert_int_equal(comparison->to_decide, 1);
  assert_true(comparison->units_needed >= DIFF_PROCESSES_FIRM);
}
