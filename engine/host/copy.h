/* copy.h - the loops that copy host memory, and the rule that picks one.
 *
 * The rule, part of the version of method cpu:
 *  - source or target write_combined: streaming loads and non-temporal stores (loads of such memory
 *    bypass the caches; a streaming load takes a whole line at a time);
 *  - source and target together at least as large as the last-level caches of the processors in
 *    use: non-temporal stores, which spare the read of every target line;
 *  - else, and wherever the processor has no such stores: libc's memcpy, whose target stays cached
 *    for its next reader.
 * Of the loops that fit, the first in host_copies[] that the processor has.
 *
 * Measured by tests/benchmarks/bench_host_copy.c on two processors of a Zen 5 virtual machine with
 * 32 MiB of last-level cache, sizes of 32 to 512 MiB: AVX2 stores 1.3 to 2.1 times as fast as
 * memcpy, and 0.99 to 1.5 times (median 1.12) as fast as AVX-512 stores, hence AVX2 first. In the
 * second-level cache memcpy is 1.5 to 3 times as fast as either. In between, stores past the cache
 * were as fast or faster there, which depends on the machine: the rule leaves that range to memcpy.
 * Streaming loads: AVX-512 first, since one such load takes the whole line. aarch64 has
 * non-temporal pairs of stores; which loop is faster was not measured there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_copy {
  const char *name;
  /* Copies like memcpy: any size and alignment, no overlap. When it returns, the stores are ordered
   * before all later ones. */
  void (*copy)(void *target, const void *source, size_t size_bytes);
  bool non_temporal;
  bool streaming_loads;
  bool (*supported)(void); /* by this processor */
};

/* All loops that this build has, preferred ones first; libc's memcpy is last. */
extern const struct host_copy host_copies[];
extern const size_t host_copies_count;

/* footprint_bytes: source and target of all threads; cache_bytes: cache_last_level_bytes() of their
 * processors, 0 = unknown. */
const struct host_copy *host_copy_choose(bool write_combined, uint64_t footprint_bytes,
                                         uint64_t cache_bytes);
