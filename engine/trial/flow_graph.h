/* flow_graph.h - the calls of a flow, captured in a CUDA graph.
 *
 * Captured and instantiated before a gate is raised: both may wait for the GPU. A zeroed one is
 * ready for use. */
#pragma once

#include "engine/cuda/driver.h"
#include "engine/method/method.h"

struct flow_graph {
  CUgraph graph;
  CUgraphExec executable;
  uint32_t copies; /* that it makes; 0 = nothing is captured */
};

/* Have so many repeats of the run in it, captured on its stream; nothing where its flow wants no
 * graph, or another one leads it. Leaves the context of its GPU current. */
enum status flow_graph_capture(struct flow_graph *graph, const struct memory_context *context,
                               struct flow_run *run, uint32_t repeats,
                               struct error *err) CHECK_RESULT;
/* On that stream. */
enum status flow_graph_launch(const struct flow_graph *graph, const struct memory_context *context,
                              const struct flow_run *run, struct error *err) CHECK_RESULT;
void flow_graph_fini(struct flow_graph *graph, const struct cuda_driver *driver);
