/* What all entry points share: the table behind cuGetProcAddress, error texts, initialisation, the
 * current context, faults; and how this driver says that it is a fake one (engine/cuda/driver.h).
 */
#include "tests/fake_cuda/driver/driver_api.h"

#include <signal.h>
#include <string.h>
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

static void pause_ms(uint64_t milliseconds) {
  const struct timespec duration = {.tv_sec = (time_t)(milliseconds / 1000),
                                    .tv_nsec = (long)(milliseconds % 1000 * 1000000)};
  (void)nanosleep(&duration, NULL);
}

/* The calling thread is at work, as in a driver that takes so long. */
static void keep_busy(double ns) {
  struct timespec start;
  struct timespec now;
  if (ns <= 0) {
    return;
  }
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &start);
  do {
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  } while ((double)(now.tv_sec - start.tv_sec) * 1e9 + (double)(now.tv_nsec - start.tv_nsec) < ns);
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
  case FAULT_BLOCK:
    pause_ms(fault->milliseconds);
    while (fault->hold[0] != '\0' && access(fault->hold, F_OK) == 0) {
      pause_ms(5);
    }
    return CUDA_SUCCESS;
  case FAULT_SLOW:
    keep_busy((1 / fault->factor - 1) * driver.config->call_ns);
    return CUDA_SUCCESS;
  case FAULT_CRASH:
    (void)raise(fault->signal);
    return CUDA_ERROR_UNKNOWN;
  case FAULT_FLIP_BYTE:
  case FAULT_DROP:
  case FAULT_IGNORED_FLAG:
  case FAULT_CROWDED:
  case fault_kind_name_count:
    return CUDA_SUCCESS; /* of no meaning to this call */
  }
  return CUDA_SUCCESS;
}

static bool left_to_operation(const struct fault *fault) {
  return fault->kind == FAULT_HANG || fault->kind == FAULT_STICKY ||
         fault->kind == FAULT_FLIP_BYTE || fault->kind == FAULT_DROP ||
         fault->kind == FAULT_IGNORED_FLAG || fault->kind == FAULT_CROWDED;
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
  keep_busy(driver.config->call_ns);
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
  STREAMS_LOCKED();
  stream_enqueue(stream, operation);
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
  BEGIN_CALL("cuCtxSetCurrent", NEED_INIT);
  struct context *context = context_of_handle(handle);
  if (handle != NULL && (context == NULL || context->references == 0)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  current = context;
  return CUDA_SUCCESS;
}

static const struct {
  const char *name;
  int version;
  void (*function)(void);
} functions[] = {
#define FAKE_ROW_(name, version, symbol, type) {#name, version, (void (*)(void))drv_##symbol},
    FAKE_FUNCTION_LIST(FAKE_ROW_)
#undef FAKE_ROW_
};

__attribute__((visibility("default"))) const struct simulation *haul_simulation(void);

const struct simulation *haul_simulation(void) {
  bool broken;
  return &config_get(&broken)->simulation;
}

static int driver_version(void) {
  bool broken;
  return config_get(&broken)->machine.driver_cuda_version;
}

/* The newest function of that name that both the caller and this driver know. */
static CUdriverProcAddressQueryResult find(const char *name, int version, void **function) {
  int known = driver_version();
  int best = -1;
  bool named = false;
  for (size_t i = 0; i < COUNT_OF(functions); i++) {
    if (strcmp(functions[i].name, name) != 0 || (known > 0 && functions[i].version > known)) {
      continue;
    }
    named = true;
    if (functions[i].version <= version && functions[i].version > best) {
      best = functions[i].version;
      memcpy(function, &functions[i].function, sizeof *function);
    }
  }
  if (best >= 0) {
    return CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return named ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

CUresult drv_cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
  if (symbol == NULL || pfn == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pfn = NULL;
  CUdriverProcAddressQueryResult answer = find(symbol, version, pfn);
  if (status != NULL) {
    *status = answer;
    return CUDA_SUCCESS; /* as the real driver: the answer is in the status */
  }
  return answer == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult drv_cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags) {
  return drv_cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

static const struct {
  CUresult code;
  const char *name;
  const char *text;
} errors[] = {
#define ERROR_(code, text)                                                                         \
  { code, #code, text }
    ERROR_(CUDA_SUCCESS, "no error"),
    ERROR_(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR_(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR_(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR_(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR_(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR_(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR_(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR_(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    ERROR_(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR_(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR_(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR_(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR_(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
           "peer access is not supported between these two devices"),
    ERROR_(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ERROR_(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
           "part or all of the requested memory range is already mapped"),
    ERROR_(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
           "pointer does not correspond to a registered memory region"),
    ERROR_(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR_(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR_(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
           "operation not permitted when stream is capturing"),
    ERROR_(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
           "operation failed due to a previous error during capture"),
    ERROR_(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    ERROR_(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef ERROR_
};

static CUresult find_error(CUresult code, const char **name, const char **text) {
  for (size_t i = 0; i < COUNT_OF(errors); i++) {
    if (errors[i].code == code) {
      *name = errors[i].name;
      *text = errors[i].text;
      return CUDA_SUCCESS;
    }
  }
  *name = *text = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGetErrorName(CUresult code, const char **name) {
  const char *text;
  return find_error(code, name, &text);
}

CUresult drv_cuGetErrorString(CUresult code, const char **text) {
  const char *name;
  return find_error(code, &name, text);
}

CUresult drv_cuDriverGetVersion(int *version) {
  if (version == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = driver_version();
  return CUDA_SUCCESS;
}
