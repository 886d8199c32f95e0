#include "engine/trial/event_trial.h"

#include "engine/base/clock.h"
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/trial/enqueuers.h"
#include "engine/trial/flow_graph.h"

#include <math.h>
#include <stdlib.h>

/* The host opens a gate within milliseconds; when it does not within this time (a debugger, a
 * suspended machine), the trial is worthless, but the GPU must get free. */
#define GATE_TIMEOUT_NS UINT64_C(4000000000)

/* In page-locked host memory, seen by the host and every GPU. */
struct gate_page {
  uint32_t flag; /* a gate opens when it equals the trial's own number */
  uint32_t reports[];
};

struct event_flow {
  CUevent start;
  CUevent end;
  uint32_t first_step; /* of the stream that it leads */
  uint32_t step_count; /* 0: it leads none */
  bool follows;        /* another flow leads the stream that it shares */
  struct flow_graph graph;
};

/* Copies of one flow that follow those of another on a stream that flows share. A flow's start and
 * end are those of its first and its last step, which own the events. */
struct event_step {
  uint32_t flow;
  uint32_t copies;
  CUevent start; /* the end of the step before where that is on the same CUstream */
  CUevent end;
  bool owns_start;
  bool opens; /* the first on its CUstream */
};

struct event_trial {
  const struct memory_context *context;
  struct flow_run *runs; /* borrowed */
  struct event_flow *flows;
  struct flow_times *times;
  struct event_step *steps; /* of streams that flows share, stream by stream */
  uint32_t step_count;
  uint32_t count;
  uint32_t first; /* the measured flow whose stream carries the window */
  uint32_t measured_count;
  bool gated;
  bool together; /* no flow waits for the start of another one */
  bool one_caller;
  struct enqueuers *enqueuers;          /* NULL: the caller enqueues */
  uint32_t sequence;                    /* number of the trial: the value that opens its gate */
  uint32_t iterations, load_iterations; /* of the trial */
  CUevent final;
  struct gate_page *gate;
  CUdeviceptr gate_device;
};

static const struct cuda_driver *event_trial_driver(const struct event_trial *trial) {
  return &trial->context->cuda->driver;
}

static bool is_measured(const struct event_trial *trial, uint32_t i) {
  return trial->runs[i].flow->role == FLOW_MEASURED;
}

static enum status use_gpu_of(const struct event_trial *trial, uint32_t i, struct error *err) {
  return cuda_session_use(trial->context->cuda, trial->runs[i].gpu, err);
}

static enum status allocate_gate(struct event_trial *trial, struct error *err) {
  const size_t size = sizeof *trial->gate + trial->count * sizeof trial->gate->reports[0];
  void *page = NULL;
  RETURN_ON_ERROR(
      cuda_session_take_gate(trial->context->cuda, size, &page, &trial->gate_device, err));
  trial->gate = page;
  for (uint32_t i = 0; i < trial->count; i++) {
    trial->gate->reports[i] = GATE_OPENED; /* what follows on a shared stream has no gate */
  }
  return STATUS_OK;
}

/* ---- streams that flows share ---- */

static uint32_t shared_stream(const struct event_trial *trial, uint32_t i) {
  return trial->runs[i].flow->stream;
}

/* The earlier flow whose CUstream flow i shares, or i itself. */
static uint32_t find_sharer(const struct event_trial *trial, uint32_t i) {
  uint32_t j = shared_stream(trial, i) != 0 ? 0 : i;
  while (j < i && (shared_stream(trial, j) != shared_stream(trial, i) ||
                   trial->runs[j].gpu != trial->runs[i].gpu)) {
    j++;
  }
  return j;
}

/* To the stream that flow `leader` leads. */
static void add_step(struct event_trial *trial, uint32_t leader, uint32_t flow, uint32_t copies) {
  struct event_flow *led = &trial->flows[leader];
  struct event_step *last = led->step_count > 0 ? &trial->steps[trial->step_count - 1] : NULL;
  if (last != NULL && last->flow == flow) {
    last->copies += copies;
    return;
  }
  trial->steps[trial->step_count++] = (struct event_step){.flow = flow, .copies = copies};
  led->step_count++;
}

static enum status make_steps(struct event_trial *trial, const struct copy_order *order,
                              struct error *err) {
  const bool listed = order == NULL || order->flows == NULL;
  trial->steps = calloc((listed ? trial->count : order->count) + 1, sizeof *trial->steps);
  if (trial->steps == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a trial of %u flows", trial->count);
  }
  for (uint32_t i = 0; i < trial->count; i++) {
    const uint32_t stream = shared_stream(trial, i);
    if (stream == 0 || trial->flows[i].follows) {
      continue;
    }
    trial->flows[i].first_step = trial->step_count;
    for (uint32_t j = i; j < trial->count; j++) {
      if (shared_stream(trial, j) == stream) {
        trial->flows[j].follows = j != i;
        if (listed) {
          add_step(trial, i, j, flow_copies(trial->runs[j].flow));
        }
      }
    }
    for (uint32_t c = 0; !listed && c < order->count; c++) {
      if (shared_stream(trial, order->flows[c]) == stream) {
        add_step(trial, i, order->flows[c], 1);
      }
    }
  }
  return STATUS_OK;
}

/* The step of that stream before this one on the same CUstream, or `step` itself. */
static struct event_step *step_before(const struct event_trial *trial, uint32_t first,
                                      struct event_step *step) {
  for (struct event_step *before = step; before-- > &trial->steps[first];) {
    if (trial->runs[before->flow].stream == trial->runs[step->flow].stream) {
      return before;
    }
  }
  return step;
}

static enum status create_event(const struct event_trial *trial, uint32_t flow, CUevent *event,
                                struct error *err) {
  const struct cuda_driver *driver = event_trial_driver(trial);
  enum status status = use_gpu_of(trial, flow, err);
  return THEN(status, cuda_check(driver, driver->cuEventCreate(event, CU_EVENT_DEFAULT), err,
                                 "cuEventCreate"));
}

static enum status create_step_events(struct event_trial *trial, uint32_t leader,
                                      struct error *err) {
  const struct event_flow *led = &trial->flows[leader];
  enum status status = STATUS_OK;
  for (uint32_t k = 0; status == STATUS_OK && k < led->step_count; k++) {
    struct event_step *step = &trial->steps[led->first_step + k];
    struct event_flow *flow = &trial->flows[step->flow];
    struct event_step *before = step_before(trial, led->first_step, step);
    step->opens = before == step;
    step->owns_start = before == step || before + 1 != step;
    if (step->owns_start) {
      status = create_event(trial, step->flow, &step->start, err);
    } else {
      step->start = before->end;
    }
    status = THEN(status, create_event(trial, step->flow, &step->end, err));
    flow->start = flow->start == NULL ? step->start : flow->start;
    flow->end = step->end;
  }
  return status;
}

static enum status create_streams_and_events(struct event_trial *trial, struct error *err) {
  static const int priorities[stream_priority_name_count] = {
      [STREAM_PRIORITY_LOWEST] = -1, [STREAM_PRIORITY_HIGHEST] = 1};
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    CUstream stream = NULL;
    const uint32_t sharer = find_sharer(trial, i);
    if (sharer != i) {
      trial->runs[i].stream = trial->runs[sharer].stream;
      continue;
    }
    status = use_gpu_of(trial, i, err);
    status = THEN(status, cuda_session_new_stream(trial->context->cuda,
                                                  priorities[trial->runs[i].flow->priority],
                                                  trial->runs[i].part, &stream, err));
    trial->runs[i].stream = stream;
  }
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    if (shared_stream(trial, i) == 0) {
      status = create_event(trial, i, &trial->flows[i].start, err);
      status = THEN(status, create_event(trial, i, &trial->flows[i].end, err));
    } else if (trial->flows[i].step_count > 0) {
      status = create_step_events(trial, i, err);
    }
  }
  return THEN(status, create_event(trial, trial->first, &trial->final, err));
}

/* No stream has more copies than may stand behind a gate. */
static bool fits_gate(const struct event_trial *trial) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < trial->count; i++) {
    uint64_t copies = 0;
    for (uint32_t j = i; j < trial->count && !trial->flows[i].follows; j++) {
      const bool together =
          shared_stream(trial, i) != 0 && shared_stream(trial, j) == shared_stream(trial, i);
      copies += i == j || together ? flow_copies(trial->runs[j].flow) : 0;
    }
    most = copies > most ? (uint32_t)copies : most;
  }
  return most <= EVENT_ITERATIONS_MAX;
}

static enum status enqueue_work(struct event_trial *trial, uint32_t i, struct error *err);

static enum status prepare_thread(void *context, uint32_t flow, struct error *err) {
  return use_gpu_of(context, flow, err);
}

/* Whether the calls of flow i are made by a thread of a trial without gates. */
static bool has_calls(const struct event_trial *trial, uint32_t i) {
  return !trial->flows[i].follows && trial->runs[i].leader == NULL;
}

static enum status enqueue_calls(void *context, uint32_t flow, struct error *err) {
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

/* Where the copies of a stream are made that flow i leads: its first that says. */
static const struct flow_cpu *stream_cpu(const struct event_trial *trial, uint32_t i) {
  const struct event_flow *led = &trial->flows[i];
  const struct flow_cpu *cpu = &trial->runs[i].flow->cpu;
  for (uint32_t k = 0; cpu->choice == CPU_ANY && k < led->step_count; k++) {
    cpu = &trial->runs[trial->steps[led->first_step + k].flow].flow->cpu;
  }
  return cpu;
}

/* A thread for each stream, or one for all. */
static enum status start_enqueuers(struct event_trial *trial, struct error *err) {
  static const struct enqueuers_ops ops = {prepare_thread, enqueue_calls};
  enum status status =
      enqueuers_new(trial->context->machine, &ops, trial, trial->count, &trial->enqueuers, err);
  bool enough = false;
  for (uint32_t i = 0; status == STATUS_OK && !enough && i < trial->count; i++) {
    if (has_calls(trial, i)) {
      status = enqueuers_add(trial->enqueuers, i, stream_cpu(trial, i), err);
      enough = trial->one_caller;
    }
  }
  return status;
}

/* Flow 0 leads whatever there is. */
static bool is_one_stream(const struct event_trial *trial) {
  uint32_t i = 1;
  while (i < trial->count && trial->flows[i].follows) {
    i++;
  }
  return i >= trial->count;
}

/* Events of several GPUs have no common clock, and loads come first. Other flows do not wait for
 * one another: with the wait, 4 KiB each way took 1.06 ms, without it 3 us (H200, driver 580: haul
 * run comm-scope/fig07 --only duplex_pinned_repeated). */
static bool may_start_together(const struct event_trial *trial) {
  bool may = true;
  for (uint32_t i = 0; i < trial->count; i++) {
    may = may && is_measured(trial, i) && trial->runs[i].gpu == trial->runs[0].gpu &&
          shared_stream(trial, i) == 0 && trial->runs[i].leader == NULL;
  }
  return may;
}

enum status event_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, const struct event_options *options,
                            struct event_trial **trial, struct error *err) {
  struct event_trial *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a trial");
  }
  made->context = context;
  made->runs = runs;
  made->count = count;
  made->first = count;
  made->gated = options->gating != GATING_OFF;
  made->together = may_start_together(made);
  made->one_caller = options->callers == CALLERS_ONE;
  bool threaded = false;
  made->flows = calloc(count, sizeof *made->flows);
  made->times = calloc(count, sizeof *made->times);
  for (uint32_t i = 0; i < count; i++) {
    if (is_measured(made, i)) {
      made->first = made->measured_count++ == 0 ? i : made->first;
    }
    made->gated = made->gated && !methods[runs[i].flow->method]->blocks_host(runs[i].flow);
    threaded = threaded || runs[i].flow->cpu.choice != CPU_ANY;
  }
  made->first = made->measured_count > 0 ? made->first : 0;
  enum status status = STATUS_OK;
  if (made->flows == NULL || made->times == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for a trial of %u flows", count);
  }
  status = THEN(status, make_steps(made, options->order, err));
  if (status == STATUS_OK) {
    made->gated = made->gated && fits_gate(made);
    threaded = !made->gated && (threaded || (!made->one_caller && !is_one_stream(made)));
    if (made->flows[made->first].step_count > 0) { /* the window begins with its first copy */
      made->first = made->steps[made->flows[made->first].first_step].flow;
    }
  }
  status = THEN(status, create_streams_and_events(made, err));
  status = THEN(status, allocate_gate(made, err));
  if (status == STATUS_OK && threaded) {
    status = start_enqueuers(made, err);
  }
  if (status != STATUS_OK) {
    event_trial_free(made);
    return status;
  }
  *trial = made;
  return STATUS_OK;
}

void event_trial_free(struct event_trial *trial) {
  if (trial == NULL) {
    return;
  }
  const struct cuda_driver *driver = event_trial_driver(trial);
  enqueuers_free(trial->enqueuers);
  for (uint32_t i = trial->flows != NULL ? trial->count : 0; i-- > 0;) {
    struct flow_run *run = &trial->runs[i];
    flow_graph_fini(&trial->flows[i].graph, driver);
    if (trial->flows[i].start != NULL && shared_stream(trial, i) == 0) {
      (void)driver->cuEventDestroy(trial->flows[i].start);
    }
    if (trial->flows[i].end != NULL && shared_stream(trial, i) == 0) {
      (void)driver->cuEventDestroy(trial->flows[i].end);
    }
    if (run->stream != NULL && find_sharer(trial, i) == i) {
      (void)driver->cuStreamDestroy(run->stream);
    }
    run->stream = NULL;
  }
  for (uint32_t k = 0; k < trial->step_count; k++) {
    if (trial->steps[k].owns_start && trial->steps[k].start != NULL) {
      (void)driver->cuEventDestroy(trial->steps[k].start);
    }
    if (trial->steps[k].end != NULL) {
      (void)driver->cuEventDestroy(trial->steps[k].end);
    }
  }
  free(trial->steps);
  if (trial->final != NULL) {
    (void)driver->cuEventDestroy(trial->final);
  }
  cuda_session_give_gate(trial->context->cuda, trial->gate);
  free(trial->flows);
  free(trial->times);
  free(trial);
}

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

/* What flow i has to do, and those that share its stream. */
static enum status enqueue_work(struct event_trial *trial, uint32_t i, struct error *err) {
  const uint32_t repeats = is_measured(trial, i) ? trial->iterations : trial->load_iterations;
  return trial->flows[i].step_count > 0
             ? enqueue_steps(trial, i, err)
             : enqueue_copies(trial, i, repeats * flow_copies(trial->runs[i].flow),
                              trial->flows[i].end, err);
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
    status = enqueue_calls(trial, 0, err);
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
      run = run &&
            event_trial_driver(trial)->cuEventQuery(trial->flows[i].end) == CUDA_ERROR_NOT_READY;
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
                                uint32_t load_iterations, struct error *err) {
  trial->sequence++;
  trial->iterations = iterations;
  trial->load_iterations = load_iterations;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < trial->count; i++) {
    status = flow_graph_capture(&trial->flows[i].graph, trial->context, &trial->runs[i],
                                is_measured(trial, i) ? iterations : load_iterations, err);
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

enum status event_trial_run(struct event_trial *trial, uint32_t iterations,
                            uint32_t load_iterations, struct trial_times *times,
                            struct error *err) {
  enum status status = event_trial_enqueue(trial, iterations, load_iterations, err);
  event_trial_open(trial); /* also after an error, so that nothing spins on */
  return event_trial_finish(trial, status, times, err);
}
