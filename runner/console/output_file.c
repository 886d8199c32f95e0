#include "runner/console/output_file.h"

#include "engine/base/arena.h"
#include "engine/base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool output_file_is_database(const char *path) {
  static const char MAGIC[16] = "SQLite format 3"; /* https://www.sqlite.org/fileformat.html, 1.3 */
  return input_file_begins(path, MAGIC, sizeof MAGIC);
}

/* Whether SQLite would take it for a part of a database beside it. */
static bool output_file_is_companion(const char *path) {
  static const char *const ENDS[] = {"-journal", "-wal", "-shm"};
  const size_t length = strlen(path);
  bool companion = false;
  for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
    const size_t end = strlen(ENDS[i]);
    if (length > end && strcmp(path + length - end, ENDS[i]) == 0) {
      char *database = strndup(path, length - end);
      if (database == NULL) {
        abort();
      }
      companion = companion || output_file_is_database(database);
      free(database);
    }
  }
  return companion;
}

/* Databases, and whatever is not a regular file, are not replaced. */
static enum status output_file_check(const char *path, struct error *err) {
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a regular file, which could be replaced; leave --output away to "
                     "write to standard output",
                     path);
  }
  if (output_file_is_database(path) || output_file_is_companion(path)) {
    return error_set(err, STATUS_INVALID,
                     "%s is a database or a part of one, which would be lost: choose another name "
                     "for the output",
                     path);
  }
  return STATUS_OK;
}

enum status output_file_open(const char *path, struct output_file *file, struct error *err) {
  const bool is_stdout = path == NULL || strcmp(path, "-") == 0;
  *file = (struct output_file){.stream = stdout, .path = is_stdout ? NULL : path};
  if (is_stdout) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(output_file_check(path, err));
  RETURN_ON_ERROR(new_file_open(path, &file->file, err));
  const int fd = fcntl(file->file.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file->stream != NULL) {
    return STATUS_OK;
  }
  const enum status status = error_set_errno(err, errno, "cannot write %s", path);
  if (fd >= 0) {
    (void)close(fd);
  }
  new_file_drop(&file->file);
  return status;
}

enum status output_file_close(struct output_file *file, enum status status, struct error *err) {
  if (file->path == NULL) {
    return status;
  }
  if (status != STATUS_OK && ferror(file->stream) != 0) {
    status = error_prefix(err, "%s: ", file->path);
  }
  bool written = fflush(file->stream) == 0 && ferror(file->stream) == 0;
  int failure = errno;
  if (fclose(file->stream) != 0 && written) {
    written = false;
    failure = errno;
  }
  if (status == STATUS_OK && !written) {
    status = error_set_errno(err, failure, "cannot write %s", file->path);
  }
  status = THEN(status, output_file_check(file->path, err)); /* it may be there by now */
  if (status != STATUS_OK) {
    new_file_drop(&file->file);
    return status;
  }
  return new_file_place(&file->file, true, err);
}
