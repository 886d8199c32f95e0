/* share.h - memory that one process exports and others open: what is handed over, and the calls on
 * either side. How the handle gets to the other process is peer.h's. */
#pragma once

#include "engine/memory/memory.h"

struct share_handle {
  unsigned char bytes[64]; /* of ipc and pool: as the driver wrote them */
  uint64_t mapped_bytes;
  bool has_file; /* of all others, and of a pool itself */
  int file;      /* the holder's to close */
};

/* NULL, or why memory of that endpoint cannot be exported or opened here: for a person. */
const char *share_unsupported_reason(const struct memory_context *context,
                                     const struct endpoint *endpoint, char reason[CASE_REASON_MAX]);
/* Of memory that this process has made at an endpoint of its own number. Shared memory is exported
 * once: its file is the handle's then, for thousands of them are more than a process may have. */
enum status share_export(const struct memory_context *context, struct buffer *buffer,
                         struct share_handle *handle, struct error *err) CHECK_RESULT;
/* endpoint and size_bytes of the buffer are set. The handle's file stays open. */
enum status share_open(const struct memory_context *context, const struct share_handle *handle,
                       struct buffer *buffer, struct error *err) CHECK_RESULT;
/* Never fails, as memory_ops.release. */
void share_close(const struct memory_context *context, struct buffer *buffer);
