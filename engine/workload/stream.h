/* stream.h - what the files of a stream share: where its loop runs, and how a GPU is launched.
 *
 * A place is the SMs of a GPU or host threads: one table each; arrays, values and verification are
 * the same for both (engine/workload/stream.c). */
#pragma once

#include "engine/case/stream.h"
#include "engine/case/trial.h"
#include "engine/host/numa.h"
#include "engine/workload/loads.h"
#include "kernels/kernels.h"

struct gpu; /* engine/machine/machine.h */

/* NULL: the operation has no such array. */
struct stream_arrays {
  const struct buffer *out;
  const struct buffer *a;
  const struct buffer *b;
};

/* What a reduction left. */
struct stream_parts {
  const uint64_t *bits; /* of each block or thread: kernels.h says of what; owned by the place */
  size_t count;
  double depth; /* most roundings that an addend of the sum has gone through */
};

/* In sequence: copy, mul, add and triad, the first operations of enum stream_op. */
enum { STREAM_SEQUENCE_COUNT = STREAM_TRIAD + 1 };

struct stream_place {
  /* The memory of stream is at this place; stream, context and arrays are borrowed. *state is set
   * on success only. */
  enum status (*create)(const struct memory_context *context, const struct stream *stream,
                        const struct stream_arrays *arrays, void **state,
                        struct error *err) CHECK_RESULT;
  void (*destroy)(void *state);
  /* The array becomes those values. */
  enum status (*fill)(void *state, const struct buffer *array, const struct stream_values *values,
                      struct error *err) CHECK_RESULT;
  /* In elements: the lowest that differs (UINT64_MAX: none), and how many. */
  enum status (*compare)(void *state, const struct buffer *array,
                         const struct stream_values *values, struct pattern_compare_result *result,
                         struct error *err) CHECK_RESULT;
  /* loads: what runs beside it, or NULL. */
  enum status (*run)(void *state, struct loads *loads, uint32_t iterations,
                     struct trial_times *times, struct error *err) CHECK_RESULT;
  /* The stream as a flow beside loads. */
  const struct flow_run *(*own)(void *state);
  /* From now on each trial does that operation of the stream first, after those named before. NULL:
   * not at this place. */
  enum status (*do_before)(void *state, enum stream_op op, const struct stream_arrays *arrays,
                           struct error *err) CHECK_RESULT;
  /* Of the last iteration; valid until the next run. */
  enum status (*parts)(void *state, struct stream_parts *parts, struct error *err) CHECK_RESULT;
  /* Make those of the last run wrong. */
  enum status (*invalidate_parts)(void *state, struct error *err) CHECK_RESULT;
  uint32_t (*iterations_max)(const void *state);
  /* The processors of its threads; NULL: it has none of its own. */
  const struct cpu_set_bits *(*cpus)(const void *state);
};

/* engine/workload/stream_gpu.c: 0 in the stream's block, grid, vector_bytes and unroll becomes what
 * is best for the operation there. */
extern const struct stream_place stream_gpu;
/* engine/workload/stream_host.c: stores past the caches where the arrays do not fit them. */
extern const struct stream_place stream_host;

/* How a stream is launched on a GPU. What the scenario leaves open is: 16-byte accesses; for
 * operations with an output, one access per thread (unroll 1), blocks of 256 threads and a grid
 * that covers the arrays; for sums, which must also add up the block, four accesses of a thread
 * under way together and as many blocks of 512 threads as the SMs hold at once; for several passes
 * the same, but no more blocks than any GPU holds. (Candidates:
 * tests/benchmarks/bench_gpu_kernels.c.) */
struct stream_shape {
  enum kernel kernel;
  uint32_t block;
  uint32_t grid;
  uint32_t vector_bytes;
  uint32_t unroll;
};

/* Whether the time is that of the kernel's blocks, without the launch: of several passes, which
 * note cycles anyhow. */
bool stream_times_itself(const struct stream *stream);
/* Operations that leave a sum: dot and read. */
bool stream_op_sums(enum stream_op op);
/* false: there is no such kernel. */
bool stream_shape_of(const struct stream *stream, const struct gpu *gpu,
                     struct stream_shape *shape);
