/* driver_api.h - every entry point of the fake driver, and what they share.
 *
 * One list names them: version as cuGetProcAddress knows it, and the exported symbol. The function
 * that carries the symbol is called drv_<symbol> in C; its prototype is the one of
 * cudaTypedefs.h. */
#ifndef HAUL_TESTS_FAKE_CUDA_DRIVER_DRIVER_API_H
#define HAUL_TESTS_FAKE_CUDA_DRIVER_DRIVER_API_H

#include "tests/fake_cuda/driver/stream.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#if CUDA_VERSION >= 12020
#define FAKE_FUNCTIONS_12020(X)                                                                    \
  X(cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2)                                              \
  X(cuMemAdvise, 12020, cuMemAdvise_v2)
#else
#define FAKE_FUNCTIONS_12020(X)
#endif
#if CUDA_VERSION >= 12040
#define FAKE_FUNCTIONS_12040(X) X(cuFuncLoad, 12040, cuFuncLoad)
#else
#define FAKE_FUNCTIONS_12040(X)
#endif
#if CUDA_VERSION >= 12080
#define FAKE_FUNCTIONS_12080(X)                                                                    \
  X(cuEventElapsedTime, 12080, cuEventElapsedTime_v2)                                              \
  X(cuMemcpyBatchAsync, 12080, cuMemcpyBatchAsync)
#else
#define FAKE_FUNCTIONS_12080(X)
#endif

/* X(name, version, exported symbol) */
#define FAKE_FUNCTION_LIST(X)                                                                      \
  X(cuInit, 2000, cuInit)                                                                          \
  X(cuDriverGetVersion, 2020, cuDriverGetVersion)                                                  \
  X(cuGetErrorName, 6000, cuGetErrorName)                                                          \
  X(cuGetErrorString, 6000, cuGetErrorString)                                                      \
  X(cuGetProcAddress, 11030, cuGetProcAddress)                                                     \
  X(cuGetProcAddress, 12000, cuGetProcAddress_v2)                                                  \
  X(cuDeviceGet, 2000, cuDeviceGet)                                                                \
  X(cuDeviceGetCount, 2000, cuDeviceGetCount)                                                      \
  X(cuDeviceGetName, 2000, cuDeviceGetName)                                                        \
  X(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)                                                   \
  X(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)                                              \
  X(cuDeviceGetUuid, 9020, cuDeviceGetUuid)                                                        \
  X(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)                                                    \
  X(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId)                                                \
  X(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer)                                            \
  X(cuDeviceGetP2PAttribute, 8000, cuDeviceGetP2PAttribute)                                        \
  X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)                                      \
  X(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)                                \
  X(cuCtxSetCurrent, 4000, cuCtxSetCurrent)                                                        \
  X(cuCtxGetCurrent, 4000, cuCtxGetCurrent)                                                        \
  X(cuCtxGetDevice, 2000, cuCtxGetDevice)                                                          \
  X(cuCtxSynchronize, 2000, cuCtxSynchronize)                                                      \
  X(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess)                                            \
  X(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess)                                          \
  X(cuMemGetInfo, 3020, cuMemGetInfo_v2)                                                           \
  X(cuMemAlloc, 3020, cuMemAlloc_v2)                                                               \
  X(cuMemAllocManaged, 6000, cuMemAllocManaged)                                                    \
  X(cuMemFree, 3020, cuMemFree_v2)                                                                 \
  X(cuMemHostAlloc, 2020, cuMemHostAlloc)                                                          \
  X(cuMemFreeHost, 2000, cuMemFreeHost)                                                            \
  X(cuMemHostRegister, 6050, cuMemHostRegister_v2)                                                 \
  X(cuMemHostUnregister, 4000, cuMemHostUnregister)                                                \
  X(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2)                                 \
  X(cuPointerGetAttribute, 4000, cuPointerGetAttribute)                                            \
  X(cuMemAdvise, 8000, cuMemAdvise)                                                                \
  X(cuMemPrefetchAsync, 8000, cuMemPrefetchAsync)                                                  \
  X(cuMemRangeGetAttribute, 8000, cuMemRangeGetAttribute)                                          \
  X(cuMemcpyAsync, 4000, cuMemcpyAsync)                                                            \
  X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2)                                                 \
  X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2)                                                 \
  X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2)                                                 \
  X(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync)                                                    \
  X(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2)                                                     \
  X(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2)                                                     \
  X(cuMemcpy3DPeerAsync, 4000, cuMemcpy3DPeerAsync)                                                \
  X(cuMemsetD8Async, 3020, cuMemsetD8Async)                                                        \
  X(cuMemsetD32Async, 3020, cuMemsetD32Async)                                                      \
  X(cuStreamCreate, 2000, cuStreamCreate)                                                          \
  X(cuStreamDestroy, 4000, cuStreamDestroy_v2)                                                     \
  X(cuStreamSynchronize, 2000, cuStreamSynchronize)                                                \
  X(cuStreamQuery, 2000, cuStreamQuery)                                                            \
  X(cuStreamWaitEvent, 3020, cuStreamWaitEvent)                                                    \
  X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2)                                          \
  X(cuStreamEndCapture, 10000, cuStreamEndCapture)                                                 \
  X(cuLaunchHostFunc, 10000, cuLaunchHostFunc)                                                     \
  X(cuEventCreate, 2000, cuEventCreate)                                                            \
  X(cuEventDestroy, 4000, cuEventDestroy_v2)                                                       \
  X(cuEventRecord, 2000, cuEventRecord)                                                            \
  X(cuEventSynchronize, 2000, cuEventSynchronize)                                                  \
  X(cuEventQuery, 2000, cuEventQuery)                                                              \
  X(cuEventElapsedTime, 2000, cuEventElapsedTime)                                                  \
  X(cuModuleLoadData, 2000, cuModuleLoadData)                                                      \
  X(cuModuleUnload, 2000, cuModuleUnload)                                                          \
  X(cuModuleGetFunction, 2000, cuModuleGetFunction)                                                \
  X(cuFuncGetAttribute, 2020, cuFuncGetAttribute)                                                  \
  X(cuFuncSetAttribute, 9000, cuFuncSetAttribute)                                                  \
  X(cuLaunchKernel, 4000, cuLaunchKernel)                                                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                             \
    cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                   \
  X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags)                               \
  X(cuGraphLaunch, 10000, cuGraphLaunch)                                                           \
  X(cuGraphDestroy, 10000, cuGraphDestroy)                                                         \
  X(cuGraphExecDestroy, 10000, cuGraphExecDestroy)                                                 \
  FAKE_FUNCTIONS_12020(X)                                                                          \
  FAKE_FUNCTIONS_12040(X)                                                                          \
  FAKE_FUNCTIONS_12080(X)

/* The C name differs from the symbol because cuda.h makes macros of some symbols' base names. */
#define FAKE_DECLARE_(name, version, symbol)                                                       \
  __attribute__((visibility("default"))) __typeof__(*(                                             \
      PFN_##name##_v##version)0) drv_##symbol __asm__(#symbol);
FAKE_FUNCTION_LIST(FAKE_DECLARE_)
#undef FAKE_DECLARE_

/* Return what the expression gives, unless that is CUDA_SUCCESS. */
#define TRY(expression)                                                                            \
  do {                                                                                             \
    CUresult try_result_ = (expression);                                                           \
    if (try_result_ != CUDA_SUCCESS) {                                                             \
      return try_result_;                                                                          \
    }                                                                                              \
  } while (0)

/* What an entry point needs before it looks at its arguments. */
enum call_need { NEED_INIT, NEED_CONTEXT };

/* A call under way. */
struct call {
  struct context *context;   /* current in this thread; NULL = none */
  const struct fault *fault; /* hits the operation that the call queues; NULL = none */
};

/* Every entry point calls it first: is the driver initialised, is there a context, is it lost, does
 * a fault hit the call? */
CUresult call_begin(struct call *call, const char *name, enum call_need need);
/* The same with NEED_CONTEXT. `about` adds what the selectors of faults ask for (NULL = nothing);
 * `queues`: the call queues an operation, which gets the faults that an operation can have. */
CUresult call_begin_with(struct call *call, const char *name, const struct fault_call *about,
                         bool queues);
/* stream_enqueue() with the lock taken; CUDA_SUCCESS. */
CUresult call_enqueue(struct stream *stream, const struct operation *operation);
/* The configuration; only after call_begin() with NEED_INIT. */
const struct fake_config *call_config(void);
/* NULL: no such device, or not visible. */
struct context *context_of_device(CUdevice device);
struct context *context_of_handle(CUcontext handle);
CUdevice device_of_context(const struct context *context);
/* The stream of a handle: NULL and the special handles are the current context's default. NULL: not
 * a stream. */
struct stream *stream_of_handle(const struct call *call, CUstream handle);
/* Work of an operation without bytes. */
struct work work_new(uint64_t bytes);

#endif
