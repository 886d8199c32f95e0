/* The life of one case: buffers, warm-up, trials until the stop rule, verification. */
#include "engine/engine_state.h"
#include "engine/event_trial.h"
#include "engine/host/clock.h"
#include "engine/host_trial.h"
#include "engine/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  HOST_ITERATIONS_MAX = 1 << 20,
  CALIBRATION_ROUNDS = 3,
  GATE_TIMEOUTS_MAX = 3, /* in a row: then the case has failed */
};

struct case_run {
  struct engine *engine;
  const struct bench_case *bench;
  const struct trial_sink *sink;
  struct case_outcome *outcome;
  struct flow_run *runs; /* bench->flow_count */
  uint32_t ready_count;  /* runs prepared by their method */
  struct crew_seats seats;
  struct event_trial *event; /* NULL: host clock */
  struct trial_times times;
  struct flow_times *host_flow_times;
  uint32_t ordinal;
  uint32_t iterations;
  uint32_t load_iterations;
  bool has_load;
  uint32_t gate_timeouts;
  uint32_t serialised_count;
  double *values; /* ns an iteration of the trials that count */
  double *scratch;
  size_t count;
};

static const struct method_ops *ops_of(const struct flow *flow) {
  return methods[flow->method];
}

/* Every flow has a pattern of its own, so that a flow's bytes in another's target show. */
static uint64_t seed_of(uint32_t flow) {
  return (uint64_t)(flow + 1) << 40;
}

static void note(struct case_run *run, const char *text) {
  char *have = run->outcome->note;
  size_t used = strlen(have);
  if (text[0] != '\0' && strstr(have, text) == NULL) {
    (void)snprintf(have + used, sizeof run->outcome->note - used, "%s%s", used > 0 ? "; " : "",
                   text);
  }
}

static enum status take_buffers(struct case_run *run, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    const struct flow *flow = &run->bench->flows[i];
    struct flow_run *made = &run->runs[i];
    *made = (struct flow_run){.flow = flow, .gpu = ops_of(flow)->gpu(flow)};
    status = pool_take(run->engine->pool, &flow->source, flow->size_bytes, &made->source, err);
    if (status == STATUS_OK) {
      status = pool_take(run->engine->pool, &flow->target, flow->size_bytes, &made->target, err);
    }
    if (status == STATUS_OK) {
      note(run, made->source->note);
      note(run, made->target->note);
      made->seats = &run->seats;
    }
  }
  return status;
}

static enum status fill_buffers(struct case_run *run, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    const struct flow_run *made = &run->runs[i];
    status = data_fill(run->engine->data, made->source, made->flow->size_bytes, seed_of(i), false,
                       made->gpu, err);
  }
  return status;
}

static enum status poison_targets(struct case_run *run, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    const struct flow_run *made = &run->runs[i];
    status = data_fill(run->engine->data, made->target, made->flow->size_bytes, seed_of(i), true,
                       made->gpu, err);
  }
  run->outcome->verify_ns += clock_now_ns() - start_ns;
  return status;
}

/* STATUS_CORRUPT with the first difference when a measured target is not what was sent. */
static enum status compare_targets(struct case_run *run, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    const struct flow_run *made = &run->runs[i];
    struct data_difference difference;
    if (made->flow->role != FLOW_MEASURED) {
      continue;
    }
    status = data_compare(run->engine->data, made->target, made->flow->size_bytes, seed_of(i),
                          made->gpu, &difference, err);
    if (status == STATUS_OK && difference.bad_bytes != 0) {
      status = error_set(
          err, STATUS_CORRUPT,
          "flow %u: %llu of %llu bytes differ, the first at offset %llu: expected "
          "0x%02x, found 0x%02x",
          i, (unsigned long long)difference.bad_bytes, (unsigned long long)made->flow->size_bytes,
          (unsigned long long)difference.first_offset, difference.expected, difference.found);
    }
  }
  run->outcome->verify_ns += clock_now_ns() - start_ns;
  return status;
}

static enum status prepare_flows(struct case_run *run, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < run->bench->flow_count; i++) {
    const struct flow *flow = run->runs[i].flow;
    if (ops_of(flow)->expect_seats != NULL) {
      ops_of(flow)->expect_seats(flow, run->engine->context.machine, &run->seats);
    }
  }
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    status = ops_of(run->runs[i].flow)->prepare(&run->engine->context, &run->runs[i], err);
    run->ready_count += status == STATUS_OK;
    run->has_load = run->has_load || run->runs[i].flow->role == FLOW_LOAD;
  }
  if (status == STATUS_OK && run->outcome->clock == CLOCK_EVENT) {
    status =
        event_trial_new(&run->engine->context, run->runs, run->bench->flow_count, &run->event, err);
    run->outcome->gated = status == STATUS_OK && event_trial_is_gated(run->event);
    if (status == STATUS_OK && !run->outcome->gated) {
      note(run, "not gated: copies of pageable memory block the host, so the time of the call is "
                "in the number");
    }
  }
  return status;
}

static void flush_host_cache(const struct buffer *buffer) {
  if (buffer->host != NULL) {
    (void)cache_flush(buffer->host,
                      buffer->size_bytes); /* prove_flush() has noted what it can do */
  }
}

/* Bring caches into the state that the scenario wants before a trial. */
static enum status set_caches(struct case_run *run, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < run->bench->flow_count; i++) {
    const struct flow_run *made = &run->runs[i];
    if (run->bench->measure.host_cache == CACHE_FLUSHED) {
      flush_host_cache(made->source);
      flush_host_cache(made->target);
    }
    const struct endpoint *ends[] = {&made->flow->source, &made->flow->target};
    for (int end = 0; end < 2 && status == STATUS_OK; end++) {
      if (run->bench->measure.device_cache == CACHE_FLUSHED && ends[end]->place == PLACE_GPU) {
        status = data_flush_gpu_cache(run->engine->data, ends[end]->index, err);
      }
    }
  }
  return status;
}

/* A host cache flush is proven once an engine; where it cannot be done or proven, the row says so.
 */
static void prove_flush(struct case_run *run) {
  struct engine *engine = run->engine;
  if (run->bench->measure.host_cache != CACHE_FLUSHED) {
    return;
  }
  if (!engine->flush_proven) {
    cache_flush_prove(&engine->flush_proof);
    engine->flush_proven = true;
  }
  if (!engine->flush_proof.supported) {
    note(run, "host caches were not flushed: this processor has no instruction for it");
  } else if (!engine->flush_proof.works) {
    note(run, "the flush of host caches could not be proven: a reload after it took no longer");
  }
}

static enum status run_flows(struct case_run *run, uint32_t iterations, struct error *err) {
  if (run->event != NULL) {
    return event_trial_run(run->event, iterations, run->load_iterations, &run->times, err);
  }
  run->times.flows = run->host_flow_times;
  return host_trial_run(run->runs, run->bench->flow_count, iterations, &run->times, err);
}

/* Repeat with longer load flows until they outlast the measured ones. */
static enum status run_flows_under_load(struct case_run *run, uint32_t iterations,
                                        struct error *err) {
  for (;;) {
    enum status status = run_flows(run, iterations, err);
    if (status != STATUS_OK || !run->has_load || run->times.load_outlasted) {
      return status;
    }
    if (run->load_iterations >= EVENT_ITERATIONS_MAX) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "the load flows end before the measured ones even with %d repeats: give "
                       "them a larger size",
                       EVENT_ITERATIONS_MAX);
    }
    run->load_iterations = run->load_iterations * 2 < EVENT_ITERATIONS_MAX
                               ? run->load_iterations * 2
                               : EVENT_ITERATIONS_MAX;
  }
}

/* Flows that ran side by side: the longest of them fills most of the window. */
static bool looks_serialised(const struct case_run *run) {
  uint64_t longest_ns = 0;
  uint32_t measured = 0;
  for (uint32_t i = 0; i < run->bench->flow_count; i++) {
    if (run->runs[i].flow->role == FLOW_MEASURED) {
      uint64_t elapsed_ns = run->times.flows[i].elapsed_ns;
      longest_ns = elapsed_ns > longest_ns ? elapsed_ns : longest_ns;
      measured++;
    }
  }
  return measured > 1 && (double)longest_ns < 0.8 * (double)run->times.window_ns;
}

static void deliver(struct case_run *run, const struct trial *trial) {
  run->sink->trial(run->sink->context, trial);
  for (uint32_t i = 0; run->bench->flow_count > 1 && i < run->bench->flow_count; i++) {
    if (run->runs[i].flow->role == FLOW_MEASURED) {
      struct flow_trial flow_trial = {.ordinal = trial->ordinal,
                                      .flow = i,
                                      .start_ns = run->times.flows[i].start_ns,
                                      .elapsed_ns = run->times.flows[i].elapsed_ns};
      run->sink->flow_trial(run->sink->context, &flow_trial);
    }
  }
}

/* One trial, delivered; *elapsed_ns is 0 when it does not count (gate_timeout). */
static enum status run_trial(struct case_run *run, enum trial_phase phase, uint32_t iterations,
                             uint64_t *elapsed_ns, struct error *err) {
  const bool every = run->bench->measure.verify == VERIFY_EVERY;
  enum status status = every ? poison_targets(run, err) : STATUS_OK;
  if (status == STATUS_OK) {
    status = set_caches(run, err);
  }
  struct trial trial = {.ordinal = run->ordinal++,
                        .phase = phase,
                        .iterations = iterations,
                        .start_ns = clock_now_ns()};
  if (status == STATUS_OK) {
    status = run_flows_under_load(run, iterations, err);
  }
  run->outcome->measure_ns += clock_now_ns() - trial.start_ns;
  if (status != STATUS_OK) {
    return status;
  }
  trial.elapsed_ns = run->times.window_ns;
  trial.status = run->times.gate_timed_out ? TRIAL_GATE_TIMEOUT : TRIAL_OK;
  if (every && trial.status == TRIAL_OK) {
    status = compare_targets(run, err);
    trial.status = status == STATUS_CORRUPT ? TRIAL_CORRUPT : trial.status;
  }
  *elapsed_ns = trial.status == TRIAL_OK ? trial.elapsed_ns : 0;
  run->gate_timeouts = trial.status == TRIAL_GATE_TIMEOUT ? run->gate_timeouts + 1 : 0;
  run->serialised_count += phase == TRIAL_MEASURE && looks_serialised(run);
  deliver(run, &trial);
  if (status == STATUS_OK && run->gate_timeouts >= GATE_TIMEOUTS_MAX) {
    status = error_set(err, STATUS_TIMEOUT,
                       "the gate timed out %u times in a row: the host could not enqueue the flows "
                       "while it was closed",
                       run->gate_timeouts);
  }
  return status;
}

static uint32_t iterations_limit(const struct case_run *run) {
  return run->event != NULL ? EVENT_ITERATIONS_MAX : HOST_ITERATIONS_MAX;
}

/* Repeats would find in the cache what the first one of a trial was to find outside. */
static bool one_iteration_only(const struct case_run *run) {
  return run->bench->measure.host_cache == CACHE_FLUSHED ||
         run->bench->measure.device_cache == CACHE_FLUSHED;
}

/* Warm up, and choose the number of iterations so that a trial lasts at least min_trial. */
static enum status warm_up(struct case_run *run, struct error *err) {
  const struct measure *measure = &run->bench->measure;
  const uint32_t limit = iterations_limit(run);
  enum status status = STATUS_OK;
  uint64_t elapsed_ns = 0;
  uint32_t done = 0;
  run->iterations = measure->iterations > 0 ? measure->iterations : 1;
  if (run->iterations > limit) {
    return error_set(err, STATUS_INVALID,
                     "iterations = %u: at most %u copies can stand behind a gate", run->iterations,
                     limit);
  }
  if (measure->iterations == 0 && !one_iteration_only(run)) {
    for (int round = 0; status == STATUS_OK && round < CALIBRATION_ROUNDS; round++) {
      status = run_trial(run, TRIAL_WARMUP, run->iterations, &elapsed_ns, err);
      done++;
      if (status != STATUS_OK || elapsed_ns >= measure->min_trial_ns || run->iterations == limit) {
        break;
      }
      double one_ns = (double)(elapsed_ns > 0 ? elapsed_ns : 1) / run->iterations;
      double wanted = ceil(1.05 * (double)measure->min_trial_ns / one_ns);
      run->iterations = wanted < limit ? (uint32_t)wanted : limit;
    }
  }
  for (; status == STATUS_OK && done < measure->warmup; done++) {
    status = run_trial(run, TRIAL_WARMUP, run->iterations, &elapsed_ns, err);
  }
  return status;
}

/* Whether the 95 % interval of the median is narrow enough. Looked at after every trial at first
 * and then less and less often: sorting must not cost more than measuring. */
static bool precise_enough(struct case_run *run) {
  const struct measure *measure = &run->bench->measure;
  size_t count = run->count;
  if (count < measure->trials_min || (count > 64 && count % (count / 16) != 0)) {
    return false;
  }
  struct summary summary;
  memcpy(run->scratch, run->values, count * sizeof *run->scratch);
  summary_of_values(run->scratch, count, &summary);
  double half_width = (summary.median_high_ns - summary.median_low_ns) / 2;
  return summary.median_high_ns > 0 && half_width <= measure->precision * summary.median_ns;
}

static enum status measure_trials(struct case_run *run, struct error *err) {
  const struct measure *measure = &run->bench->measure;
  const uint64_t start_ns = clock_now_ns();
  run->outcome->stop = STOP_NONE;
  while (run->outcome->stop == STOP_NONE) {
    uint64_t elapsed_ns = 0;
    enum status status = run_trial(run, TRIAL_MEASURE, run->iterations, &elapsed_ns, err);
    if (status != STATUS_OK) {
      return status;
    }
    if (elapsed_ns > 0) {
      run->values[run->count++] = (double)elapsed_ns / run->iterations;
    }
    if (precise_enough(run)) {
      run->outcome->stop = STOP_PRECISION;
    } else if (run->count >= measure->trials_max) {
      run->outcome->stop = STOP_TRIALS;
    } else if (clock_now_ns() - start_ns >= measure->max_time_ns &&
               run->count >= measure->trials_min) {
      run->outcome->stop = STOP_TIME;
    }
  }
  return STATUS_OK;
}

static enum status allocate_state(struct case_run *run, struct error *err) {
  run->runs = calloc(run->bench->flow_count, sizeof *run->runs);
  run->host_flow_times = calloc(run->bench->flow_count, sizeof *run->host_flow_times);
  run->values = calloc(run->bench->measure.trials_max, sizeof *run->values);
  run->scratch = calloc(run->bench->measure.trials_max, sizeof *run->scratch);
  if (run->runs == NULL || run->host_flow_times == NULL || run->values == NULL ||
      run->scratch == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for %u flows and %u trials",
                     run->bench->flow_count, run->bench->measure.trials_max);
  }
  return STATUS_OK;
}

static enum status set_up(struct case_run *run, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  enum status status = allocate_state(run, err);
  if (status == STATUS_OK) {
    status = take_buffers(run, err);
  }
  if (status == STATUS_OK) {
    status = prepare_flows(run, err);
  }
  uint64_t ready_ns = clock_now_ns();
  run->outcome->allocate_ns = ready_ns - start_ns;
  if (status == STATUS_OK) {
    prove_flush(run);
    status = fill_buffers(run, err);
  }
  run->outcome->verify_ns += clock_now_ns() - ready_ns;
  return status;
}

static enum status measure_case(struct case_run *run, struct error *err) {
  const bool once = run->bench->measure.verify == VERIFY_ONCE;
  enum status status = set_up(run, err);
  if (status == STATUS_OK) {
    status = warm_up(run, err);
  }
  /* Only now: the trials that count must write the target, not the warm-up alone. */
  if (status == STATUS_OK && once) {
    status = poison_targets(run, err);
  }
  if (status == STATUS_OK) {
    status = measure_trials(run, err);
  }
  if (status == STATUS_OK && once) {
    status = compare_targets(run, err);
  }
  return status;
}

static void tear_down(struct case_run *run) {
  event_trial_free(run->event);
  for (uint32_t i = 0; i < run->ready_count; i++) {
    ops_of(run->runs[i].flow)->release(&run->engine->context, &run->runs[i]);
  }
  pool_give_back_all(run->engine->pool);
  free(run->runs);
  free(run->host_flow_times);
  free(run->values);
  free(run->scratch);
}

enum status engine_run_case(struct engine *engine, const struct bench_case *bench_case,
                            const struct trial_sink *sink, struct case_outcome *outcome,
                            struct error *err) {
  uint64_t start_ns = clock_now_ns();
  *outcome = (struct case_outcome){.status = CASE_OK};
  struct error local = {0};
  struct error *error = err != NULL ? err : &local;
  char reason[CASE_REASON_MAX];
  const char *refusal = engine_case_refusal(bench_case, engine->context.machine, reason);
  if (refusal != NULL) {
    outcome->status = CASE_SKIPPED;
    (void)snprintf(outcome->reason, sizeof outcome->reason, "%s", refusal);
    return STATUS_OK;
  }
  outcome->clock = methods[bench_case->flows[0].method]->clock;
  struct case_run run = {.engine = engine,
                         .bench = bench_case,
                         .sink = sink,
                         .outcome = outcome,
                         .load_iterations = 4};
  enum status status = measure_case(&run, error);
  outcome->iterations = run.iterations;
  outcome->serialised = 2 * (size_t)run.serialised_count > run.count;
  outcome->verified = status == STATUS_OK && bench_case->measure.verify != VERIFY_OFF;
  if (status != STATUS_OK) {
    outcome->status = status == STATUS_CORRUPT ? CASE_CORRUPT : CASE_FAILED;
    (void)snprintf(outcome->reason, sizeof outcome->reason, "%.*s", CASE_REASON_MAX - 1,
                   error->message);
  }
  tear_down(&run);
  outcome->total_ns = clock_now_ns() - start_ns;
  return status == STATUS_STICKY ? STATUS_STICKY : STATUS_OK;
}
