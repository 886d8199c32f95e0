/* memory.h - kinds of memory behind one ops table, one file per kind.
 *
 * A buffer belongs to the pool that made it (below). Sizes in bytes. Host memory is
 * placed on its NUMA node, faulted in, and its placement proven by move_pages before a buffer is
 * handed out; a buffer whose pages are elsewhere is an error that says where they are. Where the
 * kernel will not place pages or not say where they are (containers), the buffer is usable, but
 * placement_verified is false and unverified says why. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/case.h"
#include "engine/case/note.h"
#include "engine/machine/limits.h"

struct machine;
struct cuda_session; /* engine/gpu/session.h */

/* Of memory that another process has, ns: to export it there, to open it the first time and later,
 * to close it. */
struct share_times {
  uint64_t export_ns, open_first_ns, open_ns, close_ns;
};

struct buffer {
  struct endpoint endpoint;
  uint64_t size_bytes;    /* as asked for */
  unsigned char *host;    /* address for host threads; NULL for device memory */
  uint64_t device;        /* address for GPUs (all of them, unified addressing); 0 = none */
  uint64_t mapped_bytes;  /* what the kind really took, for its release */
  unsigned char *mapping; /* where its mapping begins, guards included, for its release */
  uint64_t mapping_bytes;
  bool page_locked;               /* by us: to be unregistered at release */
  bool placement_verified;        /* the kernel said that the pages are on the endpoint's node */
  uint64_t notes;                 /* what the reader of a number must know: NOTE_BIT of each */
  char unverified[NOTE_WHAT_MAX]; /* why placement_verified is false; "" = no reason is needed */
  bool has_file;                  /* shared memory: */
  int file;
  uint64_t lent; /* another process's memory: by which number it knows it */
  int32_t user;  /* GPU that copies from or to it, in whose context it may have to be opened */
  struct share_times share;
};

/* How a buffer differs from what it should hold. */
struct data_difference {
  uint64_t bad_bytes; /* 0 = all is right, and the rest is not set */
  uint64_t first_offset;
  unsigned char expected;
  unsigned char found;
};

struct memory_context {
  const struct machine *machine;
  struct cuda_session *cuda; /* NULL without a usable GPU */
  uint32_t process;          /* number of this process; 0 = it measures */
  struct peers *peers;       /* engine/memory/peer.h; NULL: there is no other process */
};

struct memory_ops {
  enum memory_kind kind;
  enum place place; /* where this kind can be */
  bool needs_cuda;  /* cannot be allocated without a driver */
  /* Fills the rest of the buffer; endpoint and size_bytes (at least 1) are set by the caller, all
   * else is zero. On an error nothing is left allocated. */
  enum status (*allocate)(const struct memory_context *context, struct buffer *buffer,
                          struct error *err) CHECK_RESULT;
  /* Never fails: what the driver says of a lost context is ignored. */
  void (*release)(const struct memory_context *context, struct buffer *buffer);
};

/* The address by which a GPU reaches it: pageable memory has one where the GPU reads the host's
 * page tables. */
static inline uint64_t buffer_gpu_address(const struct buffer *buffer) {
  return buffer->device != 0 ? buffer->device : (uint64_t)(uintptr_t)buffer->host;
}

/* Every kind, in the order of enum memory_kind; NULL entries: not in this build. */
extern const struct memory_ops *const memory_kinds[memory_kind_name_count];

/* ---- The pool: buffers kept between cases, for locking pages takes longer than to copy them.
 *
 * A case takes the buffers it needs and gives them all back at its end. A free buffer of the same
 * endpoint and at least the size (and at most POOL_FIT times it, or 64 MiB more) is reused, the
 * smallest that fits. Page-locked memory of the host is allocated as large as what a later case
 * needs (pool_expect()), where that is at most POOL_FIT times the size. The pool has a bound of
 * bytes at each place (each GPU, the host): before one more buffer would exceed it, free ones are
 * released, those first that were not used for longest; and an endpoint has at most POOL_FREE_MAX
 * free ones. When memory runs out, free buffers at the same place are released, largest first, and
 * the allocation is tried again after each. Memory of another process is opened for a case and
 * closed after it. ---- */

enum { POOL_FREE_MAX = 32, POOL_FIT = 8 };

struct pool;

/* context and kinds (memory_kinds, or others in tests) are borrowed and must outlive the pool. NULL
 * when there is no host memory for it. */
struct pool *pool_new(const struct memory_context *context,
                      const struct memory_ops *const kinds[memory_kind_name_count]);
/* What the pool may hold: bytes of the host and of each GPU. No bound where it was never called.
 * What a case takes at once is not refused for it. */
void pool_bound(struct pool *pool, uint64_t host_bytes, const uint64_t gpu_bytes[MACHINE_GPUS_MAX]);
/* The case that begins takes so much of the host in all. */
void pool_begin_case(struct pool *pool, uint64_t host_bytes);
/* A case will take a buffer of that size there. What is held for it and what the present case still
 * takes stay within the bound. */
void pool_expect(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes);
/* For a case that failed before its first trial, perhaps because of them, and begins anew: release
 * free buffers and expect nothing any more. False: nothing was allocated for a later case. */
bool pool_forget_expected(struct pool *pool);
/* Releases every buffer, taken or not. */
void pool_free(struct pool *pool);
/* buffer->size_bytes is at least size_bytes (which is at least 1); contents are undefined. The
 * buffer is valid until the pool is trimmed or freed after it was given back. */
enum status pool_take(struct pool *pool, const struct endpoint *endpoint, uint64_t size_bytes,
                      const struct buffer **buffer, struct error *err) CHECK_RESULT;
/* The same for copies that another GPU makes: what a process lends is opened for that one. */
enum status pool_take_for(struct pool *pool, int32_t user, const struct endpoint *endpoint,
                          uint64_t size_bytes, const struct buffer **buffer,
                          struct error *err) CHECK_RESULT;
/* Closes memory of other processes. */
void pool_give_back_all(struct pool *pool);
/* Release every free buffer of that kind. */
void pool_trim_kind(struct pool *pool, enum memory_kind kind);
/* Release every free buffer (before a case that needs most of the memory). */
void pool_trim(struct pool *pool);
