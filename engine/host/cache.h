/* cache.h - host caches emptied of a buffer, and proof that it worked.
 *
 * Every line of the buffer is flushed (x86: clflushopt, else clflush; aarch64: dc civac; ppc64:
 * dcbf). cache_flush_proof() reads a buffer warm and after a flush: the flush works when the reload
 * takes significantly longer. Where it cannot be done or proven, the row of the case says so. */
#ifndef HAUL_ENGINE_HOST_CACHE_H
#define HAUL_ENGINE_HOST_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Line size in bytes, from the processor. */
uint64_t cache_line_bytes(void);
/* False when this processor has no instruction for it. Blocks until the lines are out. */
bool cache_flush(const void *address, uint64_t size_bytes);

struct cache_flush_proof {
  bool supported;
  bool works;
  uint64_t warm_ns;    /* median time to read the probe buffer when cached */
  uint64_t flushed_ns; /* the same after a flush */
  uint64_t probe_bytes;
};
/* Run the proof once; takes a few ms. */
void cache_flush_prove(struct cache_flush_proof *proof);

#endif
