/* mixed_trial.h - one trial of flows of which some run on GPU streams and some on host threads.
 *
 * There is no common clock, so the window is on the host's: the threads stand ready and the GPU
 * flows behind their gate, both are let go at the same moment, which is the window's start; it ends
 * with the last thread, or when the calling thread, which polls, sees the last GPU flow's end. Each
 * GPU flow's own time is by its events. The GPU flows' end is seen too
 * late by up to mixed_trial_uncertainty_ns(), and the time in which a gate sees that it is open
 * (about a microsecond) is in the window. */
#ifndef HAUL_ENGINE_MIXED_TRIAL_H
#define HAUL_ENGINE_MIXED_TRIAL_H

#include "engine/event_trial.h"

struct mixed_trial;

/* runs (prepared by their methods) are borrowed and must outlive the trial. No load flows, and none
 * whose enqueueing blocks the host. */
enum status mixed_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, struct mixed_trial **trial,
                            struct error *err) CHECK_RESULT;
void mixed_trial_free(struct mixed_trial *trial); /* NULL is fine */
/* times->flows is valid until the next run. */
enum status mixed_trial_run(struct mixed_trial *trial, uint32_t iterations,
                            struct trial_times *times, struct error *err) CHECK_RESULT;
/* The longest time between two looks at the GPU flows so far. */
uint64_t mixed_trial_uncertainty_ns(const struct mixed_trial *trial);

#endif
