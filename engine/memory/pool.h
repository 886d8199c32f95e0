/* pool.h - buffers kept between cases: allocating 512 MiB of pinned memory costs 0.2 s.
 *
 * A case takes the buffers it needs and gives them all back at its end. A free buffer of the same
 * endpoint and at least the size (and at most 4 times it, or 64 MiB more) is reused. When memory
 * runs out, free buffers are released, largest first, and the allocation is tried again. */
#ifndef HAUL_ENGINE_MEMORY_POOL_H
#define HAUL_ENGINE_MEMORY_POOL_H

#include "engine/memory/memory.h"

struct pool;

/* context is borrowed and must outlive the pool. */
struct pool *pool_new(const struct memory_context *context);
/* Releases every buffer, taken or not. */
void pool_free(struct pool *pool);
/* buffer->size_bytes is at least size_bytes; contents are undefined. */
enum status pool_take(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes,
                      const struct buffer **buffer, struct error *err) CHECK_RESULT;
void pool_give_back_all(struct pool *pool);
/* Release every free buffer (before a case that needs most of the memory). */
void pool_trim(struct pool *pool);

#endif
