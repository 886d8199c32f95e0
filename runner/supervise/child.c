#include "runner/supervise/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static const uint64_t kill_limit_ns = 10000000000;

uint64_t child_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct child_end child_wait(pid_t pid, uint64_t limit_ns) {
  struct child_end end = {0};
  uint64_t deadline = child_now_ns() + limit_ns;
  struct timespec pause = {.tv_nsec = 200000};
  for (;;) {
    pid_t got = waitpid(pid, &end.wait_status, WNOHANG);
    end.ended = got == pid || (got < 0 && errno == ECHILD);
    if (end.ended || child_now_ns() >= deadline) {
      return end;
    }
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 10000000) {
      pause.tv_nsec *= 2;
    }
  }
}

struct child_end child_kill(pid_t pid) {
  kill(pid, SIGKILL);
  return child_wait(pid, kill_limit_ns);
}

void child_describe(const struct child_end *end, char text[CHILD_TEXT_MAX]) {
  if (!end->ended) {
    snprintf(text, CHILD_TEXT_MAX, "cannot be ended: the kernel or the driver holds it");
  } else if (WIFSIGNALED(end->wait_status)) {
    int number = WTERMSIG(end->wait_status);
    const char *name = sigabbrev_np(number);
    snprintf(text, CHILD_TEXT_MAX, "was killed by signal %d (SIG%s)%s", number, name ? name : "?",
             number == SIGKILL ? ": by a person, or by the kernel for want of memory" : "");
  } else {
    snprintf(text, CHILD_TEXT_MAX, "ended with exit code %d", WEXITSTATUS(end->wait_status));
  }
}
