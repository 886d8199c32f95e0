/* gpu_flow.h - what the methods that run on a GPU share: which GPU, which peers, what cannot be. */
#ifndef HAUL_ENGINE_METHOD_GPU_FLOW_H
#define HAUL_ENGINE_METHOD_GPU_FLOW_H

#include "engine/method/method.h"

/* The initiating side where it is a GPU, else the GPU at the other end; -1 without any. */
int32_t gpu_flow_gpu(const struct flow *flow);
/* Peer access that the flow needs and the machine lacks; NULL = none. */
const char *gpu_flow_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                        char reason[CASE_REASON_MAX]);
/* What is wrong with a strided copy; NULL = nothing, or a contiguous one. */
const char *gpu_flow_shape_unsupported_reason(const struct flow *flow,
                                              char reason[CASE_REASON_MAX]);
/* Contexts of both GPUs exist, and peer access is on (direct) or off (staged) between them. */
enum status gpu_flow_prepare(const struct memory_context *context, struct flow_run *run,
                             struct error *err) CHECK_RESULT;

#endif
