/* stream.h - loops over arrays of numbers: case kind stream. */
#pragma once

#include "engine/case/case.h"

/* Loops over arrays a, b and out; s is a scalar. (McCalpin's STREAM; dot is BabelStream's.) */
#define STREAM_OP_LIST(X)                                                                          \
  X(STREAM_COPY, "copy")   /* out[i] = a[i] */                                                     \
  X(STREAM_MUL, "mul")     /* out[i] = s * a[i] */                                                 \
  X(STREAM_ADD, "add")     /* out[i] = a[i] + b[i] */                                              \
  X(STREAM_TRIAD, "triad") /* out[i] = a[i] + s * b[i] */                                          \
  X(STREAM_DOT, "dot")     /* sum of a[i] * b[i] */                                                \
  X(STREAM_READ, "read")   /* sum of the bits of a[i] */                                           \
  X(STREAM_WRITE, "write") /* out[i] = made from i */
ENUM_NAMES_DECLARE(stream_op, STREAM_OP_LIST)

/* What a stream's repeats find in the caches. */
#define STREAM_ORDER_LIST(X)                                                                       \
  X(STREAM_ALONE, "alone")       /* what the repeat before left */                                 \
  X(STREAM_SEQUENCE, "sequence") /* what copy, mul, add and triad leave, over the same arrays */
ENUM_NAMES_DECLARE(stream_order, STREAM_ORDER_LIST)

/* Arrays that an operation goes through: what STREAM counts as its bytes. */
unsigned stream_op_arrays(enum stream_op op);

/* What a stream on a GPU notes beside its time by events. */
#define STREAM_CLOCK_LIST(X)                                                                       \
  X(STREAM_CLOCK_EVENT, "event") /* nothing */                                                     \
  X(STREAM_CLOCK_CYCLES,                                                                           \
    "cycles") /* cycles of the SM that works longest, first block's start to last one's end */
ENUM_NAMES_DECLARE(stream_clock, STREAM_CLOCK_LIST)

/* Part of a stream's case_key: raised whenever a stream measures differently. The second is that of
 * several passes on a GPU. */
enum { STREAM_METHOD_VERSION = 1, STREAM_PASSES_METHOD_VERSION = 2 };
/* struct stream: as many blocks as cover the arrays once. */
#define STREAM_GRID_FULL UINT32_MAX

/* payload_bytes of the case is stream_op_arrays(op) * size_bytes * stream_sweeps(stream), and so is
 * traffic_bytes. */
struct stream {
  enum stream_op op;
  enum number_type type;  /* f32 or f64 */
  struct endpoint memory; /* of all arrays: a GPU's own (its SMs work), or a node's (its threads) */
  uint64_t size_bytes;    /* one array, a multiple of the type; 0: the case has no stream */
  /* Over the arrays in one iteration, inside one kernel; 0 = one. On a GPU all blocks of several
   * passes are on the SMs at once, so that each pass goes over all of the arrays. */
  uint32_t passes;
  uint32_t threads; /* host threads; 0 = all of the node */
  /* GPU only; 0 = what is best for the operation (engine/workload/stream.h). */
  uint32_t block;
  uint32_t grid;         /* blocks; or STREAM_GRID_FULL */
  uint32_t vector_bytes; /* per access: 4, 8 or 16, not less than the type */
  uint32_t unroll;       /* accesses of a thread that are under way together: 1 or 4 */
  enum stream_clock clock;
  /* In sequence: copy, mul, add or triad of f64. c = a, b = s c, c = a + b, a = b + s c follow each
   * other over three arrays; a trial is the other three, and then the one that is timed. */
  enum stream_order order;
  enum cache_level cache; /* GPU only: l2 of copy and read alone, whose loads then pass the L1 */
  /* GPU and read only: block b goes over part b modulo parts of the array, so that blocks, and the
   * SMs that have them, read the same bytes at about the same time; grid is a multiple of it. 0:
   * each block has a part of its own. */
  uint32_t parts;
};

/* How often an iteration goes over the arrays. */
static inline uint64_t stream_sweeps(const struct stream *stream) {
  return (uint64_t)(stream->passes > 0 ? stream->passes : 1) *
         (stream->parts > 0 ? stream->grid / stream->parts : 1);
}
