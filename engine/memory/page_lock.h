/* page_lock.h - pages of ours made known to the driver, and host memory that is the driver's own.
 */
#ifndef HAUL_ENGINE_MEMORY_PAGE_LOCK_H
#define HAUL_ENGINE_MEMORY_PAGE_LOCK_H

#include "engine/memory/memory.h"

/* cuMemHostRegister of the whole buffer, for all GPUs; sets device and page_locked. */
enum status page_lock(const struct memory_context *context, struct buffer *buffer,
                      struct error *err) CHECK_RESULT;
/* Undoes it where page_locked is set. */
void page_unlock(const struct memory_context *context, struct buffer *buffer);
/* cuMemHostAlloc on the endpoint's node, verified; flags are added to PORTABLE and DEVICEMAP. */
enum status page_locked_allocate(const struct memory_context *context, struct buffer *buffer,
                                 unsigned flags, struct error *err) CHECK_RESULT;
void page_locked_release(const struct memory_context *context, struct buffer *buffer);

#endif
