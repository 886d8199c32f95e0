/* event_trial_internal.h - a trial of flows on streams, for the files that make it and run it. */
#pragma once

#include "engine/gpu/session.h"
#include "engine/trial/enqueuers.h"
#include "engine/trial/event_trial.h"
#include "engine/trial/flow_graph.h"

/* In page-locked host memory, seen by the host and every GPU. */
struct gate_page {
  uint32_t flag; /* a gate opens when it equals the trial's own number */
  uint32_t reports[];
};

struct event_flow {
  CUevent start;
  CUevent end;
  CUevent rest_end;    /* of the part of a repeat after it; NULL: the flow is never split */
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
  double load_part;                     /* of a repeat, after those */
  bool load_paused; /* some load had ended before its next repeats were enqueued */
  bool load_cut;    /* they have fewer repeats, as the measured flows had ended */
  CUevent final;
  struct gate_page *gate;
  CUdeviceptr gate_device;
};

static inline const struct cuda_driver *event_trial_driver(const struct event_trial *trial) {
  return &trial->context->cuda->driver;
}

static inline bool is_measured(const struct event_trial *trial, uint32_t i) {
  return trial->runs[i].flow->role == FLOW_MEASURED;
}

static inline enum status use_gpu_of(const struct event_trial *trial, uint32_t i,
                                     struct error *err) {
  return cuda_session_use(trial->context->cuda, trial->runs[i].gpu, err);
}

static inline uint32_t shared_stream(const struct event_trial *trial, uint32_t i) {
  return trial->runs[i].flow->stream;
}

/* Whether the calls of flow i are made by a thread of a trial without gates. */
static inline bool has_calls(const struct event_trial *trial, uint32_t i) {
  return !trial->flows[i].follows && trial->runs[i].leader == NULL;
}

/* The calls of a trial without gates, by a thread (struct enqueuers_ops). */
enum status event_trial_enqueue_calls(void *context, uint32_t flow, struct error *err) CHECK_RESULT;
