/* stream.h - the loops of a stream on the host, one for each operation and type.
 *
 * Values are those of kernels/stream_values.h. Stores past the caches (non-temporal) spare the read
 * of every line that is written, and are chosen as for copies (engine/host/copy.h): where the
 * arrays together are at least as large as the last-level caches in use and the processor has
 * them. */
#pragma once

#include "engine/case/stream.h"

#include <stdint.h>

/* The arrays of the operation; those that it does not have are NULL. Aligned to 32 bytes. */
struct host_stream_arrays {
  void *out;
  const void *a;
  const void *b;
};

/* Bytes [begin, end) of each array, begin a multiple of 32, end of the type. The bits of a sum: dot
 * a double, read 32-bit words added modulo 2^32; other operations 0. When it returns, the stores
 * are ordered before all later ones. */
typedef uint64_t (*host_stream_loop)(const struct host_stream_arrays *arrays, uint64_t begin,
                                     uint64_t end);

/* type: f32 or f64. footprint_bytes: all arrays of all threads; cache_bytes: of their last-level
 * caches, 0 = unknown. */
host_stream_loop host_stream_choose(enum stream_op op, enum number_type type,
                                    uint64_t footprint_bytes, uint64_t cache_bytes);
