#include "engine/trial/flow_graph.h"

#include "engine/gpu/session.h"

enum status flow_graph_capture(struct flow_graph *graph, const struct memory_context *context,
                               struct flow_run *run, uint32_t repeats, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const uint32_t copies = repeats * flow_copies(run->flow);
  if (!run->flow->graph || run->leader != NULL || graph->copies == copies) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(cuda_session_use(context->cuda, run->gpu, err));
  flow_graph_fini(graph, driver);
  RETURN_ON_ERROR(cuda_check(
      driver, driver->cuStreamBeginCapture(run->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), err,
      "beginning to capture a graph"));
  enum status status = methods[run->flow->method]->enqueue(context, run, copies, err);
  /* A capture that began has to end. */
  const CUresult ended = driver->cuStreamEndCapture(run->stream, &graph->graph);
  status = THEN(status, cuda_check(driver, ended, err, "capturing %u copies", copies));
  status = THEN(status,
                cuda_check(driver,
                           driver->cuGraphInstantiateWithFlags(&graph->executable, graph->graph, 0),
                           err, "instantiating a graph of %u copies", copies));
  graph->copies = status == STATUS_OK ? copies : 0;
  return status;
}

enum status flow_graph_launch(const struct flow_graph *graph, const struct memory_context *context,
                              const struct flow_run *run, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  return cuda_check(driver, driver->cuGraphLaunch(graph->executable, run->stream), err,
                    "launching a graph of %u copies", graph->copies);
}

void flow_graph_fini(struct flow_graph *graph, const struct cuda_driver *driver) {
  if (graph->executable != NULL) {
    (void)driver->cuGraphExecDestroy(graph->executable);
  }
  if (graph->graph != NULL) {
    (void)driver->cuGraphDestroy(graph->graph);
  }
  *graph = (struct flow_graph){0};
}
