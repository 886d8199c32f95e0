/* cache.h - empty the host's caches of a buffer, or fill them with it, and prove that it worked.
 *
 * Every line of the buffer is flushed (x86: clflushopt, else clflush; aarch64: dc civac; ppc64:
 * dcbf). Written lines are in the caches of who wrote them, as far as they fit. cache_flush_prove()
 * reads a buffer after it was written and after a flush: both work when the second takes
 * significantly longer. Where it cannot be done or proven, the row of the case says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Line size in bytes, from the processor: the step at which a flush visits a buffer. */
uint64_t cache_line_bytes(void);
/* False when this processor has no instruction for it. Returns when the lines are out; reads and
 * writes after it are not moved before it. */
bool cache_flush(const void *address, uint64_t size_bytes);

struct cache_flush_proof {
  bool supported;
  bool works;
  uint64_t warm_ns;    /* median time to read the probe buffer after its lines were written */
  uint64_t flushed_ns; /* the same after a flush */
  uint64_t probe_bytes;
};
/* Run the proof once; takes a few ms. Each line of a buffer that fits a second-level cache is read
 * once, each address coming from the load before and in random order, so that neither prefetcher
 * nor overlap hides a miss. Rounds with and without a flush alternate. It works when the median
 * with a flush is at least twice the one without, and the quartiles that face each other do not
 * overlap: noise that slows some rounds of either sort changes nothing. */
void cache_flush_prove(struct cache_flush_proof *proof);
/* The same proof of another flush. */
void cache_flush_prove_with(bool (*flush)(const void *address, uint64_t size_bytes),
                            struct cache_flush_proof *proof);
/* The same in the first bytes of that memory, at least CACHE_PROOF_LEAST, whose contents are lost:
 * what holds there for the calling thread's node. */
enum { CACHE_PROOF_LEAST = 4 << 10 };
void cache_flush_prove_at(void *memory, uint64_t size_bytes, struct cache_flush_proof *proof);

/* Bytes of last-level cache that these processors have together, a shared cache counted once;
 * 0 = the system does not say. */
uint64_t cache_last_level_bytes(const int *cpus, size_t count);
