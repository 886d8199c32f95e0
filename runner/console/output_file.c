#include "runner/console/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USUAL_MODE = 0666 };

/* As a file that is made by open() is: readable for whom the umask lets. */
static mode_t output_file_mode(void) {
  const mode_t mask = umask(0);
  (void)umask(mask);
  return USUAL_MODE & ~mask;
}

/* In the folder of path; -1: the file system cannot. */
static int output_file_open_nameless(const char *path) {
  char *folder = strdup(path);
  if (folder == NULL) {
    abort();
  }
  int fd = open(dirname(folder), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  free(folder);
  return fd;
}

/* Give a nameless file its temporary name; mkstemp() finds one that is free. */
static bool output_file_name(struct output_file *file) {
  char descriptor[32];
  (void)snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fileno(file->stream));
  int placeholder = mkstemp(file->temporary);
  if (placeholder < 0) {
    return false;
  }
  (void)close(placeholder);
  file->nameless = false;
  return unlink(file->temporary) == 0 &&
         linkat(AT_FDCWD, descriptor, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static void output_file_remove(const struct output_file *file) {
  if (!file->nameless) {
    (void)unlink(file->temporary);
  }
}

enum status output_file_open(const char *path, struct output_file *file, struct error *err) {
  *file = (struct output_file){.stream = stdout, .path = path};
  if (path == NULL) {
    return STATUS_OK;
  }
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a regular file, which could be replaced; leave --output away to "
                     "write to standard output",
                     path);
  }
  /* A name that does not end as it will: node_exporter reads *.prom. Where the file system lets,
   * the file has no name before it is whole: whatever ends the program leaves none behind. */
  if (asprintf(&file->temporary, "%s.XXXXXX", path) < 0) {
    abort();
  }
  int fd = output_file_open_nameless(path);
  file->nameless = fd >= 0;
  if (fd < 0) {
    fd = mkstemp(file->temporary);
  }
  file->stream = fd >= 0 && fchmod(fd, output_file_mode()) == 0 ? fdopen(fd, "w") : NULL;
  if (file->stream != NULL) {
    return STATUS_OK;
  }
  enum status status = error_set_errno(err, errno, "cannot write %s", path);
  if (fd >= 0) {
    (void)close(fd);
    output_file_remove(file);
  }
  free(file->temporary);
  return status;
}

enum status output_file_close(struct output_file *file, enum status status, struct error *err) {
  if (file->path == NULL) {
    return status;
  }
  bool written = fflush(file->stream) == 0 && ferror(file->stream) == 0 &&
                 fsync(fileno(file->stream)) == 0 &&
                 (status != STATUS_OK || !file->nameless || output_file_name(file));
  int failure = errno;
  if (fclose(file->stream) != 0 && written) {
    written = false;
    failure = errno;
  }
  if (status == STATUS_OK && written && rename(file->temporary, file->path) != 0) {
    written = false;
    failure = errno;
  }
  if (status != STATUS_OK || !written) {
    output_file_remove(file);
  }
  if (status == STATUS_OK && !written) {
    status = error_set_errno(err, failure, "cannot write %s", file->path);
  }
  free(file->temporary);
  return status;
}
