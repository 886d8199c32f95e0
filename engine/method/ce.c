/* Method ce: the copy engines, through the driver's asynchronous memcpy, on a stream of the
 * initiating GPU. */
#include "engine/gpu/session.h"
#include "engine/method/method.h"

/* CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far. */
enum { PITCH_MAX = 0x7fffffff };

static const char *ce_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                         char reason[CASE_REASON_MAX]) {
  if (flow->source.place != PLACE_GPU && flow->target.place != PLACE_GPU) {
    return "a copy engine needs a GPU at one end; use method cpu between host memories";
  }
  const char *unsupported = gpu_flow_shape_unsupported_reason(flow, reason);
  if (unsupported == NULL && copy_shape_is_strided(&flow->shape) &&
      flow->shape.pitch_bytes > PITCH_MAX) {
    unsupported = "copy engines take a pitch below 2 GiB";
  }
  return unsupported != NULL ? unsupported : gpu_flow_unsupported_reason(flow, machine, reason);
}

static enum status ce_prepare(const struct memory_context *context, struct flow_run *run,
                              struct error *err) {
  return gpu_flow_prepare(context, run, err);
}

static void ce_release(const struct memory_context *context, struct flow_run *run) {
  (void)context;
  (void)run;
}

static CUresult copy_once(const struct cuda_session *session, const struct flow_run *run,
                          const struct buffer *source, uint64_t size) {
  const struct cuda_driver *driver = &session->driver;
  const struct buffer *target = run->target;
  CUstream stream = run->stream;
  if (source->endpoint.place != PLACE_GPU) {
    return driver->cuMemcpyHtoDAsync(target->device, source->host, size, stream);
  }
  if (target->endpoint.place != PLACE_GPU) {
    return driver->cuMemcpyDtoHAsync(target->host, source->device, size, stream);
  }
  if (source->endpoint.index == target->endpoint.index) {
    return driver->cuMemcpyDtoDAsync(target->device, source->device, size, stream);
  }
  /* With unified addresses, a copy engine of the stream's own GPU does the copy: the initiator's.
   * Given two contexts, the driver chooses the GPU itself. */
  if (!run->flow->staged) {
    return driver->cuMemcpyAsync(target->device, source->device, size, stream);
  }
  return driver->cuMemcpyPeerAsync(target->device, session->gpus[target->endpoint.index].context,
                                   source->device, session->gpus[source->endpoint.index].context,
                                   size, stream);
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

static enum status ce_enqueue(const struct memory_context *context, struct flow_run *run,
                              uint32_t iterations, struct error *err) {
  const bool strided = copy_shape_is_strided(&run->flow->shape);
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    CUresult result = strided ? copy_rows_once(context->cuda, run)
                              : copy_once(context->cuda, run, run->source, run->flow->size_bytes);
    status = cuda_check(&context->cuda->driver, result, err, "copying %llu bytes",
                        (unsigned long long)run->flow->size_bytes);
  }
  return status;
}

/* The gate occupies the compute engine: without the primer, the first copy's time includes some 6
 * us in which the copy engine is started (H200, driver 580). It writes no more bytes than the
 * flow's own copies do, which must overwrite every one of them. */
static enum status ce_prime(const struct memory_context *context, struct flow_run *run,
                            struct error *err) {
  const struct flow *flow = run->flow;
  const uint64_t row_bytes =
      copy_shape_is_strided(&flow->shape) ? flow->shape.width_bytes : flow->size_bytes;
  const uint64_t size = row_bytes < PRIMER_BYTES ? row_bytes : PRIMER_BYTES;
  return cuda_check(&context->cuda->driver, copy_once(context->cuda, run, run->primer, size), err,
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
    .prime = ce_prime,
    .blocks_host = flow_blocks_host,
};
