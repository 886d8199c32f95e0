/* plan_view.h - a machine to plan for. */
#ifndef HAUL_RUNNER_RUN_PLAN_VIEW_H
#define HAUL_RUNNER_RUN_PLAN_VIEW_H

#include "runner/console/console.h"
#include "runner/plan/plan.h"

/* Zeroed, on the heap (free() it): it is too large for the stack. */
struct machine *machine_new(void);
/* A machine saved with haul env --save, or this one when path is NULL. A child process that crashes
 * or hangs (30 s) while it looks leaves a machine without GPUs whose cuda_state says so:
 * probe_lost(). */
enum status machine_get(const char *path, struct machine *machine, struct error *err) CHECK_RESULT;

#endif
