/* driver_api.h - the part of NVIDIA's CUDA driver API that haul and its fake driver use.
 *
 * Declared here, from the public reference (docs.nvidia.com/cuda/cuda-driver-api), so that haul
 * builds without the CUDA Toolkit. Names are NVIDIA's, to be looked up there. The binary interface
 * is fixed by name and version: a changed signature gets a new version. Where cuda.h is installed,
 * tests/engine/cuda/test_driver_api.cpp compares every value, layout and signature with it: it
 * includes this file in a namespace, so that nothing else of ours may be included here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef void (*CUhostFn)(void *data);

/* Opaque handles: X(type, struct). */
#define CUDA_HANDLE_LIST(X)                                                                        \
  X(CUarray, CUarray_st)                                                                           \
  X(CUcontext, CUctx_st)                                                                           \
  X(CUevent, CUevent_st)                                                                           \
  X(CUdevResourceDesc, CUdevResourceDesc_st)                                                       \
  X(CUfunction, CUfunc_st)                                                                         \
  X(CUgraph, CUgraph_st)                                                                           \
  X(CUgraphExec, CUgraphExec_st)                                                                   \
  X(CUgreenCtx, CUgreenCtx_st)                                                                     \
  X(CUmemoryPool, CUmemPoolHandle_st)                                                              \
  X(CUmodule, CUmod_st)                                                                            \
  X(CUstream, CUstream_st)
#define CUDA_HANDLE_(type, structure) typedef struct structure *type;
CUDA_HANDLE_LIST(CUDA_HANDLE_)
#undef CUDA_HANDLE_
/* Streams that always exist. */
#define CU_STREAM_LEGACY     ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

/* Enumerations of the API: 32 bits each. */
typedef int CUresult;
typedef int CUdevice_attribute;
typedef int CUdevResourceType;
typedef int CUdevice_P2PAttribute;
typedef int CUdriverProcAddressQueryResult;
typedef int CUfunction_attribute;
typedef int CUmemAccess_flags;
typedef int CUmemAllocationGranularity_flags;
typedef int CUmemAllocationHandleType;
typedef int CUmemAllocationType;
typedef int CUmemPool_attribute;
typedef int CUmem_advise;
typedef int CUmem_range_attribute;
typedef int CUmemLocationType;
typedef int CUmemcpySrcAccessOrder;
typedef int CUmemorytype;
typedef int CUpointer_attribute;
typedef int CUstreamCaptureMode;
typedef int CUstreamCaptureStatus;

/* CUresult: X(name, value). */
#define CUDA_RESULT_LIST(X)                                                                        \
  X(CUDA_SUCCESS, 0)                                                                               \
  X(CUDA_ERROR_INVALID_VALUE, 1)                                                                   \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                   \
  X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                                 \
  X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                   \
  X(CUDA_ERROR_NO_DEVICE, 100)                                                                     \
  X(CUDA_ERROR_INVALID_DEVICE, 101)                                                                \
  X(CUDA_ERROR_INVALID_IMAGE, 200)                                                                 \
  X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                               \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                             \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                             \
  X(CUDA_ERROR_UNSUPPORTED_LIMIT, 215)                                                             \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                                                       \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                       \
  X(CUDA_ERROR_INVALID_HANDLE, 400)                                                                \
  X(CUDA_ERROR_ILLEGAL_STATE, 401)                                                                 \
  X(CUDA_ERROR_NOT_FOUND, 500)                                                                     \
  X(CUDA_ERROR_NOT_READY, 600)                                                                     \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                               \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                       \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                                   \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)                                                       \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                          \
  X(CUDA_ERROR_TOO_MANY_PEERS, 711)                                                                \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                                                \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                                                    \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                                 \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                  \
  X(CUDA_ERROR_NOT_PERMITTED, 800)                                                                 \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)                                                                 \
  X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                                              \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                                        \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                    \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                                                    \
  X(CUDA_ERROR_UNKNOWN, 999)
/* CUdevice_attribute. CUDA 12.0 lacks the last two. */
#define CUDA_DEVICE_ATTRIBUTE_LIST(X)                                                              \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                  \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                                         \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                                                         \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                                                         \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                            \
  X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                             \
  X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11)                                                             \
  X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                                               \
  X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                            \
  X(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 15)                                                           \
  X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                  \
  X(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                                                   \
  X(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 31)                                                    \
  X(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                                            \
  X(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                                                         \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                     \
  X(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                               \
  X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                         \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)                                        \
  X(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)                                                    \
  X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                                                    \
  X(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                                                         \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                              \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                              \
  X(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 78)                                           \
  X(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 79)                                             \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                  \
  X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                                      \
  X(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                                                        \
  X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                                                \
  X(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89)                                             \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 90)                                          \
  X(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91)                               \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                     \
  X(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 99)                                               \
  X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100)                         \
  X(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                          \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                        \
  X(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 119)                                       \
  X(CU_DEVICE_ATTRIBUTE_NUMA_CONFIG, 130)                                                          \
  X(CU_DEVICE_ATTRIBUTE_NUMA_ID, 131)
/* Flags and values of the other enumerations. */
#define CUDA_FLAG_LIST(X)                                                                          \
  X(CU_DEVICE_CPU, -1)                                                                             \
  X(CU_DEVICE_INVALID, -2)                                                                         \
  X(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 2)                                                   \
  X(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3)                                            \
  X(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 1)                                                   \
  X(CU_DEV_RESOURCE_TYPE_SM, 1)                                                                    \
  X(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1)                                            \
  X(CU_EVENT_DEFAULT, 0)                                                                           \
  X(CU_EVENT_DISABLE_TIMING, 2)                                                                    \
  X(CU_EVENT_INTERPROCESS, 4)                                                                      \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                            \
  X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                    \
  X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                 \
  X(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)                                         \
  X(CU_GREEN_CTX_DEFAULT_STREAM, 1)                                                                \
  X(CU_GET_PROC_ADDRESS_DEFAULT, 0)                                                                \
  X(CU_GET_PROC_ADDRESS_LEGACY_STREAM, 1)                                                          \
  X(CU_GET_PROC_ADDRESS_SUCCESS, 0)                                                                \
  X(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)                                                       \
  X(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)                                                 \
  X(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE, 1)                                                 \
  X(CU_MEMCPY_SRC_ACCESS_ORDER_ANY, 3)                                                             \
  X(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, 2)                                                 \
  X(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 1)                                                          \
  X(CU_MEMHOSTALLOC_DEVICEMAP, 2)                                                                  \
  X(CU_MEMHOSTALLOC_PORTABLE, 1)                                                                   \
  X(CU_MEMHOSTALLOC_WRITECOMBINED, 4)                                                              \
  X(CU_MEMHOSTREGISTER_DEVICEMAP, 2)                                                               \
  X(CU_MEMHOSTREGISTER_PORTABLE, 1)                                                                \
  X(CU_MEMORYTYPE_ARRAY, 3)                                                                        \
  X(CU_MEMORYTYPE_DEVICE, 2)                                                                       \
  X(CU_MEMORYTYPE_HOST, 1)                                                                         \
  X(CU_MEM_ADVISE_SET_ACCESSED_BY, 5)                                                              \
  X(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 3)                                                       \
  X(CU_MEM_ADVISE_SET_READ_MOSTLY, 1)                                                              \
  X(CU_MEM_ADVISE_UNSET_ACCESSED_BY, 6)                                                            \
  X(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 4)                                                     \
  X(CU_MEM_ADVISE_UNSET_READ_MOSTLY, 2)                                                            \
  X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                         \
  X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                                              \
  X(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED, 1)                                                       \
  X(CU_MEM_ATTACH_GLOBAL, 1)                                                                       \
  X(CU_MEM_ATTACH_HOST, 2)                                                                         \
  X(CU_MEM_HANDLE_TYPE_NONE, 0)                                                                    \
  X(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                                                   \
  X(CU_MEM_LOCATION_TYPE_DEVICE, 1)                                                                \
  X(CU_MEM_LOCATION_TYPE_HOST, 2)                                                                  \
  X(CU_MEM_LOCATION_TYPE_HOST_NUMA, 3)                                                             \
  X(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 4)                                                     \
  X(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, 3)                                                         \
  X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                                                          \
  X(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 4)                                              \
  X(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 7)                                         \
  X(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 2)                                                  \
  X(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1)                                                         \
  X(CU_POINTER_ATTRIBUTE_CONTEXT, 1)                                                               \
  X(CU_POINTER_ATTRIBUTE_BUFFER_ID, 7)                                                             \
  X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                        \
  X(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 3)                                                        \
  X(CU_POINTER_ATTRIBUTE_HOST_POINTER, 4)                                                          \
  X(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)                                                            \
  X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                           \
  X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                           \
  X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                     \
  X(CU_SHAREDMEM_CARVEOUT_DEFAULT, -1)                                                             \
  X(CU_SHAREDMEM_CARVEOUT_MAX_L1, 0)                                                               \
  X(CU_SHAREDMEM_CARVEOUT_MAX_SHARED, 100)                                                         \
  X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                                                        \
  X(CU_STREAM_DEFAULT, 0)                                                                          \
  X(CU_STREAM_NON_BLOCKING, 1)                                                                     \
  X(CU_STREAM_WAIT_VALUE_GEQ, 0)
#define CUDA_CONSTANT_(name, value) name = (value),
enum {
  CUDA_RESULT_LIST(CUDA_CONSTANT_) CUDA_DEVICE_ATTRIBUTE_LIST(CUDA_CONSTANT_)
      CUDA_FLAG_LIST(CUDA_CONSTANT_)
};
#undef CUDA_CONSTANT_

typedef struct {
  char bytes[16];
} CUuuid;

typedef struct {
  CUmemLocationType type;
  int id;
} CUmemLocation;

/* Both ends of a rectangular copy have the same members: of a plane, and of a volume, where
 * `context` is reserved (NULL) unless the copy is between GPUs. */
typedef struct {
  size_t srcXInBytes;
  size_t srcY;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch;
  size_t dstXInBytes;
  size_t dstY;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch;
  size_t WidthInBytes;
  size_t Height;
} CUDA_MEMCPY2D;

#define CUDA_VOLUME_(context_type, source_context, target_context)                                 \
  size_t srcXInBytes;                                                                              \
  size_t srcY;                                                                                     \
  size_t srcZ;                                                                                     \
  size_t srcLOD;                                                                                   \
  CUmemorytype srcMemoryType;                                                                      \
  const void *srcHost;                                                                             \
  CUdeviceptr srcDevice;                                                                           \
  CUarray srcArray;                                                                                \
  context_type source_context;                                                                     \
  size_t srcPitch;                                                                                 \
  size_t srcHeight;                                                                                \
  size_t dstXInBytes;                                                                              \
  size_t dstY;                                                                                     \
  size_t dstZ;                                                                                     \
  size_t dstLOD;                                                                                   \
  CUmemorytype dstMemoryType;                                                                      \
  void *dstHost;                                                                                   \
  CUdeviceptr dstDevice;                                                                           \
  CUarray dstArray;                                                                                \
  context_type target_context;                                                                     \
  size_t dstPitch;                                                                                 \
  size_t dstHeight;                                                                                \
  size_t WidthInBytes;                                                                             \
  size_t Height;                                                                                   \
  size_t Depth;
typedef struct {
  CUDA_VOLUME_(void *, reserved0, reserved1)
} CUDA_MEMCPY3D;
typedef struct {
  CUDA_VOLUME_(CUcontext, srcContext, dstContext)
} CUDA_MEMCPY3D_PEER;
#undef CUDA_VOLUME_

/* Of cuMemcpyBatchAsync, which came with CUDA 12.8. */
typedef struct {
  CUmemcpySrcAccessOrder srcAccessOrder;
  CUmemLocation srcLocHint;
  CUmemLocation dstLocHint;
  unsigned flags;
} CUmemcpyAttributes;

/* Of cuMemCreate: memory without an address. */
typedef struct {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
} CUmemAllocationProp;

typedef struct {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef struct {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} CUmemPoolProps;

typedef struct {
  char reserved[64];
} CUipcMemHandle;

typedef struct {
  char reserved[64];
} CUipcEventHandle;

typedef struct {
  unsigned char reserved[64];
} CUmemPoolPtrExportData;

/* Of green contexts, which came with CUDA 12.4: the SMs of a part of a GPU. The driver writes and
 * reads the padding. */
typedef struct {
  unsigned smCount;
  unsigned minSmPartitionSize;
  unsigned smCoscheduledAlignment;
} CUdevSmResource;
typedef struct {
  CUdevResourceType type;
  unsigned char _internal_padding[92];
  union {
    CUdevSmResource sm;
    unsigned char _oversize[48];
  };
} CUdevResource;

enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };

/* Every entry point: X(name, version as cuGetProcAddress takes it, REQUIRED or OPTIONAL,
 * arguments). Older drivers may lack an OPTIONAL one: its pointer is NULL then, and callers test
 * it. All return CUresult. */
#define CUDA_FUNCTION_LIST(X)                                                                      \
  X(cuInit, 2000, REQUIRED, (unsigned flags))                                                      \
  X(cuDriverGetVersion, 2020, REQUIRED, (int *version))                                            \
  X(cuGetErrorName, 6000, REQUIRED, (CUresult error, const char **text))                           \
  X(cuGetErrorString, 6000, REQUIRED, (CUresult error, const char **text))                         \
  X(cuDeviceGet, 2000, REQUIRED, (CUdevice * device, int ordinal))                                 \
  X(cuDeviceGetCount, 2000, REQUIRED, (int *count))                                                \
  X(cuDeviceGetName, 2000, REQUIRED, (char *name, int length, CUdevice device))                    \
  X(cuDeviceTotalMem, 3020, REQUIRED, (size_t * size_bytes, CUdevice device))                      \
  X(cuDeviceGetAttribute, 2000, REQUIRED,                                                          \
    (int *value, CUdevice_attribute attribute, CUdevice device))                                   \
  X(cuDeviceGetUuid, 9020, REQUIRED, (CUuuid * uuid, CUdevice device))                             \
  X(cuDeviceGetPCIBusId, 4010, REQUIRED, (char *text, int length, CUdevice device))                \
  X(cuDeviceCanAccessPeer, 4000, REQUIRED, (int *can_access, CUdevice device, CUdevice peer))      \
  X(cuDevicePrimaryCtxRetain, 7000, REQUIRED, (CUcontext * context, CUdevice device))              \
  X(cuDevicePrimaryCtxRelease, 11000, REQUIRED, (CUdevice device))                                 \
  X(cuCtxSetCurrent, 4000, REQUIRED, (CUcontext context))                                          \
  X(cuCtxSynchronize, 2000, REQUIRED, (void))                                                      \
  X(cuCtxEnablePeerAccess, 4000, REQUIRED, (CUcontext peer, unsigned flags))                       \
  X(cuCtxDisablePeerAccess, 4000, REQUIRED, (CUcontext peer))                                      \
  X(cuMemGetInfo, 3020, REQUIRED, (size_t * free, size_t * total))                                 \
  X(cuMemAlloc, 3020, REQUIRED, (CUdeviceptr * address, size_t size_bytes))                        \
  X(cuMemFree, 3020, REQUIRED, (CUdeviceptr address))                                              \
  X(cuMemHostAlloc, 2020, REQUIRED, (void **address, size_t size_bytes, unsigned flags))           \
  X(cuMemFreeHost, 2000, REQUIRED, (void *address))                                                \
  X(cuMemHostRegister, 6050, REQUIRED, (void *address, size_t size_bytes, unsigned flags))         \
  X(cuMemHostUnregister, 4000, REQUIRED, (void *address))                                          \
  X(cuMemHostGetDevicePointer, 3020, REQUIRED, (CUdeviceptr * device, void *host, unsigned flags)) \
  X(cuMemcpyAsync, 4000, REQUIRED,                                                                 \
    (CUdeviceptr target, CUdeviceptr source, size_t size_bytes, CUstream stream))                  \
  X(cuMemcpyHtoDAsync, 3020, REQUIRED,                                                             \
    (CUdeviceptr target, const void *source, size_t size_bytes, CUstream stream))                  \
  X(cuMemcpyDtoHAsync, 3020, REQUIRED,                                                             \
    (void *target, CUdeviceptr source, size_t size_bytes, CUstream stream))                        \
  X(cuMemcpyDtoDAsync, 3020, REQUIRED,                                                             \
    (CUdeviceptr target, CUdeviceptr source, size_t size_bytes, CUstream stream))                  \
  X(cuMemcpyPeerAsync, 4000, REQUIRED,                                                             \
    (CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context,   \
     size_t size_bytes, CUstream stream))                                                          \
  X(cuMemcpy2DAsync, 3020, REQUIRED, (const CUDA_MEMCPY2D *copy, CUstream stream))                 \
  X(cuMemcpy3DAsync, 3020, REQUIRED, (const CUDA_MEMCPY3D *copy, CUstream stream))                 \
  X(cuMemcpy3DPeerAsync, 4000, REQUIRED, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream))        \
  X(cuMemAllocManaged, 6000, REQUIRED, (CUdeviceptr * address, size_t size_bytes, unsigned flags)) \
  X(cuMemAdvise, 8000, REQUIRED,                                                                   \
    (CUdeviceptr address, size_t size_bytes, CUmem_advise advice, CUdevice device))                \
  X(cuMemPrefetchAsync, 8000, REQUIRED,                                                            \
    (CUdeviceptr address, size_t size_bytes, CUdevice device, CUstream stream))                    \
  X(cuMemRangeGetAttribute, 8000, REQUIRED,                                                        \
    (void *data, size_t data_bytes, CUmem_range_attribute attribute, CUdeviceptr address,          \
     size_t size_bytes))                                                                           \
  X(cuMemsetD8Async, 3020, REQUIRED,                                                               \
    (CUdeviceptr target, unsigned char value, size_t size_bytes, CUstream stream))                 \
  X(cuStreamCreate, 2000, REQUIRED, (CUstream * stream, unsigned flags))                           \
  X(cuStreamCreateWithPriority, 5050, OPTIONAL, (CUstream * stream, unsigned flags, int priority)) \
  X(cuCtxGetStreamPriorityRange, 5050, OPTIONAL, (int *least, int *greatest))                      \
  X(cuStreamDestroy, 4000, REQUIRED, (CUstream stream))                                            \
  X(cuStreamSynchronize, 2000, REQUIRED, (CUstream stream))                                        \
  X(cuStreamQuery, 2000, REQUIRED, (CUstream stream))                                              \
  X(cuStreamWaitEvent, 3020, REQUIRED, (CUstream stream, CUevent event, unsigned flags))           \
  X(cuStreamBeginCapture, 10010, REQUIRED, (CUstream stream, CUstreamCaptureMode mode))            \
  X(cuStreamEndCapture, 10000, REQUIRED, (CUstream stream, CUgraph * graph))                       \
  X(cuGraphInstantiateWithFlags, 11040, REQUIRED,                                                  \
    (CUgraphExec * executable, CUgraph graph, unsigned long long flags))                           \
  X(cuGraphLaunch, 10000, REQUIRED, (CUgraphExec executable, CUstream stream))                     \
  X(cuGraphDestroy, 10000, REQUIRED, (CUgraph graph))                                              \
  X(cuGraphExecDestroy, 10000, REQUIRED, (CUgraphExec executable))                                 \
  X(cuEventCreate, 2000, REQUIRED, (CUevent * event, unsigned flags))                              \
  X(cuEventDestroy, 4000, REQUIRED, (CUevent event))                                               \
  X(cuEventRecord, 2000, REQUIRED, (CUevent event, CUstream stream))                               \
  X(cuEventSynchronize, 2000, REQUIRED, (CUevent event))                                           \
  X(cuEventQuery, 2000, REQUIRED, (CUevent event))                                                 \
  X(cuEventElapsedTime, 2000, REQUIRED, (float *milliseconds, CUevent start, CUevent end))         \
  X(cuModuleLoadData, 2000, REQUIRED, (CUmodule * module, const void *image))                      \
  X(cuModuleUnload, 2000, REQUIRED, (CUmodule module))                                             \
  X(cuModuleGetFunction, 2000, REQUIRED,                                                           \
    (CUfunction * function, CUmodule module, const char *name))                                    \
  X(cuFuncGetAttribute, 2020, REQUIRED,                                                            \
    (int *value, CUfunction_attribute attribute, CUfunction function))                             \
  X(cuFuncSetAttribute, 9000, REQUIRED,                                                            \
    (CUfunction function, CUfunction_attribute attribute, int value))                              \
  X(cuFuncLoad, 12040, OPTIONAL, (CUfunction function))                                            \
  X(cuLaunchKernel, 4000, REQUIRED,                                                                \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                   \
     void **parameters, void **extra))                                                             \
  X(cuCtxCreate, 3020, OPTIONAL, (CUcontext * context, unsigned flags, CUdevice device))           \
  X(cuCtxDestroy, 4000, OPTIONAL, (CUcontext context))                                             \
  X(cuDeviceGetDevResource, 12040, OPTIONAL,                                                       \
    (CUdevice device, CUdevResource * resource, CUdevResourceType type))                           \
  X(cuDevSmResourceSplitByCount, 12040, OPTIONAL,                                                  \
    (CUdevResource * parts, unsigned *part_count, const CUdevResource *whole,                      \
     CUdevResource *remaining, unsigned flags, unsigned sm_count))                                 \
  X(cuDevResourceGenerateDesc, 12040, OPTIONAL,                                                    \
    (CUdevResourceDesc * description, CUdevResource * resources, unsigned count))                  \
  X(cuGreenCtxCreate, 12040, OPTIONAL,                                                             \
    (CUgreenCtx * context, CUdevResourceDesc description, CUdevice device, unsigned flags))        \
  X(cuGreenCtxDestroy, 12040, OPTIONAL, (CUgreenCtx context))                                      \
  X(cuGreenCtxStreamCreate, 12050, OPTIONAL,                                                       \
    (CUstream * stream, CUgreenCtx context, unsigned flags, int priority))                         \
  X(cuPointerGetAttribute, 4000, OPTIONAL,                                                         \
    (void *data, CUpointer_attribute attribute, CUdeviceptr address))                              \
  X(cuPointerGetAttributes, 7000, OPTIONAL,                                                        \
    (unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address))           \
  X(cuMemGetAddressRange, 3020, OPTIONAL,                                                          \
    (CUdeviceptr * base, size_t * size_bytes, CUdeviceptr address))                                \
  X(cuIpcGetMemHandle, 4010, OPTIONAL, (CUipcMemHandle * handle, CUdeviceptr address))             \
  X(cuIpcOpenMemHandle, 11000, OPTIONAL,                                                           \
    (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags))                                \
  X(cuIpcCloseMemHandle, 4010, OPTIONAL, (CUdeviceptr address))                                    \
  X(cuIpcGetEventHandle, 4010, OPTIONAL, (CUipcEventHandle * handle, CUevent event))               \
  X(cuIpcOpenEventHandle, 4010, OPTIONAL, (CUevent * event, CUipcEventHandle handle))              \
  X(cuMemAllocAsync, 11020, OPTIONAL, (CUdeviceptr * address, size_t size_bytes, CUstream stream)) \
  X(cuMemFreeAsync, 11020, OPTIONAL, (CUdeviceptr address, CUstream stream))                       \
  X(cuMemPoolCreate, 11020, OPTIONAL, (CUmemoryPool * pool, const CUmemPoolProps *properties))     \
  X(cuMemPoolDestroy, 11020, OPTIONAL, (CUmemoryPool pool))                                        \
  X(cuMemPoolSetAttribute, 11020, OPTIONAL,                                                        \
    (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))                               \
  X(cuDeviceGetMemPool, 11020, OPTIONAL, (CUmemoryPool * pool, CUdevice device))                   \
  X(cuMemPoolSetAccess, 11020, OPTIONAL,                                                           \
    (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count))                              \
  X(cuMemPoolExportToShareableHandle, 11020, OPTIONAL,                                             \
    (void *shareable, CUmemoryPool pool, CUmemAllocationHandleType type,                           \
     unsigned long long flags))                                                                    \
  X(cuMemPoolImportFromShareableHandle, 11020, OPTIONAL,                                           \
    (CUmemoryPool * pool, void *shareable, CUmemAllocationHandleType type,                         \
     unsigned long long flags))                                                                    \
  X(cuMemPoolExportPointer, 11020, OPTIONAL,                                                       \
    (CUmemPoolPtrExportData * exported, CUdeviceptr address))                                      \
  X(cuMemPoolImportPointer, 11020, OPTIONAL,                                                       \
    (CUdeviceptr * address, CUmemoryPool pool, CUmemPoolPtrExportData * exported))                 \
  X(cuMemAllocFromPoolAsync, 11020, OPTIONAL,                                                      \
    (CUdeviceptr * address, size_t size_bytes, CUmemoryPool pool, CUstream stream))                \
  X(cuMemGetAllocationGranularity, 10020, OPTIONAL,                                                \
    (size_t * size_bytes, const CUmemAllocationProp *properties,                                   \
     CUmemAllocationGranularity_flags which))                                                      \
  X(cuMemAddressReserve, 10020, OPTIONAL,                                                          \
    (CUdeviceptr * address, size_t size_bytes, size_t alignment, CUdeviceptr wanted,               \
     unsigned long long flags))                                                                    \
  X(cuMemAddressFree, 10020, OPTIONAL, (CUdeviceptr address, size_t size_bytes))                   \
  X(cuMemCreate, 10020, OPTIONAL,                                                                  \
    (CUmemGenericAllocationHandle * handle, size_t size_bytes,                                     \
     const CUmemAllocationProp *properties, unsigned long long flags))                             \
  X(cuMemRelease, 10020, OPTIONAL, (CUmemGenericAllocationHandle handle))                          \
  X(cuMemMap, 10020, OPTIONAL,                                                                     \
    (CUdeviceptr address, size_t size_bytes, size_t offset, CUmemGenericAllocationHandle handle,   \
     unsigned long long flags))                                                                    \
  X(cuMemUnmap, 10020, OPTIONAL, (CUdeviceptr address, size_t size_bytes))                         \
  X(cuMemSetAccess, 10020, OPTIONAL,                                                               \
    (CUdeviceptr address, size_t size_bytes, const CUmemAccessDesc *access, size_t count))         \
  X(cuMemRetainAllocationHandle, 11000, OPTIONAL,                                                  \
    (CUmemGenericAllocationHandle * handle, void *address))                                        \
  X(cuMemExportToShareableHandle, 10020, OPTIONAL,                                                 \
    (void *shareable, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,         \
     unsigned long long flags))                                                                    \
  X(cuMemImportFromShareableHandle, 10020, OPTIONAL,                                               \
    (CUmemGenericAllocationHandle * handle, void *shareable, CUmemAllocationHandleType type))      \
  X(cuStreamIsCapturing, 10000, OPTIONAL, (CUstream stream, CUstreamCaptureStatus * capturing))    \
  X(cuStreamWriteValue32, 11070, OPTIONAL,                                                         \
    (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags))                        \
  X(cuStreamWaitValue32, 11070, OPTIONAL,                                                          \
    (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags))                        \
  X(cuLaunchHostFunc, 10000, OPTIONAL, (CUstream stream, CUhostFn function, void *data))           \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, REQUIRED,                                   \
    (int *blocks, CUfunction function, int block, size_t shared_bytes))

/* What a resolved entry point is. */
#define CUDA_FUNCTION_TYPE_(name, version, need, arguments)                                        \
  typedef CUresult(*name##_function) arguments;
CUDA_FUNCTION_LIST(CUDA_FUNCTION_TYPE_)
#undef CUDA_FUNCTION_TYPE_
/* Of CUDA 12.2 on, which know the NUMA nodes of the host: the second versions. */
typedef CUresult (*cuMemPrefetchAsync_v2_function)(CUdeviceptr address, size_t size_bytes,
                                                   CUmemLocation location, unsigned flags,
                                                   CUstream stream);
typedef CUresult (*cuMemAdvise_v2_function)(CUdeviceptr address, size_t size_bytes,
                                            CUmem_advise advice, CUmemLocation location);
/* Of CUDA 12.8 on. */
typedef CUresult (*cuMemcpyBatchAsync_function)(CUdeviceptr *targets, CUdeviceptr *sources,
                                                size_t *sizes, size_t count,
                                                CUmemcpyAttributes *attributes,
                                                size_t *attribute_starts, size_t attribute_count,
                                                size_t *failed, CUstream stream);
/* From CUDA 12.0 on, with a reason why nothing was found; and from 11.3 on. */
typedef CUresult (*cuGetProcAddress_v2_function)(const char *name, void **address, int version,
                                                 uint64_t flags,
                                                 CUdriverProcAddressQueryResult *answer);
typedef CUresult (*cuGetProcAddress_function)(const char *name, void **address, int version,
                                              uint64_t flags);
