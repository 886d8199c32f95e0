/* The life of one case: set up, warm-up, trials until the stop rule, verification. */
#include "engine/base/clock.h"
#include "engine/case/summary.h"
#include "engine/case/transfer.h"
#include "engine/host/cpu_clock.h"
#include "engine/workload/transfer_flows.h"
#include "engine/workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  CALIBRATION_ROUNDS = 3,
  /* A first trial behind the gate, of that part of min_trial and so long, says how many iterations
   * fill min_trial: what a trial costs beside them, tens of microseconds at most, is small then. On
   * the host's side of the gate the first one may take many times as long as the next. */
  CALIBRATION_PART = 16,
  CALIBRATION_LONG_NS = 250000,
  GATE_TIMEOUTS_MAX = 3, /* in a row: then the case has failed */
};

/* Flows over equal paths end within a few per cent of each other; two that share one engine or
 * queue reach 1.5 and more. */
static const double SERIALISED_RATIO = 1.25;

/* More than looks in a row differ by on a busy machine, less than a step of the clock: 100 MHz. */
static const double CPU_CLOCK_MOVES = 0.03;

struct case_run {
  const struct workload_ops *ops;
  void *state; /* of the workload; NULL before set_up */
  const struct case_def *def;
  const struct trial_sink *sink;
  struct case_outcome *outcome;
  struct trial_times times;
  uint32_t ordinal;
  uint32_t iterations;
  uint32_t gate_timeouts;
  uint32_t serialised_count;
  double *values; /* ns per iteration of the trials that count */
  double *scratch;
  uint64_t timed_ns; /* all of them together */
  size_t count;
  size_t timeless_count; /* of them, those in which the clock did not advance */
};

static enum status poison(struct case_run *run, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  enum status status = run->ops->poison != NULL ? run->ops->poison(run->state, err) : STATUS_OK;
  run->outcome->verify_ns += clock_now_ns() - start_ns;
  return status;
}

static enum status verify(struct case_run *run, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  enum status status = run->ops->verify != NULL ? run->ops->verify(run->state, err) : STATUS_OK;
  run->outcome->verify_ns += clock_now_ns() - start_ns;
  return status;
}

/* For flows that run side by side from first to last, the sum of their own rates is the rate of the
 * window. One after the other, or one long after the others, their sum is larger. */
static bool looks_serialised(const struct case_run *run) {
  double own = 0; /* bytes a ns */
  double bytes = 0;
  uint32_t measured = 0;
  for (uint32_t i = 0; i < run->def->flow_count; i++) {
    const struct flow *flow = &run->def->flows[i];
    if (flow->role == FLOW_MEASURED) {
      if (run->times.flows[i].elapsed_ns == 0 || flow->stream != 0) {
        return false; /* too short to tell, or meant to be so */
      }
      own += (double)flow_bytes(flow) / (double)run->times.flows[i].elapsed_ns;
      bytes += (double)flow_bytes(flow);
      measured++;
    }
  }
  return measured > 1 && own * (double)run->times.window_ns > SERIALISED_RATIO * bytes;
}

static void deliver(const struct case_run *run, const struct trial *trial) {
  run->sink->trial(run->sink->context, trial);
  /* The time of a transfer's only flow is that of the trial. */
  const bool apart = run->def->flow_count > 1 || !case_kind_is_of_flows(run->def->kind);
  for (uint32_t i = 0; apart && i < run->def->flow_count; i++) {
    const struct flow_times *times = &run->times.flows[i];
    const bool load = run->def->flows[i].role == FLOW_LOAD;
    if (!load || times->elapsed_ns > 0) {
      struct flow_trial flow_trial = {.ordinal = trial->ordinal,
                                      .flow = i,
                                      .start_ns = load ? UINT64_MAX : times->start_ns,
                                      .elapsed_ns = times->elapsed_ns,
                                      .iterations = load ? times->iterations : 0};
      run->sink->flow_trial(run->sink->context, &flow_trial);
    }
  }
}

/* Run one trial and deliver it. Its times count when its status is TRIAL_OK. */
static enum status run_trial(struct case_run *run, enum trial_phase phase, uint32_t iterations,
                             struct trial *done, struct error *err) {
  const bool every = run->def->measure.verify == VERIFY_EVERY;
  enum status status = every ? poison(run, err) : STATUS_OK;
  uint64_t before_ns = clock_now_ns();
  struct trial trial = {.ordinal = run->ordinal++, .phase = phase, .iterations = iterations};
  do {
    run->times.again = false;
    run->times.cycles = run->times.submit_ns = run->times.gpu_ns = 0;
    if (status == STATUS_OK && run->ops->before_trial != NULL) {
      status = run->ops->before_trial(run->state, err);
    }
    trial.start_ns = clock_now_ns();
    status = THEN(status, run->ops->run(run->state, iterations, &run->times, err));
  } while (status == STATUS_OK && run->times.again);
  run->outcome->measure_ns += clock_now_ns() - before_ns;
  RETURN_ON_ERROR(status);
  trial.elapsed_ns = run->times.window_ns;
  trial.cycles = run->times.cycles;
  trial.gpu_ns = run->times.gpu_ns;
  trial.submit_ns = run->times.submit_ns;
  trial.status = run->times.gate_timed_out ? TRIAL_GATE_TIMEOUT : TRIAL_OK;
  if (every && trial.status == TRIAL_OK) {
    status = verify(run, err);
    trial.status = status == STATUS_CORRUPT ? TRIAL_CORRUPT : trial.status;
  }
  *done = trial;
  run->gate_timeouts = trial.status == TRIAL_GATE_TIMEOUT ? run->gate_timeouts + 1 : 0;
  run->serialised_count +=
      phase == TRIAL_MEASURE && trial.status == TRIAL_OK && looks_serialised(run);
  deliver(run, &trial);
  if (status == STATUS_OK && run->gate_timeouts >= GATE_TIMEOUTS_MAX) {
    status = error_set(err, STATUS_TIMEOUT,
                       "the gate timed out %u times in a row: the host could not enqueue the flows "
                       "while it was closed; under a debugger, profiler or sanitizer: "
                       "--set measure.gate=off",
                       run->gate_timeouts);
  }
  return status;
}

/* Later repeats of a trial would find in the cache what the first one was to find outside. */
static bool one_iteration_only(const struct case_run *run) {
  return run->def->measure.host_cache != HOST_CACHE_AS_IS ||
         run->def->measure.device_cache == CACHE_FLUSHED;
}

/* How many iterations last as long as a trial should, going by that one. */
static uint32_t iterations_for(const struct case_run *run, const struct trial *trial) {
  const uint32_t limit = run->ops->iterations_max(run->state);
  const double one_ns = (double)(trial->elapsed_ns > 0 ? trial->elapsed_ns : 1) / trial->iterations;
  const double wanted = ceil(1.05 * (double)run->def->measure.min_trial_ns / one_ns);
  return wanted < limit ? (uint32_t)wanted : limit;
}

/* Trials until one lasts as long as a trial should, or shows how many iterations will. Adds their
 * number to *done. */
static enum status calibrate(struct case_run *run, uint32_t *done, struct error *err) {
  const uint64_t wanted_ns = run->def->measure.min_trial_ns;
  const uint32_t limit = run->ops->iterations_max(run->state);
  for (int round = 0; round < CALIBRATION_ROUNDS;) {
    struct trial trial = {0};
    RETURN_ON_ERROR(run_trial(run, TRIAL_WARMUP, run->iterations, &trial, err));
    ++*done;
    if (run->iterations == limit) {
      break;
    }
    if (trial.status != TRIAL_OK) {
      continue; /* its times mean nothing; GATE_TIMEOUTS_MAX in a row end the case */
    }
    if (trial.elapsed_ns >= wanted_ns) {
      break;
    }
    run->iterations = iterations_for(run, &trial);
    if (run->outcome->gated && trial.elapsed_ns >= CALIBRATION_LONG_NS &&
        trial.elapsed_ns >= wanted_ns / CALIBRATION_PART) {
      break;
    }
    round++;
  }
  return STATUS_OK;
}

/* Warm up, and choose the number of iterations so that a trial lasts at least min_trial. */
static enum status warm_up(struct case_run *run, struct error *err) {
  const struct measure *measure = &run->def->measure;
  const uint32_t limit = run->ops->iterations_max(run->state);
  enum status status = STATUS_OK;
  struct trial trial = {0};
  uint32_t done = 0;
  run->iterations = measure->iterations > 0 ? measure->iterations : 1;
  if (run->iterations > limit) {
    return error_set(err, STATUS_INVALID, "iterations = %u: a trial of this case has at most %u",
                     run->iterations, limit);
  }
  if (measure->iterations == 0 && !one_iteration_only(run)) {
    status = calibrate(run, &done, err);
  }
  for (; status == STATUS_OK && done < measure->warmup; done++) {
    status = run_trial(run, TRIAL_WARMUP, run->iterations, &trial, err);
  }
  return status;
}

/* Whether to look at the precision after that many trials: always at first, then less and less
 * often, because sorting must not cost more than measuring. */
static bool is_time_to_look(size_t count) {
  return count <= 64 || count % (count / 16) == 0;
}

/* Whether the 95 % interval of the median is narrow enough. */
static bool precise_enough(const struct case_run *run) {
  const struct measure *measure = &run->def->measure;
  size_t count = run->count;
  if (count < measure->trials_min) {
    return false;
  }
  struct summary summary;
  memcpy(run->scratch, run->values, count * sizeof *run->scratch);
  summary_of_values(run->scratch, count, &summary);
  double half_width = (summary.median_high_ns - summary.median_low_ns) / 2;
  return summary.median_high_ns > 0 && half_width <= measure->precision * summary.median_ns;
}

static void add_value(struct case_run *run, const struct trial *trial) {
  if (trial->status == TRIAL_OK) {
    run->values[run->count++] = (double)trial->elapsed_ns / run->iterations;
    run->timed_ns += trial->elapsed_ns;
    run->timeless_count += trial->elapsed_ns == 0;
  }
}

static enum status measure_trials(struct case_run *run, struct error *err) {
  const struct measure *measure = &run->def->measure;
  const uint64_t start_ns = clock_now_ns();
  run->outcome->stop = STOP_NONE;
  while (run->outcome->stop == STOP_NONE) {
    struct trial trial;
    enum status status = run_trial(run, TRIAL_MEASURE, run->iterations, &trial, err);
    RETURN_ON_ERROR(status);
    add_value(run, &trial);
    const bool timed_enough = measure->min_time_ns > 0 && run->timed_ns >= measure->min_time_ns;
    if (run->count >= measure->trials_max) {
      run->outcome->stop = STOP_TRIALS;
    } else if ((timed_enough || clock_now_ns() - start_ns >= measure->max_time_ns) &&
               run->count >= measure->trials_min) {
      run->outcome->stop = STOP_TIME;
    }
    const bool look = measure->min_time_ns == 0 && is_time_to_look(run->count);
    if ((run->outcome->stop != STOP_NONE || look) && precise_enough(run)) {
      run->outcome->stop = STOP_PRECISION;
    }
  }
  if (2 * run->timeless_count >= run->count) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "the clock did not advance in %zu of %zu trials: raise iterations, or "
                     "min_trial where iterations is \"auto\"",
                     run->timeless_count, run->count);
  }
  return STATUS_OK;
}

/* Times of the host follow the clock of its processors. */
static void note_cpu_clock(struct case_outcome *outcome) {
  const double before = outcome->cpu_before_khz;
  const double after = outcome->cpu_after_khz;
  if (outcome->clock == CLOCK_HOST && fabs(after - before) > CPU_CLOCK_MOVES * before) {
    /* In hundredths: cases that differ by less share a footnote. */
    notes_add(&outcome->notes,
              &(struct note){.kind = NOTE_CPU_CLOCK,
                             .gpu = NOTE_NO_GPU,
                             .amounts = {round(before / 1e4) / 100, round(after / 1e4) / 100}});
  }
}

static bool uses_huge_pages(const struct case_def *def) {
  struct case_path path;
  for (uint32_t i = 0; workload_path(def, i, &path); i++) {
    if (path.from.memory == MEMORY_HUGE || path.to.memory == MEMORY_HUGE) {
      return true;
    }
  }
  return false;
}

static enum status case_run_trials(struct case_run *run, struct engine *engine, struct error *err) {
  const struct measure *measure = &run->def->measure;
  const bool once = measure->verify == VERIFY_ONCE;
  struct cpu_set_bits own = {{0}};
  numa_add_own_cpus(&own);
  workload_set_cpus(run->outcome, &own);
  run->values = calloc(measure->trials_max, sizeof *run->values);
  run->scratch = calloc(measure->trials_max, sizeof *run->scratch);
  if (run->values == NULL || run->scratch == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for %u trials", measure->trials_max);
  }
  enum status status = workload_prepare(engine, run->def, err);
  status = THEN(status, run->ops->set_up(engine, run->def, run->outcome, &run->state, err));
  if (status == STATUS_UNSUPPORTED && uses_huge_pages(run->def)) {
    run->outcome->status = CASE_SKIPPED; /* too few are free, or whole */
  }
  if (status == STATUS_OK && measure->unflushed >= ON_FAIL_SKIP &&
      workload_is_unflushed(run->outcome)) {
    run->outcome->status = CASE_SKIPPED;
    return error_set(err, STATUS_UNSUPPORTED,
                     "check cache_flush: the caches are not proven to be %s before a trial",
                     measure->host_cache == HOST_CACHE_WARM ? "warm" : "flushed");
  }
  status = THEN(status, warm_up(run, err));
  /* Poison only now: the measured trials must write the target, not the warm-up alone. */
  if (status == STATUS_OK && once) {
    status = poison(run, err);
  }
  run->outcome->cpu_before_khz = cpu_clock_khz();
  status = THEN(status, measure_trials(run, err));
  run->outcome->cpu_after_khz = cpu_clock_khz();
  note_cpu_clock(run->outcome);
  if (status == STATUS_OK && once) {
    status = verify(run, err);
  }
  return status;
}

enum status case_run_measure(const struct workload_ops *ops, struct engine *engine,
                             const struct case_def *def, const struct trial_sink *sink,
                             struct case_outcome *outcome, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  *outcome = (struct case_outcome){.status = CASE_OK};
  struct error local = {0};
  struct error *error = err != NULL ? err : &local;
  char reason[CASE_REASON_MAX];
  const char *unsupported = ops->unsupported_reason(def, engine->context.machine, reason);
  if (unsupported == NULL) {
    unsupported = loads_unsupported_reason(def, engine->context.machine, reason);
  }
  if (unsupported != NULL) {
    outcome->status = CASE_SKIPPED;
    (void)snprintf(outcome->reason, sizeof outcome->reason, "%s", unsupported);
    return STATUS_OK;
  }
  struct case_run run = {.ops = ops, .def = def, .sink = sink, .outcome = outcome};
  outcome->clock = run.ops->clock(def);
  enum status status = case_run_trials(&run, engine, error);
  outcome->iterations = run.iterations;
  outcome->serialised = 2 * (size_t)run.serialised_count > run.count;
  if (outcome->serialised) {
    notes_add_kinds(&outcome->notes, NOTE_BIT(NOTE_SERIALISED));
  }
  outcome->verified =
      status == STATUS_OK && !outcome->unproven &&
      (run.ops->verifies_itself || (run.ops->verify != NULL && def->measure.verify != VERIFY_OFF));
  if (status != STATUS_OK) {
    outcome->status = outcome->status == CASE_SKIPPED ? CASE_SKIPPED
                      : status == STATUS_CORRUPT      ? CASE_CORRUPT
                                                      : CASE_FAILED;
    (void)snprintf(outcome->reason, sizeof outcome->reason, "%.*s", CASE_REASON_MAX - 1,
                   error->message);
  }
  if (run.state != NULL) {
    run.ops->tear_down(run.state);
  }
  free(run.values);
  free(run.scratch);
  outcome->total_ns = clock_now_ns() - start_ns;
  return status == STATUS_STICKY ? STATUS_STICKY : STATUS_OK;
}
