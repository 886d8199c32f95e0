/* host_trial.h - one trial of flows that host threads carry out, timed by CLOCK_MONOTONIC_RAW.
 * All threads of all flows start together; the window is first start to last end. */
#ifndef HAUL_ENGINE_HOST_TRIAL_H
#define HAUL_ENGINE_HOST_TRIAL_H

#include "engine/method/method.h"
#include "engine/trial_times.h"

/* times->flows holds `count` elements of the caller's. */
enum status host_trial_run(struct flow_run *runs, uint32_t count, uint32_t iterations,
                           struct trial_times *times, struct error *err) CHECK_RESULT;

#endif
