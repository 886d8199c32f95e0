#include "engine/method/method.h"

#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"

#include <inttypes.h>

#define METHOD_EXTERN_(id, text, name, ...) extern const struct method_ops method_##name;
METHOD_LIST(METHOD_EXTERN_)

#define METHOD_ROW_(id, text, name, ...) [id] = &method_##name,
const struct method_ops *const methods[method_name_count] = {METHOD_LIST(METHOD_ROW_)};

enum clock method_clock(const struct flow *flow) {
  const struct method_ops *ops = methods[flow->method];
  return ops->clock_of != NULL ? ops->clock_of(flow) : ops->clock;
}

static const char *method_endpoint_unsupported_reason(const struct flow *flow,
                                                      const struct endpoint *endpoint,
                                                      const struct machine *machine,
                                                      char reason[CASE_REASON_MAX]) {
  if (endpoint->process != 0 &&
      (share_memory(endpoint->share) != endpoint->memory || flow->method == METHOD_UM ||
       flow->method == METHOD_PIN || flow_is_scattered(flow))) {
    return "memory of another process is copied whole or in rows, by method ce, sm or cpu";
  }
  if (memory_kinds[endpoint->memory]->needs_cuda && machine->gpu_count == 0) {
    return CASE_REASON(reason, "%s memory needs a GPU driver: %.450s",
                       memory_kind_text(endpoint->memory), machine->cuda_state);
  }
  return NULL;
}

const char *method_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                      char reason[CASE_REASON_MAX]) {
  const struct method_ops *ops = methods[flow->method];
  if (flow->method != METHOD_UM &&
      (flow->source.memory == MEMORY_MANAGED || flow->target.memory == MEMORY_MANAGED)) {
    return "only method um measures managed memory: any other copy also moves its pages";
  }
  const char *unsupported =
      method_endpoint_unsupported_reason(flow, &flow->source, machine, reason);
  if (unsupported == NULL) {
    unsupported = method_endpoint_unsupported_reason(flow, &flow->target, machine, reason);
  }
  return unsupported != NULL ? unsupported : ops->unsupported_reason(flow, machine, reason);
}

const char *gpu_bulk_unsupported_reason(const struct gpu *gpu, char reason[CASE_REASON_MAX]) {
  if (gpu->compute_major >= 9) {
    return NULL;
  }
  return CASE_REASON(reason, "the bulk copy engine needs compute capability 9.0; the GPU has %u.%u",
                     gpu->compute_major, gpu->compute_minor);
}

static bool gpu_flow_is_between_gpus(const struct flow *flow) {
  return flow->source.place == PLACE_GPU && flow->target.place == PLACE_GPU &&
         flow->source.index != flow->target.index;
}

int32_t gpu_flow_gpu(const struct flow *flow) {
  const struct endpoint *own = flow->initiator == INITIATOR_SOURCE ? &flow->source : &flow->target;
  const struct endpoint *other =
      flow->initiator == INITIATOR_SOURCE ? &flow->target : &flow->source;
  if (own->place == PLACE_GPU) {
    return own->index;
  }
  return other->place == PLACE_GPU ? other->index : -1;
}

const char *gpu_flow_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                        char reason[CASE_REASON_MAX]) {
  if (!gpu_flow_is_between_gpus(flow)) {
    return NULL;
  }
  if (flow->staged) {
    return flow->source.memory == MEMORY_DEVICE && flow->target.memory == MEMORY_DEVICE
               ? NULL
               : "pool and vmm memory is open to all GPUs with peer access; peer = false is for "
                 "device memory";
  }
  int32_t gpu = gpu_flow_gpu(flow);
  int32_t peer = gpu == flow->source.index ? flow->target.index : flow->source.index;
  if (machine->links[gpu][peer].peer_access) {
    return NULL;
  }
  return CASE_REASON(reason,
                     "GPU %d has no peer access to GPU %d; peer = false copies through the host",
                     gpu, peer);
}

const char *gpu_flow_shape_unsupported_reason(const struct flow *flow,
                                              char reason[CASE_REASON_MAX]) {
  const struct copy_shape *shape = &flow->shape;
  uint64_t rows = 0;
  uint64_t buffer_bytes = 0;
  if (flow_is_scattered(flow) &&
      (flow->scatter.pieces > SCATTER_PIECES_MAX || copy_shape_is_strided(shape) ||
       flow->size_bytes / flow->scatter.pieces != flow->scatter.piece_bytes ||
       flow->size_bytes % flow->scatter.pieces != 0)) {
    return "a scattered copy has no shape, and its size is pieces x piece_size";
  }
  if (flow_is_scattered(flow) && flow->scatter.run_pieces > 1 &&
      flow->scatter.pieces % flow->scatter.run_pieces != 0) {
    return CASE_REASON(reason, "%" PRIu64 " pieces are no multiple of runs of %" PRIu64,
                       flow->scatter.pieces, flow->scatter.run_pieces);
  }
  if (flow->graph && (flow_blocks_host(flow) || flow->stream != 0)) {
    return "a graph is captured of copies that no processor makes, on a stream of their own";
  }
  if (!copy_shape_is_strided(shape)) {
    return NULL;
  }
  if (shape->pitch_bytes < shape->width_bytes) {
    return CASE_REASON(reason, "rows of %" PRIu64 " bytes do not fit a pitch of %" PRIu64,
                       shape->width_bytes, shape->pitch_bytes);
  }
  if (shape->height == 0 || shape->depth == 0 ||
      __builtin_mul_overflow(shape->height, shape->depth, &rows) ||
      __builtin_mul_overflow(rows, shape->pitch_bytes, &buffer_bytes) || buffer_bytes > INT64_MAX) {
    return "a strided copy needs a height and a depth of at least 1, and less than 8 EiB in all";
  }
  if (flow->size_bytes != rows * shape->width_bytes) {
    return CASE_REASON(reason,
                       "the size of a strided copy is width x height x depth: %" PRIu64
                       " bytes, not %" PRIu64,
                       rows * shape->width_bytes, flow->size_bytes);
  }
  return NULL;
}

enum status gpu_flow_prepare(const struct memory_context *context, struct flow_run *run,
                             struct error *err) {
  const struct flow *flow = run->flow;
  struct cuda_session *session = context->cuda;
  enum status status = STATUS_OK;
  if (gpu_flow_is_between_gpus(flow)) {
    int32_t source = flow->source.index;
    int32_t target = flow->target.index;
    if (flow->staged) {
      status = cuda_session_set_peer(session, source, target, false, err);
      status = THEN(status, cuda_session_set_peer(session, target, source, false, err));
      status = THEN(status, cuda_session_use(session, run->gpu == source ? target : source, err));
    } else {
      status =
          cuda_session_set_peer(session, run->gpu, run->gpu == source ? target : source, true, err);
    }
  }
  return THEN(status, cuda_session_use(session, run->gpu, err));
}
