#include "engine/trial/event_trial_internal.h"

#include "engine/base/clock.h"
#include "engine/case/transfer.h"

#include <math.h>

/* The host opens a gate within milliseconds; when it does not within this time (a debugger, a
 * suspended machine), the trial is worthless, but the GPU must get free. */
#define GATE_TIMEOUT_NS UINT64_C(4000000000)

bool event_trial_is_gated(const struct event_trial *trial) {
  return trial->gated;
}

void event_trial_cpus(const struct event_trial *trial, struct cpu_set_bits *cpus) {
  if (trial->enqueuers != NULL) {
    enqueuers_cpus(trial->enqueuers, cpus);
  }
}

static enum status launch_gate(struct event_trial *trial, uint32_t i, struct error *err) {
  trial->gate->reports[i] = GATE_WAITING;
  struct gate_arguments arguments = {
      .flag = trial->gate_device + offsetof(struct gate_page, flag),
      .report = trial->gate_device + offsetof(struct gate_page, reports) + i * sizeof(uint32_t),
      .timeout_ns = GATE_TIMEOUT_NS,
      .open = trial->sequence,
  };
  return cuda_session_launch(trial->context->cuda, trial->runs[i].gpu, KERNEL_GATE, 1, 1,
                             trial->runs[i].stream, &arguments, err);
}

static enum status event_trial_record(const struct event_trial *trial, CUevent event, uint32_t i,
                                      struct error *err) {
  const struct cuda_driver *driver = event_trial_driver(trial);
  return cuda_check(driver, driver->cuEventRecord(event, trial->runs[i].stream), err,
                    "cuEventRecord");
}

static enum status wait_for(const struct event_trial *trial, uint32_t i, CUevent event,
                            struct error *err) {
  const struct cuda_driver *driver = event_trial_driver(trial);
  return cuda_check(driver, driver->cuStreamWaitEvent(trial->runs[i].stream, event, 0), err,
                    "cuStreamWaitEvent");
}

static enum status enqueue_gate(struct event_trial *trial, uint32_t i, struct error *err) {
  enum status status = use_gpu_of(trial, i, err);
  if (status == STATUS_OK && trial->gated) {
    status = launch_gate(trial, i, err);
  }
  if (status == STATUS_OK && trial->gated && trial->runs[i].primer != NULL) {
    status = methods[trial->runs[i].flow->method]->prime(trial->context, &trial->runs[i], err);
  }
  if (status == STATUS_OK && trial->runs[i].enqueue_before != NULL) {
    status = trial->runs[i].enqueue_before(trial->context, &trial->runs[i], err);
  }
  return status;
}

/* Gate, primer, dependencies and start event of flow i. */
static enum status enqueue_start(struct event_trial *trial, uint32_t i, struct error *err) {
  enum status status = enqueue_gate(trial, i, err);
  if (is_measured(trial, i) && i != trial->first && !trial->together && status == STATUS_OK) {
    status = wait_for(trial, i, trial->flows[trial->first].start, err);
  }
  const bool leads = i == trial->first && is_measured(trial, i);
  for (uint32_t j = 0; leads && status == STATUS_OK && j < trial->count; j++) {
    if (!is_measured(trial, j)) {
      status = wait_for(trial, i, trial->flows[j].start, err);
    }
  }
  status = THEN(status, event_trial_record(trial, trial->flows[i].start, i, err));
  if (flow_is_scattered(trial->runs[i].flow)) {
    /* A call without work before it finds an idle stream. Behind the event a batch of 16 KiB
     * pieces to an H200 went at 21 GB/s, with this wait at 4 (driver 580: haul run scattered-copies
     * --only host_by_ce, without and with it). */
    status = THEN(status, cuda_session_wait(trial->context->cuda, trial->runs[i].stream,
                                            "waiting for an idle stream", err));
  }
  return status;
}

static enum status enqueue_copies(struct event_trial *trial, uint32_t i, uint32_t copies,
                                  CUevent end, struct error *err) {
  struct flow_run *run = &trial->runs[i];
  enum status status = use_gpu_of(trial, i, err);
  run->called_ns = run->called_ns > 0 ? run->called_ns : clock_now_ns();
  status =
      THEN(status, run->enqueue != NULL ? run->enqueue(trial->context, run, copies, err)
                   : trial->flows[i].graph.copies == copies
                       ? flow_graph_launch(&trial->flows[i].graph, trial->context, run, err)
                       : methods[run->flow->method]->enqueue(trial->context, run, copies, err));
  run->returned_ns = clock_now_ns();
  return THEN(status, event_trial_record(trial, end, i, err));
}

/* The stream that flow `leader` leads, from the first step's copies on. */
static enum status enqueue_steps(struct event_trial *trial, uint32_t leader, struct error *err) {
  const struct event_flow *led = &trial->flows[leader];
  enum status status = STATUS_OK;
  for (uint32_t k = 0; status == STATUS_OK && k < led->step_count; k++) {
    const struct event_step *step = &trial->steps[led->first_step + k];
    if (step->opens && k > 0) {
      status = enqueue_gate(trial, step->flow, err);
    }
    if (step->owns_start && k > 0) { /* on another GPU than the step before */
      status = THEN(status, use_gpu_of(trial, step->flow, err));
      status = THEN(status, wait_for(trial, step->flow, step[-1].end, err));
      status = THEN(status, event_trial_record(trial, step->start, step->flow, err));
    }
    status = THEN(status, enqueue_copies(trial, step->flow, step->copies, step->end, err));
  }
  return status;
}

bool event_trial_feeds_loads(const struct event_trial *trial) {
  bool feeds = trial->gated;
  for (uint32_t i = 0; feeds && i < trial->count; i++) { /* each repeat is one copy by one call */
    const struct flow_run *run = &trial->runs[i];
    feeds = is_measured(trial, i) ||
            (run->enqueue == NULL && run->leader == NULL && shared_stream(trial, i) == 0 &&
             flow_copies(run->flow) == 1 && !flow_is_scattered(run->flow) && !run->flow->graph);
  }
  return feeds;
}

bool event_trial_splits_loads(const struct event_trial *trial) {
  bool splits = event_trial_feeds_loads(trial);
  for (uint32_t i = 0; splits && i < trial->count; i++) {
    splits = is_measured(trial, i) || (trial->flows[i].rest_end != NULL &&
                                       !copy_shape_is_strided(&trial->runs[i].flow->shape));
  }
  return splits;
}

/* The part of a repeat that follows the others of load i. */
static enum status enqueue_rest(struct event_trial *trial, uint32_t i, struct error *err) {
  struct flow_run *run = &trial->runs[i];
  const double blocks = (double)run->flow->size_bytes * trial->load_part / PRIMER_BYTES;
  const uint64_t part_bytes = (uint64_t)ceil(blocks) * PRIMER_BYTES;
  const uint64_t size_bytes =
      part_bytes < run->flow->size_bytes ? part_bytes : run->flow->size_bytes;
  enum status status =
      methods[run->flow->method]->enqueue_part(trial->context, run, size_bytes, err);
  return THEN(status, event_trial_record(trial, trial->flows[i].rest_end, i, err));
}

/* The next repeats of load i. It has paused where the last ones have ended, but the measured flows
 * have not. */
static enum status feed_load(struct event_trial *trial, uint32_t i, uint32_t repeats, bool *ended,
                             struct error *err) {
  const bool paused = event_trial_driver(trial)->cuEventQuery(trial->flows[i].end) == CUDA_SUCCESS;
  enum status status = paused ? event_trial_poll(trial, ended, err) : STATUS_OK;
  trial->load_paused = trial->load_paused || (paused && !*ended);
  return THEN(status, enqueue_copies(trial, i, repeats, trial->flows[i].end, err));
}

/* The repeats of the loads for which the queue of a stream had no room, in rounds over them. What
 * they need not outlast any more is left out. */
static enum status feed_loads(struct event_trial *trial, struct error *err) {
  enum { ROUND = 256 };
  enum status status = STATUS_OK;
  uint32_t done = EVENT_LOAD_ITERATIONS_MAX;
  bool ended = false;
  while (status == STATUS_OK && !ended && done < trial->load_iterations) {
    const uint32_t left = trial->load_iterations - done;
    const uint32_t round = left < ROUND ? left : ROUND;
    for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
      if (!is_measured(trial, i)) {
        status = feed_load(trial, i, round, &ended, err);
      }
    }
    done += round;
    status = THEN(status, event_trial_poll(trial, &ended, err));
  }
  trial->load_cut = done < trial->load_iterations;
  trial->load_iterations = trial->load_cut ? done : trial->load_iterations;
  return status;
}

/* What flow i has to do, and those that share its stream. Of a load no more than the queue of its
 * stream takes behind the gate. */
static enum status enqueue_work(struct event_trial *trial, uint32_t i, struct error *err) {
  const uint32_t loads = trial->load_iterations < EVENT_LOAD_ITERATIONS_MAX
                             ? trial->load_iterations
                             : EVENT_LOAD_ITERATIONS_MAX;
  const uint32_t repeats = is_measured(trial, i) ? trial->iterations : loads;
  if (trial->flows[i].step_count > 0) {
    return enqueue_steps(trial, i, err);
  }
  enum status status = enqueue_copies(trial, i, repeats * flow_copies(trial->runs[i].flow),
                                      trial->flows[i].end, err);
  return status == STATUS_OK && !is_measured(trial, i) && trial->load_part > 0
             ? enqueue_rest(trial, i, err)
             : status;
}

enum status event_trial_enqueue_calls(void *context, uint32_t flow, struct error *err) {
  struct event_trial *trial = context;
  enum status status = STATUS_OK;
  for (uint32_t i = flow; status == STATUS_OK && i < (trial->one_caller ? trial->count : flow + 1);
       i++) {
    if (has_calls(trial, i)) {
      status = enqueue_work(trial, i, err);
    }
  }
  return status;
}

/* What a follower moves is in its leader's launches: it ends with them. */
static enum status enqueue_followers(struct event_trial *trial, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    const struct flow_run *leader = trial->runs[i].leader;
    if (leader != NULL) {
      status = use_gpu_of(trial, i, err);
      status = THEN(status, wait_for(trial, i, trial->flows[leader - trial->runs].end, err));
      status = THEN(status, event_trial_record(trial, trial->flows[i].end, i, err));
    }
  }
  return status;
}

/* Enqueue one trial. Dependencies point only to what was enqueued before, so that streams which
 * share a hardware queue cannot block each other. */
static enum status enqueue_all(struct event_trial *trial, struct error *err) {
  enum status status = STATUS_OK;
  if (trial->enqueuers != NULL) {
    enqueuers_wake(trial->enqueuers);
  }
  for (int role = FLOW_LOAD; role >= FLOW_MEASURED; role--) {
    for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
      const struct event_flow *flow = &trial->flows[i];
      if ((int)trial->runs[i].flow->role == role && !flow->follows) {
        const uint32_t first = flow->step_count > 0 ? trial->steps[flow->first_step].flow : i;
        status = enqueue_start(trial, first, err);
        if (status == STATUS_OK && trial->gated && trial->runs[i].leader == NULL) {
          status = enqueue_work(trial, i, err);
        }
      }
    }
  }
  if (trial->enqueuers != NULL) {
    status = enqueuers_run(trial->enqueuers, status, err);
  } else if (status == STATUS_OK && !trial->gated) {
    status = event_trial_enqueue_calls(trial, 0, err);
  }
  status = THEN(status, enqueue_followers(trial, err));
  status = THEN(status, use_gpu_of(trial, trial->first, err));
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    if (is_measured(trial, i) && trial->runs[i].stream != trial->runs[trial->first].stream) {
      status = wait_for(trial, trial->first, trial->flows[i].end, err);
    }
  }
  return THEN(status, event_trial_record(trial, trial->final, trial->first, err));
}

static enum status elapsed_ns(const struct event_trial *trial, CUevent start, CUevent end,
                              uint64_t *elapsed, struct error *err) {
  const struct cuda_driver *driver = event_trial_driver(trial);
  float milliseconds = 0;
  enum status status = cuda_check(driver, driver->cuEventElapsedTime(&milliseconds, start, end),
                                  err, "cuEventElapsedTime");
  *elapsed = milliseconds > 0 ? (uint64_t)llround((double)milliseconds * 1e6) : 0;
  return status;
}

/* Of flows that start by themselves, the window is from the earliest start to the latest end. */
static enum status read_window(const struct event_trial *trial, CUevent *window_start,
                               uint64_t *window_ns, struct error *err) {
  *window_start = trial->flows[trial->first].start;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; trial->together && status == STATUS_OK && i < trial->count; i++) {
    uint64_t earlier_ns = 0; /* 0 also where it is later: elapsed_ns() */
    status = elapsed_ns(trial, trial->flows[i].start, *window_start, &earlier_ns, err);
    *window_start = earlier_ns > 0 ? trial->flows[i].start : *window_start;
  }
  if (!trial->together) {
    return elapsed_ns(trial, *window_start, trial->final, window_ns, err);
  }
  *window_ns = 0;
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    uint64_t until_ns = 0;
    status = elapsed_ns(trial, *window_start, trial->flows[i].end, &until_ns, err);
    *window_ns = until_ns > *window_ns ? until_ns : *window_ns;
  }
  return status;
}

static enum status read_times(struct event_trial *trial, struct trial_times *times,
                              struct error *err) {
  CUevent window_start = NULL;
  enum status status = read_window(trial, &window_start, &times->window_ns, err);
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    trial->times[i] = (struct flow_times){.start_ns = UINT64_MAX};
    /* A follower's bytes are moved while its leader runs. */
    const struct flow_run *leader = trial->runs[i].leader;
    const uint32_t timed =
        leader != NULL && !is_measured(trial, i) ? (uint32_t)(leader - trial->runs) : i;
    trial->times[i].iterations =
        is_measured(trial, timed) ? trial->iterations : trial->load_iterations;
    status = use_gpu_of(trial, timed, err);
    if (shared_stream(trial, timed) == 0) {
      status = THEN(status, elapsed_ns(trial, trial->flows[timed].start, trial->flows[timed].end,
                                       &trial->times[i].elapsed_ns, err));
    }
    if (status == STATUS_OK && is_measured(trial, i) &&
        trial->runs[i].gpu == trial->runs[trial->first].gpu) {
      status =
          elapsed_ns(trial, window_start, trial->flows[i].start, &trial->times[i].start_ns, err);
    }
  }
  for (uint32_t k = 0; status == STATUS_OK && k < trial->step_count; k++) {
    const struct event_step *step = &trial->steps[k];
    uint64_t step_ns = 0;
    status = use_gpu_of(trial, step->flow, err);
    status = THEN(status, elapsed_ns(trial, step->start, step->end, &step_ns, err));
    trial->times[step->flow].elapsed_ns += step_ns;
  }
  times->flows = trial->times;
  return status;
}

bool event_trial_loads_run(const struct event_trial *trial) {
  bool run = true;
  for (uint32_t i = 0; i < trial->count; i++) {
    if (!is_measured(trial, i) && trial->runs[i].leader == NULL) {
      const struct event_flow *flow = &trial->flows[i];
      CUevent last = trial->load_part > 0 ? flow->rest_end : flow->end;
      run = run && event_trial_driver(trial)->cuEventQuery(last) == CUDA_ERROR_NOT_READY;
    }
  }
  return run;
}

static enum status finish(struct event_trial *trial, struct trial_times *times, struct error *err) {
  const struct cuda_driver *driver = event_trial_driver(trial);
  enum status status = cuda_check(driver, driver->cuEventSynchronize(trial->final), err,
                                  "waiting for the end of a trial");
  times->ended_ns = clock_now_ns();
  times->load_outlasted = event_trial_loads_run(trial);
  times->load_paused = trial->load_paused || (trial->load_cut && !times->load_outlasted);
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    status = cuda_check(driver, driver->cuStreamSynchronize(trial->runs[i].stream), err,
                        "waiting for a stream");
  }
  times->gate_timed_out = false;
  for (uint32_t i = 0; trial->gated && i < trial->count; i++) {
    times->gate_timed_out = times->gate_timed_out || trial->gate->reports[i] != GATE_OPENED;
  }
  return THEN(status, read_times(trial, times, err));
}

/* After an error: what was enqueued must not run into the next case's use of the buffers. */
static void drain(struct event_trial *trial) {
  for (uint32_t i = 0; i < trial->count; i++) {
    if (use_gpu_of(trial, i, NULL) == STATUS_OK) {
      (void)event_trial_driver(trial)->cuStreamSynchronize(trial->runs[i].stream);
    }
  }
}

enum status event_trial_enqueue(struct event_trial *trial, uint32_t iterations,
                                double load_iterations, struct error *err) {
  trial->sequence++;
  trial->iterations = iterations;
  trial->load_iterations = (uint32_t)load_iterations;
  trial->load_part = load_iterations - trial->load_iterations;
  trial->load_paused = trial->load_cut = false;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    status = flow_graph_capture(&trial->flows[i].graph, trial->context, &trial->runs[i],
                                is_measured(trial, i) ? iterations : trial->load_iterations, err);
  }
  return THEN(status, enqueue_all(trial, err));
}

void event_trial_open(struct event_trial *trial) {
  __atomic_store_n(&trial->gate->flag, trial->sequence, __ATOMIC_RELEASE);
}

enum status event_trial_poll(struct event_trial *trial, bool *ended, struct error *err) {
  CUresult result = event_trial_driver(trial)->cuEventQuery(trial->final);
  *ended = result != CUDA_ERROR_NOT_READY;
  return *ended
             ? cuda_check(event_trial_driver(trial), result, err, "watching for the end of a trial")
             : STATUS_OK;
}

enum status event_trial_finish(struct event_trial *trial, enum status status,
                               struct trial_times *times, struct error *err) {
  status = THEN(status, finish(trial, times, err));
  if (status != STATUS_OK) {
    drain(trial);
  }
  return status;
}

enum status event_trial_run(struct event_trial *trial, uint32_t iterations, double load_iterations,
                            struct trial_times *times, struct error *err) {
  enum status status = event_trial_enqueue(trial, iterations, load_iterations, err);
  event_trial_open(trial); /* also after an error, so that nothing spins on */
  status = THEN(status, feed_loads(trial, err));
  return event_trial_finish(trial, status, times, err);
}
