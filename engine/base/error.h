/* error.h - how a function says what went wrong.
 *
 * A fallible function returns enum status and takes a struct error * last. The function that
 * decides that something is an error fills it with error_set(); callers pass the status on and may
 * put context in front with error_prefix(). Nothing here allocates or prints. */
#pragma once

#include "engine/base/enum_names.h"

#include <stdarg.h>

#define STATUS_LIST(X)                                                                             \
  X(STATUS_OK, "ok")                                                                               \
  X(STATUS_USAGE, "usage")             /* the command line is wrong */                             \
  X(STATUS_INVALID, "invalid")         /* a file's content is wrong */                             \
  X(STATUS_NO_MEMORY, "no_memory")     /* host or device memory cannot be allocated */             \
  X(STATUS_IO, "io")                   /* the operating system refused; native_code is errno */    \
  X(STATUS_NOT_FOUND, "not_found")     /* what was named does not exist */                         \
  X(STATUS_DENIED, "denied")           /* it exists, but not for this user */                      \
  X(STATUS_UNSUPPORTED, "unsupported") /* this machine, driver or kernel cannot do it */           \
  X(STATUS_CUDA, "cuda")               /* a driver call failed; native_code is the CUresult */     \
  X(STATUS_STICKY, "sticky")           /* as cuda, and the context is lost: a new process only */  \
  X(STATUS_DATABASE, "database")       /* SQLite failed; native_code is its extended code */       \
  X(STATUS_TIMEOUT, "timeout")         /* something took longer than it may */                     \
  X(STATUS_CORRUPT, "corrupt")         /* data differ from what they should be */                  \
  X(STATUS_CRASHED, "crashed")         /* a worker process died */                                 \
  X(STATUS_INTERRUPTED, "interrupted") /* the user asked to stop */

ENUM_NAMES_DECLARE(status, STATUS_LIST)

/* The next of several steps: it is done where none before it failed, and the first failure stays.
 *   status = THEN(status, record_checks(record, results, count, err)); */
#define THEN(status, step) ((status) == STATUS_OK ? (step) : (status))
/* A step after whose failure nothing is left to undo: the function returns its status. */
#define RETURN_ON_ERROR(step)                                                                      \
  do {                                                                                             \
    const enum status step_status_ = (step);                                                       \
    if (step_status_ != STATUS_OK) {                                                               \
      return step_status_;                                                                         \
    }                                                                                              \
  } while (0)

/* Marks every fallible function: its caller must look at the result. */
#define CHECK_RESULT __attribute__((warn_unused_result))

enum { ERROR_MESSAGE_MAX = 1024 };

/* Where in a file something stands; line and column count from 1, 0 = unknown. */
struct position {
  const char *file; /* borrowed; NULL = no file */
  unsigned line;
  unsigned column;
};

struct error {
  enum status status;
  int native_code; /* errno, CUresult, NVML or SQLite code; 0 = none */
  struct position position;
  char message[ERROR_MESSAGE_MAX]; /* one line, no final full stop or newline */
};

/* Fill err (which may be NULL) and return status. A message too long is cut. */
enum status error_set(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status error_set_native(struct error *err, enum status status, int native_code,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
enum status error_vset(struct error *err, enum status status, int native_code, const char *format,
                       va_list args) __attribute__((format(printf, 4, 0)));
/* error_set for a failed system call: appends ": " and strerror(errno_value); STATUS_DENIED for
 * EACCES and EPERM, STATUS_NOT_FOUND for ENOENT, STATUS_NO_MEMORY for ENOMEM, else STATUS_IO. */
enum status error_set_errno(struct error *err, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Put context in front of the message, as it is: "side A: ", with its colon. Returns err->status.
 * err may be NULL (then STATUS_IO). */
enum status error_prefix(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* A static analyser sees one file at a time: it learns here that these never return STATUS_OK. */
#define error_set(err, status, ...) (error_set(err, status, __VA_ARGS__), (status))
#define error_set_native(err, status, native, ...)                                                 \
  (error_set_native(err, status, native, __VA_ARGS__), (status))
#define error_set_errno(err, number, ...) (error_set_errno(err, number, __VA_ARGS__), STATUS_IO)
#define error_prefix(err, ...)            (error_prefix(err, __VA_ARGS__), STATUS_IO)
#endif
