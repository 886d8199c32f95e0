/* driver_api.h - every entry point of the fake driver, and what they share.
 *
 * One list names them: version as cuGetProcAddress knows it, the exported symbol, and the type
 * (NAME_function). The function that carries the symbol is called drv_<symbol> in C. */
#pragma once

#include "engine/base/macros.h"
#include "tests/fake_cuda/driver/stream.h"

/* X(name, version, exported symbol, type) */
#define FAKE_FUNCTION_LIST(X)                                                                      \
  X(cuInit, 2000, cuInit, cuInit)                                                                  \
  X(cuDriverGetVersion, 2020, cuDriverGetVersion, cuDriverGetVersion)                              \
  X(cuGetErrorName, 6000, cuGetErrorName, cuGetErrorName)                                          \
  X(cuGetErrorString, 6000, cuGetErrorString, cuGetErrorString)                                    \
  X(cuGetProcAddress, 11030, cuGetProcAddress, cuGetProcAddress)                                   \
  X(cuGetProcAddress, 12000, cuGetProcAddress_v2, cuGetProcAddress_v2)                             \
  X(cuDeviceGet, 2000, cuDeviceGet, cuDeviceGet)                                                   \
  X(cuDeviceGetCount, 2000, cuDeviceGetCount, cuDeviceGetCount)                                    \
  X(cuDeviceGetName, 2000, cuDeviceGetName, cuDeviceGetName)                                       \
  X(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2, cuDeviceTotalMem)                                 \
  X(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute, cuDeviceGetAttribute)                        \
  X(cuDeviceGetUuid, 9020, cuDeviceGetUuid, cuDeviceGetUuid)                                       \
  X(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2, cuDeviceGetUuid)                                   \
  X(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId, cuDeviceGetPCIBusId)                           \
  X(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer, cuDeviceCanAccessPeer)                     \
  X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)            \
  X(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease)     \
  X(cuCtxSetCurrent, 4000, cuCtxSetCurrent, cuCtxSetCurrent)                                       \
  X(cuCtxSynchronize, 2000, cuCtxSynchronize, cuCtxSynchronize)                                    \
  X(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess, cuCtxEnablePeerAccess)                     \
  X(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess, cuCtxDisablePeerAccess)                  \
  X(cuMemGetInfo, 3020, cuMemGetInfo_v2, cuMemGetInfo)                                             \
  X(cuMemAlloc, 3020, cuMemAlloc_v2, cuMemAlloc)                                                   \
  X(cuMemAllocManaged, 6000, cuMemAllocManaged, cuMemAllocManaged)                                 \
  X(cuMemFree, 3020, cuMemFree_v2, cuMemFree)                                                      \
  X(cuMemHostAlloc, 2020, cuMemHostAlloc, cuMemHostAlloc)                                          \
  X(cuMemFreeHost, 2000, cuMemFreeHost, cuMemFreeHost)                                             \
  X(cuMemHostRegister, 6050, cuMemHostRegister_v2, cuMemHostRegister)                              \
  X(cuMemHostUnregister, 4000, cuMemHostUnregister, cuMemHostUnregister)                           \
  X(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer)      \
  X(cuPointerGetAttribute, 4000, cuPointerGetAttribute, cuPointerGetAttribute)                     \
  X(cuMemAdvise, 8000, cuMemAdvise, cuMemAdvise)                                                   \
  X(cuMemPrefetchAsync, 8000, cuMemPrefetchAsync, cuMemPrefetchAsync)                              \
  X(cuMemRangeGetAttribute, 8000, cuMemRangeGetAttribute, cuMemRangeGetAttribute)                  \
  X(cuMemcpyAsync, 4000, cuMemcpyAsync, cuMemcpyAsync)                                             \
  X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync)                              \
  X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync)                              \
  X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync)                              \
  X(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync, cuMemcpyPeerAsync)                                 \
  X(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2, cuMemcpy2DAsync)                                    \
  X(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2, cuMemcpy3DAsync)                                    \
  X(cuMemcpy3DPeerAsync, 4000, cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync)                           \
  X(cuMemsetD8Async, 3020, cuMemsetD8Async, cuMemsetD8Async)                                       \
  X(cuStreamCreate, 2000, cuStreamCreate, cuStreamCreate)                                          \
  X(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority, cuStreamCreateWithPriority)      \
  X(cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange)   \
  X(cuStreamDestroy, 4000, cuStreamDestroy_v2, cuStreamDestroy)                                    \
  X(cuStreamSynchronize, 2000, cuStreamSynchronize, cuStreamSynchronize)                           \
  X(cuStreamQuery, 2000, cuStreamQuery, cuStreamQuery)                                             \
  X(cuStreamWaitEvent, 3020, cuStreamWaitEvent, cuStreamWaitEvent)                                 \
  X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, cuStreamBeginCapture)                    \
  X(cuStreamEndCapture, 10000, cuStreamEndCapture, cuStreamEndCapture)                             \
  X(cuLaunchHostFunc, 10000, cuLaunchHostFunc, cuLaunchHostFunc)                                   \
  X(cuEventCreate, 2000, cuEventCreate, cuEventCreate)                                             \
  X(cuEventDestroy, 4000, cuEventDestroy_v2, cuEventDestroy)                                       \
  X(cuEventRecord, 2000, cuEventRecord, cuEventRecord)                                             \
  X(cuEventSynchronize, 2000, cuEventSynchronize, cuEventSynchronize)                              \
  X(cuEventQuery, 2000, cuEventQuery, cuEventQuery)                                                \
  X(cuEventElapsedTime, 2000, cuEventElapsedTime, cuEventElapsedTime)                              \
  X(cuModuleLoadData, 2000, cuModuleLoadData, cuModuleLoadData)                                    \
  X(cuModuleUnload, 2000, cuModuleUnload, cuModuleUnload)                                          \
  X(cuModuleGetFunction, 2000, cuModuleGetFunction, cuModuleGetFunction)                           \
  X(cuFuncGetAttribute, 2020, cuFuncGetAttribute, cuFuncGetAttribute)                              \
  X(cuFuncSetAttribute, 9000, cuFuncSetAttribute, cuFuncSetAttribute)                              \
  X(cuLaunchKernel, 4000, cuLaunchKernel, cuLaunchKernel)                                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                             \
    cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor)      \
  X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)  \
  X(cuGraphLaunch, 10000, cuGraphLaunch, cuGraphLaunch)                                            \
  X(cuGraphDestroy, 10000, cuGraphDestroy, cuGraphDestroy)                                         \
  X(cuGraphExecDestroy, 10000, cuGraphExecDestroy, cuGraphExecDestroy)                             \
  X(cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2)                       \
  X(cuMemAdvise, 12020, cuMemAdvise_v2, cuMemAdvise_v2)                                            \
  X(cuFuncLoad, 12040, cuFuncLoad, cuFuncLoad)                                                     \
  X(cuEventElapsedTime, 12080, cuEventElapsedTime_v2, cuEventElapsedTime)                          \
  X(cuMemcpyBatchAsync, 12080, cuMemcpyBatchAsync, cuMemcpyBatchAsync)                             \
  X(cuCtxCreate, 3020, cuCtxCreate_v2, cuCtxCreate)                                                \
  X(cuCtxDestroy, 4000, cuCtxDestroy_v2, cuCtxDestroy)                                             \
  X(cuPointerGetAttributes, 7000, cuPointerGetAttributes, cuPointerGetAttributes)                  \
  X(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2, cuMemGetAddressRange)                     \
  X(cuIpcGetMemHandle, 4010, cuIpcGetMemHandle, cuIpcGetMemHandle)                                 \
  X(cuIpcOpenMemHandle, 11000, cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle)                          \
  X(cuIpcCloseMemHandle, 4010, cuIpcCloseMemHandle, cuIpcCloseMemHandle)                           \
  X(cuIpcGetEventHandle, 4010, cuIpcGetEventHandle, cuIpcGetEventHandle)                           \
  X(cuIpcOpenEventHandle, 4010, cuIpcOpenEventHandle, cuIpcOpenEventHandle)                        \
  X(cuMemAllocAsync, 11020, cuMemAllocAsync, cuMemAllocAsync)                                      \
  X(cuMemFreeAsync, 11020, cuMemFreeAsync, cuMemFreeAsync)                                         \
  X(cuMemPoolCreate, 11020, cuMemPoolCreate, cuMemPoolCreate)                                      \
  X(cuMemPoolDestroy, 11020, cuMemPoolDestroy, cuMemPoolDestroy)                                   \
  X(cuMemPoolSetAttribute, 11020, cuMemPoolSetAttribute, cuMemPoolSetAttribute)                    \
  X(cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync)              \
  X(cuDeviceGetMemPool, 11020, cuDeviceGetMemPool, cuDeviceGetMemPool)                             \
  X(cuMemPoolSetAccess, 11020, cuMemPoolSetAccess, cuMemPoolSetAccess)                             \
  X(cuMemPoolExportToShareableHandle, 11020, cuMemPoolExportToShareableHandle,                     \
    cuMemPoolExportToShareableHandle)                                                              \
  X(cuMemPoolImportFromShareableHandle, 11020, cuMemPoolImportFromShareableHandle,                 \
    cuMemPoolImportFromShareableHandle)                                                            \
  X(cuMemPoolExportPointer, 11020, cuMemPoolExportPointer, cuMemPoolExportPointer)                 \
  X(cuMemPoolImportPointer, 11020, cuMemPoolImportPointer, cuMemPoolImportPointer)                 \
  X(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle, cuMemRetainAllocationHandle)  \
  X(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity,                           \
    cuMemGetAllocationGranularity)                                                                 \
  X(cuMemAddressReserve, 10020, cuMemAddressReserve, cuMemAddressReserve)                          \
  X(cuMemAddressFree, 10020, cuMemAddressFree, cuMemAddressFree)                                   \
  X(cuMemCreate, 10020, cuMemCreate, cuMemCreate)                                                  \
  X(cuMemRelease, 10020, cuMemRelease, cuMemRelease)                                               \
  X(cuMemMap, 10020, cuMemMap, cuMemMap)                                                           \
  X(cuMemUnmap, 10020, cuMemUnmap, cuMemUnmap)                                                     \
  X(cuMemSetAccess, 10020, cuMemSetAccess, cuMemSetAccess)                                         \
  X(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle,                             \
    cuMemExportToShareableHandle)                                                                  \
  X(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle,                         \
    cuMemImportFromShareableHandle)                                                                \
  X(cuDeviceGetDevResource, 12040, cuDeviceGetDevResource, cuDeviceGetDevResource)                 \
  X(cuDevSmResourceSplitByCount, 12040, cuDevSmResourceSplitByCount, cuDevSmResourceSplitByCount)  \
  X(cuDevResourceGenerateDesc, 12040, cuDevResourceGenerateDesc, cuDevResourceGenerateDesc)        \
  X(cuGreenCtxCreate, 12040, cuGreenCtxCreate, cuGreenCtxCreate)                                   \
  X(cuGreenCtxDestroy, 12040, cuGreenCtxDestroy, cuGreenCtxDestroy)                                \
  X(cuGreenCtxStreamCreate, 12050, cuGreenCtxStreamCreate, cuGreenCtxStreamCreate)                 \
  X(cuStreamIsCapturing, 10000, cuStreamIsCapturing, cuStreamIsCapturing)                          \
  X(cuStreamWriteValue32, 11070, cuStreamWriteValue32_v2, cuStreamWriteValue32)                    \
  X(cuStreamWaitValue32, 11070, cuStreamWaitValue32_v2, cuStreamWaitValue32)

/* The C name differs from the symbol, so that no call is mistaken for one of the real driver. */
#define FAKE_DECLARE_(name, version, symbol, type)                                                 \
  __attribute__((visibility("default"))) __typeof__(*(type##_function)0) drv_##symbol __asm__(     \
      #symbol);
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
/* These begin an entry point, and declare `call`. */
#define BEGIN_CALL(name, need)                                                                     \
  struct call call;                                                                                \
  TRY(call_begin(&call, name, need))
#define BEGIN_CALL_WITH(name, about, queues)                                                       \
  struct call call;                                                                                \
  TRY(call_begin_with(&call, name, about, queues))
/* The lock of streams is held until the end of the block. */
#define STREAMS_LOCKED()                                                                           \
  streams_lock();                                                                                  \
  SCOPED(streams_unlock_at) __attribute__((unused)) const bool streams_locked_ = true
static inline void streams_unlock_at(const bool *locked) {
  streams_unlock();
}
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
