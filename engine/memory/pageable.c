/* Pageable memory: anonymous pages as malloc would give them, with huge pages only where the
 * system's setting is "always"; see kind huge for the rest. */
#include "engine/memory/kinds.h"
#include "engine/memory/pages.h"

#include <unistd.h>

static enum status allocate(const struct memory_context *context, struct buffer *buffer,
                            struct error *err) {
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  enum status status = pages_map(buffer, page_bytes, err);
  if (status == STATUS_OK) {
    status = pages_place(context, buffer, page_bytes, err);
  }
  if (status == STATUS_OK) {
    status = pages_verify(context, buffer, err);
  }
  if (status != STATUS_OK) {
    pages_unmap(buffer);
  }
  return status;
}

static void release(const struct memory_context *context, struct buffer *buffer) {
  (void)context;
  pages_unmap(buffer);
}

const struct memory_ops memory_pageable = {
    .kind = MEMORY_PAGEABLE,
    .place = PLACE_NUMA,
    .needs_cuda = false,
    .help = "anonymous pages of the operating system's usual size",
    .allocate = allocate,
    .release = release,
};
