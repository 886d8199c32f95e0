/* worker.h - the child side: one process that measures what the parent asks for. */
#ifndef HAUL_RUNNER_SUPERVISE_WORKER_H
#define HAUL_RUNNER_SUPERVISE_WORKER_H

#include "runner/supervise/supervise.h"

#include <stdnoreturn.h>

/* Measure until the socket ends. */
noreturn void worker_run(int fd, const struct plan *plan, const struct supervise_ops *ops);

#endif
