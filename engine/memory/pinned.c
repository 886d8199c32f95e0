/* Pinned memory: page-locked by the driver, placed by the policy of the allocating thread. */
#include "engine/memory/kinds.h"
#include "engine/memory/page_lock.h"

static enum status allocate(const struct memory_context *context, struct buffer *buffer,
                            struct error *err) {
  return page_locked_allocate(context, buffer, 0, err);
}

const struct memory_ops memory_pinned = {
    .kind = MEMORY_PINNED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .help = "page-locked memory of the driver, cuMemHostAlloc",
    .allocate = allocate,
    .release = page_locked_release,
};
