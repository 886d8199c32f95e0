/* signal_state.h - a case of kind signal under way: what signal.c sets up, and how the files beside
 * it run flags and events. */
#pragma once

#include "engine/case/work.h"
#include "engine/gpu/signal_side.h"
#include "engine/host/thread_team.h"
#include "engine/memory/memory.h"
#include "engine/memory/peer.h"
#include "engine/workload/workload.h"

/* In page-locked memory, wherever it is. */
struct signal_page {
  struct signal_time times[2]; /* of the two kernels */
  uint32_t go;                 /* of streams that wait until all is queued: how often */
};

struct signal_state {
  struct engine *engine;
  const struct signal *signal;
  struct case_outcome *outcome;
  struct signal_page *page; /* page-locked; page_device as GPUs see it */
  CUdeviceptr page_device;
  const struct buffer *own;   /* flags in this GPU's memory */
  const struct buffer *other; /* and in the other's; of atomics what is added to */
  struct cpu_reservation reservation;
  struct thread_team *team; /* one thread that begins; NULL: none */
  struct spans spans;
  CUstream streams[2]; /* of events: of this GPU and the other one */
  CUevent start, end;  /* of what streams do */
  CUevent there[SIGNAL_EVENTS_MAX], back[SIGNAL_EVENTS_MAX]; /* of which event_count are made */
  uint32_t event_count;
  uint64_t added;  /* to each address, or the first, so far */
  uint32_t value;  /* of the next flag */
  uint32_t rounds; /* of this trial */
  /* The host's thread: what it is to do, and how it went. */
  struct signal_side side;
  bool in_time;
  uint64_t elapsed_ns;
};

static inline const struct cuda_driver *signal_driver(const struct signal_state *state) {
  return &state->engine->context.cuda->driver;
}
/* Where the kernel that begins notes its time, or the one that answers. */
static inline CUdeviceptr signal_time_at(const struct signal_state *state, bool begins) {
  return state->page_device + offsetof(struct signal_page, times) +
         (begins ? 0 : sizeof(struct signal_time));
}

/* signal.c */
enum status signal_wait(const struct signal_state *state, int32_t gpu,
                        struct error *err) CHECK_RESULT;
/* What the process of the responder is asked for. */
enum status signal_ask(struct signal_state *state, enum peer_request request,
                       struct peer_signal *signal, struct peer_answer *answer,
                       struct error *err) CHECK_RESULT;

/* signal_events.c: events between streams, and the two that time what a stream of this GPU does. */
enum status signal_make_clock(struct signal_state *state, struct error *err) CHECK_RESULT;
enum status signal_make_events(struct signal_state *state, struct error *err) CHECK_RESULT;
void signal_drop_events(struct signal_state *state);
/* Hold a stream until signal_go(), so that nothing is queued while it is timed. */
enum status signal_hold(const struct signal_state *state, CUstream stream,
                        struct error *err) CHECK_RESULT;
void signal_go(const struct signal_state *state);
enum status signal_record(const struct signal_state *state, CUevent event, CUstream stream,
                          struct error *err) CHECK_RESULT;
enum status signal_elapsed(const struct signal_state *state, uint64_t *elapsed_ns,
                           struct error *err) CHECK_RESULT;
enum status signal_run_events(struct signal_state *state, struct trial_times *times,
                              struct error *err) CHECK_RESULT;

/* signal_flags.c */
enum status signal_run_host(struct signal_state *state, struct trial_times *times,
                            struct error *err) CHECK_RESULT;
enum status signal_run_gpus(struct signal_state *state, struct trial_times *times,
                            struct error *err) CHECK_RESULT;
