/* probe.h - looking at the machine in a short-lived child process, so that the caller never
 * initialises CUDA. */
#ifndef HAUL_RUNNER_SUPERVISE_PROBE_H
#define HAUL_RUNNER_SUPERVISE_PROBE_H

#include "engine/machine/machine.h"

#include <stdbool.h>

typedef enum status probe_look(struct machine *machine, struct error *err);

/* Each asks less of the driver than the one before. */
struct probe_looks {
  probe_look *whole;        /* CUDA and NVML */
  probe_look *without_nvml; /* must not touch NVML */
  probe_look *host;         /* must not touch the GPU driver */
};

/* Fill machine with what looks->whole finds in a child that has two thirds of limit_ns. When the
 * child crashes, hangs or sends something unreadable, the next look is asked the same way, for what
 * is left of the limit: a broken NVML costs what only NVML knows (nvml_lost). With the last one,
 * which does not depend on a driver, there are no GPUs, and cuda_state says what happened. */
enum status probe_in_child(const struct probe_looks *looks, uint64_t limit_ns,
                           struct machine *machine, struct error *err) CHECK_RESULT;

/* What crashed or gave no answer, for people: the driver (cuda_state: the machine may well have
 * GPUs), or NVML. NULL = nothing. */
const char *probe_loss(const struct machine *machine);

#endif
