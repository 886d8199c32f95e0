/* child.h - the end of a child process: waited for, forced, and put into words. */
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
/* Wait at most limit_ns. */
struct child_end child_wait(pid_t pid, uint64_t limit_ns);
/* SIGKILL, then wait at most 10 s: a process inside the driver may be unable to die. */
struct child_end child_kill(pid_t pid);
/* "was killed by signal 11 (SIGSEGV)", "ended with exit code 3". */
void child_describe(const struct child_end *end, char text[CHILD_TEXT_MAX]);

#endif
