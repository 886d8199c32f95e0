/* host_trial.h - one trial with flows that host threads carry out, timed by CLOCK_MONOTONIC_RAW.
 *
 * host_trial: every flow runs on host threads. All threads of all flows start together; the window
 * is first start to last end.
 *
 * mixed_trial: some flows run on GPU streams and some on host threads. They have no common clock,
 * so the window is on the host's. The threads wait at their start and the GPU flows behind their
 * gate; both are released at the same moment, at which the window begins (where threads alone are
 * measured, beside loads on streams: with the first thread). It ends with the last
 * thread, or when the calling thread, which polls, sees the last GPU flow's end: too late by up to
 * mixed_trial_uncertainty_ns(). The time in which a gate sees that it is open (about a microsecond)
 * is in the window. Events time each GPU flow by itself. */
#pragma once

#include "engine/trial/event_trial.h"

/* times->flows holds `count` elements of the caller's. */
enum status host_trial_run(struct flow_run *runs, uint32_t count, uint32_t iterations,
                           struct trial_times *times, struct error *err) CHECK_RESULT;

struct mixed_trial;

/* runs (prepared by their methods) are borrowed and must outlive the trial. None whose enqueueing
 * blocks the host; some are measured. */
enum status mixed_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, struct mixed_trial **trial,
                            struct error *err) CHECK_RESULT;
void mixed_trial_free(struct mixed_trial *trial); /* NULL is fine */
/* Loads on streams are repeated load_iterations times; those of host threads until the measured
 * flows have ended. times->flows is valid until the next run. */
enum status mixed_trial_run(struct mixed_trial *trial, uint32_t iterations,
                            uint32_t load_iterations, struct trial_times *times,
                            struct error *err) CHECK_RESULT;
/* The longest time between two polls of the GPU flows so far. */
uint64_t mixed_trial_uncertainty_ns(const struct mixed_trial *trial);
