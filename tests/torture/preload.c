/* preload.so - between haul and the C library: calls on the database that fail, in the first
 * process that loads it alone, not in the children of that one; and a clock that is set.
 *   TORTURE_IO=N:ERRNO:COUNT   the Nth call on a file whose path holds TORTURE_PATH fails, and the
 *                              COUNT - 1 after it; 0: all after it
 *   TORTURE_NAMED=1            no file system knows files without a name
 *   TORTURE_CLOCK=N:SECONDS:M  from the Nth reading of CLOCK_REALTIME on it is SECONDS later, in
 *                              children too; M not 0: for M readings, then not for M, and so on */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long io_first, io_code, io_count, io_seen;
static long clock_first, clock_seconds, clock_turns, clock_seen;
static const char *io_path;
static pid_t process;

__attribute__((constructor)) static void preload_read(void) {
  const char *io = getenv("TORTURE_IO");
  const char *clock = getenv("TORTURE_CLOCK");
  process = getpid();
  io_path = getenv("TORTURE_PATH");
  if (io != NULL && io_path != NULL) {
    (void)sscanf(io, "%ld:%ld:%ld", &io_first, &io_code, &io_count);
  }
  if (clock != NULL) {
    (void)sscanf(clock, "%ld:%ld:%ld", &clock_first, &clock_seconds, &clock_turns);
  }
}

static bool preload_fails(const char *path) {
  if (io_first == 0 || getpid() != process || strstr(path, io_path) == NULL) {
    return false;
  }
  io_seen++;
  if (io_seen < io_first || (io_count > 0 && io_seen >= io_first + io_count)) {
    return false;
  }
  errno = (int)io_code;
  return true;
}

static bool preload_fails_at(int fd) {
  if (io_first == 0) {
    return false;
  }
  char descriptor[32];
  char file[512] = "";
  (void)snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(descriptor, file, sizeof file - 1);
  return size > 0 && preload_fails(file);
}

/* The C library names its parameters with underscores, which is for it alone.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* The function behind this one. */
#define NEXT(name, result, ...)                                                                    \
  static result (*next)(__VA_ARGS__);                                                              \
  if (next == NULL) {                                                                              \
    void *found = dlsym(RTLD_NEXT, #name);                                                         \
    memcpy(&next, &found, sizeof next);                                                            \
  }

#define ON_FD(name, result, failed, parameters, values, ...)                                       \
  result name parameters;                                                                          \
  result name parameters {                                                                         \
    NEXT(name, result, __VA_ARGS__)                                                                \
    return preload_fails_at(fd) ? (result)(failed) : next values;                                  \
  }

ON_FD(write, ssize_t, -1, (int fd, const void *data, size_t size), (fd, data, size), int,
      const void *, size_t)
ON_FD(pwrite, ssize_t, -1, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at),
      int, const void *, size_t, off_t)
ON_FD(pwrite64, ssize_t, -1, (int fd, const void *data, size_t size, off64_t at),
      (fd, data, size, at), int, const void *, size_t, off64_t)
ON_FD(read, ssize_t, -1, (int fd, void *data, size_t size), (fd, data, size), int, void *, size_t)
ON_FD(pread, ssize_t, -1, (int fd, void *data, size_t size, off_t at), (fd, data, size, at), int,
      void *, size_t, off_t)
ON_FD(pread64, ssize_t, -1, (int fd, void *data, size_t size, off64_t at), (fd, data, size, at),
      int, void *, size_t, off64_t)
ON_FD(fsync, int, -1, (int fd), (fd), int)
ON_FD(fdatasync, int, -1, (int fd), (fd), int)
ON_FD(ftruncate, int, -1, (int fd, off_t size), (fd, size), int, off_t)
ON_FD(ftruncate64, int, -1, (int fd, off64_t size), (fd, size), int, off64_t)
ON_FD(fallocate, int, -1, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), int, int,
      off_t, off_t)

int unlink(const char *path) {
  NEXT(unlink, int, const char *)
  return preload_fails(path) ? -1 : next(path);
}

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    NEXT(name, int, const char *, int, ...)                                                        \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;         \
    va_end(list);                                                                                  \
    return preload_fails(path) ? -1 : next(path, flags, mode);                                     \
  }
OPEN(open)
OPEN(open64)

int openat(int folder, const char *path, int flags, ...) {
  NEXT(openat, int, int, const char *, int, ...)
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  if ((flags & __O_TMPFILE) == __O_TMPFILE && getenv("TORTURE_NAMED") != NULL) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return next(folder, path, flags, mode);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  NEXT(clock_gettime, int, clockid_t, struct timespec *)
  const int result = next(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME && clock_first > 0 && ++clock_seen >= clock_first &&
      (clock_turns == 0 || (clock_seen - clock_first) / clock_turns % 2 == 0)) {
    time->tv_sec += clock_seconds;
  }
  return result;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
