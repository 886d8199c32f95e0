/* stream_shape.h - how a stream is launched on a GPU. Needs no GPU.
 *
 * What the scenario leaves open is: 16-byte accesses; for operations with an output, one access a
 * thread (unroll 1), blocks of 256 threads and a grid that covers the arrays; for sums, which must
 * also add up the block, four accesses of a thread under way together and as many blocks of 512
 * threads as the SMs hold at once. (Candidates: tests/benchmarks/bench_gpu_kernels.c.) */
#ifndef HAUL_ENGINE_WORKLOAD_STREAM_SHAPE_H
#define HAUL_ENGINE_WORKLOAD_STREAM_SHAPE_H

#include "engine/case.h"
#include "engine/machine/machine.h"
#include "kernels/kernels.h"

struct stream_shape {
  enum kernel kernel;
  uint32_t block;
  uint32_t grid;
  uint32_t vector_bytes;
  uint32_t unroll;
};

/* Operations that leave a sum: dot and read. */
bool stream_op_sums(enum stream_op op);
/* false: there is no such kernel. */
bool stream_shape_of(const struct stream *stream, const struct gpu *gpu,
                     struct stream_shape *shape);

#endif
