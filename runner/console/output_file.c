#include "runner/console/output_file.h"

#include <errno.h>
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
  /* A name that does not end as it will: node_exporter reads *.prom. */
  if (asprintf(&file->temporary, "%s.XXXXXX", path) < 0) {
    abort();
  }
  int fd = mkstemp(file->temporary);
  file->stream = fd >= 0 && fchmod(fd, output_file_mode()) == 0 ? fdopen(fd, "w") : NULL;
  if (file->stream != NULL) {
    return STATUS_OK;
  }
  enum status status = error_set_errno(err, errno, "cannot write %s", path);
  if (fd >= 0) {
    (void)close(fd);
    (void)unlink(file->temporary);
  }
  free(file->temporary);
  return status;
}

enum status output_file_close(struct output_file *file, enum status status, struct error *err) {
  if (file->path == NULL) {
    return status;
  }
  bool written =
      fflush(file->stream) == 0 && ferror(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
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
    (void)unlink(file->temporary);
  }
  if (status == STATUS_OK && !written) {
    status = error_set_errno(err, failure, "cannot write %s", file->path);
  }
  free(file->temporary);
  return status;
}
