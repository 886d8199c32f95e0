#include "runner/cli/report_file.h"

#include "runner/console/output_file.h"
#include "runner/render/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* True for a report and for an empty file: these may be replaced. */
static bool report_file_is_report(const char *path) {
  char text[sizeof PAGE_FIRST_LINES];
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return false;
  }
  const size_t length = fread(text, 1, sizeof text - 1, file);
  const bool whole = ferror(file) == 0;
  (void)fclose(file);
  return whole && (length == 0 ||
                   (length == sizeof text - 1 && memcmp(text, PAGE_FIRST_LINES, length) == 0));
}

static enum status report_file_check_folder(const char *path, struct error *err) {
  struct stat info;
  const char *slash = strrchr(path, '/');
  SCOPED(arena_fini) struct arena arena = {0};
  const char *folder =
      slash == NULL ? "." : arena_strndup(&arena, path, (size_t)(slash - path) + 1);
  if (stat(folder, &info) != 0) {
    return error_set_errno(err, errno, "cannot write %s: its folder %s", path, folder);
  }
  return S_ISDIR(info.st_mode) ? STATUS_OK
                               : error_set(err, STATUS_INVALID,
                                           "cannot write %s: %s is not a directory", path, folder);
}

enum status report_file_check(const char *path, struct error *err) {
  struct stat info;
  if (strcmp(path, "-") == 0) {
    return STATUS_OK;
  }
  if (stat(path, &info) != 0) {
    return errno == ENOENT ? report_file_check_folder(path, err)
                           : error_set_errno(err, errno, "cannot write %s", path);
  }
  if (S_ISDIR(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is a directory: name a file in it, such as %s/report.html", path, path);
  }
  if (!S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a regular file and cannot be replaced; - writes to standard output",
                     path);
  }
  if (!report_file_is_report(path)) {
    return error_set(err, STATUS_INVALID,
                     "%s exists and is not a report of haul, the only kind of file that a report "
                     "replaces: move it away or choose another name",
                     path);
  }
  return STATUS_OK;
}

void report_file_begin(struct report_file *file) {
  *file = (struct report_file){NULL, NULL, 0};
  file->page = open_memstream(&file->text, &file->length);
  if (file->page == NULL) {
    abort();
  }
}

static enum status report_file_write(const char *output, const struct report_file *page,
                                     struct error *err) {
  const char *path = strcmp(output, "-") == 0 ? NULL : output;
  struct output_file file;
  enum status status = output_file_open(path, &file, err);
  RETURN_ON_ERROR(status);
  errno = 0;
  if ((fwrite(page->text, 1, page->length, file.stream) < page->length ||
       fflush(file.stream) != 0) &&
      errno != EPIPE) {
    status =
        error_set_errno(err, errno, "cannot write %s", path != NULL ? path : "to standard output");
  }
  return output_file_close(&file, status, err);
}

enum status report_file_end(struct report_file *file, const char *path, enum status status,
                            struct error *err) {
  if (fclose(file->page) != 0) {
    abort(); /* out of memory */
  }
  status = THEN(status, report_file_write(path, file, err));
  free(file->text);
  return status;
}
