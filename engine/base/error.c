#include "engine/base/error.h"

#include <errno.h>
#include <stdio.h>

/* Macros of these names are for analysers of the callers. */
#undef error_set
#undef error_set_native
#undef error_set_errno
#undef error_prefix

ENUM_NAMES_DEFINE(status, STATUS_LIST)

enum status error_vset(struct error *err, enum status status, int native_code, const char *format,
                       va_list args) {
  if (err != NULL) {
    err->status = status;
    err->native_code = native_code;
    err->position = (struct position){0};
    (void)vsnprintf(err->message, sizeof err->message, format, args);
  }
  return status;
}

enum status error_set(struct error *err, enum status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)error_vset(err, status, 0, format, args);
  va_end(args);
  return status;
}

enum status error_set_native(struct error *err, enum status status, int native_code,
                             const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)error_vset(err, status, native_code, format, args);
  va_end(args);
  return status;
}

static enum status status_of_errno(int errno_value) {
  switch (errno_value) {
  case EACCES:
  case EPERM:
    return STATUS_DENIED;
  case ENOENT:
    return STATUS_NOT_FOUND;
  case ENOMEM:
    return STATUS_NO_MEMORY;
  default:
    return STATUS_IO;
  }
}

enum status error_set_errno(struct error *err, int errno_value, const char *format, ...) {
  char text[ERROR_MESSAGE_MAX];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return error_set_native(err, status_of_errno(errno_value), errno_value, "%s: %s", text,
                          strerror(errno_value));
}

enum status error_prefix(struct error *err, const char *format, ...) {
  if (err == NULL) {
    return STATUS_IO;
  }
  char old[ERROR_MESSAGE_MAX];
  memcpy(old, err->message, sizeof old);
  va_list args;
  va_start(args, format);
  int used = vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  if (used >= 0 && (size_t)used < sizeof err->message) {
    (void)snprintf(err->message + used, sizeof err->message - (size_t)used, "%s", old);
  }
  return err->status;
}
