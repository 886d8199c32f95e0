/* Streams, events (also those that processes share), host functions and graphs. A graph is what one
 * stream captured, to be launched again; it leaves events out, since the order within one stream
 * holds without them. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What processes know of an event: how often it was recorded, and how often that came to pass. */
struct shared_event {
  uint32_t recorded;
  uint32_t done;
};

#define EVENT_MAGIC 0x4576656E7421u
struct event {
  uint64_t magic;
  unsigned flags;
  struct context *context;
  struct fence *fence; /* of the last record; NULL = never recorded */
  /* NULL: of this process alone. Stays mapped, for the sake of what is queued. */
  struct shared_event *shared;
  bool lent; /* another process records it; else ours to close: */
  int file;
};

static CUresult begin_stream(const char *name, CUstream handle, bool queues, struct call *call,
                             struct stream **stream) {
  TRY(call_begin_with(call, name, NULL, queues));
  *stream = stream_of_handle(call, handle);
  return *stream == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
/* These begin an entry point, and declare what it is about. */
#define BEGIN_STREAM(name, handle, queues)                                                         \
  struct call call;                                                                                \
  struct stream *stream;                                                                           \
  TRY(begin_stream(name, handle, queues, &call, &stream))
#define BEGIN_EVENT(name, handle)                                                                  \
  struct call call;                                                                                \
  struct event *event;                                                                             \
  TRY(begin_event(name, handle, &call, &event))

static CUresult begin_event(const char *name, CUevent handle, struct call *call,
                            struct event **event) {
  CUresult result = call_begin(call, name, NEED_CONTEXT);
  *event = (struct event *)(void *)handle;
  if (result == CUDA_SUCCESS && (*event == NULL || (*event)->magic != EVENT_MAGIC)) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  return result;
}

static CUresult state_of(const struct context *context) {
  return (CUresult)atomic_load(&context->error);
}

/* What a query answers; time goes on where it is not ready. */
static CUresult not_ready(const struct context *context, bool ready) {
  if (!ready) {
    streams_step();
  }
  return state_of(context) != CUDA_SUCCESS ? state_of(context)
         : ready                           ? CUDA_SUCCESS
                                           : CUDA_ERROR_NOT_READY;
}

CUresult drv_cuStreamCreate(CUstream *handle, unsigned flags) {
  BEGIN_CALL("cuStreamCreate", NEED_CONTEXT);
  if (handle == NULL || (flags != CU_STREAM_DEFAULT && flags != CU_STREAM_NON_BLOCKING)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  STREAMS_LOCKED();
  *handle = (CUstream)(void *)stream_new(call.context, flags);
  return CUDA_SUCCESS;
}

enum { PRIORITY_GREATEST = -5 };

/* Priorities are checked, and make no difference. */
CUresult drv_cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int priority) {
  return priority < PRIORITY_GREATEST || priority > 0 ? CUDA_ERROR_INVALID_VALUE
                                                      : drv_cuStreamCreate(handle, flags);
}

CUresult drv_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  BEGIN_CALL("cuCtxGetStreamPriorityRange", NEED_CONTEXT);
  *least = 0;
  *greatest = PRIORITY_GREATEST;
  return CUDA_SUCCESS;
}

/* ---- green contexts: parts of the SMs, which are counted and make no difference ---- */

enum { SM_UNIT = 2 }; /* SMs of a part are a multiple of it */

CUresult drv_cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
                                    CUdevResourceType type) {
  BEGIN_CALL("cuDeviceGetDevResource", NEED_INIT);
  const struct context *context = context_of_device(device);
  if (context == NULL || type != CU_DEV_RESOURCE_TYPE_SM) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *resource = (CUdevResource){.type = CU_DEV_RESOURCE_TYPE_SM};
  resource->sm = (CUdevSmResource){
      .smCount = call_config()->machine.gpus[context->gpu].sm_count,
      .minSmPartitionSize = SM_UNIT,
      .smCoscheduledAlignment = SM_UNIT,
  };
  return CUDA_SUCCESS;
}

CUresult drv_cuDevSmResourceSplitByCount(CUdevResource *parts, unsigned *part_count,
                                         const CUdevResource *whole, CUdevResource *remaining,
                                         unsigned flags, unsigned sm_count) {
  BEGIN_CALL("cuDevSmResourceSplitByCount", NEED_INIT);
  if (flags != CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING || remaining != NULL ||
      sm_count > whole->sm.smCount || *part_count != 1) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parts = *whole;
  parts->sm.smCount = (sm_count + SM_UNIT - 1) / SM_UNIT * SM_UNIT;
  *part_count = parts->sm.smCount <= whole->sm.smCount;
  return CUDA_SUCCESS;
}

CUresult drv_cuDevResourceGenerateDesc(CUdevResourceDesc *description, CUdevResource *resources,
                                       unsigned count) {
  BEGIN_CALL("cuDevResourceGenerateDesc", NEED_INIT);
  *description = (CUdevResourceDesc)(void *)resources;
  return count == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc description, CUdevice device,
                              unsigned flags) {
  BEGIN_CALL("cuGreenCtxCreate", NEED_CONTEXT);
  *context = (CUgreenCtx)(void *)context_of_device(device);
  return description == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM || *context == NULL
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult drv_cuGreenCtxDestroy(CUgreenCtx context) {
  BEGIN_CALL("cuGreenCtxDestroy", NEED_CONTEXT);
  return context != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGreenCtxStreamCreate(CUstream *handle, CUgreenCtx context, unsigned flags,
                                    int priority) {
  BEGIN_CALL("cuGreenCtxStreamCreate", NEED_CONTEXT);
  return (void *)context != (void *)call.context
             ? CUDA_ERROR_INVALID_VALUE
             : drv_cuStreamCreateWithPriority(handle, flags, priority);
}

CUresult drv_cuStreamDestroy_v2(CUstream handle) {
  BEGIN_STREAM("cuStreamDestroy", handle, false);
  if (stream == call.context->default_stream) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  STREAMS_LOCKED();
  stream_destroy(stream);
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamSynchronize(CUstream handle) {
  BEGIN_STREAM("cuStreamSynchronize", handle, false);
  const struct context *context = stream->context;
  STREAMS_LOCKED();
  if (stream->capture != NULL) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  streams_wait_stream(stream);
  return state_of(context);
}

CUresult drv_cuStreamQuery(CUstream handle) {
  BEGIN_STREAM("cuStreamQuery", handle, false);
  STREAMS_LOCKED();
  return not_ready(stream->context, stream_idle(stream));
}

CUresult drv_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *capturing) {
  BEGIN_STREAM("cuStreamIsCapturing", handle, false);
  STREAMS_LOCKED();
  *capturing = stream->capture != NULL;
  return CUDA_SUCCESS;
}

static struct operation shared_operation(const struct event *event, struct context *context,
                                         const struct fake_kernel *what) {
  struct operation operation = {
      .kind = OPERATION_KERNEL,
      .work = work_new(0),
      .kernel = {.kernel = what, .context = context, .grid = 1, .block = 1}};
  const uint32_t *done = &event->shared->done;
  const struct stream_value_arguments arguments = {
      .address = (uint64_t)(uintptr_t)done,
      .value = __atomic_load_n(&event->shared->recorded, __ATOMIC_ACQUIRE)};
  memcpy(operation.kernel.arguments, &arguments, sizeof arguments);
  return operation;
}

CUresult drv_cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  struct stream *stream;
  BEGIN_EVENT("cuStreamWaitEvent", event_handle);
  stream = stream_of_handle(&call, handle);
  if (stream == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  STREAMS_LOCKED();
  if (event->lent) {
    const struct operation operation = shared_operation(event, call.context, &event_wait);
    stream_enqueue(stream, &operation);
  } else if (event->fence != NULL && stream->capture == NULL) {
    stream_wait_fence(stream, event->fence);
    if ((event->flags & CU_EVENT_DISABLE_TIMING) != 0) { /* else it times, which takes no time */
      stream_enqueue(
          stream,
          &(struct operation){
              .kind = OPERATION_KERNEL,
              .work = work_new(0),
              .kernel = {.kernel = &event_waited, .context = call.context, .grid = 1, .block = 1}});
    }
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuEventCreate(CUevent *handle, unsigned flags) {
  BEGIN_CALL("cuEventCreate", NEED_CONTEXT);
  struct event *event = calloc(1, sizeof *event);
  if (event == NULL) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *event = (struct event){.magic = EVENT_MAGIC, .flags = flags, .context = call.context};
  *handle = (CUevent)(void *)event;
  return CUDA_SUCCESS;
}

/* Frees in a lost context as well: whoever cleans up there gets its error and leaks nothing. */
CUresult drv_cuEventDestroy_v2(CUevent handle) {
  struct call call;
  struct event *event;
  CUresult result = begin_event("cuEventDestroy", handle, &call, &event);
  if (event == NULL || event->magic != EVENT_MAGIC) {
    return result;
  }
  streams_lock();
  fence_drop(event->fence);
  streams_unlock();
  if (event->shared != NULL && !event->lent) {
    (void)close(event->file);
  }
  event->magic = 0;
  free(event);
  return result;
}

/* What stands in a handle: who has the event, and where. */
struct exported_event {
  char mark[8];
  pid_t pid;
  int32_t file;
};
static const char EVENT_MARK[8] = "fakeevt";

static struct shared_event *map_event(int file) {
  void *shared =
      mmap(NULL, sizeof(struct shared_event), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return shared != MAP_FAILED ? shared : NULL;
}

CUresult drv_cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event_handle) {
  enum { NEEDED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };
  BEGIN_EVENT("cuIpcGetEventHandle", event_handle);
  if ((event->flags & NEEDED) != NEEDED || event->lent) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (event->shared == NULL) {
    event->file = memfd_create("fake-event", MFD_CLOEXEC);
    event->shared = event->file >= 0 && ftruncate(event->file, sizeof *event->shared) == 0
                        ? map_event(event->file)
                        : NULL;
  }
  struct exported_event exported = {.pid = getpid(), .file = event->file};
  memcpy(exported.mark, EVENT_MARK, sizeof exported.mark);
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &exported, sizeof exported);
  return event->shared != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult drv_cuIpcOpenEventHandle(CUevent *handle, CUipcEventHandle shared) {
  struct exported_event exported;
  char path[64];
  BEGIN_CALL("cuIpcOpenEventHandle", NEED_CONTEXT);
  memcpy(&exported, &shared, sizeof exported);
  if (memcmp(exported.mark, EVENT_MARK, sizeof exported.mark) != 0 || exported.pid == getpid()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)exported.pid, (int)exported.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct shared_event *mapped = file >= 0 ? map_event(file) : NULL;
  if (file >= 0) {
    (void)close(file);
  }
  if (mapped == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TRY(drv_cuEventCreate(handle, CU_EVENT_DISABLE_TIMING));
  struct event *event = (struct event *)(void *)*handle;
  event->shared = mapped;
  event->lent = true;
  return CUDA_SUCCESS;
}

CUresult drv_cuEventRecord(CUevent handle, CUstream stream_handle) {
  BEGIN_EVENT("cuEventRecord", handle);
  struct stream *stream = stream_of_handle(&call, stream_handle);
  if (stream == NULL || stream->context != event->context || event->lent) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  STREAMS_LOCKED();
  if (stream->capture == NULL) {
    fence_drop(event->fence);
    event->fence = fence_new();
    stream_record(stream, event->fence);
  }
  if (event->shared != NULL) {
    (void)__atomic_add_fetch(&event->shared->recorded, 1, __ATOMIC_RELEASE);
    const struct operation operation = shared_operation(event, call.context, &event_pass);
    stream_enqueue(stream, &operation);
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuEventSynchronize(CUevent handle) {
  BEGIN_EVENT("cuEventSynchronize", handle);
  STREAMS_LOCKED();
  if (event->fence != NULL) {
    fence_hold(event->fence);
    struct fence *fence = event->fence;
    streams_wait_fence(event->context, fence);
    fence_drop(fence);
  }
  return state_of(event->context);
}

CUresult drv_cuEventQuery(CUevent handle) {
  BEGIN_EVENT("cuEventQuery", handle);
  STREAMS_LOCKED();
  return not_ready(event->context, event->fence == NULL || event->fence->done);
}

static CUresult elapsed(float *milliseconds, const struct event *start, const struct event *end) {
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0 || start->fence == NULL ||
      end->fence == NULL || start->context != end->context) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!start->fence->done || !end->fence->done) {
    return CUDA_ERROR_NOT_READY;
  }
  *milliseconds = (float)((end->fence->time_ns - start->fence->time_ns) / 1e6);
  return CUDA_SUCCESS;
}

CUresult drv_cuEventElapsedTime(float *milliseconds, CUevent start_handle, CUevent end_handle) {
  struct call call;
  struct event *start;
  struct event *end = (struct event *)(void *)end_handle;
  TRY(begin_event("cuEventElapsedTime", start_handle, &call, &start));
  if (end == NULL || end->magic != EVENT_MAGIC) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  STREAMS_LOCKED();
  return elapsed(milliseconds, start, end);
}

CUresult drv_cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return drv_cuEventElapsedTime(milliseconds, start, end);
}

CUresult drv_cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  BEGIN_STREAM("cuLaunchHostFunc", handle, true);
  if (function == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct operation operation = {
      .kind = OPERATION_HOST, .fault = call.fault, .work = work_new(0), .host = {function, data}};
  return call_enqueue(stream, &operation);
}

/* A graph and its executable are the same list; each handle owns one. */
static struct graph *graph_new(void) {
  struct graph *graph = calloc(1, sizeof *graph);
  if (graph == NULL) {
    abort();
  }
  graph->last = &graph->first;
  return graph;
}

CUresult drv_cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  BEGIN_STREAM("cuStreamBeginCapture", handle, false);
  STREAMS_LOCKED();
  if (stream == stream->context->default_stream || stream->capture != NULL) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  stream->capture = graph_new();
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  BEGIN_STREAM("cuStreamEndCapture", handle, false);
  STREAMS_LOCKED();
  *graph = (CUgraph)(void *)stream->capture;
  stream->capture = NULL;
  return *graph == NULL ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult drv_cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph handle,
                                         unsigned long long flags) {
  BEGIN_CALL("cuGraphInstantiate", NEED_CONTEXT);
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
  BEGIN_STREAM("cuGraphLaunch", stream_handle, false);
  const struct graph *graph = (const struct graph *)(const void *)handle;
  if (graph == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  STREAMS_LOCKED();
  for (const struct operation *operation = graph->first; operation != NULL;
       operation = operation->next) {
    stream_enqueue(stream, operation);
  }
  return CUDA_SUCCESS;
}

static CUresult destroy(const char *name, void *graph) {
  struct call call;
  CUresult result = call_begin(&call, name, NEED_CONTEXT);
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
