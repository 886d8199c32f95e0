#include "engine/method/method.h"

#include <stdio.h>

/* One row per method, with the ops that its file defines. */
#define HOST_METHOD_LIST(X) X(METHOD_CPU, method_cpu)
#ifdef HAUL_CUDA
#define CUDA_METHOD_LIST(X)                                                                        \
  X(METHOD_CE, method_ce)                                                                          \
  X(METHOD_SM, method_sm)                                                                          \
  X(METHOD_UM, method_um)
#else
#define CUDA_METHOD_LIST(X)
#endif

#define METHOD_EXTERN_(method, ops) extern const struct method_ops ops;
HOST_METHOD_LIST(METHOD_EXTERN_)
CUDA_METHOD_LIST(METHOD_EXTERN_)

#define METHOD_ROW_(method, ops) [method] = &ops,
const struct method_ops *const methods[method_name_count] = {HOST_METHOD_LIST(METHOD_ROW_)
                                                                 CUDA_METHOD_LIST(METHOD_ROW_)};

enum clock method_clock(const struct flow *flow) {
  const struct method_ops *ops = methods[flow->method];
  return ops->clock_of != NULL ? ops->clock_of(flow) : ops->clock;
}

static const char *method_endpoint_unsupported_reason(const struct endpoint *endpoint,
                                                      const struct machine *machine,
                                                      char reason[CASE_REASON_MAX]) {
  if (memory_kinds[endpoint->memory] == NULL) {
    (void)snprintf(reason, CASE_REASON_MAX, "%s memory is not part of this build",
                   memory_kind_text(endpoint->memory));
    return reason;
  }
  if (memory_kinds[endpoint->memory]->needs_cuda && machine->gpu_count == 0) {
    (void)snprintf(reason, CASE_REASON_MAX, "%s memory needs a GPU driver: %.255s",
                   memory_kind_text(endpoint->memory), machine->cuda_state);
    return reason;
  }
  return NULL;
}

const char *method_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                      char reason[CASE_REASON_MAX]) {
  const struct method_ops *ops = methods[flow->method];
  if (ops == NULL) {
    (void)snprintf(reason, CASE_REASON_MAX, "method %s is not part of this build",
                   method_text(flow->method));
    return reason;
  }
  if (flow->method != METHOD_UM &&
      (flow->source.memory == MEMORY_MANAGED || flow->target.memory == MEMORY_MANAGED)) {
    return "only method um measures managed memory: any other copy also moves its pages";
  }
  const char *unsupported = method_endpoint_unsupported_reason(&flow->source, machine, reason);
  if (unsupported == NULL) {
    unsupported = method_endpoint_unsupported_reason(&flow->target, machine, reason);
  }
  return unsupported != NULL ? unsupported : ops->unsupported_reason(flow, machine, reason);
}
