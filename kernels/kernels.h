/* kernels.h - the contract between host code and device code: names and argument structs.
 *
 * Every kernel takes one struct by value, the same layout on both sides (fixed-width members only,
 * widest first). Addresses are device addresses as uint64_t. Kernels that loop over data use
 * grid-stride loops with 64-bit indices and are right for every grid and block that is a multiple
 * of the stated unit. The fake driver of tests/fake_cuda carries out each by a C reference with the
 * same contract. */
#pragma once

#include "engine/base/enum_names.h"
#include "kernels/arithmetic_values.h"
#include "kernels/compute_values.h"
#include "kernels/stream_values.h"

#include <stdint.h>

/* haul_stream_OP[_TYPE]_BYTES_uUNROLL: below. */
#define KERNEL_STREAM_WIDE(X, id, name)                                                            \
  X(id##_8_U1, name "_8_u1")                                                                       \
  X(id##_8_U4, name "_8_u4")                                                                       \
  X(id##_16_U1, name "_16_u1")                                                                     \
  X(id##_16_U4, name "_16_u4")
#define KERNEL_STREAM_ALL(X, id, name)                                                             \
  X(id##_4_U1, name "_4_u1")                                                                       \
  X(id##_4_U4, name "_4_u4")                                                                       \
  KERNEL_STREAM_WIDE(X, id, name)
#define KERNEL_STREAM_LIST(X)                                                                      \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_COPY, "haul_stream_copy")                                     \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_COPY_L2, "haul_stream_copy_l2")                               \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_READ, "haul_stream_read")                                     \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_READ_L2, "haul_stream_read_l2")                               \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_WRITE, "haul_stream_write")                                   \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_MUL_F32, "haul_stream_mul_f32")                               \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_ADD_F32, "haul_stream_add_f32")                               \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_TRIAD_F32, "haul_stream_triad_f32")                           \
  KERNEL_STREAM_ALL(X, KERNEL_STREAM_DOT_F32, "haul_stream_dot_f32")                               \
  KERNEL_STREAM_WIDE(X, KERNEL_STREAM_MUL_F64, "haul_stream_mul_f64")                              \
  KERNEL_STREAM_WIDE(X, KERNEL_STREAM_ADD_F64, "haul_stream_add_f64")                              \
  KERNEL_STREAM_WIDE(X, KERNEL_STREAM_TRIAD_F64, "haul_stream_triad_f64")                          \
  KERNEL_STREAM_WIDE(X, KERNEL_STREAM_DOT_F64, "haul_stream_dot_f64")

/* haul_arithmetic_OP_TYPE_ilpN: below. */
#define KERNEL_ARITHMETIC_ILP(X, id, name)                                                         \
  X(id##_ILP1, name "_ilp1")                                                                       \
  X(id##_ILP2, name "_ilp2")                                                                       \
  X(id##_ILP4, name "_ilp4")                                                                       \
  X(id##_ILP8, name "_ilp8")
#define KERNEL_ARITHMETIC_TYPES(X, id, name)                                                       \
  KERNEL_ARITHMETIC_ILP(X, id##_F16, name "_f16")                                                  \
  KERNEL_ARITHMETIC_ILP(X, id##_F32, name "_f32")                                                  \
  KERNEL_ARITHMETIC_ILP(X, id##_F64, name "_f64")                                                  \
  KERNEL_ARITHMETIC_ILP(X, id##_I32, name "_i32")
#define KERNEL_ARITHMETIC_LIST(X)                                                                  \
  KERNEL_ARITHMETIC_TYPES(X, KERNEL_ARITHMETIC_ADD, "haul_arithmetic_add")                         \
  KERNEL_ARITHMETIC_TYPES(X, KERNEL_ARITHMETIC_MUL, "haul_arithmetic_mul")                         \
  KERNEL_ARITHMETIC_TYPES(X, KERNEL_ARITHMETIC_FMA, "haul_arithmetic_fma")                         \
  KERNEL_ARITHMETIC_ILP(X, KERNEL_ARITHMETIC_ADD3_I32, "haul_arithmetic_add3_i32")

/* The kernels of each file. */
#define KERNEL_GATE_FILE(X)                                                                        \
  X(KERNEL_GATE, "haul_gate")                                                                      \
  X(KERNEL_EMPTY, "haul_empty")                                                                    \
  X(KERNEL_EMPTY_4K, "haul_empty_4k")
#define KERNEL_PATTERN_FILE(X)                                                                     \
  X(KERNEL_PATTERN_FILL, "haul_pattern_fill")                                                      \
  X(KERNEL_PATTERN_COMPARE, "haul_pattern_compare")                                                \
  X(KERNEL_TOUCH, "haul_touch")
#define KERNEL_COPY_FILE(X)                                                                        \
  X(KERNEL_COPY_1, "haul_copy_1")                                                                  \
  X(KERNEL_COPY_2, "haul_copy_2")                                                                  \
  X(KERNEL_COPY_4, "haul_copy_4")                                                                  \
  X(KERNEL_COPY_8, "haul_copy_8")                                                                  \
  X(KERNEL_COPY_16, "haul_copy_16")                                                                \
  X(KERNEL_COPY_BULK, "haul_copy_bulk")                                                            \
  X(KERNEL_COPY_PAIR, "haul_copy_pair")
#define KERNEL_STRIDED_FILE(X)                                                                     \
  X(KERNEL_COPY_ROWS, "haul_copy_rows")                                                            \
  X(KERNEL_PATTERN_ROWS, "haul_pattern_rows")                                                      \
  X(KERNEL_COPY_PIECES, "haul_copy_pieces")                                                        \
  X(KERNEL_PATTERN_PIECES, "haul_pattern_pieces")
#define KERNEL_CHASE_FILE(X)                                                                       \
  X(KERNEL_CHASE_SYS, "haul_chase_sys")                                                            \
  X(KERNEL_CHASE_L1, "haul_chase_l1")                                                              \
  X(KERNEL_CHASE_L2, "haul_chase_l2")                                                              \
  X(KERNEL_CHASE_L1_U32, "haul_chase_l1_u32")                                                      \
  X(KERNEL_CHASE_L2_U32, "haul_chase_l2_u32")                                                      \
  X(KERNEL_CHASE_SHARED, "haul_chase_shared")                                                      \
  X(KERNEL_CHASE_BULK, "haul_chase_bulk")                                                          \
  X(KERNEL_CHASE_LINES, "haul_line_times")
#define KERNEL_STREAM_FILE(X)                                                                      \
  X(KERNEL_STREAM_FILL, "haul_stream_fill")                                                        \
  X(KERNEL_STREAM_COMPARE, "haul_stream_compare")                                                  \
  KERNEL_STREAM_LIST(X)
#define KERNEL_ARITHMETIC_FILE(X) KERNEL_ARITHMETIC_LIST(X)
#define KERNEL_COMPUTE_FILE(X)                                                                     \
  X(KERNEL_COMPUTE_MATMUL, "haul_compute_matmul")                                                  \
  X(KERNEL_COMPUTE_MATMUL_GROUPS, "haul_compute_matmul_groups")                                    \
  X(KERNEL_COMPUTE_FMA, "haul_compute_fma")                                                        \
  X(KERNEL_COMPUTE_TRIAD, "haul_compute_triad")                                                    \
  X(KERNEL_COMPUTE_FILL, "haul_compute_fill")                                                      \
  X(KERNEL_COMPUTE_CHECK_FMA, "haul_compute_check_fma")                                            \
  X(KERNEL_COMPUTE_CHECK_TRIAD, "haul_compute_check_triad")                                        \
  X(KERNEL_COMPUTE_CHECK_MATMUL, "haul_compute_check_matmul")
#define KERNEL_SIGNAL_FILE(X)                                                                      \
  X(KERNEL_SIGNAL_FLAG, "haul_signal_flag")                                                        \
  X(KERNEL_SIGNAL_ATOMIC, "haul_signal_atomic")                                                    \
  X(KERNEL_SIGNAL_ATOMICS, "haul_signal_atomics")

/* Each file is a module of its own, which is loaded when a case needs it: behind the name, its
 * kernels. */
#define KERNEL_MODULE_LIST(X)                                                                      \
  X(KERNEL_MODULE_GATE, "gate", KERNEL_GATE_FILE)                                                  \
  X(KERNEL_MODULE_PATTERN, "pattern", KERNEL_PATTERN_FILE)                                         \
  X(KERNEL_MODULE_COPY, "copy", KERNEL_COPY_FILE)                                                  \
  X(KERNEL_MODULE_STRIDED, "strided", KERNEL_STRIDED_FILE)                                         \
  X(KERNEL_MODULE_CHASE, "chase", KERNEL_CHASE_FILE)                                               \
  X(KERNEL_MODULE_STREAM, "stream", KERNEL_STREAM_FILE)                                            \
  X(KERNEL_MODULE_ARITHMETIC, "arithmetic", KERNEL_ARITHMETIC_FILE)                                \
  X(KERNEL_MODULE_COMPUTE, "compute", KERNEL_COMPUTE_FILE)                                         \
  X(KERNEL_MODULE_SIGNAL, "signal", KERNEL_SIGNAL_FILE)
ENUM_NAMES_DECLARE(kernel_module, KERNEL_MODULE_LIST)

#define KERNEL_LIST(X)                                                                             \
  KERNEL_GATE_FILE(X)                                                                              \
  KERNEL_PATTERN_FILE(X)                                                                           \
  KERNEL_COPY_FILE(X)                                                                              \
  KERNEL_STRIDED_FILE(X)                                                                           \
  KERNEL_CHASE_FILE(X)                                                                             \
  KERNEL_STREAM_FILE(X)                                                                            \
  KERNEL_ARITHMETIC_FILE(X)                                                                        \
  KERNEL_COMPUTE_FILE(X)                                                                           \
  KERNEL_SIGNAL_FILE(X)
ENUM_NAMES_DECLARE(kernel, KERNEL_LIST)
/* The first kernel of a module: its last stands before the first of the next module. */
enum kernel kernel_module_first(enum kernel_module module);

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
/* haul_copy_pair<<<any, 64 x any>>>: two copies at once with accesses of 16 bytes, the first by
 * warps of even number, the second by those of odd number, so that both advance together. */
struct copy_pair_arguments {
  struct copy_arguments copies[2];
};
/* Within a GPU a block for each chunk, with many on an SM at once, was faster than rings of blocks
 * that stay, of each shape that was tried; between GPUs all are alike. The benchmark of both is
 * tests/benchmarks/copy_kernels.toml, blocks local_bulk and local_bulk_cover. */
enum { BULK_STAGES = 4, BULK_AHEAD = 2, BULK_CHUNK = 4096 };
enum { BULK_UNIT = 16 }; /* bytes: addresses and sizes of the bulk copy engine are multiples */

/* haul_chase_{sys,l1,l2}<<<any, any>>>: dependent loads. Thread t starts at the address
 * positions[t] (64 bits); at every address stands the next one. It goes warm_hops unmeasured and
 * hops measured, and leaves where it ended in positions[t]. The warps of a block begin together;
 * times[block] is the slowest of them. The loads of sys bypass the L1 cache (ld.relaxed.sys: the
 * memory may be a peer's or the host's), those of l1 use it (ld.global.ca), those of l2 do not
 * (ld.global.cg). haul_chase_bulk brings BULK_UNIT bytes at each address into shared memory by the
 * bulk copy engine (compute capability 9.0 on) and takes the next address from there; addresses are
 * multiples of BULK_UNIT, and of that many bytes the first 8 are the address.
 *
 * haul_chase_{l1,l2}_u32: elements have 32 bits, the lower half of the next address; the upper half
 * is that of the thread's first position.
 *
 * haul_chase_shared: the same in shared memory, of which the launch gives table_bytes. `table`
 * holds 32-bit words, each the byte offset of the next; positions are byte offsets in it.
 *
 * positions and times are page-locked host memory. */
struct chase_arguments {
  uint64_t positions;
  uint64_t times;
  uint64_t hops;
  uint64_t warm_hops;
  uint64_t table;
  uint64_t table_bytes;
  uint64_t turn;  /* 0: all blocks at once. Else they go one after the other: the number of the
                     block, 4 bytes, 0 at first */
  uint64_t by_sm; /* not 0: a block goes on at the position of its SM (%smid), not of its number */
};
enum { CHASE_OWN_SHARED_BYTES = 16 }; /* of a block, beside the table */
struct chase_time {
  uint64_t cycles;     /* %clock64 of the SM */
  uint64_t elapsed_ns; /* %globaltimer */
};

/* haul_line_times<<<SMs, 1>>>: each SM loads each of `count` lines, stride_bytes apart, several
 * times past its L1 cache, and notes the least cycles of a line: a row of `cycles` for each SM (its
 * %smid), which holds count numbers of 16 bits. The lines are zero. All SMs go at once, each begins
 * at another line. */
struct chase_lines_arguments {
  uint64_t address;
  uint64_t stride_bytes;
  uint64_t cycles;
  uint32_t count;
  uint32_t sm_count;
};

/* What kernels that time themselves note about each SM (its %smid is the row): {UINT64_MAX, 0,
 * UINT64_MAX, 0} before. Cycles are the SM's own, ns %globaltimer. */
struct sm_span {
  uint64_t first_cycle;
  uint64_t last_cycle;
  uint64_t first_ns;
  uint64_t last_ns;
};
enum { SM_SPANS = 1024 };

/* haul_stream_OP[_l2]_BYTES_uUNROLL<<<any, any>>>, for those that depend on it
 * haul_stream_OP_TYPE_...: `passes` times over arrays of size_bytes, with accesses of BYTES, UNROLL
 * of each array under way together. Blocks take neighbouring tiles of block x UNROLL accesses, grid
 * tiles apart, the same in each pass: passes go over all of the arrays where all blocks are on the
 * SMs at once, for each comes to a tile again when it has been through its share, and the others
 * through about as much of theirs. _l2: loads pass the L1 cache (ld.global.cg). Arrays are aligned
 * to 16 bytes and do not overlap; size_bytes is any multiple of the type.
 *
 *   copy out = a; mul out = s a; add out = a + b; triad out = a + s b, with s = STREAM_SCALAR
 *   write out = stream_word() of the place
 *   dot   results[block] = the block's part of the sum of a b, in f64 whatever the type
 *   read  results[block] = the block's part of the sum of all 32-bit words, modulo 2^32
 *
 * spans 0: not wanted; else SM_SPANS rows of struct sm_span, and a block ends when its stores are
 * performed. */
struct stream_arguments {
  uint64_t out;
  uint64_t a;
  uint64_t b;
  uint64_t results;
  uint64_t spans;
  uint64_t size_bytes;
  uint32_t passes;
  uint32_t
      parts; /* of a read: block b reads part b modulo parts of the arrays; 0 = as many as blocks */
};

/* haul_stream_fill<<<any, any>>>: the first `count` elements become stream_bits() of the values.
 * haul_stream_compare<<<any, any>>>: compares them. *result (struct pattern_compare_result) holds
 * {UINT64_MAX, 0} before; after: the lowest element that differs, and how many do. */
struct stream_data_arguments {
  uint64_t address;
  uint64_t count;
  uint64_t result;
  struct stream_values values;
};

/* haul_arithmetic_OP_TYPE_ilpN<<<any, any>>>: `rounds` times ARITHMETIC_BODY instructions per
 * thread over N chains, as kernels/arithmetic_values.h says. b and c are the operands' bits (f16:
 * in both halves; i32: only first_b and second_b). results[thread of the grid] = what
 * arithmetic_fold() makes of the chains' ends. spans as above, never 0. */
struct arithmetic_arguments {
  uint64_t results;
  uint64_t spans;
  uint64_t rounds;
  uint64_t first_b;
  uint64_t first_c;
  uint64_t second_b;
  uint64_t second_c;
};

/* haul_compute_matmul<<<any, MATMUL_BLOCK, stages x MATMUL_STAGE_BYTES of shared memory>>>: out = a
 * * transposed b, matrices of side x side, row by row: bf16 in, f32 out; compute capability 8.0 on,
 * stages from 2. haul_compute_matmul_groups: the same by wgmma, compute capability 9.0 alone,
 * stages from 3. */
struct matmul_arguments {
  uint64_t out;
  uint64_t a;
  uint64_t b;
  uint32_t side;
  uint32_t stages;
};

/* haul_compute_fma<<<any, any>>>: `rounds` rounds of multiply-adds in chains of f32, as
 * kernels/compute_values.h says; out[thread of the grid], f32, is the sum of its chains. */
struct fma_arguments {
  uint64_t out;
  uint32_t rounds;
  float factor;
  float add;
  uint32_t reserved;
};

/* haul_compute_triad<<<any, any>>>: out = a + intensity * (factor * b), one multiply-add after the
 * other, over `count` numbers of f32, a multiple of 4. */
struct triad_arguments {
  uint64_t out;
  uint64_t a;
  uint64_t b;
  uint64_t count;
  uint32_t intensity;
  float factor;
};

/* haul_compute_fill<<<any, any>>>: the first `count` elements become compute_number(): bf16 where
 * they have 2 bytes, f32 where they have 4. */
struct compute_data_arguments {
  uint64_t address;
  uint64_t count;
  uint64_t seed;
  uint32_t element_bytes;
  uint32_t reserved;
};

/* haul_compute_check_{fma,triad,matmul}<<<any, any>>>: compares out with what it should be: made
 * from the number of rounds (`intensity`), from the seeds, or from a and b; with factor and add 1.
 * *result as for haul_stream_compare. */
struct compute_check_arguments {
  uint64_t out;
  uint64_t a;
  uint64_t b;
  uint64_t result;
  uint64_t count;
  uint64_t seed_a;
  uint64_t seed_b;
  uint32_t intensity;
  uint32_t side;
};

/* What a kernel of signals leaves in page-locked host memory. */
struct signal_time {
  uint64_t cycles;
  uint64_t elapsed_ns;
  uint64_t
      in_time; /* 0: a flag did not come within timeout_ns, or an atomic returned a wrong value */
};

/* haul_signal_flag<<<1, 1>>>: in each round waits until *watched (32 bits) equals the round's value
 * and writes that to *answer; where it begins, first writes and then waits. Values go up by one
 * from `first`. The time is that of the rounds after the warm ones. */
struct signal_flag_arguments {
  uint64_t watched;
  uint64_t answer;
  uint64_t time;
  uint64_t timeout_ns;
  uint32_t first;
  uint32_t warm_rounds;
  uint32_t rounds;
  uint32_t begins;
};

/* haul_signal_atomic<<<1, 1>>>: `count` additions of 1 to the 64 bits at address, which hold
 * `first`, each after the answer of the one before. haul_signal_atomics<<<any, any>>>: `count` by
 * each thread without answers, thread t at address + t modulo addresses x SIGNAL_STRIDE; spans as
 * above. */
struct signal_atomic_arguments {
  uint64_t address;
  uint64_t time;
  uint64_t spans;
  uint64_t first;
  uint32_t count;
  uint32_t addresses;
};
enum { SIGNAL_STRIDE = 128, SIGNAL_ADDRESSES_MAX = 1 << 16 };

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

/* Offsets of a piece's first byte at both ends of a scattered copy. */
struct piece {
  uint64_t source;
  uint64_t target;
};

/* haul_copy_pieces<<<any, any>>>: copies `pieces` pieces of piece_bytes between the offsets that
 * stand in the list (struct piece, in memory of any kind), with accesses of vector_bytes (1, 2, 4,
 * 8 or 16), which divides both addresses, piece_bytes and all offsets. */
struct copy_pieces_arguments {
  uint64_t target;
  uint64_t source;
  uint64_t list;
  uint64_t pieces;
  uint64_t piece_bytes;
  uint32_t vector_bytes;
  uint32_t reserved;
};

/* haul_pattern_pieces<<<any, 32 x any>>>: as haul_pattern_fill, for the bytes of the pieces at one
 * end only. at_target 0: those at their source offsets. A byte's place in the pattern is its offset
 * at the target, so that a target whose pieces all arrived holds the pattern. */
struct pattern_pieces_arguments {
  uint64_t address;
  uint64_t list;
  uint64_t pieces;
  uint64_t piece_bytes;
  uint64_t seed;
  uint32_t at_target;
  uint32_t complement;
};
enum { PATTERN_PIECES_CHUNK = 16384 }; /* bytes that a warp fills between two looks at the list */

/* haul_touch<<<any, 32 x any>>>: one lane of every warp writes the bytes at 0, stride, 2 x stride
 * ... below size: what the pattern of `seed` has there, or its complement when `complement` is 1.
 * All other bytes are left alone. `passes` times; random 1: in the order of pattern_shuffled().
 * sum not 0: the bytes are read, and their sum is added to the 64 bits there (device memory). */
struct touch_arguments {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t stride_bytes;
  uint64_t seed;
  uint64_t sum;
  uint32_t complement;
  uint32_t passes;
  uint32_t random;
  uint32_t reserved;
};

/* haul_empty<<<any, any>>>: nothing, for what a launch itself costs. */
struct empty_arguments {
  uint64_t reserved;
};
/* haul_empty_4k<<<any, any>>>: the same with as many arguments as every GPU takes. */
struct empty_4k_arguments {
  uint64_t reserved[512];
};
