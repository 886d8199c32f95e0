#include "runner/supervise/child.h"

#include "engine/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_FD = CHILD_FILES - 1 };
static const uint64_t kill_limit_ns = 10000000000;
static const uint64_t impatient_limit_ns = 200000000;

uint64_t child_now_ns(void) {
  return clock_read_ns(CLOCK_MONOTONIC);
}

/* Cut off from what the parent has: the number under which the child keeps its socket. */
static int child_detach(int keep_fd, const struct child_files *kept, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) { /* it died before prctl() */
    _exit(EXIT_FAILURE);
  }
  /* The terminal and `timeout` signal the whole process group: the parent decides what to do. */
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  null = null >= 0 ? null : memfd_create("null", MFD_CLOEXEC); /* there is no /dev */
  /* Out of the way of the numbers that they get. */
  const size_t kept_count = kept != NULL ? kept->count : 0;
  int moved[CHILD_FILES_MAX];
  for (size_t i = 0; i < kept_count; i++) {
    moved[i] = fcntl(kept->files[i], F_DUPFD_CLOEXEC, CHILD_FILES + CHILD_FILES_MAX);
  }
  /* dup2() clears close-on-exec, which the last one needs again. */
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
      dup2(keep_fd, CHILD_FD) < 0 || fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC) < 0) {
    _exit(EXIT_FAILURE);
  }
  for (size_t i = 0; i < kept_count; i++) {
    if (moved[i] < 0 || dup3(moved[i], CHILD_FILES + (int)i, O_CLOEXEC) < 0) {
      _exit(EXIT_FAILURE);
    }
  }
  closefrom(CHILD_FILES + (int)kept_count);
  return CHILD_FD;
}

enum status child_start(int socket_type, const char *purpose, const struct child_files *kept,
                        child_main *run, const void *context, pid_t *pid, int *fd,
                        struct error *err) {
  int pair[2];
  if (socketpair(AF_UNIX, socket_type | SOCK_CLOEXEC, 0, pair) != 0) {
    return error_set_errno(err, errno, "cannot make a socket pair for %s", purpose);
  }
  (void)fflush(NULL);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    run(child_detach(pair[1], kept, parent), context);
    _exit(EXIT_FAILURE);
  }
  const int fork_errno = errno;
  close(pair[1]);
  if (child < 0) {
    close(pair[0]);
    return error_set_errno(err, fork_errno, "cannot start %s", purpose);
  }
  *pid = child;
  *fd = pair[0];
  return STATUS_OK;
}

/* False: it is over. */
static bool child_is_patient(struct child_patience *patience) {
  if (patience->say != NULL && child_now_ns() >= patience->say_at_ns) {
    patience->say(patience->context);
    patience->say = NULL;
  }
  return !child_patience_is_over(patience);
}

struct child_end child_await(pid_t pid, uint64_t limit_ns, struct child_patience *patience) {
  struct child_end end = {0};
  uint64_t deadline = child_now_ns() + limit_ns;
  struct timespec pause = {.tv_nsec = 200000};
  for (;;) {
    pid_t got = waitpid(pid, &end.wait_status, WNOHANG);
    end.ended = got == pid || (got < 0 && errno == ECHILD);
    if (end.ended || child_now_ns() >= deadline ||
        (patience != NULL && !child_is_patient(patience))) {
      return end;
    }
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 1000000) {
      pause.tv_nsec *= 2;
    }
  }
}

struct child_end child_dismiss(pid_t pid, uint64_t limit_ns, struct child_patience *patience) {
  const struct child_end end = child_await(pid, limit_ns, patience);
  if (end.ended) {
    return end;
  }
  kill(pid, SIGKILL);
  const bool over = patience != NULL && child_patience_is_over(patience);
  return over ? child_await(pid, impatient_limit_ns, NULL)
              : child_await(pid, kill_limit_ns, patience);
}

bool child_was_killed(const struct child_end *end) {
  return end->ended && WIFSIGNALED(end->wait_status) && WTERMSIG(end->wait_status) == SIGKILL;
}

void child_describe(const struct child_end *end, char text[CHILD_TEXT_MAX]) {
  if (!end->ended) {
    snprintf(text, CHILD_TEXT_MAX, "cannot be killed: Linux or the driver holds it");
  } else if (WIFSIGNALED(end->wait_status)) {
    int number = WTERMSIG(end->wait_status);
    const char *name = sigabbrev_np(number);
    snprintf(text, CHILD_TEXT_MAX, "was killed by signal %d (SIG%s)%s", number, name ? name : "?",
             number == SIGKILL ? ", possibly by a user, or by Linux because memory ran out" : "");
  } else {
    snprintf(text, CHILD_TEXT_MAX, "ended with exit code %d", WEXITSTATUS(end->wait_status));
  }
}
