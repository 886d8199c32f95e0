/* Method ce: the copy engines, through the driver's asynchronous memcpy, on a stream of the
 * initiating GPU. */
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"

#include <stdlib.h>

/* CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far. */
enum { PITCH_MAX = 0x7fffffff };

static bool ce_is_batch(const struct flow *flow) {
  return flow_is_scattered(flow) && flow->scatter.submit == SUBMIT_BATCH;
}

static const char *ce_batch_unsupported_reason(const struct flow *flow,
                                               const struct machine *machine,
                                               char reason[CASE_REASON_MAX]) {
  if (ce_is_batch(flow) && flow->graph) { /* driver 580: STREAM_CAPTURE_UNSUPPORTED */
    return "the driver captures no batch in a graph; submit \"loop\" it does";
  }
  if (ce_is_batch(flow) && flow->staged) {
    return "a batch has no staged copies; submit \"loop\" has";
  }
  if (ce_is_batch(flow) && machine->driver_cuda_version < CUDA_BATCH_VERSION) {
    return CASE_REASON(
        reason,
        "submit \"batch\" is cuMemcpyBatchAsync, which drivers have from CUDA %d.%d on; "
        "this one is of CUDA %d.%d",
        CUDA_BATCH_VERSION / 1000, CUDA_BATCH_VERSION % 1000 / 10,
        machine->driver_cuda_version / 1000, machine->driver_cuda_version % 1000 / 10);
  }
  return NULL;
}

static const char *ce_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                         char reason[CASE_REASON_MAX]) {
  if (flow->source.place != PLACE_GPU && flow->target.place != PLACE_GPU) {
    return "a copy engine needs a GPU at one end; use method cpu between host memories";
  }
  const char *unsupported = gpu_flow_shape_unsupported_reason(flow, reason);
  if (unsupported == NULL) {
    unsupported = ce_batch_unsupported_reason(flow, machine, reason);
  }
  if (unsupported == NULL && copy_shape_is_strided(&flow->shape) &&
      flow->shape.pitch_bytes > PITCH_MAX) {
    unsupported = "copy engines take a pitch below 2 GiB";
  }
  return unsupported != NULL ? unsupported : gpu_flow_unsupported_reason(flow, machine, reason);
}

/* Many pieces fill the queue of the stream. */
static bool ce_blocks_host(const struct flow *flow) {
  return flow_blocks_host(flow) || flow_is_scattered(flow);
}

/* The arguments of a batch. */
struct ce_batch {
  CUmemcpyAttributes attributes;
  CUdeviceptr *targets; /* the one allocation; then sources, sizes */
  CUdeviceptr *sources;
  size_t *sizes;
};

static CUmemLocation ce_location(const struct cuda_session *session, const struct buffer *buffer) {
  CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
  if (buffer->endpoint.place == PLACE_GPU) {
    location.id = session->gpus[buffer->endpoint.index].device;
  } else {
    location.type = CU_MEM_LOCATION_TYPE_HOST;
  }
  return location;
}

static CUdeviceptr ce_address(const struct buffer *buffer) {
  return buffer->endpoint.place == PLACE_GPU ? buffer->device
                                             : (CUdeviceptr)(uintptr_t)buffer->host;
}

static enum status ce_prepare_batch(const struct memory_context *context, struct flow_run *run,
                                    struct error *err) {
  static const CUmemcpySrcAccessOrder orders[batch_order_name_count] = {
      [BATCH_ORDER_STREAM] = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
      [BATCH_ORDER_CALL] = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
      [BATCH_ORDER_ANY] = CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
  const struct scatter_shape *scatter = &run->flow->scatter;
  const struct piece *pieces = (const struct piece *)(const void *)run->pieces->host;
  if (context->cuda->driver.cuMemcpyBatchAsync == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuMemcpyBatchAsync");
  }
  struct ce_batch *batch = calloc(1, sizeof *batch);
  CUdeviceptr *words = calloc(3 * scatter->pieces, sizeof *words);
  if (batch == NULL || words == NULL) {
    free(batch);
    free(words);
    return error_set(err, STATUS_NO_MEMORY, "no memory for the arguments of a batch");
  }
  *batch = (struct ce_batch){
      .attributes = {.srcAccessOrder = orders[scatter->order],
                     .srcLocHint = ce_location(context->cuda, run->source),
                     .dstLocHint = ce_location(context->cuda, run->target),
                     .flags = scatter->overlap ? CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE : 0},
      .targets = words,
      .sources = words + scatter->pieces,
      .sizes = (size_t *)(words + 2 * scatter->pieces),
  };
  for (uint64_t i = 0; i < scatter->pieces; i++) {
    batch->targets[i] = ce_address(run->target) + pieces[i].target;
    batch->sources[i] = ce_address(run->source) + pieces[i].source;
    batch->sizes[i] = scatter->piece_bytes;
  }
  run->state = batch;
  return STATUS_OK;
}

static enum status ce_prepare(const struct memory_context *context, struct flow_run *run,
                              struct error *err) {
  RETURN_ON_ERROR(gpu_flow_prepare(context, run, err));
  return ce_is_batch(run->flow) ? ce_prepare_batch(context, run, err) : STATUS_OK;
}

static void ce_release(const struct memory_context *context, struct flow_run *run) {
  struct ce_batch *batch = run->state;
  (void)context;
  if (batch != NULL) {
    free(batch->targets);
  }
  free(batch);
  run->state = NULL;
}

/* Offsets of the first byte at both ends. */
static CUresult copy_part(const struct cuda_session *session, const struct flow_run *run,
                          const struct buffer *source, const struct buffer *target, struct piece at,
                          uint64_t size) {
  const struct cuda_driver *driver = &session->driver;
  CUstream stream = run->stream;
  if (source->endpoint.place != PLACE_GPU) {
    return driver->cuMemcpyHtoDAsync(target->device + at.target, source->host + at.source, size,
                                     stream);
  }
  if (target->endpoint.place != PLACE_GPU) {
    return driver->cuMemcpyDtoHAsync(target->host + at.target, source->device + at.source, size,
                                     stream);
  }
  const CUdeviceptr from = source->device + at.source;
  const CUdeviceptr to = target->device + at.target;
  if (source->endpoint.index == target->endpoint.index) {
    return driver->cuMemcpyDtoDAsync(to, from, size, stream);
  }
  /* With unified addresses, a copy engine of the stream's own GPU does the copy: the initiator's.
   * Given two contexts, the driver chooses the GPU itself. */
  if (!run->flow->staged) {
    return driver->cuMemcpyAsync(to, from, size, stream);
  }
  return driver->cuMemcpyPeerAsync(to, session->gpus[target->endpoint.index].context, from,
                                   session->gpus[source->endpoint.index].context, size, stream);
}

static CUresult copy_pieces(const struct cuda_session *session, const struct flow_run *run) {
  const struct scatter_shape *scatter = &run->flow->scatter;
  const struct piece *pieces = (const struct piece *)(const void *)run->pieces->host;
  if (scatter->submit == SUBMIT_BATCH) {
    struct ce_batch *batch = run->state;
    size_t first = 0;
    size_t failed = 0;
    return session->driver.cuMemcpyBatchAsync(batch->targets, batch->sources, batch->sizes,
                                              scatter->pieces, &batch->attributes, &first, 1,
                                              &failed, run->stream);
  }
  CUresult result = CUDA_SUCCESS;
  for (uint64_t i = 0; result == CUDA_SUCCESS && i < scatter->pieces; i++) {
    result = copy_part(session, run, run->source, run->target, pieces[i], scatter->piece_bytes);
  }
  return result;
}

static CUmemorytype type_of(const struct buffer *buffer) {
  return buffer->endpoint.place == PLACE_GPU ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static CUresult copy_plane(const struct cuda_driver *driver, const struct flow_run *run) {
  const struct copy_shape *shape = &run->flow->shape;
  CUDA_MEMCPY2D copy = {.srcMemoryType = type_of(run->source),
                        .srcHost = run->source->host,
                        .srcDevice = run->source->device,
                        .srcPitch = shape->pitch_bytes,
                        .dstMemoryType = type_of(run->target),
                        .dstHost = run->target->host,
                        .dstDevice = run->target->device,
                        .dstPitch = shape->pitch_bytes,
                        .WidthInBytes = shape->width_bytes,
                        .Height = shape->height};
  return driver->cuMemcpy2DAsync(&copy, run->stream);
}

static CUresult copy_planes(const struct cuda_driver *driver, const struct flow_run *run) {
  const struct copy_shape *shape = &run->flow->shape;
  CUDA_MEMCPY3D copy = {.srcMemoryType = type_of(run->source),
                        .srcHost = run->source->host,
                        .srcDevice = run->source->device,
                        .srcPitch = shape->pitch_bytes,
                        .srcHeight = shape->height,
                        .dstMemoryType = type_of(run->target),
                        .dstHost = run->target->host,
                        .dstDevice = run->target->device,
                        .dstPitch = shape->pitch_bytes,
                        .dstHeight = shape->height,
                        .WidthInBytes = shape->width_bytes,
                        .Height = shape->height,
                        .Depth = shape->depth};
  return driver->cuMemcpy3DAsync(&copy, run->stream);
}

static CUresult copy_planes_between(const struct cuda_session *session,
                                    const struct flow_run *run) {
  const struct copy_shape *shape = &run->flow->shape;
  CUDA_MEMCPY3D_PEER copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = run->source->device,
                             .srcContext = session->gpus[run->source->endpoint.index].context,
                             .srcPitch = shape->pitch_bytes,
                             .srcHeight = shape->height,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = run->target->device,
                             .dstContext = session->gpus[run->target->endpoint.index].context,
                             .dstPitch = shape->pitch_bytes,
                             .dstHeight = shape->height,
                             .WidthInBytes = shape->width_bytes,
                             .Height = shape->height,
                             .Depth = shape->depth};
  return session->driver.cuMemcpy3DPeerAsync(&copy, run->stream);
}

static CUresult copy_rows_once(const struct cuda_session *session, const struct flow_run *run) {
  const struct endpoint *source = &run->source->endpoint;
  const struct endpoint *target = &run->target->endpoint;
  if (source->place == PLACE_GPU && target->place == PLACE_GPU && source->index != target->index) {
    return copy_planes_between(session, run);
  }
  return run->flow->shape.depth == 1 ? copy_plane(&session->driver, run)
                                     : copy_planes(&session->driver, run);
}

static CUresult copy_flow(const struct cuda_session *session, const struct flow_run *run) {
  if (flow_is_scattered(run->flow)) {
    return copy_pieces(session, run);
  }
  return copy_shape_is_strided(&run->flow->shape)
             ? copy_rows_once(session, run)
             : copy_part(session, run, run->source, run->target, (struct piece){0},
                         run->flow->size_bytes);
}

static enum status ce_enqueue(const struct memory_context *context, struct flow_run *run,
                              uint32_t iterations, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    CUresult result = copy_flow(context->cuda, run);
    status = cuda_check(&context->cuda->driver, result, err, "copying %llu bytes",
                        (unsigned long long)run->flow->size_bytes);
  }
  return status;
}

static enum status ce_enqueue_part(const struct memory_context *context, struct flow_run *run,
                                   uint64_t size_bytes, struct error *err) {
  return cuda_check(
      &context->cuda->driver,
      copy_part(context->cuda, run, run->source, run->target, (struct piece){0}, size_bytes), err,
      "copying %llu bytes of a repeat", (unsigned long long)size_bytes);
}

/* The gate occupies the compute engine: without the primer, the first copy's time includes the
 * start of the copy engine, 3 us, and in some processes 1.03 ms (copies of 4 to 64 KiB to an H200,
 * driver 580; not every process shows it). It has buffers of its own,
 * so that what was flushed from caches stays out of them, and copies no more than the flow does, so
 * that the same engine copies it. */
static enum status ce_prime(const struct memory_context *context, struct flow_run *run,
                            struct error *err) {
  const struct flow *flow = run->flow;
  const uint64_t row_bytes =
      copy_shape_is_strided(&flow->shape) ? flow->shape.width_bytes : flow->size_bytes;
  const uint64_t size = row_bytes < PRIMER_BYTES ? row_bytes : PRIMER_BYTES;
  return cuda_check(
      &context->cuda->driver,
      copy_part(context->cuda, run, run->primer, run->primer_target, (struct piece){0}, size), err,
      "copying %llu bytes before the timed part", (unsigned long long)size);
}

const struct method_ops method_ce = {
    .method = METHOD_CE,
    .clock = CLOCK_EVENT,
    .unsupported_reason = ce_unsupported_reason,
    .gpu = gpu_flow_gpu,
    .prepare = ce_prepare,
    .release = ce_release,
    .enqueue = ce_enqueue,
    .enqueue_part = ce_enqueue_part,
    .prime = ce_prime,
    .blocks_host = ce_blocks_host,
};
