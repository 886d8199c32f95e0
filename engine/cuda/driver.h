/* driver.h - the CUDA driver API, loaded at run time.
 *
 * One list names every entry point with the version whose signature is used; cuda_driver_load()
 * resolves them through cuGetProcAddress, so that one executable runs under every driver and on
 * machines without one. A function marked 0 may be missing in older drivers: its pointer is NULL
 * then, and callers test it. Only files under engine/ that need CUDA include this header, and only
 * builds with HAUL_CUDA compile them. */
#ifndef HAUL_ENGINE_CUDA_DRIVER_H
#define HAUL_ENGINE_CUDA_DRIVER_H

#include "engine/base/error.h"

#include <cuda.h>
#include <cudaTypedefs.h>

/* X(name, version as in cudaTypedefs.h, version as cuGetProcAddress takes it, required) */
#define CUDA_FUNCTION_LIST(X)                                                                      \
  X(cuInit, v2000, 2000, 1)                                                                        \
  X(cuDriverGetVersion, v2020, 2020, 1)                                                            \
  X(cuGetErrorName, v6000, 6000, 1)                                                                \
  X(cuGetErrorString, v6000, 6000, 1)                                                              \
  X(cuDeviceGet, v2000, 2000, 1)                                                                   \
  X(cuDeviceGetCount, v2000, 2000, 1)                                                              \
  X(cuDeviceGetName, v2000, 2000, 1)                                                               \
  X(cuDeviceTotalMem, v3020, 3020, 1)                                                              \
  X(cuDeviceGetAttribute, v2000, 2000, 1)                                                          \
  X(cuDeviceGetUuid, v9020, 9020, 1)                                                               \
  X(cuDeviceGetPCIBusId, v4010, 4010, 1)                                                           \
  X(cuDeviceCanAccessPeer, v4000, 4000, 1)                                                         \
  X(cuDevicePrimaryCtxRetain, v7000, 7000, 1)                                                      \
  X(cuDevicePrimaryCtxRelease, v11000, 11000, 1)                                                   \
  X(cuCtxSetCurrent, v4000, 4000, 1)                                                               \
  X(cuCtxSynchronize, v2000, 2000, 1)                                                              \
  X(cuCtxEnablePeerAccess, v4000, 4000, 1)                                                         \
  X(cuCtxDisablePeerAccess, v4000, 4000, 1)                                                        \
  X(cuMemGetInfo, v3020, 3020, 1)                                                                  \
  X(cuMemAlloc, v3020, 3020, 1)                                                                    \
  X(cuMemFree, v3020, 3020, 1)                                                                     \
  X(cuMemHostAlloc, v2020, 2020, 1)                                                                \
  X(cuMemFreeHost, v2000, 2000, 1)                                                                 \
  X(cuMemHostRegister, v6050, 6050, 1)                                                             \
  X(cuMemHostUnregister, v4000, 4000, 1)                                                           \
  X(cuMemHostGetDevicePointer, v3020, 3020, 1)                                                     \
  X(cuMemcpyAsync, v4000, 4000, 1)                                                                 \
  X(cuMemcpyHtoDAsync, v3020, 3020, 1)                                                             \
  X(cuMemcpyDtoHAsync, v3020, 3020, 1)                                                             \
  X(cuMemcpyDtoDAsync, v3020, 3020, 1)                                                             \
  X(cuMemcpyPeerAsync, v4000, 4000, 1)                                                             \
  X(cuMemcpy2DAsync, v3020, 3020, 1)                                                               \
  X(cuMemcpy3DAsync, v3020, 3020, 1)                                                               \
  X(cuMemcpy3DPeerAsync, v4000, 4000, 1)                                                           \
  X(cuMemAllocManaged, v6000, 6000, 1)                                                             \
  X(cuMemAdvise, v8000, 8000, 1)                                                                   \
  X(cuMemPrefetchAsync, v8000, 8000, 1)                                                            \
  X(cuMemRangeGetAttribute, v8000, 8000, 1)                                                        \
  X(cuMemsetD8Async, v3020, 3020, 1)                                                               \
  X(cuStreamCreate, v2000, 2000, 1)                                                                \
  X(cuStreamDestroy, v4000, 4000, 1)                                                               \
  X(cuStreamSynchronize, v2000, 2000, 1)                                                           \
  X(cuStreamQuery, v2000, 2000, 1)                                                                 \
  X(cuStreamWaitEvent, v3020, 3020, 1)                                                             \
  X(cuStreamBeginCapture, v10010, 10010, 1)                                                        \
  X(cuStreamEndCapture, v10000, 10000, 1)                                                          \
  X(cuGraphInstantiateWithFlags, v11040, 11040, 1)                                                 \
  X(cuGraphLaunch, v10000, 10000, 1)                                                               \
  X(cuGraphDestroy, v10000, 10000, 1)                                                              \
  X(cuGraphExecDestroy, v10000, 10000, 1)                                                          \
  X(cuEventCreate, v2000, 2000, 1)                                                                 \
  X(cuEventDestroy, v4000, 4000, 1)                                                                \
  X(cuEventRecord, v2000, 2000, 1)                                                                 \
  X(cuEventSynchronize, v2000, 2000, 1)                                                            \
  X(cuEventQuery, v2000, 2000, 1)                                                                  \
  X(cuEventElapsedTime, v2000, 2000, 1)                                                            \
  X(cuModuleLoadData, v2000, 2000, 1)                                                              \
  X(cuModuleUnload, v2000, 2000, 1)                                                                \
  X(cuModuleGetFunction, v2000, 2000, 1)                                                           \
  X(cuFuncGetAttribute, v2020, 2020, 1)                                                            \
  X(cuFuncSetAttribute, v9000, 9000, 1)                                                            \
  X(cuFuncLoad, v12040, 12040, 0)                                                                  \
  X(cuLaunchKernel, v4000, 4000, 1)                                                                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, v6050, 6050, 1)

/* cuMemPrefetchAsync and cuMemAdvise of CUDA 12.2 on, which know the NUMA nodes of the host. They
 * are found by their exported names: drivers differ in what cuGetProcAddress gives under the old
 * name and a newer version. */
typedef CUresult(CUDAAPI *cuda_prefetch_function)(CUdeviceptr address, size_t size_bytes,
                                                  CUmemLocation location, unsigned flags,
                                                  CUstream stream);
typedef CUresult(CUDAAPI *cuda_advise_function)(CUdeviceptr address, size_t size_bytes,
                                                CUmem_advise advice, CUmemLocation location);

/* cuMemcpyBatchAsync of CUDA 12.8 on, in types that older toolkits have, too: CUmemcpyAttributes.
 */
struct cuda_batch_attributes {
  int source_access_order; /* CUmemcpySrcAccessOrder */
  CUmemLocation source, target;
  unsigned flags; /* CUmemcpyFlags */
};
enum {
  CUDA_BATCH_VERSION = 12080,
  CUDA_BATCH_ORDER_STREAM = 1,
  CUDA_BATCH_ORDER_DURING_CALL = 2,
  CUDA_BATCH_ORDER_ANY = 3,
  CUDA_BATCH_OVERLAP = 1,
  CUDA_LOCATION_HOST = 2, /* CU_MEM_LOCATION_TYPE_HOST */
};
typedef CUresult(CUDAAPI *cuda_batch_function)(CUdeviceptr *targets, CUdeviceptr *sources,
                                               size_t *sizes, size_t count,
                                               struct cuda_batch_attributes *attributes,
                                               size_t *attribute_starts, size_t attribute_count,
                                               size_t *failed, CUstream stream);

struct cuda_driver {
  void *library;  /* NULL = not loaded */
  int version;    /* cuDriverGetVersion: 13000 for CUDA 13.0 */
  bool simulated; /* engine/cuda/driver.h */
#define CUDA_FUNCTION_MEMBER_(name, typedef_version, number, required)                             \
  PFN_##name##_##typedef_version name;
  CUDA_FUNCTION_LIST(CUDA_FUNCTION_MEMBER_)
#undef CUDA_FUNCTION_MEMBER_
  cuda_prefetch_function prefetch_to; /* cuMemPrefetchAsync_v2; NULL in drivers before CUDA 12.2 */
  cuda_advise_function advise_at;     /* cuMemAdvise_v2; NULL in drivers before CUDA 12.2 */
  cuda_batch_function copy_batch;     /* NULL in drivers before CUDA 12.8 */
};

/* Load libcuda.so.1 and call cuInit. STATUS_UNSUPPORTED: there is no driver, it is too old (with
 * the entry point that is missing), or it has no device; the message says which and is fit for
 * cuda_state. */
enum status cuda_driver_load(struct cuda_driver *driver, struct error *err) CHECK_RESULT;
/* Forget the entry points. The library itself stays: the driver has threads of its own in it. */
void cuda_driver_unload(struct cuda_driver *driver);

/* Turns a CUresult into a status: OK, NO_MEMORY (out of memory), UNSUPPORTED, CUDA (one of the
 * codes that are known to leave the context whole: invalid value, not ready ...) or STICKY (any
 * other: the context may be lost); the message is "what: NAME (number: text)". */
enum status cuda_check(const struct cuda_driver *driver, CUresult result, struct error *err,
                       const char *what, ...) __attribute__((format(printf, 4, 5))) CHECK_RESULT;

/* How a fake driver says that it is one. The fake libcuda.so.1 of tests/fake_cuda exports
 * haul_simulation(). Where the loaded driver has that symbol, the machine is marked simulated, its
 * host topology is taken from here, and NUMA bindings to node n go to the real node n % (number of
 * real nodes): code paths run, numbers mean nothing. A real driver has no such symbol. */
#define SIMULATION_SYMBOL "haul_simulation"
enum { SIMULATION_NODES_MAX = 64 };

struct simulation {
  uint32_t version; /* 1, or 2: with the last two members */
  uint32_t node_count;
  int32_t node_numbers[SIMULATION_NODES_MAX];
  uint8_t node_distance[SIMULATION_NODES_MAX][SIMULATION_NODES_MAX];
  const char *machine_file;                      /* path of the TOML it was told to be */
  uint32_t node_cpu_count[SIMULATION_NODES_MAX]; /* 0 = memory only */
  uint64_t node_memory_bytes[SIMULATION_NODES_MAX];
};

typedef const struct simulation *(*simulation_function)(void);

#endif
