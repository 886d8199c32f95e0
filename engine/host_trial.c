#include "engine/host_trial.h"

static const struct method_ops *ops_of(const struct flow_run *run) {
  return methods[run->flow->method];
}

/* Wake the threads of every flow; the last to be ready starts all. Returns how many flows were
 * woken; less than count after an error, when those woken are let go. */
static uint32_t start_all(struct flow_run *runs, uint32_t count, uint32_t iterations,
                          struct host_start *start, enum status *status, struct error *err) {
  for (uint32_t i = 0; i < count; i++) {
    start->expected += ops_of(&runs[i])->thread_count(&runs[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    *status = ops_of(&runs[i])->execute(&runs[i], iterations, start, err);
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
    ops_of(&runs[i])->wait(&runs[i], &start_ns, &end_ns);
    times[i] = (struct flow_times){.start_ns = start_ns, .elapsed_ns = end_ns - start_ns};
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
