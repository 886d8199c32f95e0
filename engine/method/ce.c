/* Method ce: the copy engines, through the driver's asynchronous memcpy, on a stream of the
 * initiating GPU. */
#include "engine/cuda/session.h"
#include "engine/method/gpu_flow.h"
#include "engine/method/method.h"

static const char *ce_refusal(const struct flow *flow, const struct machine *machine,
                              char reason[CASE_REASON_MAX]) {
  if (flow->source.place != PLACE_GPU && flow->target.place != PLACE_GPU) {
    return "a copy engine needs a GPU at one end; use method cpu between host memories";
  }
  if (flow->shape.width_bytes != 0) {
    return "strided copies are not part of this version";
  }
  return gpu_flow_refusal(flow, machine, reason);
}

static bool ce_blocks_host(const struct flow *flow) {
  return flow->source.memory == MEMORY_PAGEABLE || flow->target.memory == MEMORY_PAGEABLE;
}

static enum status ce_prepare(const struct memory_context *context, struct flow_run *run,
                              struct error *err) {
  return gpu_flow_prepare(context, run, err);
}

static void ce_release(const struct memory_context *context, struct flow_run *run) {
  (void)context;
  (void)run;
}

static CUresult copy_once(const struct cuda_session *session, const struct flow_run *run) {
  const struct cuda_driver *driver = &session->driver;
  const struct buffer *source = run->source;
  const struct buffer *target = run->target;
  const uint64_t size = run->flow->size_bytes;
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
  return driver->cuMemcpyPeerAsync(target->device, session->gpus[target->endpoint.index].context,
                                   source->device, session->gpus[source->endpoint.index].context,
                                   size, stream);
}

static enum status ce_enqueue(const struct memory_context *context, struct flow_run *run,
                              uint32_t iterations, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    status = cuda_check(&context->cuda->driver, copy_once(context->cuda, run), err,
                        "copying %llu bytes", (unsigned long long)run->flow->size_bytes);
  }
  return status;
}

const struct method_ops method_ce = {
    .method = METHOD_CE,
    .version = 1,
    .clock = CLOCK_EVENT,
    .help = "a copy engine, through the driver's asynchronous memcpy",
    .refusal = ce_refusal,
    .gpu = gpu_flow_gpu,
    .prepare = ce_prepare,
    .release = ce_release,
    .enqueue = ce_enqueue,
    .blocks_host = ce_blocks_host,
};
