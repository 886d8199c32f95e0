/* memory.h - the fake driver's table of allocations.
 *
 * Addresses are unified: an address says by itself where it lives. Device memory is host memory
 * that is backed when touched; its address range cannot be read by the host (a host that follows a
 * device pointer dies, as on a real machine), `data` is where its bytes really are. Thread-safe. */
#pragma once

#include "tests/fake_cuda/machine/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum allocation_kind {
  ALLOCATION_DEVICE,
  ALLOCATION_PINNED,
  ALLOCATION_REGISTERED,
  ALLOCATION_MANAGED,
};

/* A range of an allocation that holds a pattern which nobody has written down (contents.h). */
struct promise {
  uint64_t start, end;  /* offsets in the allocation */
  uint64_t seed;        /* of kernels/pattern_values.h */
  uint64_t phase;       /* offset in the pattern of the byte at start */
  unsigned char invert; /* every byte is xored with it */
};

enum { PROMISES_MAX = 16 };

struct allocation {
  uint64_t base;
  size_t size_bytes;
  unsigned char *data; /* the byte at base; equal to base but for device memory */
  enum allocation_kind kind;
  int32_t gpu; /* owner of device memory; of others the GPU that was current */
  unsigned flags;
  size_t mapped_bytes; /* 0 = not ours (registered) */
  bool backed;         /* by a file, which other processes map as well: */
  bool for_one;        /* opened in the context of one GPU, `user`, for whose kernels it is */
  int32_t user;
  bool lent; /* that of another process; else ours to close: */
  int file;
  /* Managed memory. */
  int32_t location; /* GPU or PLACE_HOST: where its pages are */
  int32_t preferred_location;
  int32_t last_prefetch; /* PLACE_ANY = never */
  bool read_mostly;
  uint64_t accessed_by; /* bit per GPU */
  /* Kept by contents.c, with the table locked. */
  struct promise promises[PROMISES_MAX]; /* apart from each other */
  uint32_t promise_count;
  bool hidden; /* from the host: what it touches must be written down first */
};

/* What an address is: data is NULL where nothing is known of it (pageable host memory). */
struct memory_place {
  unsigned char *data;
  struct allocation *allocation; /* NULL = pageable */
  int32_t place;                 /* GPU or PLACE_HOST */
};

/* NULL: no memory (of the GPU: `gpu_bytes` is what it has in all; or of this host). */
struct allocation *memory_allocate(enum allocation_kind kind, int32_t gpu, size_t size_bytes,
                                   unsigned flags, uint64_t gpu_bytes);
/* The allocation is taken out of the table and returned to the system. */
void memory_release(struct allocation *allocation);
/* Device memory becomes memory of the host at the same address. */
void memory_make_pinned(struct allocation *allocation);
/* The bytes of device memory become those of a file, which other processes can map; -1: it cannot
 * be. The file stays the allocation's. */
int memory_export(struct allocation *allocation);
/* Device memory of that GPU whose bytes are those of the file. */
struct allocation *memory_import(int32_t gpu, size_t size_bytes, int file);
/* The same for an allocation that is there. */
bool memory_map_file(struct allocation *allocation, size_t size_bytes, int file, bool lent);
/* A file for device memory of that GPU; -1: there is none. */
int memory_file(int32_t gpu, size_t size_bytes);
/* The GPU of such a file; -1: it is none. */
int32_t memory_gpu_of_file(int file);
/* Bytes of that GPU in use. */
uint64_t memory_used(int32_t gpu);
/* false: part of the range is registered or allocated already. */
bool memory_register(void *address, size_t size_bytes, int32_t gpu, unsigned flags,
                     struct allocation **allocation);
/* The allocation that starts at, or that contains an address; NULL = none. */
struct allocation *memory_at(uint64_t base);
struct allocation *memory_containing(uint64_t address);
/* false: the range leaves the allocation it starts in. */
bool memory_locate(uint64_t address, uint64_t size_bytes, struct memory_place *place);
/* Lock the table; the allocation whose bytes the driver keeps there, NULL = none of ours. */
struct allocation *memory_lock_owner(const void *data);
void memory_unlock(void);
/* The pages of managed memory are now there (GPU or PLACE_HOST). */
void memory_set_location(struct allocation *allocation, int32_t place);
/* Release everything that belongs to that GPU's context. */
void memory_release_all(int32_t gpu);
