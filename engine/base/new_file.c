#include "engine/base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USUAL_MODE = 0666, TRIES_MAX = 16, NAME_SHOWN_MAX = 200, RANDOM_DIGITS = 16 };

/* As a file that is made by open() is: readable for whom the umask lets. */
static mode_t new_file_mode(void) {
  const mode_t mask = umask(0);
  (void)umask(mask);
  return USUAL_MODE & ~mask;
}

/* ".NAME.": what a temporary name of the file begins with. */
static int new_file_prefix(const struct new_file *file, char prefix[NAME_MAX + 1]) {
  return snprintf(prefix, NAME_MAX + 1, ".%.*s.", NAME_SHOWN_MAX, file->name);
}

static void new_file_choose_name(struct new_file *file) {
  uint64_t number = 0;
  char prefix[NAME_MAX + 1];
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
    abort(); /* no kernel interrupts so few bytes */
  }
  (void)new_file_prefix(file, prefix);
  (void)snprintf(file->temporary, sizeof file->temporary, "%.*s%016" PRIx64, NAME_SHOWN_MAX + 2,
                 prefix, number);
}

/* Remove what killed programs of this user left: nobody holds its lock. */
static void new_file_sweep(const struct new_file *file) {
  char prefix[NAME_MAX + 1];
  const size_t length = (size_t)new_file_prefix(file, prefix);
  const int fd = openat(file->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
  const struct dirent *entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    struct stat info;
    const char *digits = entry->d_name + length;
    if (strncmp(entry->d_name, prefix, length) != 0 || strlen(digits) != RANDOM_DIGITS ||
        strspn(digits, "0123456789abcdef") != RANDOM_DIGITS) {
      continue;
    }
    const int left =
        openat(file->folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (left >= 0 && fstat(left, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(left, LOCK_EX | LOCK_NB) == 0) {
      (void)unlinkat(file->folder, entry->d_name, 0);
    }
    if (left >= 0) {
      (void)close(left);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  } else if (fd >= 0) {
    (void)close(fd);
  }
}

/* With a name: the file system knows no files without. */
static int new_file_make_named(struct new_file *file) {
  new_file_sweep(file);
  for (int i = 0; i < TRIES_MAX; i++) {
    struct stat info;
    new_file_choose_name(file);
    const int fd = openat(file->folder, file->temporary,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0 && errno != EEXIST) {
      return -1;
    }
    /* Somebody who swept may have removed it before it was locked. */
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 &&
        info.st_nlink > 0) {
      return fd;
    }
    if (fd >= 0) {
      (void)unlinkat(file->folder, file->temporary, 0);
      (void)close(fd);
    }
  }
  errno = EEXIST;
  return -1;
}

enum status new_file_open(const char *path, struct new_file *file, struct error *err) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  char folder[PATH_MAX] = ".";
  *file = (struct new_file){.fd = -1, .folder = -1, .path = path};
  if (name[0] == '\0' || strlen(name) >= sizeof file->name || strlen(path) >= sizeof folder) {
    return error_set(err, STATUS_INVALID, "cannot write %s: this is no name of a file", path);
  }
  (void)snprintf(file->name, sizeof file->name, "%s", name);
  if (slash != NULL) {
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  }
  file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file->folder < 0 && errno == EACCES) {
    file->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  if (file->folder >= 0) {
    file->fd = openat(file->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    file->nameless = file->fd >= 0;
  }
  if (file->folder >= 0 && file->fd < 0) {
    file->fd = new_file_make_named(file);
  }
  if (file->fd < 0) {
    const enum status status = error_set_errno(err, errno, "cannot write %s", path);
    new_file_drop(file);
    return status;
  }
  return STATUS_OK;
}

/* Give a nameless file a name that is free. */
static bool new_file_link(struct new_file *file, const char *name) {
  char descriptor[32];
  (void)snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", file->fd);
  return linkat(AT_FDCWD, descriptor, file->folder, name, AT_SYMLINK_FOLLOW) == 0;
}

static bool new_file_name_temporary(struct new_file *file) {
  for (int i = 0; file->nameless && i < TRIES_MAX; i++) {
    new_file_choose_name(file);
    if (new_file_link(file, file->temporary)) {
      file->nameless = false;
    } else if (errno != EEXIST) {
      return false;
    }
  }
  return !file->nameless;
}

static bool new_file_move(struct new_file *file, bool replaces) {
  if (!replaces && file->nameless) {
    return new_file_link(file, file->name);
  }
  if (!new_file_name_temporary(file)) {
    return false;
  }
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  bool moved = renameat2(file->folder, file->temporary, file->folder, file->name, flags) == 0;
  if (!moved && !replaces && (errno == EINVAL || errno == ENOSYS)) {
    /* A file system without that flag: a link takes no name that is used either. */
    moved = linkat(file->folder, file->temporary, file->folder, file->name, 0) == 0;
    if (moved) {
      (void)unlinkat(file->folder, file->temporary, 0);
    }
  }
  file->nameless = moved; /* the temporary name is gone */
  return moved;
}

enum status new_file_place(struct new_file *file, bool replaces, struct error *err) {
  enum status status = STATUS_OK;
  if (fchmod(file->fd, new_file_mode()) != 0 || fsync(file->fd) != 0 ||
      !new_file_move(file, replaces)) {
    status = error_set_errno(err, errno, "cannot write %s", file->path);
  } else {
    /* The name, too, is to be there after a power cut; a file system may be unable to promise that.
     */
    (void)fsync(file->folder);
    file->nameless = true;
  }
  new_file_drop(file);
  return status;
}

void new_file_drop(struct new_file *file) {
  if (file->fd >= 0 && !file->nameless) {
    (void)unlinkat(file->folder, file->temporary, 0);
  }
  if (file->fd >= 0) {
    (void)close(file->fd);
  }
  if (file->folder >= 0) {
    (void)close(file->folder);
  }
  file->fd = file->folder = -1;
}

void new_file_clear(const char *path) {
  struct new_file file;
  if (new_file_open(path, &file, NULL) == STATUS_OK) {
    new_file_sweep(&file);
    new_file_drop(&file);
  }
}

bool folder_make_all(const char *path, char part[PATH_MAX]) {
  const size_t length = strlen(path);
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != '\0') {
      continue;
    }
    (void)snprintf(part, PATH_MAX, "%.*s", (int)i, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST) {
      return false;
    }
  }
  return true;
}
