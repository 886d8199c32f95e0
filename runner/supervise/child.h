/* child.h - child processes: cut off from what they inherit, waited for, forced to end, and their
 * end put into words. */
#ifndef HAUL_RUNNER_SUPERVISE_CHILD_H
#define HAUL_RUNNER_SUPERVISE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_TEXT_MAX = 160 };

/* How a child ended. */
struct child_end {
  bool ended; /* false: it is still there, and the kernel does not let go of it */
  int wait_status;
};

/* CLOCK_MONOTONIC. */
uint64_t child_now_ns(void);
/* To be called right after fork() in a child that may touch CUDA. The child dies with its parent,
 * leaves interrupts to it, writes what libraries print to stderr, and keeps no open file but
 * stdin, stdout, stderr and keep_fd, which is returned under its new number. */
int child_detach(int keep_fd, pid_t parent);
/* Wait at most limit_ns. */
struct child_end child_wait(pid_t pid, uint64_t limit_ns);
/* SIGKILL, then wait at most 10 s: a process inside the driver may be unable to die. */
struct child_end child_kill(pid_t pid);
/* "was killed by signal 11 (SIGSEGV)", "ended with exit code 3". */
void child_describe(const struct child_end *end, char text[CHILD_TEXT_MAX]);

#endif
