/* What all entry points share: initialisation, the current context, faults. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  atomic_int initialised; /* CUresult + 1 of cuInit; 0 = not called */
  struct fake_config *config;
  struct context contexts[MACHINE_GPUS_MAX];
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct context *current;

static CUresult initialise(void) {
  bool broken = false;
  driver.config = config_get(&broken);
  if (broken) {
    return CUDA_ERROR_UNKNOWN;
  }
  if (config_visible_gpus(driver.config) == 0) {
    return CUDA_ERROR_NO_DEVICE;
  }
  for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    driver.contexts[gpu].gpu = gpu;
  }
  streams_start(driver.config);
  return CUDA_SUCCESS;
}

static CUresult trigger(const struct fault *fault, struct context *context) {
  switch (fault->kind) {
  case FAULT_OUT_OF_MEMORY:
    return CUDA_ERROR_OUT_OF_MEMORY;
  case FAULT_ERROR:
    return (CUresult)fault->code;
  case FAULT_STICKY:
    if (context != NULL) {
      context_poison(context, (CUresult)fault->code);
    }
    return (CUresult)fault->code;
  case FAULT_HANG:
    for (;;) {
      (void)pause();
    }
  case FAULT_BLOCK: {
    struct timespec duration = {.tv_sec = (time_t)(fault->milliseconds / 1000),
                                .tv_nsec = (long)(fault->milliseconds % 1000 * 1000000)};
    (void)nanosleep(&duration, NULL);
    return CUDA_SUCCESS;
  }
  case FAULT_CRASH:
    (void)raise(fault->signal);
    return CUDA_ERROR_UNKNOWN;
  case FAULT_FLIP_BYTE:
  case FAULT_DROP:
  case FAULT_IGNORED_FLAG:
  case fault_kind_name_count:
    return CUDA_SUCCESS; /* of no meaning to this call */
  }
  return CUDA_SUCCESS;
}

static bool left_to_operation(const struct fault *fault) {
  return fault->kind == FAULT_HANG || fault->kind == FAULT_STICKY ||
         fault->kind == FAULT_FLIP_BYTE || fault->kind == FAULT_DROP ||
         fault->kind == FAULT_IGNORED_FLAG;
}

static CUresult check_faults(struct call *call, const char *name, const struct fault_call *about,
                             bool queues) {
  struct fault_call what = {.from = PLACE_ANY, .to = PLACE_ANY};
  if (about != NULL) {
    what = *about;
  }
  what.name = name;
  what.gpu = call->context != NULL ? call->context->gpu : PLACE_ANY;
  const struct fault *fault =
      faults_trigger(driver.config->faults, driver.config->fault_count, &what);
  if (fault == NULL) {
    return CUDA_SUCCESS;
  }
  if (queues && left_to_operation(fault)) {
    call->fault = fault;
    return CUDA_SUCCESS;
  }
  return trigger(fault, call->context);
}

static CUresult begin(struct call *call, const char *name, enum call_need need,
                      const struct fault_call *about, bool queues) {
  *call = (struct call){.context = current};
  int initialised = atomic_load(&driver.initialised);
  if (initialised != CUDA_SUCCESS + 1) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (need == NEED_CONTEXT) {
    if (current == NULL) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (current->references == 0) {
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (current->error != 0) {
      return (CUresult)atomic_load(&current->error);
    }
  }
  return check_faults(call, name, about, queues);
}

CUresult call_begin(struct call *call, const char *name, enum call_need need) {
  return begin(call, name, need, NULL, false);
}

CUresult call_begin_with(struct call *call, const char *name, const struct fault_call *about,
                         bool queues) {
  return begin(call, name, NEED_CONTEXT, about, queues);
}

CUresult call_enqueue(struct stream *stream, const struct operation *operation) {
  streams_lock();
  stream_enqueue(stream, operation);
  streams_unlock();
  return CUDA_SUCCESS;
}

const struct fake_config *call_config(void) {
  return driver.config;
}

struct context *context_of_device(CUdevice device) {
  int32_t gpu = config_gpu_of_ordinal(driver.config, device);
  return gpu < 0 ? NULL : &driver.contexts[gpu];
}

struct context *context_of_handle(CUcontext handle) {
  for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    if ((void *)handle == &driver.contexts[gpu]) {
      return &driver.contexts[gpu];
    }
  }
  return NULL;
}

CUdevice device_of_context(const struct context *context) {
  return driver.config->machine.gpus[context->gpu].cuda_ordinal;
}

struct stream *stream_of_handle(const struct call *call, CUstream handle) {
  if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    return call->context->default_stream;
  }
  struct stream *stream = (struct stream *)(void *)handle;
  return stream->magic == STREAM_MAGIC && !stream->destroyed ? stream : NULL;
}

struct work work_new(uint64_t bytes) {
  return (struct work){.latency_ns = driver.config->operation_ns, .bytes = (double)bytes};
}

CUresult drv_cuInit(unsigned flags) {
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)pthread_mutex_lock(&driver.lock);
  if (driver.initialised == 0) {
    driver.initialised = (int)initialise() + 1;
  }
  CUresult result = (CUresult)(driver.initialised - 1);
  (void)pthread_mutex_unlock(&driver.lock);
  struct call call;
  return result == CUDA_SUCCESS ? call_begin(&call, "cuInit", NEED_INIT) : result;
}

CUresult drv_cuCtxSetCurrent(CUcontext handle) {
  struct call call;
  TRY(call_begin(&call, "cuCtxSetCurrent", NEED_INIT));
  struct context *context = context_of_handle(handle);
  if (handle != NULL && (context == NULL || context->references == 0)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  current = context;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetCurrent(CUcontext *handle) {
  struct call call;
  TRY(call_begin(&call, "cuCtxGetCurrent", NEED_INIT));
  if (handle == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *handle = (CUcontext)(void *)current;
  return CUDA_SUCCESS;
}
