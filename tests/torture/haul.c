/* The executable: started, waited for, and what is left of it. */
#include "tests/torture/torture.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void pause_ms(unsigned ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  while (nanosleep(&time, &time) != 0) {
  }
}

void environment_add(struct environment *environment, const char *format, ...) {
  va_list list;
  va_start(list, format);
  (void)vsnprintf(environment->entries[environment->count++], sizeof environment->entries[0],
                  format, list);
  va_end(list);
}

static void haul_path(const struct trial *trial, unsigned number, const char *what,
                      char path[PATH_SIZE]) {
  (void)snprintf(path, PATH_SIZE, "%.400s/%u.%s", trial->folder, number, what);
}

static void haul_redirect(const struct trial *trial, unsigned number, const char *what, int to) {
  char path[PATH_SIZE];
  haul_path(trial, number, what, path);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  (void)dup2(fd, to);
  (void)close(fd);
}

/* Into a control group, or as another user. */
static void haul_become(const struct trial *trial) {
  if (trial->group != NULL) {
    const int fd = open(trial->group, O_WRONLY | O_CLOEXEC);
    if (write(fd, "0", 1) != 1) {
      _exit(127);
    }
  }
  if (trial->user != 0 &&
      (setgroups(0, NULL) != 0 || setresgid(trial->user, trial->user, trial->user) != 0 ||
       setresuid(trial->user, trial->user, trial->user) != 0)) {
    _exit(127);
  }
}

void haul_start(struct trial *trial, struct haul *haul, const struct environment *environment,
                const char *const *arguments) {
  const struct settings *settings = trial->settings;
  struct environment whole = {0};
  if (environment != NULL) {
    whole = *environment;
  }
  environment_add(&whole, "LD_LIBRARY_PATH=%s", settings->fake);
  environment_add(&whole, "HAUL_FAKE_MACHINE=%s", settings->machine);
  environment_add(&whole, "HOME=%s", trial->folder);
  environment_add(&whole, "LC_ALL=C.UTF-8");
  char *entries[COUNT_OF(whole.entries) + 1] = {0};
  for (size_t i = 0; i < whole.count; i++) {
    entries[i] = whole.entries[i];
  }
  const char *values[ARGUMENTS_MAX + 2] = {"haul"};
  for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) {
    values[i + 1] = arguments[i];
  }
  *haul = (struct haul){.number = trial->runs++};
  trial->running++;
  haul->pid = fork();
  if (haul->pid == 0) {
    (void)setpgid(0, 0);
    int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, STDIN_FILENO);
    haul_redirect(trial, haul->number, "out", STDOUT_FILENO);
    haul_redirect(trial, haul->number, "err", STDERR_FILENO);
    char *texts[ARGUMENTS_MAX + 2];
    memcpy(texts, values, sizeof texts);
    haul_become(trial);
    (void)execve(settings->haul, texts, entries);
    _exit(127);
  }
  (void)setpgid(haul->pid, haul->pid);
}

bool haul_is_running(const struct haul *haul) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)haul->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

size_t children_of(pid_t parent, pid_t *children, size_t most) {
  size_t count = 0;
  DIR *folder = opendir("/proc");
  const struct dirent *entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL && count < most) {
    char path[64];
    char text[512] = "";
    long pid = strtol(entry->d_name, NULL, 10);
    if (pid <= 0) {
      continue;
    }
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
      (void)close(fd);
    }
    const char *rest = size > 0 ? strrchr(text, ')') : NULL;
    char state = 0;
    int ppid = 0;
    if (rest != NULL && sscanf(rest, ") %c %d", &state, &ppid) == 2 && ppid == parent &&
        state != 'Z') {
      children[count++] = (pid_t)pid;
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  return count;
}

static char *haul_read(const struct trial *trial, unsigned number, const char *what, size_t *size) {
  char path[PATH_SIZE];
  struct stat info;
  haul_path(trial, number, what, path);
  int fd = open(path, O_RDONLY);
  *size = fd >= 0 && fstat(fd, &info) == 0 ? (size_t)info.st_size : 0;
  char *text = calloc(1, *size + 1);
  ssize_t got = text != NULL && fd >= 0 ? read(fd, text, *size) : 0;
  *size = got > 0 ? (size_t)got : 0;
  if (fd >= 0) {
    (void)close(fd);
  }
  return text;
}

/* This process is the subreaper: whoever loses its parent becomes its child. */
static void haul_count_orphans(struct trial *trial) {
  pid_t left[16];
  size_t count = 1;
  for (unsigned waited_ms = 0; waited_ms < 3000 && count > 0; waited_ms += 10) {
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    count = children_of(getpid(), left, 16);
    for (size_t i = 0; i < count; i++) {
      if (left[i] == trial->helper) {
        left[i] = left[--count];
      }
    }
    if (count > 0) {
      pause_ms(10);
    }
  }
  if (count > 0) {
    trial_count(trial, COUNT_orphaned, (unsigned)count, "process %d is left", (int)left[0]);
  }
  for (size_t i = 0; i < count; i++) {
    (void)kill(left[i], SIGKILL);
    (void)waitpid(left[i], NULL, 0);
  }
}

void haul_finish(struct trial *trial, struct haul *haul, unsigned limit_s) {
  siginfo_t info = {0};
  unsigned pause = 1;
  for (uint64_t waited_ms = 0; haul_is_running(haul) && waited_ms < 1000ULL * limit_s;) {
    pause_ms(pause);
    waited_ms += pause;
    pause = pause < 20 ? pause + 1 : pause;
  }
  const bool stuck = haul_is_running(haul);
  if (stuck) {
    (void)kill(-haul->pid, SIGKILL);
  }
  (void)waitid(P_PID, (id_t)haul->pid, &info, WEXITED);
  haul->code = stuck ? -1 : info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  haul->out = haul_read(trial, haul->number, "out", &haul->out_size);
  haul->err = haul_read(trial, haul->number, "err", &haul->err_size);
  if (stuck) {
    trial_count(trial, COUNT_stuck, 1, "no end in %u s", limit_s);
  }
  if (strstr(haul->err, "Sanitizer") != NULL || strstr(haul->err, "ssertion") != NULL ||
      haul->code == 127 || haul->code == 128 + SIGSEGV || haul->code == 128 + SIGABRT ||
      haul->code == 128 + SIGBUS || haul->code == 128 + SIGFPE || haul->code == 128 + SIGILL) {
    trial_count(trial, COUNT_broken, 1, "haul ended with %d: %.200s", haul->code, haul->err);
  } else if ((haul->code == 2 || haul->code == 3) && haul->err_size == 0) {
    trial_count(trial, COUNT_silent, 1, "exit code %d and no message", haul->code);
  }
  if (--trial->running == 0) {
    haul_count_orphans(trial);
  }
}

void haul_fini(struct haul *haul) {
  free(haul->out);
  free(haul->err);
  haul->out = haul->err = NULL;
}

void haul_run(struct trial *trial, struct haul *haul, const struct environment *environment,
              unsigned limit_s, const char *const *arguments) {
  haul_start(trial, haul, environment, arguments);
  haul_finish(trial, haul, limit_s);
}
