/* stream_place.h - where the loop of a stream runs: the SMs of a GPU, or host threads. One table
 * each; arrays, values and verification are the same (engine/workload/stream.c). */
#ifndef HAUL_ENGINE_WORKLOAD_STREAM_PLACE_H
#define HAUL_ENGINE_WORKLOAD_STREAM_PLACE_H

#include "engine/memory/memory.h"
#include "engine/trial_times.h"
#include "kernels/kernels.h"

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
  enum status (*run)(void *state, uint32_t iterations, struct trial_times *times,
                     struct error *err) CHECK_RESULT;
  /* Of the last iteration; valid until the next run. */
  enum status (*parts)(void *state, struct stream_parts *parts, struct error *err) CHECK_RESULT;
  /* Make those of the last run wrong. */
  enum status (*invalidate_parts)(void *state, struct error *err) CHECK_RESULT;
  uint32_t (*iterations_max)(const void *state);
};

/* engine/cuda/stream_gpu.c: 0 in the stream's block, grid, vector_bytes and unroll becomes what is
 * best for the operation there. */
extern const struct stream_place stream_gpu;
/* engine/workload/stream_host.c: stores past the caches where the arrays do not fit them. */
extern const struct stream_place stream_host;

#endif
