#include "engine/trial/event_trial_internal.h"

#include "engine/case/transfer.h"

#include <stdlib.h>

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
      if (!is_measured(trial, i) && methods[trial->runs[i].flow->method]->enqueue_part != NULL) {
        status = THEN(status, create_event(trial, i, &trial->flows[i].rest_end, err));
      }
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

static enum status prepare_thread(void *context, uint32_t flow, struct error *err) {
  return use_gpu_of(context, flow, err);
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
  static const struct enqueuers_ops ops = {prepare_thread, event_trial_enqueue_calls};
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
    if (trial->flows[i].rest_end != NULL) {
      (void)driver->cuEventDestroy(trial->flows[i].rest_end);
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
