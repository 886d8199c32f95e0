/* Modules, functions and launches. Any image will do: kernels come from kernels.c. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <stdlib.h>
#include <string.h>

struct module {
  struct context *context;
};

/* A function handle is the kernel's row in the table of kernels.c. */
static const struct fake_kernel *kernel_of_handle(CUfunction handle) {
  return (const struct fake_kernel *)(const void *)handle;
}

CUresult drv_cuModuleLoadData(CUmodule *handle, const void *image) {
  struct call call;
  TRY(call_begin(&call, "cuModuleLoadData", NEED_CONTEXT));
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
  struct call call;
  TRY(call_begin(&call, "cuModuleGetFunction", NEED_CONTEXT));
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
  (void)which;
  CUresult result = begin_function("cuFuncSetAttribute", function);
  return result == CUDA_SUCCESS && value < 0 ? CUDA_ERROR_INVALID_VALUE : result;
}

#if CUDA_VERSION >= 12040
CUresult drv_cuFuncLoad(CUfunction function) {
  return begin_function("cuFuncLoad", function);
}
#endif

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
  (void)shared_bytes;
  TRY(begin_launch(&call, kernel));
  if (kernel == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  uint64_t block = (uint64_t)block_x * block_y * block_z;
  uint64_t grid = (uint64_t)grid_x * grid_y * grid_z;
  if (parameters == NULL || extra != NULL || block == 0 || grid == 0 || block > 1024) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct kernel_launch launch = {.kernel = kernel,
                                 .context = call.context,
                                 .grid = (uint32_t)grid,
                                 .block = (uint32_t)block,
                                 .flag_ignored =
                                     call.fault != NULL && call.fault->kind == FAULT_IGNORED_FLAG};
  memcpy(launch.arguments, parameters[0], kernel->argument_bytes);
  return enqueue_kernel(&call, &launch, stream);
}
