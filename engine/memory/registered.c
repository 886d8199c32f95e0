/* Registered memory: pageable memory that the driver locks afterwards. */
#include "engine/memory/kinds.h"
#include "engine/memory/page_lock.h"

static void release(const struct memory_context *context, struct buffer *buffer) {
  page_unlock(context, buffer);
  memory_pageable.release(context, buffer);
}

static enum status allocate(const struct memory_context *context, struct buffer *buffer,
                            struct error *err) {
  enum status status = memory_pageable.allocate(context, buffer, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = page_lock(context, buffer, err);
  if (status != STATUS_OK) {
    release(context, buffer);
  }
  return status;
}

const struct memory_ops memory_registered = {
    .kind = MEMORY_REGISTERED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .help = "anonymous pages, page-locked by cuMemHostRegister",
    .allocate = allocate,
    .release = release,
};
