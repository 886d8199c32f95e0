/* The loop over trials, with a kind of case that takes as long as the test says: warm-up, stop rule
 * and trials that do not count. */
#include "engine/workload/workload.h"

#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

enum { TRIALS_MAX = 512, ITERATIONS_MAX = 1000 };

/* What one run of the case took, by its number from 0. */
struct script {
  uint64_t (*elapsed_ns)(uint32_t run, uint32_t iterations);
  bool (*times_out)(uint32_t run);
  bool gated;
};

struct made_up {
  uint32_t runs;
};

/* What the ops below read, since a case has no room for it. */
static struct script script;
static struct trial trials[TRIALS_MAX];
static uint32_t trial_count;

static const char *refuse_nothing(const struct case_def *def, const struct machine *machine,
                                  char reason[CASE_REASON_MAX]) {
  reason[0] = '\0';
  return NULL;
}

static enum clock host_clock(const struct case_def *def) {
  return CLOCK_HOST;
}

static enum status set_up(struct engine *engine, const struct case_def *def,
                          struct case_outcome *outcome, void **state, struct error *err) {
  outcome->gated = script.gated;
  *state = calloc(1, sizeof(struct made_up));
  return *state != NULL ? STATUS_OK : error_set(err, STATUS_NO_MEMORY, "no memory");
}

static uint32_t iterations_max(const void *state) {
  return ITERATIONS_MAX;
}

static enum status run(void *state, uint32_t iterations, struct trial_times *times,
                       struct error *err) {
  struct made_up *made_up = state;
  times->window_ns = script.elapsed_ns(made_up->runs, iterations);
  times->gate_timed_out = script.times_out != NULL && script.times_out(made_up->runs);
  made_up->runs++;
  return STATUS_OK;
}

static const struct workload_ops made_up = {
    .kind = CASE_OVERHEAD,
    .unsupported_reason = refuse_nothing,
    .clock = host_clock,
    .set_up = set_up,
    .iterations_max = iterations_max,
    .run = run,
    .tear_down = free,
};

static struct flow_times flow_times[2];

static enum status run_flows(void *state, uint32_t iterations, struct trial_times *times,
                             struct error *err) {
  times->flows = flow_times;
  return run(state, iterations, times, err);
}

static const struct workload_ops made_up_flows = {
    .kind = CASE_TRANSFER,
    .unsupported_reason = refuse_nothing,
    .clock = host_clock,
    .set_up = set_up,
    .iterations_max = iterations_max,
    .run = run_flows,
    .tear_down = free,
};

static void take_trial(void *context, const struct trial *trial) {
  assert_true(trial_count < TRIALS_MAX);
  trials[trial_count++] = *trial;
}

static void take_flow_trial(void *context, const struct flow_trial *flow_trial) {
  assert_int_equal(flow_trial->elapsed_ns, flow_times[flow_trial->flow].elapsed_ns);
}

static struct case_outcome measure_case(const struct case_def *made) {
  const struct case_def def = *made;
  const struct trial_sink sink = {.trial = take_trial, .flow_trial = take_flow_trial};
  SCOPED(memory_free) struct machine *machine = calloc(1, sizeof *machine);
  struct case_outcome outcome;
  struct error err = {0};
  assert_non_null(machine);
  const struct workload_ops *ops = def.kind == CASE_OVERHEAD ? &made_up : &made_up_flows;
  struct engine engine = {.context = {.machine = machine}};
  trial_count = 0;
  assert_ok(case_run_measure(ops, &engine, &def, &sink, &outcome, &err), &err);
  return outcome;
}

static struct case_outcome measure(const struct measure *measure) {
  const struct case_def def = {.kind = CASE_OVERHEAD, .measure = *measure};
  return measure_case(&def);
}

static struct measure usual(void) {
  return (struct measure){.trials_min = 10,
                          .trials_max = 100,
                          .warmup = 1,
                          .max_time_ns = UINT64_C(3600000000000),
                          .min_trial_ns = 100000,
                          .precision = 0.01};
}

static uint64_t a_microsecond_each(uint32_t number, uint32_t iterations) {
  return UINT64_C(1000) * iterations;
}

TEST(trials_last_as_long_as_they_should) {
  const struct measure with = usual();
  script = (struct script){.elapsed_ns = a_microsecond_each};
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_OK);
  assert_int_equal(outcome.iterations, 105); /* 5 % more than min_trial needs */
  assert_int_equal(outcome.stop, STOP_PRECISION);
  assert_int_equal(trial_count, 2 + with.trials_min);
  assert_int_equal(trials[1].phase, TRIAL_WARMUP);
  assert_int_equal(trials[2].phase, TRIAL_MEASURE);
}

static uint64_t a_third_of_a_millisecond_each(uint32_t number, uint32_t iterations) {
  return UINT64_C(333000) * iterations;
}

/* Beside short iterations the trial itself counts. */
static uint64_t mostly_the_trial(uint32_t number, uint32_t iterations) {
  return 20000 + UINT64_C(1000) * iterations;
}

/* As a copy of pageable memory does. */
static uint64_t slow_at_first(uint32_t number, uint32_t iterations) {
  return UINT64_C(10000) * iterations + (number == 0 ? 1000000 : 0);
}

/* One iteration is long enough to know how many a trial needs: it is all the warm-up. */
TEST(a_long_first_trial_is_not_repeated) {
  struct measure with = usual();
  with.min_trial_ns = 5000000;
  script = (struct script){.elapsed_ns = a_third_of_a_millisecond_each, .gated = true};
  assert_int_equal(measure(&with).iterations, 16);
  assert_int_equal(trial_count, 1 + with.trials_min);
  assert_int_equal(trials[0].phase, TRIAL_WARMUP);
  assert_int_equal(trials[0].iterations, 1);
  assert_int_equal(trials[1].phase, TRIAL_MEASURE);
  assert_int_equal(trials[1].iterations, 16);
  with.warmup = 2; /* unless more is asked for */
  assert_int_equal(measure(&with).iterations, 16);
  assert_int_equal(trial_count, 2 + with.trials_min);
  assert_int_equal(trials[1].phase, TRIAL_WARMUP);
  assert_int_equal(trials[1].iterations, 16);
  with = usual();
  script = (struct script){.elapsed_ns = mostly_the_trial, .gated = true};
  assert_true(measure(&with).iterations > 5); /* what the first one seems to say */
  assert_true(trials[trial_count - 1].elapsed_ns > with.min_trial_ns / 2);
  with.min_trial_ns = 5000000;
  script = (struct script){.elapsed_ns = slow_at_first};
  assert_true(measure(&with).iterations > 400);
  assert_true(trials[trial_count - 1].elapsed_ns > with.min_trial_ns);
}

static bool first_times_out(uint32_t number) {
  return number == 0;
}

/* The time of a trial that timed out says nothing of how long an iteration takes. */
TEST(a_gate_that_times_out_chooses_no_iterations) {
  const struct measure with = usual();
  script = (struct script){.elapsed_ns = a_microsecond_each, .times_out = first_times_out};
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_OK);
  assert_int_equal(trials[0].status, TRIAL_GATE_TIMEOUT);
  assert_int_equal(outcome.iterations, 105);
  for (uint32_t i = 0; i < trial_count; i++) {
    assert_true(trials[i].iterations <= 105);
  }
}

static bool always_times_out(uint32_t number) {
  return true;
}

TEST(a_gate_that_always_times_out_is_a_failure) {
  const struct measure with = usual();
  script = (struct script){.elapsed_ns = a_microsecond_each, .times_out = always_times_out};
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_FAILED);
  assert_contains(outcome.reason, "the gate timed out 3 times");
  assert_contains(outcome.reason, "--set measure.gate=off");
  assert_int_equal(trial_count, 3);
}

static uint64_t nothing(uint32_t number, uint32_t iterations) {
  return 0;
}

/* A clock that is too coarse for the work: no number, and an end. */
TEST(trials_without_a_time_end_and_fail) {
  const struct measure with = usual();
  script = (struct script){.elapsed_ns = nothing};
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_FAILED);
  assert_contains(outcome.reason, "the clock did not advance in 100 of 100 trials");
}

static uint64_t every_fifth_nothing(uint32_t number, uint32_t iterations) {
  return number % 5 == 0 ? 0 : 1000;
}

TEST(few_trials_without_a_time_are_kept) {
  struct measure with = usual();
  with.iterations = 1;
  script = (struct script){.elapsed_ns = every_fifth_nothing};
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_OK);
  assert_true(trial_count >= 1 + with.trials_min);
}

static uint64_t always_the_same(uint32_t number, uint32_t iterations) {
  return 1000 * (uint64_t)iterations;
}

static uint64_t one_to_nine(uint32_t number, uint32_t iterations) {
  return (uint64_t)(1000 + number % 9 * 1000) * iterations;
}

TEST(without_precision_trials_end_at_their_maximum) {
  struct measure with = usual();
  script = (struct script){.elapsed_ns = one_to_nine};
  with.iterations = 1;
  with.precision = 1e-9;
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.status, CASE_OK);
  assert_int_equal(outcome.stop, STOP_TRIALS);
  assert_int_equal(trial_count, 1 + with.trials_max);
}

/* From 65 trials on precision is looked at now and then only; the last trial is always looked at.
 */
TEST(trials_that_end_at_a_limit_may_be_precise) {
  struct measure with = usual();
  script = (struct script){.elapsed_ns = always_the_same};
  with.iterations = 1;
  with.trials_min = with.trials_max = 100;
  struct case_outcome outcome = measure(&with);
  assert_int_equal(trial_count, 1 + 100);
  assert_int_equal(outcome.stop, STOP_PRECISION);

  script = (struct script){.elapsed_ns = always_the_same};
  with.trials_max = 200;
  with.max_time_ns = 0;
  outcome = measure(&with);
  assert_int_equal(trial_count, 1 + 100);
  assert_int_equal(outcome.stop, STOP_PRECISION);
}

TEST(time_ends_trials_but_not_before_their_minimum) {
  struct measure with = usual();
  script = (struct script){.elapsed_ns = one_to_nine};
  with.iterations = 1;
  with.precision = 1e-9;
  with.max_time_ns = 0;
  const struct case_outcome outcome = measure(&with);
  assert_int_equal(outcome.stop, STOP_TIME);
  assert_int_equal(trial_count, 1 + with.trials_min);
}

/* 64 us of trials of 1 us each, though two would be precise. */
TEST(trials_go_on_until_their_times_add_up) {
  struct measure with = usual();
  script = (struct script){.elapsed_ns = a_microsecond_each};
  with.iterations = 1;
  with.trials_min = 2;
  with.min_time_ns = 64000;
  struct case_outcome outcome = measure(&with);
  assert_int_equal(trial_count, 1 + 64);
  assert_int_equal(outcome.stop, STOP_PRECISION);

  script = (struct script){.elapsed_ns = a_microsecond_each};
  with.max_time_ns = 0;
  outcome = measure(&with);
  assert_int_equal(trial_count, 1 + 2);
}

static uint64_t two_microseconds(uint32_t number, uint32_t iterations) {
  return 2000;
}

/* Two flows of as many bytes in a window of 2 us. */
static bool is_serialised(uint64_t first_ns, uint64_t second_ns, enum flow_role second_role) {
  const struct flow flows[] = {{.size_bytes = 4096}, {.size_bytes = 4096, .role = second_role}};
  struct case_def def = {
      .kind = CASE_TRANSFER, .measure = usual(), .flows = flows, .flow_count = 2};
  def.measure.iterations = 1;
  flow_times[0].elapsed_ns = first_ns;
  flow_times[1].elapsed_ns = second_ns;
  script = (struct script){.elapsed_ns = two_microseconds};
  const struct case_outcome outcome = measure_case(&def);
  assert_int_equal(outcome.status, CASE_OK);
  assert_int_equal(notes_have(&outcome.notes, NOTE_SERIALISED), outcome.serialised);
  return outcome.serialised;
}

TEST(flows_that_do_not_run_side_by_side_are_flagged) {
  assert_false(is_serialised(2000, 2000, FLOW_MEASURED));
  assert_false(is_serialised(1700, 2000, FLOW_MEASURED)); /* one path is somewhat slower */
  assert_true(is_serialised(1000, 1000, FLOW_MEASURED));  /* one waits for the other to start */
  assert_true(is_serialised(1000, 2000, FLOW_MEASURED)); /* both wait in one queue from the start */
  assert_false(is_serialised(2000, 1000, FLOW_LOAD));    /* load is not counted */
}
