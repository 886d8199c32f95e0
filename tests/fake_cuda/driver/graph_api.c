/* Graphs: what one stream captured, launched again. Events within a capture are left out: order in
 * one stream is kept without them. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <stdlib.h>

/* A graph and its executable are the same list; each handle owns one. */
static struct graph *graph_new(void) {
  struct graph *graph = calloc(1, sizeof *graph);
  if (graph == NULL) {
    abort();
  }
  graph->last = &graph->first;
  return graph;
}

static CUresult begin_capture_call(const char *name, CUstream handle, struct stream **stream) {
  struct call call;
  CUresult result = call_begin(&call, name, NEED_CONTEXT, NULL, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  *stream = stream_of_handle(&call, handle);
  return *stream == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult drv_cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  (void)mode;
  struct stream *stream;
  CUresult result = begin_capture_call("cuStreamBeginCapture", handle, &stream);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  streams_lock();
  if (stream == stream->context->default_stream || stream->capture != NULL) {
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  } else {
    stream->capture = graph_new();
  }
  streams_unlock();
  return result;
}

CUresult drv_cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  struct stream *stream;
  CUresult result = begin_capture_call("cuStreamEndCapture", handle, &stream);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  streams_lock();
  if (stream->capture == NULL) {
    result = CUDA_ERROR_ILLEGAL_STATE;
  } else {
    *graph = (CUgraph)(void *)stream->capture;
    stream->capture = NULL;
  }
  streams_unlock();
  return result;
}

CUresult drv_cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph handle,
                                         unsigned long long flags) {
  (void)flags;
  struct call call;
  CUresult result = call_begin(&call, "cuGraphInstantiate", NEED_CONTEXT, NULL, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  if (executable == NULL || handle == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct graph *graph = (struct graph *)(void *)handle;
  struct graph *made = graph_new();
  for (const struct operation *from = graph->first; from != NULL; from = from->next) {
    struct operation *copy = malloc(sizeof *copy);
    if (copy == NULL) {
      abort();
    }
    *copy = *from;
    copy->next = NULL;
    *made->last = copy;
    made->last = &copy->next;
  }
  *executable = (CUgraphExec)(void *)made;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  struct stream *stream;
  CUresult result = begin_capture_call("cuGraphLaunch", stream_handle, &stream);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  const struct graph *graph = (const struct graph *)(const void *)handle;
  if (graph == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  streams_lock();
  for (const struct operation *operation = graph->first; operation != NULL;
       operation = operation->next) {
    stream_enqueue(stream, operation);
  }
  streams_unlock();
  return CUDA_SUCCESS;
}

static CUresult destroy(const char *name, void *graph) {
  struct call call;
  CUresult result = call_begin(&call, name, NEED_CONTEXT, NULL, false);
  if (result == CUDA_SUCCESS && graph == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  graph_free(graph); /* in a lost context as well */
  return result;
}

CUresult drv_cuGraphDestroy(CUgraph graph) {
  return destroy("cuGraphDestroy", graph);
}
CUresult drv_cuGraphExecDestroy(CUgraphExec graph) {
  return destroy("cuGraphExecDestroy", graph);
}
