/* Further visits of the supervisor, with an engine that measures nothing. */
#include "engine/base/clock.h"
#include "runner/supervise/supervise.h"
#include "tests/runner/supervise/supervise_all.h"

#include <sys/wait.h>

enum { CASES = 4, SKIPPED = 1, FIRST_ITERATIONS = 7 };

static volatile sig_atomic_t interrupted;

static enum status fake_new(const struct machine *machine, struct peers *peers,
                            struct engine **engine, struct error *err) {
  *engine = NULL;
  return STATUS_OK;
}

static enum status fake_run_case(struct engine *engine, const struct case_def *def,
                                 const struct trial_sink *sink, struct case_outcome *outcome,
                                 struct error *err) {
  const uint32_t wanted = def->measure.iterations;
  const uint32_t iterations = wanted > 0 ? wanted : FIRST_ITERATIONS;
  *outcome = (struct case_outcome){.status = CASE_OK, .stop = STOP_TIME, .iterations = iterations};
  sink->trial(sink->context, &(struct trial){.iterations = iterations,
                                             .elapsed_ns = iterations * 1215000,
                                             .cycles = clock_now_ns()}); /* when it was measured */
  return STATUS_OK;
}

static void fake_free(struct engine *engine) {}

struct visits {
  struct seen seen;       /* first: what the sink keeps */
  uint32_t wanted[CASES]; /* further visits of each case */
  bool results_before;
  size_t interrupt_at; /* the user interrupts at this report; 0 = none */
};

static bool already_done(void *context, uint32_t process, size_t case_index) {
  return ((const struct visits *)context)->results_before;
}

static bool is_open(void *context, uint32_t process, size_t case_index) {
  const struct visits *visits = context;
  const struct seen_report *reports = visits->seen.reports;
  assert_int_not_equal(case_index, SKIPPED);
  return SUM_OF(i, visits->seen.report_count,
                reports[i].case_index == case_index && reports[i].process == process &&
                    reports[i].visit > 0) < visits->wanted[case_index];
}

static enum status case_finished(void *context, const struct case_report *report,
                                 struct error *err) {
  struct visits *visits = context;
  assert_int_equal(report->trial_count, 1);
  const enum status status = seen_case_finished(context, report, err);
  interrupted = visits->seen.report_count == visits->interrupt_at;
  return status;
}

/* Of the first `count` cases. */
static enum status run_cases(struct visits *visits, size_t count,
                             struct supervise_options options) {
  static const struct supervise_ops ops = {
      .engine_new = fake_new, .engine_run_case = fake_run_case, .engine_free = fake_free};
  struct plan_case cases[CASES];
  memset(cases, 0, sizeof cases);
  for (size_t i = 0; i < CASES; i++) {
    cases[i].def.name = "case";
    cases[i].longest_ns = 1000000000;
    cases[i].def.measure.min_trial_ns = 8000000;
    cases[i].skip_reason = i == SKIPPED ? "no such GPU" : NULL;
  }
  const struct plan plan = {.cases = cases, .case_count = count};
  const struct supervise_sink sink = {.context = visits,
                                      .already_done = already_done,
                                      .is_open = is_open,
                                      .process_started = seen_process_started,
                                      .case_finished = case_finished,
                                      .process_ended = seen_process_ended,
                                      .progress = seen_progress};
  struct error err = {0};
  options.ops = &ops;
  options.processes = options.processes > 0 ? options.processes : 1;
  options.watchdog_floor_ns = 10000000000;
  options.interrupted = &interrupted;
  interrupted = 0;
  const enum status status = supervise_all(&plan, &options, &sink, &err);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no worker is left */
  return status;
}

TEST(open_cases_are_visited_again_in_rounds) {
  struct visits visits = {.wanted = {2, 0, 0, 1}};
  const struct seen *seen = &visits.seen;
  const struct supervise_options options = {.processes = 2, .settle_ns = 60000000000};
  assert_int_equal(run_cases(&visits, CASES, options), STATUS_OK);
  static const struct {
    size_t case_index;
    uint32_t visit;
  } expected[] = {{0, 0}, {2, 0}, {3, 0}, {0, 1}, {3, 1}, {0, 2}};
  assert_int_equal(seen->report_count, 12);
  for (size_t i = 0; i < 12; i++) {
    assert_int_equal(seen->reports[i].case_index, expected[i % 6].case_index);
    assert_int_equal(seen->reports[i].visit, expected[i % 6].visit);
    assert_int_equal(seen->reports[i].process, i / 6);
    assert_int_equal(seen->reports[i].first.iterations,
                     seen->reports[i].visit == 0 ? FIRST_ITERATIONS : 4); /* shorter trials */
  }
  assert_true(seen->reports[3].first.cycles - seen->reports[0].first.cycles >= VISITS_GAP_NS);
  assert_true(seen->reports[5].first.cycles - seen->reports[3].first.cycles >= VISITS_GAP_NS);
  assert_int_equal(seen->started, 2);
  assert_int_equal(seen->ended, 2);
  assert_int_equal(seen->done, 6);
  assert_int_equal(seen->total, 6);
}

TEST(further_visits_end_with_their_time) {
  static const struct {
    struct supervise_options options;
    size_t reports; /* 400 ms have room for one gap of 250 ms, and twice that for one of 500 ms */
  } rows[] = {
      {{.settle_ns = 400000000}, 2},
      {{.settle_ns = 400000000, .doubted = true}, 2},
      {{.settle_ns = 0}, 1},
      {{.settle_ns = PLAN_SETTLE_AUTO, .budget_ns = 400000000}, 2},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct visits visits = {.results_before = false};
    /* On a busy host the time may be over before its one further visit: once more then. */
    for (unsigned tries = 0; tries < 10 && visits.seen.report_count < rows[i].reports; tries++) {
      visits = (struct visits){.wanted = {100}};
      assert_int_equal(run_cases(&visits, 1, rows[i].options), STATUS_OK);
      assert_true(visits.seen.report_count <= rows[i].reports);
      assert_int_equal(visits.seen.ended, 1);
    }
    assert_int_equal(visits.seen.report_count, rows[i].reports);
  }
}

TEST(interrupt_ends_further_visits) {
  const struct supervise_options options = {.settle_ns = PLAN_SETTLE_AUTO};
  struct visits visits = {.wanted = {100, 0, 100}, .interrupt_at = 4};
  assert_int_equal(run_cases(&visits, CASES, options), STATUS_INTERRUPTED);
  assert_int_equal(visits.seen.report_count, 4);
  assert_int_equal(visits.seen.ended, 0);
  /* Resumed: what was measured before gets further visits alone. */
  struct visits resumed = {.wanted = {0, 0, 1}, .results_before = true};
  assert_int_equal(run_cases(&resumed, CASES, options), STATUS_OK);
  assert_int_equal(resumed.seen.report_count, 1);
  assert_int_equal(resumed.seen.reports[0].case_index, 2);
  assert_int_equal(resumed.seen.reports[0].visit, 1);
  assert_int_equal(resumed.seen.reports[0].first.iterations,
                   FIRST_ITERATIONS); /* the first of its worker */
  assert_int_equal(resumed.seen.ended, 1);
}
