/* worker.h - the child side: one process that measures what the parent asks for. */
#ifndef HAUL_RUNNER_SUPERVISE_WORKER_H
#define HAUL_RUNNER_SUPERVISE_WORKER_H

#include "runner/supervise/supervise.h"

#include <stdnoreturn.h>

/* To be called right after fork() in a child that may touch CUDA. The child dies with its parent,
 * leaves interrupts to it, writes what libraries print to stderr, and keeps no open file but
 * stdin, stdout, stderr and keep_fd, which is returned under its new number. */
int child_detach(int keep_fd, pid_t parent);

/* Measure until the socket ends. */
noreturn void worker_run(int fd, const struct plan *plan, const struct supervise_ops *ops);

#endif
