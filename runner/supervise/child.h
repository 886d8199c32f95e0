/* child.h - child processes: cut off from what they inherit, waited for, forced to end, and their
 * end put into words. */
#pragma once

#include "engine/base/error.h"

#include <signal.h>
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
/* What a child does with its end of the socket. It ends with _exit(): buffers and handlers in its
 * copy of the parent's memory belong to the parent. */
typedef void child_main(int fd, const void *context);
/* Files that a child keeps: they become the numbers from CHILD_FILES on, in their order. */
struct child_files {
  size_t count; /* at most CHILD_FILES_MAX */
  const int *files;
};
enum { CHILD_FILES = 4, CHILD_FILES_MAX = 8 };
/* Fork a child that may touch CUDA. It dies with its parent, leaves interrupts to it, writes what
 * libraries print to stderr, and keeps no open file but stdin, stdout, stderr, those of `kept`
 * (NULL: none) and its end of a socket pair of that type; *fd is the other end. purpose: what
 * cannot be started, for messages. */
enum status child_start(int socket_type, const char *purpose, const struct child_files *kept,
                        child_main *run, const void *context, pid_t *pid, int *fd,
                        struct error *err) CHECK_RESULT;
/* How long children are waited for that free what they hold: a driver may never let them. */
struct child_patience {
  const volatile sig_atomic_t *interrupted;
  sig_atomic_t interrupts;    /* with more than these the wait is over */
  uint64_t say_at_ns;         /* child_now_ns() at which say() is called, once */
  void (*say)(void *context); /* may be NULL */
  void *context;
};
static inline bool child_patience_is_over(const struct child_patience *patience) {
  return *patience->interrupted > patience->interrupts;
}
/* Wait at most limit_ns, and no longer than the patience lasts; patience NULL: it has no end. */
struct child_end child_await(pid_t pid, uint64_t limit_ns, struct child_patience *patience);
/* The same, then SIGKILL and at most 10 s more: a process inside the driver may be unable to die.
 */
struct child_end child_dismiss(pid_t pid, uint64_t limit_ns, struct child_patience *patience);
/* By SIGKILL, which a user or the kernel sent: that speaks against no GPU. */
bool child_was_killed(const struct child_end *end);
/* "was killed by signal 11 (SIGSEGV)", "ended with exit code 3". */
void child_describe(const struct child_end *end, char text[CHILD_TEXT_MAX]);
