/* Copies and sets. */
#include "engine/host/numa.h"
#include "tests/fake_cuda/driver/driver_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* One side of a copy, as the caller describes it. */
struct side {
  uint64_t address;
  size_t pitch, plane;
};

struct copy_request {
  const char *name;
  struct side to, from;
  size_t width, height, depth;
};

/* Bytes from the first to the last byte of a region with that pitch. */
static size_t extent(const struct copy_request *request, const struct side *side) {
  return (request->depth - 1) * side->plane + (request->height - 1) * side->pitch + request->width;
}

static bool peers(int32_t a, int32_t b) {
  const struct fake_config *config = call_config();
  struct context *first = context_of_device(config->machine.gpus[a].cuda_ordinal);
  struct context *second = context_of_device(config->machine.gpus[b].cuda_ordinal);
  return (first != NULL && first->peers[b]) || (second != NULL && second->peers[a]);
}

/* Whether the calling thread was pinned, as its name says, to another node than that GPU's. */
static bool caller_is_remote(int32_t gpu) {
  char name[16] = "";
  int node = 0;
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
         sscanf(name, NUMA_THREAD_NAME "%d", &node) == 1 &&
         node != call_config()->machine.gpus[gpu].numa_node;
}

static struct transfer transfer_between(const struct memory_place *from,
                                        const struct memory_place *to, uint64_t bytes) {
  bool across = from->place >= 0 && to->place >= 0 && from->place != to->place;
  bool pageable = from->allocation == NULL || to->allocation == NULL;
  const bool staged = across && !peers(from->place, to->place);
  return (struct transfer){.from = from->place,
                           .to = to->place,
                           .bytes = bytes,
                           .pageable = pageable,
                           .remote = (pageable || staged) && (from->place >= 0 || to->place >= 0) &&
                                     caller_is_remote(from->place >= 0 ? from->place : to->place),
                           .staged = staged};
}

/* Queue it. With pageable memory the caller waits for the end, as the real driver may. */
static CUresult enqueue_copy(struct context *context, struct stream *stream,
                             const struct operation *operation, bool wait) {
  if (wait && stream->capture != NULL) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  stream_enqueue(stream, operation);
  if (!wait) {
    return CUDA_SUCCESS;
  }
  streams_wait_stream(stream);
  return (CUresult)atomic_load(&context->error);
}

static unsigned char *bytes_at(const struct memory_place *place, uint64_t address) {
  return place->data != NULL ? place->data : (unsigned char *)(uintptr_t)address;
}

static CUresult copy(const struct copy_request *request, CUstream handle) {
  struct memory_place from = {.place = PLACE_HOST};
  struct memory_place to = {.place = PLACE_HOST};
  bool empty = request->width == 0 || request->height == 0 || request->depth == 0;
  bool inside =
      empty || (request->from.address != 0 && request->to.address != 0 &&
                memory_locate(request->from.address, extent(request, &request->from), &from) &&
                memory_locate(request->to.address, extent(request, &request->to), &to));
  uint64_t size_bytes = empty ? 0 : request->width * request->height * request->depth;
  const struct fault_call about = {.from = from.place, .to = to.place, .size_bytes = size_bytes};
  BEGIN_CALL_WITH(request->name, &about, true);
  if (empty) {
    return CUDA_SUCCESS;
  }
  struct stream *stream = stream_of_handle(&call, handle);
  if (stream == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!inside) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct operation operation = {.kind = OPERATION_COPY,
                                .fault = call.fault,
                                .touches = {from.allocation, to.allocation},
                                .work = work_new(size_bytes),
                                .takes_engine = true,
                                .copy = {.to = bytes_at(&to, request->to.address),
                                         .from = bytes_at(&from, request->from.address),
                                         .width = request->width,
                                         .height = request->height,
                                         .depth = request->depth,
                                         .to_pitch = request->to.pitch,
                                         .from_pitch = request->from.pitch,
                                         .to_plane = request->to.plane,
                                         .from_plane = request->from.plane}};
  struct transfer transfer = transfer_between(&from, &to, size_bytes);
  links_add_transfer(streams_links(), &operation.work, &transfer);
  STREAMS_LOCKED();
  return enqueue_copy(call.context, stream, &operation, transfer.pageable);
}

static CUresult copy_linear(const char *name, uint64_t to, uint64_t from, size_t size_bytes,
                            CUstream stream) {
  struct copy_request request = {.name = name,
                                 .to = {.address = to},
                                 .from = {.address = from},
                                 .width = size_bytes,
                                 .height = 1,
                                 .depth = 1};
  return copy(&request, stream);
}

CUresult drv_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return copy_linear("cuMemcpyAsync", to, from, size_bytes, stream);
}

CUresult drv_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size_bytes,
                                  CUstream stream) {
  return copy_linear("cuMemcpyHtoDAsync", to, (uint64_t)(uintptr_t)from, size_bytes, stream);
}

CUresult drv_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return copy_linear("cuMemcpyDtoHAsync", (uint64_t)(uintptr_t)to, from, size_bytes, stream);
}

CUresult drv_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                                  CUstream stream) {
  return copy_linear("cuMemcpyDtoDAsync", to, from, size_bytes, stream);
}

CUresult drv_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t size_bytes, CUstream stream) {
  if (context_of_handle(to_context) == NULL || context_of_handle(from_context) == NULL) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return copy_linear("cuMemcpyPeerAsync", to, from, size_bytes, stream);
}

/* Seen on an H200 under driver 580: what a copy of a batch takes beside its bytes, and small ones
 * to a GPU, which go another way (loops of single calls take operation_ns each). */
#define BATCH_COPY_NS            390.0
#define BATCH_SMALL_COPY_NS      930.0
#define BATCH_SMALL_BYTES_PER_NS 8.43
enum { BATCH_SMALL_BYTES = 32 << 10 };

struct batch {
  struct memory_place from, to; /* of every copy */
  struct copy_part *parts;
  size_t count;
  uint64_t size_bytes;
  uint64_t large_bytes; /* of those that take their time on the link */
  double overhead_ns;
};

static bool batch_add(struct batch *batch, uint64_t to_address, uint64_t from_address,
                      size_t size_bytes) {
  struct memory_place from;
  struct memory_place to;
  if (!memory_locate(from_address, size_bytes, &from) ||
      !memory_locate(to_address, size_bytes, &to)) {
    return false;
  }
  const bool small = from.place < 0 && to.place >= 0 && size_bytes < BATCH_SMALL_BYTES;
  batch->overhead_ns +=
      small ? BATCH_SMALL_COPY_NS + (double)size_bytes / BATCH_SMALL_BYTES_PER_NS : BATCH_COPY_NS;
  batch->large_bytes += small ? 0 : size_bytes;
  batch->size_bytes += size_bytes;
  batch->parts[batch->count++] = (struct copy_part){
      .to = bytes_at(&to, to_address), .from = bytes_at(&from, from_address), size_bytes};
  const bool first = batch->count == 1;
  batch->from = first ? from : batch->from;
  batch->to = first ? to : batch->to;
  return from.place == batch->from.place && to.place == batch->to.place;
}

static CUresult batch_enqueue(const struct batch *batch, CUstream handle) {
  const struct fault_call about = {
      .from = batch->from.place, .to = batch->to.place, .size_bytes = batch->size_bytes};
  BEGIN_CALL_WITH("cuMemcpyBatchAsync", &about, true);
  struct stream *stream = stream_of_handle(&call, handle);
  if (stream == NULL || stream == call.context->default_stream || stream->capture != NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  struct operation operation = {.kind = OPERATION_COPY,
                                .fault = call.fault,
                                .touches = {batch->from.allocation, batch->to.allocation},
                                .work = work_new(batch->large_bytes),
                                .takes_engine = true,
                                .copy = {.parts = batch->parts, .part_count = batch->count}};
  operation.work.latency_ns += batch->overhead_ns;
  struct transfer transfer = transfer_between(&batch->from, &batch->to, batch->large_bytes);
  links_add_transfer(streams_links(), &operation.work, &transfer);
  STREAMS_LOCKED();
  return enqueue_copy(call.context, stream, &operation, transfer.pageable);
}

/* All copies of a batch are between the same two places. */
CUresult drv_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                CUmemcpyAttributes *attributes,
                                size_t *starts, /* NOLINT(readability-non-const-parameter) */
                                size_t attribute_count, size_t *failed, CUstream stream) {
  if (to == NULL || from == NULL || sizes == NULL || count == 0 || attributes == NULL ||
      attribute_count != 1 || starts == NULL || starts[0] != 0 ||
      attributes->srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
      attributes->srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct batch batch = {.parts = calloc(count, sizeof *batch.parts)};
  if (batch.parts == NULL) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    if (sizes[i] == 0 || !batch_add(&batch, to[i], from[i], sizes[i])) {
      if (failed != NULL) {
        *failed = i;
      }
      free(batch.parts);
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  CUresult result = batch_enqueue(&batch, stream);
  if (result != CUDA_SUCCESS) {
    free(batch.parts);
  }
  return result;
}

/* The start of a region of a pitched memory. */
static struct side side_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t x,
                           size_t y, size_t z, size_t pitch, size_t height) {
  uint64_t base = type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device;
  return (struct side){.address = base == 0 ? 0 : base + z * height * pitch + y * pitch + x,
                       .pitch = pitch,
                       .plane = pitch * height};
}

static CUresult copy_pitched(struct copy_request request, CUmemorytype from, CUmemorytype to,
                             CUstream stream) {
  bool narrow = request.height > 1 || request.depth > 1;
  if (from == CU_MEMORYTYPE_ARRAY || to == CU_MEMORYTYPE_ARRAY) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (narrow && (request.width > request.from.pitch || request.width > request.to.pitch)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return copy(&request, stream);
}

CUresult drv_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream) {
  struct copy_request request = {.name = "cuMemcpy2DAsync",
                                 .from = side_of(c->srcMemoryType, c->srcHost, c->srcDevice,
                                                 c->srcXInBytes, c->srcY, 0, c->srcPitch, 0),
                                 .to = side_of(c->dstMemoryType, c->dstHost, c->dstDevice,
                                               c->dstXInBytes, c->dstY, 0, c->dstPitch, 0),
                                 .width = c->WidthInBytes,
                                 .height = c->Height,
                                 .depth = 1};
  return copy_pitched(request, c->srcMemoryType, c->dstMemoryType, stream);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name these fields alike. */
#define REQUEST_3D(entry_point, c)                                                                 \
  (struct copy_request) {                                                                          \
    .name = entry_point,                                                                           \
    .from = side_of((c)->srcMemoryType, (c)->srcHost, (c)->srcDevice, (c)->srcXInBytes, (c)->srcY, \
                    (c)->srcZ, (c)->srcPitch, (c)->srcHeight),                                     \
    .to = side_of((c)->dstMemoryType, (c)->dstHost, (c)->dstDevice, (c)->dstXInBytes, (c)->dstY,   \
                  (c)->dstZ, (c)->dstPitch, (c)->dstHeight),                                       \
    .width = (c)->WidthInBytes, .height = (c)->Height, .depth = (c)->Depth                         \
  }

CUresult drv_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream) {
  return copy_pitched(REQUEST_3D("cuMemcpy3DAsync", c), c->srcMemoryType, c->dstMemoryType, stream);
}

CUresult drv_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream stream) {
  return copy_pitched(REQUEST_3D("cuMemcpy3DPeerAsync", c), c->srcMemoryType, c->dstMemoryType,
                      stream);
}

CUresult drv_cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count,
                             CUstream handle) {
  struct memory_place place;
  bool inside = memory_locate(address, count, &place) && place.allocation != NULL;
  BEGIN_CALL_WITH("cuMemsetD8Async", NULL, true);
  if (count == 0) {
    return CUDA_SUCCESS;
  }
  struct stream *stream = stream_of_handle(&call, handle);
  if (stream == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!inside) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct operation operation = {.kind = OPERATION_SET,
                                .fault = call.fault,
                                .touches = {place.allocation},
                                .work = work_new(count),
                                .set = {place.data, value, count}};
  if (place.place >= 0) {
    links_add_memory(streams_links(), &operation.work, place.place, count);
  }
  return call_enqueue(stream, &operation);
}

/* A stream waits for a value, or writes one. */
static CUresult stream_value(const char *name, const struct fake_kernel *what, uint64_t address,
                             uint32_t value, CUstream handle) {
  struct memory_place place;
  const bool inside = memory_locate(address, 4, &place) && place.allocation != NULL;
  BEGIN_CALL_WITH(name, NULL, true);
  struct stream *stream = stream_of_handle(&call, handle);
  if (stream == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!inside || address % 4 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct operation operation = {
      .kind = OPERATION_KERNEL,
      .fault = call.fault,
      .touches = {place.allocation},
      .work = work_new(0),
      .kernel = {.kernel = what, .context = call.context, .grid = 1, .block = 1}};
  const struct stream_value_arguments arguments = {.address = address, .value = value};
  memcpy(operation.kernel.arguments, &arguments, sizeof arguments);
  return call_enqueue(stream, &operation);
}

CUresult drv_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                     unsigned flags) {
  return flags != 0
             ? CUDA_ERROR_INVALID_VALUE
             : stream_value("cuStreamWriteValue32", &stream_write_value, address, value, stream);
}

CUresult drv_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                    unsigned flags) {
  return flags != CU_STREAM_WAIT_VALUE_GEQ
             ? CUDA_ERROR_INVALID_VALUE
             : stream_value("cuStreamWaitValue32", &stream_wait_value, address, value, stream);
}
