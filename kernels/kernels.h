/* kernels.h - the contract between host code and device code: names and argument structs.
 *
 * Every kernel takes one struct by value, the same layout on both sides (fixed-width members only,
 * widest first). Addresses are device addresses as uint64_t. Kernels that
 * loop over data use grid-stride loops with 64-bit indices and are right for every grid and
 * block that is a multiple of the stated unit. The fake driver of tests/fake_cuda carries out each
 * by a C reference with the same contract. */
#ifndef HAUL_KERNELS_KERNELS_H
#define HAUL_KERNELS_KERNELS_H

#include "engine/base/words.h"

#include <stdint.h>

#define KERNEL_LIST(X)                                                                             \
  X(KERNEL_GATE, "haul_gate")                                                                      \
  X(KERNEL_PATTERN_FILL, "haul_pattern_fill")                                                      \
  X(KERNEL_PATTERN_COMPARE, "haul_pattern_compare")                                                \
  X(KERNEL_COPY_1, "haul_copy_1")                                                                  \
  X(KERNEL_COPY_2, "haul_copy_2")                                                                  \
  X(KERNEL_COPY_4, "haul_copy_4")                                                                  \
  X(KERNEL_COPY_8, "haul_copy_8")                                                                  \
  X(KERNEL_COPY_16, "haul_copy_16")                                                                \
  X(KERNEL_COPY_BULK, "haul_copy_bulk")                                                            \
  X(KERNEL_CHASE, "haul_chase")                                                                    \
  X(KERNEL_COPY_ROWS, "haul_copy_rows")                                                            \
  X(KERNEL_PATTERN_ROWS, "haul_pattern_rows")                                                      \
  X(KERNEL_TOUCH, "haul_touch")                                                                    \
  X(KERNEL_EMPTY, "haul_empty")
WORDS_DECLARE(kernel, KERNEL_LIST)

/* haul_gate<<<1, 1>>>: waits until *flag (host memory, 32 bits) equals `open`, or timeout_ns have
 * passed on %globaltimer; then writes 1 (opened) or 2 (timed out) to *report (host memory). */
struct gate_arguments {
  uint64_t flag;
  uint64_t report;
  uint64_t timeout_ns;
  uint32_t open;
  uint32_t reserved;
};
enum { GATE_WAITING = 0, GATE_OPENED = 1, GATE_TIMED_OUT = 2 };

/* haul_pattern_fill<<<any, any>>>: bytes [0, size) at address become the pattern of `seed`, or its
 * complement when `complement` is 1 (poison). Any address, any size. */
struct pattern_fill_arguments {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t seed;
  uint32_t complement;
  uint32_t reserved;
};

/* haul_pattern_compare<<<any, any>>>: compares [0, size) at address with the pattern. *result
 * (device or host memory, 8-byte aligned) must hold {UINT64_MAX, 0} before; after: the lowest
 * offset that differs, and the number of bytes that differ. */
struct pattern_compare_arguments {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t seed;
  uint64_t result;
};
struct pattern_compare_result {
  uint64_t first_offset;
  uint64_t bad_bytes;
};

/* haul_copy_{1,2,4,8,16}<<<any, any>>>: copies [0, size) with accesses of that many bytes.
 * haul_copy_bulk<<<any, 32>>>: the same through the bulk copy engine (compute capability 9.0 on),
 * BULK_STAGES chunks of BULK_CHUNK bytes in shared memory, loads BULK_AHEAD chunks before stores.
 * Any addresses and sizes; the ranges must not overlap. */
struct copy_arguments {
  uint64_t target;
  uint64_t source;
  uint64_t size_bytes;
};
enum { BULK_STAGES = 8, BULK_AHEAD = 7, BULK_CHUNK = 4096 };

/* haul_chase<<<1, 1>>>: dependent loads. At `start` stands the address of the next element, and so
 * on, `hops` times. Writes to *result (host memory, page-locked). The loads bypass the L1 cache
 * (ld.relaxed.sys: the memory may be a peer's or the host's). */
struct chase_arguments {
  uint64_t start;
  uint64_t result;
  uint64_t hops;
};
struct chase_result {
  uint64_t last;       /* address that the last load gave: proves the loads */
  uint64_t elapsed_ns; /* %globaltimer */
  uint64_t cycles;     /* %clock64 of the SM */
};

/* haul_copy_rows<<<any, any>>>: copies `rows` rows of width bytes, pitch apart in both memories,
 * with accesses of vector_bytes (1, 2, 4, 8 or 16), which divides both addresses, width and pitch.
 * The bytes between rows are neither read nor written. */
struct copy_rows_arguments {
  uint64_t target;
  uint64_t source;
  uint64_t width_bytes;
  uint64_t pitch_bytes;
  uint64_t rows;
  uint32_t vector_bytes;
  uint32_t reserved;
};

/* haul_pattern_rows<<<any, any>>>: as haul_pattern_fill, for the bytes of `rows` rows only; a
 * byte's place in the pattern is its offset from address, the gaps included. */
struct pattern_rows_arguments {
  uint64_t address;
  uint64_t width_bytes;
  uint64_t pitch_bytes;
  uint64_t rows;
  uint64_t seed;
  uint32_t complement;
  uint32_t reserved;
};

/* haul_touch<<<any, 32 x any>>>: one lane of every warp writes the bytes at 0, stride, 2 x stride
 * ... below size: what the pattern of `seed` has there, or its complement when `complement` is 1.
 * All other bytes are left alone. */
struct touch_arguments {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t stride_bytes;
  uint64_t seed;
  uint32_t complement;
  uint32_t reserved;
};

/* haul_empty<<<any, any>>>: nothing, for what a launch itself costs. */
struct empty_arguments {
  uint64_t reserved;
};

#endif
