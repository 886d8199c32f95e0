/* Write-combined memory: as pinned, but not cached by the processors: they write it fast and read
 * it slowly, and copies from it need not look into their caches. */
#include "engine/memory/kinds.h"
#include "engine/memory/page_lock.h"

#include <cuda.h>

static enum status allocate(const struct memory_context *context, struct buffer *buffer,
                            struct error *err) {
  return page_locked_allocate(context, buffer, CU_MEMHOSTALLOC_WRITECOMBINED, err);
}

const struct memory_ops memory_write_combined = {
    .kind = MEMORY_WRITE_COMBINED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .help = "as pinned, uncached write-combining",
    .allocate = allocate,
    .release = page_locked_release,
};
