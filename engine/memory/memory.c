#include "engine/memory/memory.h"

#include "engine/machine/machine.h"

#include <stdlib.h>
#include <string.h>

/* One row per kind, each with the ops that its file defines. */
#define MEMORY_OPS_LIST(X)                                                                         \
  X(MEMORY_PAGEABLE, memory_pageable)                                                              \
  X(MEMORY_HUGE, memory_huge)                                                                      \
  X(MEMORY_PINNED, memory_pinned)                                                                  \
  X(MEMORY_REGISTERED, memory_registered)                                                          \
  X(MEMORY_WRITE_COMBINED, memory_write_combined)                                                  \
  X(MEMORY_DEVICE, memory_device)                                                                  \
  X(MEMORY_MANAGED, memory_managed)                                                                \
  X(MEMORY_POOL, memory_pool)                                                                      \
  X(MEMORY_VMM, memory_vmm)                                                                        \
  X(MEMORY_HOST_VMM, memory_host_vmm)                                                              \
  X(MEMORY_SHARED, memory_shared)

#define KIND_EXTERN_(kind, ops) extern const struct memory_ops ops;
MEMORY_OPS_LIST(KIND_EXTERN_)

#define KIND_ROW_(kind, ops) [kind] = &ops,
const struct memory_ops *const memory_kinds[memory_kind_name_count] = {MEMORY_OPS_LIST(KIND_ROW_)};

/* Of whatever another process has (engine/memory/peer.c). */
extern const struct memory_ops memory_lent;

struct pool_entry {
  struct buffer buffer;
  bool taken;
  uint64_t used; /* when it was taken last: a count of takings */
};

/* Of the largest buffers that cases will take: one per endpoint and size. */
struct pool_expected {
  struct endpoint endpoint;
  uint64_t size_bytes;
};

struct pool {
  const struct memory_context *context;
  const struct memory_ops *const *kinds;
  struct pool_entry **entries; /* each on its own: buffers keep their address */
  size_t count;
  size_t capacity;
  uint64_t used;
  bool is_bound;
  uint64_t host_bound_bytes, gpu_bound_bytes[MACHINE_GPUS_MAX];
  struct pool_expected *expected;
  size_t expected_count;
  uint64_t host_left_bytes; /* that the present case will take */
  bool ahead;               /* a buffer is larger than was needed, for what is expected */
};

struct pool *pool_new(const struct memory_context *context,
                      const struct memory_ops *const kinds[memory_kind_name_count]) {
  struct pool *pool = calloc(1, sizeof *pool);
  if (pool != NULL) {
    pool->context = context;
    pool->kinds = kinds;
  }
  return pool;
}

void pool_bound(struct pool *pool, uint64_t host_bytes,
                const uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  pool->is_bound = true;
  pool->host_bound_bytes = host_bytes;
  memcpy(pool->gpu_bound_bytes, gpu_bytes, sizeof pool->gpu_bound_bytes);
}

static bool pool_is_lent(const struct pool *pool, const struct endpoint *endpoint) {
  return endpoint->process != pool->context->process;
}

static void release_entry(struct pool *pool, size_t at) {
  struct pool_entry *entry = pool->entries[at];
  const struct memory_ops *ops = pool_is_lent(pool, &entry->buffer.endpoint)
                                     ? &memory_lent
                                     : pool->kinds[entry->buffer.endpoint.memory];
  ops->release(pool->context, &entry->buffer);
  free(entry);
  pool->entries[at] = pool->entries[--pool->count];
}

void pool_free(struct pool *pool) {
  if (pool == NULL) {
    return;
  }
  while (pool->count > 0) {
    release_entry(pool, pool->count - 1);
  }
  free(pool->entries);
  free(pool->expected);
  free(pool);
}

static bool fits(uint64_t have_bytes, uint64_t want_bytes) {
  const uint64_t spare_bytes = UINT64_C(64) << 20;
  return have_bytes >= want_bytes &&
         (have_bytes / POOL_FIT <= want_bytes || have_bytes - want_bytes <= spare_bytes);
}

static struct pool_entry *find_free(const struct pool *pool, const struct endpoint *endpoint,
                                    uint64_t size_bytes) {
  struct pool_entry *best = NULL;
  for (size_t i = 0; i < pool->count; i++) {
    struct pool_entry *entry = pool->entries[i];
    if (!entry->taken && endpoint_is_same(&entry->buffer.endpoint, endpoint) &&
        fits(entry->buffer.size_bytes, size_bytes) &&
        (best == NULL || entry->buffer.size_bytes < best->buffer.size_bytes)) {
      best = entry;
    }
  }
  return best;
}

/* Host memory is one store: what a node lacks is found elsewhere only by the kernel, but a limit
 * (cgroup, locked memory) counts all of it. */
static bool same_store(const struct endpoint *a, const struct endpoint *b) {
  return a->place == b->place && (a->place == PLACE_NUMA || a->index == b->index);
}

/* Releases the largest free buffer at the endpoint's place; false when there is none. */
static bool release_largest(struct pool *pool, const struct endpoint *endpoint) {
  size_t largest = SIZE_MAX;
  for (size_t i = 0; i < pool->count; i++) {
    const struct pool_entry *entry = pool->entries[i];
    if (!entry->taken && same_store(&entry->buffer.endpoint, endpoint) &&
        (largest == SIZE_MAX ||
         entry->buffer.size_bytes > pool->entries[largest]->buffer.size_bytes)) {
      largest = i;
    }
  }
  if (largest == SIZE_MAX) {
    return false;
  }
  release_entry(pool, largest);
  return true;
}

/* Releases the free buffer that was not used for longest: at that endpoint, or anywhere at its
 * place. */
static bool pool_release_oldest(struct pool *pool, const struct endpoint *endpoint, bool same) {
  size_t oldest = SIZE_MAX;
  for (size_t i = 0; i < pool->count; i++) {
    const struct pool_entry *entry = pool->entries[i];
    if (!entry->taken &&
        (same ? endpoint_is_same : same_store)(&entry->buffer.endpoint, endpoint) &&
        (oldest == SIZE_MAX || entry->used < pool->entries[oldest]->used)) {
      oldest = i;
    }
  }
  if (oldest == SIZE_MAX) {
    return false;
  }
  release_entry(pool, oldest);
  return true;
}

static uint64_t pool_bound_bytes(const struct pool *pool, const struct endpoint *endpoint) {
  return !pool->is_bound                 ? UINT64_MAX
         : endpoint->place == PLACE_NUMA ? pool->host_bound_bytes
                                         : pool->gpu_bound_bytes[endpoint->index];
}

/* What the pool has at the endpoint's place, and free buffers at the endpoint itself. */
static uint64_t pool_count_held(const struct pool *pool, const struct endpoint *endpoint,
                                size_t *free_count) {
  uint64_t held_bytes = 0;
  *free_count = 0;
  for (size_t i = 0; i < pool->count; i++) {
    const struct pool_entry *entry = pool->entries[i];
    const struct endpoint *other = &entry->buffer.endpoint;
    held_bytes += same_store(other, endpoint) ? entry->buffer.size_bytes : 0;
    *free_count += !entry->taken && endpoint_is_same(other, endpoint);
  }
  return held_bytes;
}

/* Before a buffer of that size is allocated there. */
static void pool_make_room(struct pool *pool, const struct endpoint *endpoint,
                           uint64_t size_bytes) {
  const uint64_t bound_bytes = pool_bound_bytes(pool, endpoint);
  bool released = true;
  while (released) {
    size_t free_count = 0;
    const uint64_t held_bytes = pool_count_held(pool, endpoint, &free_count);
    if (free_count >= POOL_FREE_MAX) {
      released = pool_release_oldest(pool, endpoint, true);
    } else {
      released =
          held_bytes + size_bytes > bound_bytes && pool_release_oldest(pool, endpoint, false);
    }
  }
}

void pool_begin_case(struct pool *pool, uint64_t host_bytes) {
  pool->host_left_bytes = host_bytes;
}

void pool_expect(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes) {
  const struct memory_ops *ops = pool->kinds[endpoint->memory];
  if (endpoint->place != PLACE_NUMA || ops == NULL || !ops->needs_cuda ||
      pool_is_lent(pool, endpoint)) {
    return;
  }
  for (size_t i = 0; i < pool->expected_count; i++) {
    if (pool->expected[i].size_bytes == size_bytes &&
        endpoint_is_same(&pool->expected[i].endpoint, endpoint)) {
      return;
    }
  }
  struct pool_expected *expected =
      reallocarray(pool->expected, pool->expected_count + 1, sizeof *expected);
  if (expected != NULL) {
    expected[pool->expected_count++] =
        (struct pool_expected){.endpoint = *endpoint, .size_bytes = size_bytes};
    pool->expected = expected;
  }
}

/* How large a buffer to allocate there where one of that size is needed. */
static uint64_t pool_ahead_bytes(const struct pool *pool, const struct endpoint *endpoint,
                                 uint64_t size_bytes) {
  size_t unused = 0;
  const uint64_t held_bytes = pool_count_held(pool, endpoint, &unused) + pool->host_left_bytes;
  uint64_t ahead_bytes = size_bytes;
  for (size_t i = 0; i < pool->expected_count; i++) {
    const uint64_t expected_bytes = pool->expected[i].size_bytes;
    if (expected_bytes > ahead_bytes && expected_bytes / POOL_FIT <= size_bytes &&
        held_bytes + expected_bytes <= pool_bound_bytes(pool, endpoint) &&
        endpoint_is_same(&pool->expected[i].endpoint, endpoint)) {
      ahead_bytes = expected_bytes;
    }
  }
  return ahead_bytes;
}

static enum status find_ops(const struct pool *pool, const struct endpoint *endpoint,
                            const struct memory_ops **ops, struct error *err) {
  const struct memory_ops *found = pool->kinds[endpoint->memory];
  const char *kind = memory_kind_text(endpoint->memory);
  if (found == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "this build has no %s memory", kind);
  }
  if (found->place != endpoint->place) {
    return error_set(err, STATUS_INVALID, "%s memory cannot be at a %s", kind,
                     endpoint->place == PLACE_GPU ? "GPU" : "NUMA node");
  }
  if (found->needs_cuda && pool->context->cuda == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "%s memory needs a GPU: %s", kind,
                     pool->context->machine->cuda_state);
  }
  *ops = pool_is_lent(pool, endpoint) ? &memory_lent : found;
  return STATUS_OK;
}

static enum status add_entry(struct pool *pool, struct pool_entry **entry, struct error *err) {
  if (pool->count == pool->capacity) {
    size_t capacity = pool->capacity == 0 ? 16 : 2 * pool->capacity;
    struct pool_entry **entries = realloc(pool->entries, capacity * sizeof(*entries));
    if (entries == NULL) {
      return error_set(err, STATUS_NO_MEMORY, "out of host memory");
    }
    pool->entries = entries;
    pool->capacity = capacity;
  }
  *entry = calloc(1, sizeof **entry);
  return *entry != NULL ? STATUS_OK : error_set(err, STATUS_NO_MEMORY, "out of host memory");
}

enum status pool_take(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes,
                      const struct buffer **buffer, struct error *err) {
  return pool_take_for(pool, endpoint->index, endpoint, size_bytes, buffer, err);
}

enum status pool_take_for(struct pool *pool, int32_t user, const struct endpoint *endpoint,
                          uint64_t size_bytes, const struct buffer **buffer, struct error *err) {
  const struct memory_ops *ops = NULL;
  enum status status = find_ops(pool, endpoint, &ops, err);
  RETURN_ON_ERROR(status);
  if (endpoint->place == PLACE_NUMA && !pool_is_lent(pool, endpoint)) {
    pool->host_left_bytes -=
        size_bytes < pool->host_left_bytes ? size_bytes : pool->host_left_bytes;
  }
  struct pool_entry *entry = find_free(pool, endpoint, size_bytes);
  if (entry != NULL) {
    entry->taken = true;
    entry->used = ++pool->used;
    *buffer = &entry->buffer;
    return STATUS_OK;
  }
  const uint64_t ahead_bytes = pool_ahead_bytes(pool, endpoint, size_bytes);
  pool_make_room(pool, endpoint, ahead_bytes);
  RETURN_ON_ERROR(add_entry(pool, &entry, err));
  const struct buffer wanted = {.endpoint = *endpoint, .size_bytes = size_bytes, .user = user};
  entry->buffer = wanted;
  entry->buffer.size_bytes = ahead_bytes;
  status = ops->allocate(pool->context, &entry->buffer, err);
  if (ahead_bytes > size_bytes && status == STATUS_OK) {
    pool->ahead = true;
  } else if (ahead_bytes > size_bytes) {
    entry->buffer = wanted;
    status = ops->allocate(pool->context, &entry->buffer, err);
  }
  while (status == STATUS_NO_MEMORY && release_largest(pool, endpoint)) {
    entry->buffer = wanted;
    status = ops->allocate(pool->context, &entry->buffer, err);
  }
  if (status != STATUS_OK) {
    free(entry);
    return status;
  }
  entry->taken = true;
  entry->used = ++pool->used;
  pool->entries[pool->count++] = entry;
  *buffer = &entry->buffer;
  return STATUS_OK;
}

void pool_give_back_all(struct pool *pool) {
  for (size_t i = pool->count; i-- > 0;) {
    pool->entries[i]->taken = false;
    if (pool_is_lent(pool, &pool->entries[i]->buffer.endpoint)) {
      release_entry(pool, i);
    }
  }
}

bool pool_forget_expected(struct pool *pool) {
  const bool was_ahead = pool->ahead;
  if (was_ahead) {
    pool->ahead = false;
    pool->expected_count = 0;
    pool_trim(pool);
  }
  return was_ahead;
}

void pool_trim_kind(struct pool *pool, enum memory_kind kind) {
  for (size_t i = pool->count; i-- > 0;) {
    if (!pool->entries[i]->taken && pool->entries[i]->buffer.endpoint.memory == kind) {
      release_entry(pool, i);
    }
  }
}

void pool_trim(struct pool *pool) {
  for (size_t i = pool->count; i-- > 0;) {
    if (!pool->entries[i]->taken) {
      release_entry(pool, i);
    }
  }
}
