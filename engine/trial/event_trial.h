/* event_trial.h - one trial of flows that run on GPU streams, timed by events, started by a gate.
 *
 * Each stream gets, in this order: the gate; a primer, where the flow needs one, and what else the
 * work wants to come before (method.h); its start event; its repeats; its end event. Measured flows
 * of one GPU start by themselves: the window is from the earliest start event to the latest end
 * event. Where there are load flows, several GPUs or shared streams, measured flows wait for the
 * start of every load flow and for the start event of the first measured flow; the final event, on
 * the stream of that first flow, waits for all ends, so that the window covers first start to last
 * end on one clock.
 *
 * Flows of one number (struct flow: stream) share a CUstream on each GPU that they run on: their
 * copies follow each other in the given order, with an event between those of two flows, so that
 * each flow's share of the window is known. Where the GPU changes, the next waits for the event.
 *
 * The gate is a kernel that spins on a flag in host memory, which keeps the time of enqueueing out
 * of the window. After a time-out it opens by itself and reports that.
 *
 * Flows whose enqueueing blocks the host (pageable memory) cannot stand behind a gate: then no flow
 * of the case has one, and each of several flows is enqueued by a thread of its own (those that
 * share a stream by one thread), or all by one (CALLERS_ONE). The same holds with gating off, and
 * where a stream has more copies than may stand behind a gate. A flow that a processor copies
 * (flow.cpu) always has such a thread, which is bound to its node. Threads are there before any
 * start event. */
#pragma once

#include "engine/case/trial.h"
#include "engine/method/method.h"

/* No more copies than these of a measured flow, and of a load, stand behind a gate: the hardware
 * queue of a stream takes about a thousand entries, and a full one would block the host before it
 * can open the gate. */
enum { EVENT_ITERATIONS_MAX = 128, EVENT_LOAD_ITERATIONS_MAX = 512 };
/* Repeats of a load beyond EVENT_LOAD_ITERATIONS_MAX are enqueued when the gate is open, until the
 * measured flows have ended: small copies outlast a large one by this. */
enum { EVENT_LOAD_FED_MAX = 1 << 14 };

struct event_trial; /* streams, events and gate of one case */

struct event_options {
  enum gating gating;
  enum callers callers;
  const struct copy_order *order; /* of copies of runs that share streams; NULL = as listed */
};

/* Give every run its stream. Without a measured flow among them they are loads of host threads that
 * are timed elsewhere, and the window means nothing. runs is borrowed and must outlive the trial;
 * options need not. */
enum status event_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, const struct event_options *options,
                            struct event_trial **trial, struct error *err) CHECK_RESULT;
void event_trial_free(struct event_trial *trial);
/* Whether event_trial_run() can repeat the loads EVENT_LOAD_FED_MAX times. */
bool event_trial_feeds_loads(const struct event_trial *trial);
/* Whether the last repeat of the loads may be a part of one. */
bool event_trial_splits_loads(const struct event_trial *trial);
/* False: gating is off, some flow blocks the host, or a stream has too many copies. */
bool event_trial_is_gated(const struct event_trial *trial);
/* Add the processors that the threads of the trials could run on; none: they were the caller's. */
void event_trial_cpus(const struct event_trial *trial, struct cpu_set_bits *cpus);
/* Measured flows repeat `iterations` times (once where flows share a stream), load flows
 * `load_iterations` times: a whole number, or at least 1 where event_trial_splits_loads(). The
 * times of a load are those of its whole repeats. Returns when every stream is idle; times->flows
 * is valid until the next run. */
enum status event_trial_run(struct event_trial *trial, uint32_t iterations, double load_iterations,
                            struct trial_times *times, struct error *err) CHECK_RESULT;
/* The same in steps, for a trial that has host threads as well (engine/trial/host_trial.h): enqueue
 * everything behind the closed gate; open the gate; ask whether all flows have ended; collect the
 * times. After an error of event_trial_enqueue(), still open and finish. event_trial_finish() waits
 * for all streams, also when status is not OK, which it then returns. */
enum status event_trial_enqueue(struct event_trial *trial, uint32_t iterations,
                                double load_iterations, struct error *err) CHECK_RESULT;
void event_trial_open(struct event_trial *trial);
/* Whether every load flow is still at work. */
bool event_trial_loads_run(const struct event_trial *trial);
enum status event_trial_poll(struct event_trial *trial, bool *ended,
                             struct error *err) CHECK_RESULT;
enum status event_trial_finish(struct event_trial *trial, enum status status,
                               struct trial_times *times, struct error *err) CHECK_RESULT;
