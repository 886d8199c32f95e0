#include "engine/workload/stream_shape.h"

#include <stdio.h>

enum { MAP_BLOCK = 256, SUM_BLOCK = 512, SM_THREADS = 2048, GRID_MAX = 0x7fffffff };

bool stream_op_sums(enum stream_op op) {
  return op == STREAM_DOT || op == STREAM_READ;
}

/* Operations that only move bits have no type. */
static bool has_type(enum stream_op op) {
  return op != STREAM_COPY && op != STREAM_READ && op != STREAM_WRITE;
}

static bool find_kernel(const struct stream *stream, struct stream_shape *shape) {
  char name[64];
  (void)snprintf(name, sizeof name, "haul_stream_%s%s%s_%u_u%u", stream_op_text(stream->op),
                 has_type(stream->op) ? "_" : "",
                 has_type(stream->op) ? number_type_text(stream->type) : "", shape->vector_bytes,
                 shape->unroll);
  return kernel_parse(name, &shape->kernel);
}

static uint32_t covering_grid(const struct stream *stream, const struct stream_shape *shape) {
  const uint64_t tile = (uint64_t)shape->block * shape->unroll * shape->vector_bytes;
  const uint64_t tiles = (stream->size_bytes + tile - 1) / tile;
  return tiles < GRID_MAX ? (uint32_t)tiles : GRID_MAX;
}

bool stream_shape_of(const struct stream *stream, const struct gpu *gpu,
                     struct stream_shape *shape) {
  const bool sum = stream_op_sums(stream->op);
  shape->vector_bytes = stream->vector_bytes != 0 ? stream->vector_bytes : 16;
  shape->unroll = stream->unroll != 0 ? stream->unroll : sum ? 4 : 1;
  shape->block = stream->block != 0 ? stream->block : sum ? SUM_BLOCK : MAP_BLOCK;
  shape->grid = stream->grid;
  if (shape->grid == 0 || shape->grid == STREAM_GRID_FULL) {
    const uint32_t covering = covering_grid(stream, shape);
    const uint32_t resident =
        gpu->sm_count * (shape->block < SM_THREADS ? SM_THREADS / shape->block : 1);
    shape->grid = sum && shape->grid == 0 && resident < covering ? resident : covering;
  }
  return find_kernel(stream, shape);
}
