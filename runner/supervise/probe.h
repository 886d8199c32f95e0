/* probe.h - looking at the machine in a short-lived child process, so that the caller never
 * initialises CUDA. */
#ifndef HAUL_RUNNER_SUPERVISE_PROBE_H
#define HAUL_RUNNER_SUPERVISE_PROBE_H

#include "engine/machine/machine.h"

#include <stdbool.h>

typedef enum status probe_look(struct machine *machine, struct error *err);

/* Fill machine with what `look` finds in a child that has limit_ns. When the child crashes, hangs
 * or sends something unreadable, `look_at_host`, which must not touch the GPU driver, is asked the
 * same way, and cuda_state says what happened. */
enum status probe_in_child(probe_look *look, probe_look *look_at_host, uint64_t limit_ns,
                           struct machine *machine, struct error *err) CHECK_RESULT;

/* Whether that child crashed or hung: the machine may well have GPUs. */
bool probe_lost(const struct machine *machine);

#endif
