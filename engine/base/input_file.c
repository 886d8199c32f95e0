#include "engine/base/input_file.h"

#include "engine/base/macros.h"
#include "engine/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NULL_MAJOR = 1, NULL_MINOR = 3, BEGIN_MAX = 256 };
/* File systems that compress come to a tenth. */
enum { HOLLOW_BYTES = 64 << 20, HOLLOW_SHARE = 64, BLOCK_BYTES = 512 };

const char *input_file_kind(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISLNK(mode)  ? "a link"
                          : "a device";
}

bool input_file_is_trap(const char *path, bool shown) {
  struct stat link;
  struct stat target;
  if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode) || link.st_uid == 0 ||
      link.st_uid == geteuid()) {
    return false;
  }
  return stat(path, &target) != 0 ||
         (target.st_uid != link.st_uid && !(shown && (target.st_mode & S_IROTH) != 0));
}

bool input_file_is_hollow(const struct stat *info) {
  return info->st_size > HOLLOW_BYTES &&
         info->st_blocks * BLOCK_BYTES < info->st_size / HOLLOW_SHARE;
}

/* A descriptor of this process under one of its names. */
static bool input_file_is_held(const char *path) {
  static const char *const FOLDERS[] = {"/dev/fd/", "/proc/self/fd/"};
  for (size_t i = 0; i < COUNT_OF(FOLDERS); i++) {
    const size_t length = strlen(FOLDERS[i]);
    if (strncmp(path, FOLDERS[i], length) == 0 && strchr(path + length, '/') == NULL) {
      return true;
    }
  }
  return strcmp(path, "/dev/stdin") == 0;
}

static bool input_file_is_null(const struct stat *info) {
  return S_ISCHR(info->st_mode) && info->st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
}

enum status input_file_open(const char *path, bool piped, int *fd, struct error *err) {
  struct stat info;
  const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (opened < 0) {
    /* So end sockets, and devices without a driver. */
    return errno == ENXIO ? error_set(err, STATUS_INVALID, "this is not a file that can be read")
                          : error_set_errno(err, errno, "cannot open the file");
  }
  enum status status = STATUS_OK;
  if (fstat(opened, &info) != 0) {
    status = error_set_errno(err, errno, "cannot read the attributes of the file");
  } else if (!S_ISREG(info.st_mode) && !input_file_is_null(&info) &&
             !(piped && S_ISFIFO(info.st_mode) && input_file_is_held(path))) {
    status =
        error_set(err, STATUS_INVALID, "this is %s, not a file", input_file_kind(info.st_mode));
  } else if (fcntl(opened, F_SETFL, 0) != 0) { /* reading a pipe waits for its writer */
    status = error_set_errno(err, errno, "cannot read the file");
  }
  if (status != STATUS_OK) {
    (void)close(opened);
    return status;
  }
  *fd = opened;
  return STATUS_OK;
}

/* Until the end, instead of asking for the size, which a pipe does not have. */
static enum status input_file_take(int fd, struct strbuf *text, struct error *err) {
  char chunk[1 << 16];
  ssize_t got = 1;
  while (got != 0 && !text->truncated) {
    got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno != EINTR) {
      return error_set_errno(err, errno, "cannot read the file");
    }
    strbuf_append_n(text, chunk, got > 0 ? (size_t)got : 0);
  }
  return STATUS_OK;
}

enum status input_file_read(const char *path, bool piped, const char *what, size_t max_bytes,
                            struct arena *arena, const char **text, size_t *length,
                            struct error *err) {
  enum { BYTES_PER_MIB = 1 << 20 };
  int fd = -1;
  SCOPED(strbuf_fini) struct strbuf all = STRBUF(max_bytes);
  RETURN_ON_ERROR(input_file_open(path, piped, &fd, err));
  const enum status status = input_file_take(fd, &all, err);
  (void)close(fd);
  if (all.truncated) {
    return error_set(err, STATUS_INVALID, "the file is larger than %s may be, %zu MiB", what,
                     max_bytes / BYTES_PER_MIB);
  }
  *text = arena_strndup(arena, all.text, all.length);
  *length = all.length;
  return status;
}

bool input_file_begins(const char *path, const void *bytes, size_t size) {
  char found[BEGIN_MAX];
  int fd = -1;
  if (size > sizeof found || input_file_open(path, false, &fd, NULL) != STATUS_OK) {
    return false;
  }
  const ssize_t got = pread(fd, found, size, 0);
  (void)close(fd);
  return got == (ssize_t)size && memcmp(found, bytes, size) == 0;
}
