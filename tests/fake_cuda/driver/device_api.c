/* Devices and contexts; modules, functions and launches. Any image will do for a module: the
 * kernels come from kernels.c. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult begin_device(const char *name, CUdevice device, const struct gpu **gpu) {
  BEGIN_CALL(name, NEED_INIT);
  int32_t index = config_gpu_of_ordinal(call_config(), device);
  if (index < 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *gpu = &call_config()->machine.gpus[index];
  return CUDA_SUCCESS;
}

#define BEGIN_DEVICE(name, device)                                                                 \
  const struct gpu *gpu;                                                                           \
  TRY(begin_device(name, device, &gpu))

CUresult drv_cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN_DEVICE("cuDeviceGet", ordinal);
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetCount(int *count) {
  BEGIN_CALL("cuDeviceGetCount", NEED_INIT);
  *count = config_visible_gpus(call_config());
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetName(char *name, int length, CUdevice device) {
  BEGIN_DEVICE("cuDeviceGetName", device);
  (void)snprintf(name, (size_t)length, "%s", gpu->name);
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  BEGIN_DEVICE("cuDeviceTotalMem", device);
  *bytes = gpu->memory_bytes;
  return CUDA_SUCCESS;
}

static bool is_digit(char c, unsigned *value) {
  if (c >= '0' && c <= '9') {
    *value = (unsigned)(c - '0');
  } else if (c >= 'a' && c <= 'f') {
    *value = (unsigned)(c - 'a') + 10;
  } else if (c >= 'A' && c <= 'F') {
    *value = (unsigned)(c - 'A') + 10;
  } else {
    return false;
  }
  return true;
}

CUresult drv_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  BEGIN_DEVICE("cuDeviceGetUuid", device);
  memset(uuid, 0, sizeof *uuid);
  size_t digits = 0;
  const char *text = strncmp(gpu->uuid, "GPU-", 4) == 0 ? gpu->uuid + 4 : gpu->uuid;
  for (; *text != '\0' && digits < 32; text++) {
    unsigned value;
    if (is_digit(*text, &value)) {
      unsigned char byte = (unsigned char)uuid->bytes[digits / 2];
      uuid->bytes[digits / 2] = (char)((unsigned)byte << 4 | value);
      digits++;
    }
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return drv_cuDeviceGetUuid_v2(uuid, device);
}

CUresult drv_cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  BEGIN_DEVICE("cuDeviceGetPCIBusId", device);
  return snprintf(text, (size_t)length, "%s", gpu->pci_address) < length ? CUDA_SUCCESS
                                                                         : CUDA_ERROR_INVALID_VALUE;
}

/* The number at position `field` of "domain:bus:device.function". */
static int pci_part(const struct gpu *gpu, int field) {
  unsigned parts[3] = {0};
  (void)sscanf(gpu->pci_address, "%x:%x:%x", &parts[0], &parts[1], &parts[2]);
  return (int)parts[field];
}

CUresult drv_cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
  BEGIN_DEVICE("cuDeviceGetAttribute", device);
  const struct {
    int which, value;
  } known[] = {
      /* What a machine file says. */
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, (int)gpu->sm_clock_max_khz},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, (int)gpu->sm_count},
      {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, pci_part(gpu, 0)},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, pci_part(gpu, 1)},
      {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, pci_part(gpu, 2)},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, (int)gpu->memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, (int)gpu->memory_bus_bits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, (int)gpu->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, (int)gpu->copy_engine_count},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, (int)gpu->compute_major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, (int)gpu->compute_minor},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, gpu->concurrent_managed_access},
      {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, gpu->host_page_tables},
      {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, gpu->host_page_tables},
      {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, gpu->host_register_supported},
      /* Headers of CUDA 12.0 lack HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
       * MEMPOOL_SUPPORTED_HANDLE_TYPES, NUMA_CONFIG and NUMA_ID. */
      {103, 1},
      {119, 1},
      {130, gpu->memory_node >= 0},
      {131, gpu->memory_node},
      /* What all GPUs of the last generations have in common. */
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
      {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
  };
  *value = 0; /* integrated, exclusive, MPS and the like: no */
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    *value = known[i].which == (int)which ? known[i].value : *value;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  BEGIN_CALL("cuDeviceCanAccessPeer", NEED_INIT);
  int32_t from = config_gpu_of_ordinal(call_config(), device);
  int32_t to = config_gpu_of_ordinal(call_config(), peer);
  if (from < 0 || to < 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *can = from != to && call_config()->machine.links[from][to].peer_access;
  return CUDA_SUCCESS;
}

CUresult drv_cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device) {
  BEGIN_DEVICE("cuDevicePrimaryCtxRetain", device);
  struct context *context = context_of_device(device);
  streams_lock();
  if (context->references++ == 0) {
    context->error = 0;
    context->default_stream = stream_new(context, CU_STREAM_DEFAULT);
  }
  streams_unlock();
  *handle = (CUcontext)(void *)context;
  return CUDA_SUCCESS;
}

/* A further context is the primary one once more. */
CUresult drv_cuCtxCreate_v2(CUcontext *handle, unsigned flags, CUdevice device) {
  BEGIN_CALL("cuCtxCreate", NEED_INIT);
  TRY(drv_cuDevicePrimaryCtxRetain(handle, device));
  return drv_cuCtxSetCurrent(*handle);
}

CUresult drv_cuCtxDestroy_v2(CUcontext handle) {
  BEGIN_CALL("cuCtxDestroy", NEED_INIT);
  const struct context *context = context_of_handle(handle);
  return context == NULL ? CUDA_ERROR_INVALID_CONTEXT
                         : drv_cuDevicePrimaryCtxRelease_v2(device_of_context(context));
}

/* The last release ends the context: what it has queued is dropped, what it has is freed. */
CUresult drv_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  BEGIN_DEVICE("cuDevicePrimaryCtxRelease", device);
  CUresult result = CUDA_SUCCESS;
  struct context *context = context_of_device(device);
  STREAMS_LOCKED();
  if (context->references == 0) {
    result = CUDA_ERROR_INVALID_CONTEXT;
  } else if (context->references > 1) {
    context->references--;
  } else {
    context_poison(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    streams_destroy_all(context);
    streams_wait_context(context);
    memory_release_all(context->gpu);
    for (int peer = 0; peer < MACHINE_GPUS_MAX; peer++) {
      context->peers[peer] = false;
    }
    context->default_stream = NULL;
    context->references = 0;
  }
  return result;
}

CUresult drv_cuCtxSynchronize(void) {
  BEGIN_CALL("cuCtxSynchronize", NEED_CONTEXT);
  STREAMS_LOCKED();
  streams_wait_context(call.context);
  return (CUresult)atomic_load(&call.context->error);
}

static CUresult set_peer(const char *name, CUcontext handle, bool enable) {
  BEGIN_CALL(name, NEED_CONTEXT);
  struct context *peer = context_of_handle(handle);
  if (peer == NULL || peer->references == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (peer == call.context) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (!call_config()->machine.links[call.context->gpu][peer->gpu].peer_access) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  }
  if (call.context->peers[peer->gpu] == enable) {
    return enable ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  }
  call.context->peers[peer->gpu] = enable;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : set_peer("cuCtxEnablePeerAccess", peer, true);
}

CUresult drv_cuCtxDisablePeerAccess(CUcontext peer) {
  return set_peer("cuCtxDisablePeerAccess", peer, false);
}

struct module {
  struct context *context;
};

/* A function handle is the kernel's row in the table of kernels.c. */
static const struct fake_kernel *kernel_of_handle(CUfunction handle) {
  return (const struct fake_kernel *)(const void *)handle;
}

CUresult drv_cuModuleLoadData(CUmodule *handle, const void *image) {
  BEGIN_CALL("cuModuleLoadData", NEED_CONTEXT);
  if (handle == NULL || image == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct module *module = malloc(sizeof *module);
  if (module == NULL) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  module->context = call.context;
  *handle = (CUmodule)(void *)module;
  return CUDA_SUCCESS;
}

CUresult drv_cuModuleUnload(CUmodule handle) {
  struct call call;
  CUresult result = call_begin(&call, "cuModuleUnload", NEED_CONTEXT);
  free((void *)handle); /* in a lost context as well */
  return result;
}

CUresult drv_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN_CALL("cuModuleGetFunction", NEED_CONTEXT);
  if (module == NULL || name == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const struct fake_kernel *kernel = kernel_find(name);
  if (kernel == NULL) {
    return CUDA_ERROR_NOT_FOUND;
  }
  memcpy((void *)function, (const void *)&kernel, sizeof kernel); /* the handle is not const */
  return CUDA_SUCCESS;
}

static CUresult begin_function(const char *name, CUfunction handle) {
  struct call call;
  CUresult result = call_begin(&call, name, NEED_CONTEXT);
  return result == CUDA_SUCCESS && handle == NULL ? CUDA_ERROR_INVALID_HANDLE : result;
}

CUresult drv_cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function) {
  TRY(begin_function("cuFuncGetAttribute", function));
  switch ((int)which) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 32;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = 48 << 10;
    return CUDA_SUCCESS;
  default:
    *value = 0;
    return CUDA_SUCCESS;
  }
}

CUresult drv_cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  TRY(begin_function("cuFuncSetAttribute", function));
  const bool carveout = which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  if (value < (carveout ? CU_SHAREDMEM_CARVEOUT_DEFAULT : 0) || (carveout && value > 100)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (carveout) {
    caches_set_carveout(kernel_of_handle(function)->kernel, value);
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuFuncLoad(CUfunction function) {
  return begin_function("cuFuncLoad", function);
}

CUresult drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                         int block, size_t shared_bytes) {
  TRY(begin_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", function));
  if (block <= 0 || block > 1024 || shared_bytes > (size_t)227 << 10) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  int by_threads = 2048 / ((block + 31) / 32 * 32);
  int by_shared = shared_bytes > 0 ? (int)(((size_t)227 << 10) / shared_bytes) : by_threads;
  int most = by_threads < by_shared ? by_threads : by_shared;
  *blocks = most < 32 ? most : 32;
  return CUDA_SUCCESS;
}

/* Faults may name the entry point or the kernel. */
static CUresult begin_launch(struct call *call, const struct fake_kernel *kernel) {
  TRY(call_begin_with(call, "cuLaunchKernel", NULL, true));
  if (call->fault != NULL || kernel == NULL) {
    return CUDA_SUCCESS;
  }
  return call_begin_with(call, kernel_text(kernel->kernel), NULL, true);
}

static CUresult enqueue_kernel(const struct call *call, const struct kernel_launch *launch,
                               CUstream handle) {
  struct stream *stream = stream_of_handle(call, handle);
  if (stream == NULL || stream->context != call->context) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  struct operation operation = {
      .kind = OPERATION_KERNEL, .fault = call->fault, .work = work_new(0), .kernel = *launch};
  return call_enqueue(stream, &operation);
}

/* NOLINTNEXTLINE(readability-function-size): so many parameters has the driver's */
CUresult drv_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, CUstream stream, void **parameters,
                            void **extra) {
  struct call call;
  const struct fake_kernel *kernel = kernel_of_handle(function);
  TRY(begin_launch(&call, kernel));
  if (kernel == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  uint64_t block = (uint64_t)block_x * block_y * block_z;
  uint64_t grid = (uint64_t)grid_x * grid_y * grid_z;
  if (parameters == NULL || extra != NULL || block == 0 || grid == 0 || block > 1024) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct kernel_launch launch = {
      .kernel = kernel,
      .context = call.context,
      .grid = (uint32_t)grid,
      .block = (uint32_t)block,
      .flag_ignored = call.fault != NULL && call.fault->kind == FAULT_IGNORED_FLAG,
      .crowded = call.fault != NULL && call.fault->kind == FAULT_CROWDED};
  memcpy(launch.arguments, parameters[0], kernel->argument_bytes);
  return enqueue_kernel(&call, &launch, stream);
}
