/* pool.h - buffers kept between cases: allocating 512 MiB of pinned memory costs 0.2 s.
 *
 * A case takes the buffers it needs and gives them all back at its end. A free buffer of the same
 * endpoint and at least the size (and at most 4 times it, or 64 MiB more) is reused, the smallest
 * that fits. When memory runs out, free buffers at the same place (that GPU, or the host) are
 * released, largest first, and the allocation is tried again after each. */
#ifndef HAUL_ENGINE_MEMORY_POOL_H
#define HAUL_ENGINE_MEMORY_POOL_H

#include "engine/memory/memory.h"

struct pool;

/* context and kinds (memory_kinds, or others in tests) are borrowed and must outlive the pool. NULL
 * when there is no host memory for it. */
struct pool *pool_new(const struct memory_context *context,
                      const struct memory_ops *const kinds[memory_kind_name_count]);
/* Releases every buffer, taken or not. */
void pool_free(struct pool *pool);
/* buffer->size_bytes is at least size_bytes (which is at least 1); contents are undefined. The
 * buffer is valid until the pool is trimmed or freed after it was given back. */
enum status pool_take(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes,
                      const struct buffer **buffer, struct error *err) CHECK_RESULT;
void pool_give_back_all(struct pool *pool);
/* Release every free buffer of that kind. */
void pool_trim_kind(struct pool *pool, enum memory_kind kind);
/* Release every free buffer (before a case that needs most of the memory). */
void pool_trim(struct pool *pool);

#endif
