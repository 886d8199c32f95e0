/* loads.h - flows of load beside a case that is no transfer: def->flows of that kind.
 *
 * They are taken, filled and run by the machinery of transfers (engine/workload/transfer.c), which
 * repeats a trial with more repeats of the loads until they outlast what is measured, and delivers
 * the time of each. The measured work takes part in the trial as one more flow_run, in which its
 * kind says how it is enqueued. */
#pragma once

#include "engine/method/method.h"
#include "engine/workload/workload.h"

struct loads;

/* Loads are queued behind the same gate as what they load, and must outlast it: it has that share
 * of the repeats that there can be. */
enum { LOAD_SHARE = 4 };

/* After the measured work has its buffers, and its processors, which own->reservation has. own is
 * copied; its flow, gpu, state and work of run->enqueue are the kind's, and each trial enqueues it
 * as often as it is repeated. The methods of the flows are those of the machine; sets
 * outcome->gated. */
enum status loads_new(struct engine *engine, const struct case_def *def,
                      struct case_outcome *outcome, const struct flow_run *own,
                      struct loads **loads, struct error *err) CHECK_RESULT;
/* Gives back all buffers of the pool, those of the measured work as well; NULL is fine. */
void loads_free(struct loads *loads);
/* Caches and pages of the load flows, before a trial. */
enum status loads_before_trial(struct loads *loads, struct error *err) CHECK_RESULT;
/* times: the window of the measured work, and the flows of the case in their order; times->again
 * where the loads ended too early. */
enum status loads_run(struct loads *loads, uint32_t iterations, struct trial_times *times,
                      struct error *err) CHECK_RESULT;
