#include "engine/trial/host_trial.h"

#include "engine/base/clock.h"
#include "engine/case/transfer.h"

#include <sched.h>
#include <stdlib.h>

/* Polls of a team that is not ready before the caller yields its processor. */
enum { SPINS_BEFORE_YIELD = 4096 };

static const struct method_ops *host_trial_ops(const struct flow_run *run) {
  return run->host_ops != NULL ? run->host_ops : methods[run->flow->method];
}

/* Wake the threads of every flow; the last to be ready starts all. Returns how many flows were
 * woken: fewer than count after an error, and those woken are then released. */
static uint32_t start_all(struct flow_run *runs, uint32_t count, uint32_t iterations,
                          struct host_start *start, enum status *status, struct error *err) {
  for (uint32_t i = 0; i < count; i++) {
    start->expected += host_trial_ops(&runs[i])->thread_count(&runs[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    *status = host_trial_ops(&runs[i])->execute(&runs[i], iterations, start, err);
    if (*status != STATUS_OK) {
      atomic_store(&start->go, true);
      return i;
    }
  }
  return count;
}

/* Wait for the flows of one role; the span of the measured ones is the window. */
static void wait_for_role(struct flow_run *runs, uint32_t started, enum flow_role role,
                          struct flow_times *times, uint64_t *first_ns, uint64_t *last_ns) {
  for (uint32_t i = 0; i < started; i++) {
    uint64_t start_ns;
    uint64_t end_ns;
    if (runs[i].flow->role != role) {
      continue;
    }
    host_trial_ops(&runs[i])->wait(&runs[i], &start_ns, &end_ns);
    times[i] = (struct flow_times){.start_ns = start_ns,
                                   .elapsed_ns = end_ns - start_ns,
                                   .iterations = runs[i].load_iterations};
    *first_ns = start_ns < *first_ns ? start_ns : *first_ns;
    *last_ns = end_ns > *last_ns ? end_ns : *last_ns;
  }
}

enum status host_trial_run(struct flow_run *runs, uint32_t count, uint32_t iterations,
                           struct trial_times *times, struct error *err) {
  struct host_start start = {0};
  enum status status = STATUS_OK;
  uint32_t started = start_all(runs, count, iterations, &start, &status, err);
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  wait_for_role(runs, started, FLOW_MEASURED, times->flows, &first_ns, &last_ns);
  atomic_store(&start.stop, true);
  uint64_t load_first_ns = UINT64_MAX;
  uint64_t load_last_ns = 0;
  wait_for_role(runs, started, FLOW_LOAD, times->flows, &load_first_ns, &load_last_ns);
  for (uint32_t i = 0; i < started; i++) {
    times->flows[i].start_ns -= first_ns;
  }
  times->window_ns = last_ns > first_ns ? last_ns - first_ns : 0;
  times->gate_timed_out = false;
  times->load_outlasted = load_last_ns == 0 || load_last_ns >= last_ns;
  return status;
}

struct mixed_trial {
  struct event_trial *event;
  struct flow_run *event_runs; /* copies: event_trial.h wants them side by side */
  struct flow_run *host_runs;
  uint32_t *event_flows; /* place in the case of each of them */
  uint32_t *host_flows;
  uint32_t event_count;
  uint32_t host_count;
  bool event_measured;      /* some flow on a stream is measured */
  struct flow_times *times; /* of all flows of the case */
  uint64_t uncertainty_ns;
};

enum status mixed_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, struct mixed_trial **trial, struct error *err) {
  struct mixed_trial *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a trial");
  }
  made->event_runs = calloc(count, sizeof *made->event_runs);
  made->host_runs = calloc(count, sizeof *made->host_runs);
  made->event_flows = calloc(count, sizeof *made->event_flows);
  made->host_flows = calloc(count, sizeof *made->host_flows);
  made->times = calloc(count, sizeof *made->times);
  if (made->event_runs == NULL || made->host_runs == NULL || made->event_flows == NULL ||
      made->host_flows == NULL || made->times == NULL) {
    mixed_trial_free(made);
    return error_set(err, STATUS_NO_MEMORY, "no memory for a trial of %u flows", count);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (method_clock(runs[i].flow) == CLOCK_HOST) {
      made->host_flows[made->host_count] = i;
      made->host_runs[made->host_count++] = runs[i];
    } else {
      made->event_flows[made->event_count] = i;
      made->event_measured = made->event_measured || runs[i].flow->role == FLOW_MEASURED;
      made->event_runs[made->event_count++] = runs[i];
    }
  }
  enum status status = event_trial_new(context, made->event_runs, made->event_count,
                                       &(struct event_options){0}, &made->event, err);
  if (status != STATUS_OK) {
    mixed_trial_free(made);
    return status;
  }
  *trial = made;
  return STATUS_OK;
}

void mixed_trial_free(struct mixed_trial *trial) {
  if (trial == NULL) {
    return;
  }
  event_trial_free(trial->event);
  free(trial->event_runs);
  free(trial->host_runs);
  free(trial->event_flows);
  free(trial->host_flows);
  free(trial->times);
  free(trial);
}

uint64_t mixed_trial_uncertainty_ns(const struct mixed_trial *trial) {
  return trial->uncertainty_ns;
}

/* Wake the threads of the host flows and wait until all are ready. Returns how many flows were
 * woken; the caller must release those and wait for them, after an error as well. */
static uint32_t ready_threads(struct mixed_trial *trial, uint32_t iterations,
                              struct host_start *start, enum status *status, struct error *err) {
  uint32_t expected = 0;
  uint32_t woken = 0;
  for (; *status == STATUS_OK && woken < trial->host_count; woken++) {
    struct flow_run *run = &trial->host_runs[woken];
    *status = host_trial_ops(run)->execute(run, iterations, start, err);
    if (*status != STATUS_OK) {
      break;
    }
    expected += host_trial_ops(run)->thread_count(run);
  }
  for (uint32_t spins = 0; atomic_load(&start->ready) < expected; spins++) {
    if (spins >= SPINS_BEFORE_YIELD) {
      (void)sched_yield();
    }
  }
  return woken;
}

/* Poll the GPU flows until all have ended; *last_ns is when the last was seen to have ended. */
static enum status watch_gpu_flows(struct mixed_trial *trial, uint64_t *last_ns,
                                   struct error *err) {
  bool ended = false;
  uint64_t before_ns = clock_now_ns();
  enum status status = STATUS_OK;
  while (status == STATUS_OK && !ended) {
    status = event_trial_poll(trial->event, &ended, err);
    uint64_t now_ns = clock_now_ns();
    uint64_t gap_ns = now_ns - before_ns;
    trial->uncertainty_ns = gap_ns > trial->uncertainty_ns ? gap_ns : trial->uncertainty_ns;
    before_ns = now_ns;
  }
  *last_ns = before_ns;
  return status;
}

/* Wait for the host's flows of one role; the span of the measured ones is in *first_ns and
 * *last_ns. */
static void wait_for_threads(struct mixed_trial *trial, uint32_t woken, enum flow_role role,
                             uint64_t *first_ns, uint64_t *last_ns) {
  for (uint32_t i = 0; i < woken; i++) {
    struct flow_run *run = &trial->host_runs[i];
    uint64_t start_ns;
    uint64_t end_ns;
    if (run->flow->role != role) {
      continue;
    }
    host_trial_ops(run)->wait(run, &start_ns, &end_ns);
    trial->times[trial->host_flows[i]] = (struct flow_times){
        .start_ns = start_ns, .elapsed_ns = end_ns - start_ns, .iterations = run->load_iterations};
    *first_ns = start_ns < *first_ns ? start_ns : *first_ns;
    *last_ns = end_ns > *last_ns ? end_ns : *last_ns;
  }
}

enum status mixed_trial_run(struct mixed_trial *trial, uint32_t iterations,
                            uint32_t load_iterations, struct trial_times *times,
                            struct error *err) {
  struct host_start start = {0};
  struct trial_times of_gpu = {0};
  uint64_t last_ns = 0;
  uint64_t unused[2] = {UINT64_MAX, 0};
  uint32_t woken = 0;
  enum status status = event_trial_enqueue(trial->event, iterations, load_iterations, err);
  if (status == STATUS_OK) {
    woken = ready_threads(trial, iterations, &start, &status, err);
  }
  uint64_t first_ns = trial->event_measured ? clock_now_ns() : UINT64_MAX;
  event_trial_open(trial->event);
  atomic_store_explicit(&start.go, true, memory_order_release);
  if (status == STATUS_OK && trial->event_measured) {
    status = watch_gpu_flows(trial, &last_ns, err);
  }
  wait_for_threads(trial, woken, FLOW_MEASURED, &first_ns, &last_ns);
  times->load_outlasted = event_trial_loads_run(trial->event);
  atomic_store(&start.stop, true);
  wait_for_threads(trial, woken, FLOW_LOAD, &unused[0], &unused[1]);
  for (uint32_t i = 0; i < woken; i++) {
    trial->times[trial->host_flows[i]].start_ns -= first_ns;
  }
  /* In every case: after an error it empties the streams. */
  RETURN_ON_ERROR(event_trial_finish(trial->event, status, &of_gpu, err));
  for (uint32_t i = 0; i < trial->event_count; i++) {
    trial->times[trial->event_flows[i]] =
        (struct flow_times){.start_ns = UINT64_MAX,
                            .elapsed_ns = of_gpu.flows[i].elapsed_ns,
                            .iterations = of_gpu.flows[i].iterations};
  }
  times->window_ns = last_ns - first_ns;
  times->gate_timed_out = of_gpu.gate_timed_out;
  times->flows = trial->times;
  return STATUS_OK;
}
