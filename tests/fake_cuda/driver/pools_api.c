/* Memory in the order of a stream, pools, memory without addresses, handles for other processes.
 * Simpler than real: all of a stream's memory is given and taken at once; addresses that are
 * reserved are device memory from the start, which memory of a node makes pinned; and what is
 * mapped into them is only counted. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t GRANULARITY_BYTES = (size_t)2 << 20;

/* A pool, or memory without addresses. */
struct thing {
  uint64_t magic;
  size_t size_bytes;
  bool host; /* memory of a node */
};
enum { THING_MAGIC = 0x7468696e };

static struct thing *thing_new(size_t size_bytes) {
  struct thing *thing = calloc(1, sizeof *thing);
  if (thing == NULL) {
    abort();
  }
  *thing = (struct thing){.magic = THING_MAGIC, .size_bytes = size_bytes};
  return thing;
}

static CUresult thing_drop(const char *name, struct thing *thing) {
  struct call call;
  TRY(call_begin(&call, name, NEED_CONTEXT));
  if (thing == NULL || thing->magic != THING_MAGIC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  thing->magic = 0;
  free(thing);
  return CUDA_SUCCESS;
}

/* ---- in the order of a stream ---- */

static CUresult allocate_on(const char *name, CUdeviceptr *pointer, size_t size_bytes,
                            CUstream handle) {
  struct call call;
  TRY(call_begin(&call, name, NEED_CONTEXT));
  return stream_of_handle(&call, handle) == NULL ? CUDA_ERROR_INVALID_HANDLE
                                                 : drv_cuMemAlloc_v2(pointer, size_bytes);
}

CUresult drv_cuMemAllocAsync(CUdeviceptr *pointer, size_t size_bytes, CUstream stream) {
  return allocate_on("cuMemAllocAsync", pointer, size_bytes, stream);
}

CUresult drv_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t size_bytes, CUmemoryPool pool,
                                     CUstream stream) {
  return pool == NULL ? CUDA_ERROR_INVALID_VALUE
                      : allocate_on("cuMemAllocFromPoolAsync", pointer, size_bytes, stream);
}

CUresult drv_cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  struct call call;
  TRY(call_begin(&call, "cuMemFreeAsync", NEED_CONTEXT));
  return stream_of_handle(&call, handle) == NULL ? CUDA_ERROR_INVALID_HANDLE
                                                 : drv_cuMemFree_v2(pointer);
}

CUresult drv_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  struct call call;
  TRY(call_begin(&call, "cuMemPoolCreate", NEED_CONTEXT));
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pool = (CUmemoryPool)(void *)thing_new(0);
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolDestroy(CUmemoryPool pool) {
  return thing_drop("cuMemPoolDestroy", (struct thing *)(void *)pool);
}

CUresult drv_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  struct call call;
  TRY(call_begin(&call, "cuMemPoolSetAttribute", NEED_CONTEXT));
  return pool == NULL || attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || value == NULL
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

/* ---- addresses and memory apart ---- */

CUresult drv_cuMemGetAllocationGranularity(size_t *size_bytes,
                                           const CUmemAllocationProp *properties,
                                           CUmemAllocationGranularity_flags which) {
  struct call call;
  (void)which;
  TRY(call_begin(&call, "cuMemGetAllocationGranularity", NEED_INIT));
  *size_bytes = GRANULARITY_BYTES;
  return properties->type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemAddressReserve(CUdeviceptr *pointer, size_t size_bytes, size_t alignment,
                                 CUdeviceptr wanted, unsigned long long flags) {
  struct call call;
  (void)alignment, (void)wanted, (void)flags;
  TRY(call_begin(&call, "cuMemAddressReserve", NEED_CONTEXT));
  return size_bytes % GRANULARITY_BYTES != 0 ? CUDA_ERROR_INVALID_VALUE
                                             : drv_cuMemAlloc_v2(pointer, size_bytes);
}

CUresult drv_cuMemAddressFree(CUdeviceptr pointer, size_t size_bytes) {
  struct call call;
  TRY(call_begin(&call, "cuMemAddressFree", NEED_CONTEXT));
  const struct allocation *allocation = memory_at(pointer);
  if (allocation == NULL || allocation->size_bytes != size_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return allocation->kind == ALLOCATION_PINNED ? drv_cuMemFreeHost((void *)(uintptr_t)pointer)
                                               : drv_cuMemFree_v2(pointer);
}

CUresult drv_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size_bytes,
                         const CUmemAllocationProp *properties, unsigned long long flags) {
  struct call call;
  (void)flags;
  TRY(call_begin(&call, "cuMemCreate", NEED_CONTEXT));
  if (size_bytes == 0 || size_bytes % GRANULARITY_BYTES != 0 ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct thing *thing = thing_new(size_bytes);
  thing->host = properties->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)thing;
  return CUDA_SUCCESS;
}

static struct thing *thing_of(CUmemGenericAllocationHandle handle) {
  return (struct thing *)(uintptr_t)handle;
}

CUresult drv_cuMemRelease(CUmemGenericAllocationHandle handle) {
  return thing_drop("cuMemRelease", thing_of(handle));
}

static CUresult at_reserved(const char *name, CUdeviceptr pointer, size_t size_bytes) {
  struct call call;
  TRY(call_begin(&call, name, NEED_CONTEXT));
  const struct allocation *allocation = memory_containing(pointer);
  return allocation == NULL || pointer + size_bytes > allocation->base + allocation->size_bytes
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult drv_cuMemMap(CUdeviceptr pointer, size_t size_bytes, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
  (void)flags;
  TRY(at_reserved("cuMemMap", pointer, size_bytes));
  const struct thing *thing = thing_of(handle);
  if (thing->magic != THING_MAGIC || offset + size_bytes > thing->size_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (thing->host) {
    memory_make_pinned(memory_containing(pointer));
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuMemUnmap(CUdeviceptr pointer, size_t size_bytes) {
  return at_reserved("cuMemUnmap", pointer, size_bytes);
}

CUresult drv_cuMemSetAccess(CUdeviceptr pointer, size_t size_bytes, const CUmemAccessDesc *access,
                            size_t count) {
  TRY(at_reserved("cuMemSetAccess", pointer, size_bytes));
  return count == 0 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult drv_cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  struct call call;
  (void)flags;
  TRY(call_begin(&call, "cuMemExportToShareableHandle", NEED_CONTEXT));
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || thing_of(handle)->magic != THING_MAGIC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *(int *)shareable = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return *(int *)shareable >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                            CUmemAllocationHandleType type) {
  struct call call;
  TRY(call_begin(&call, "cuMemImportFromShareableHandle", NEED_CONTEXT));
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      fcntl((int)(intptr_t)shareable, F_GETFD) < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)thing_new(GRANULARITY_BYTES);
  return CUDA_SUCCESS;
}

/* What stands in a handle: who exports, and where. Memory of another process is an address without
 * bytes. */
struct exported {
  char mark[8];
  pid_t pid;
  CUdeviceptr address;
};

CUresult drv_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer) {
  struct call call;
  TRY(call_begin(&call, "cuIpcGetMemHandle", NEED_CONTEXT));
  const struct allocation *allocation = memory_containing(pointer);
  const struct exported exported = {"fakeipc", getpid(), pointer};
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &exported, sizeof exported);
  return allocation == NULL || allocation->kind != ALLOCATION_DEVICE ? CUDA_ERROR_INVALID_VALUE
                                                                     : CUDA_SUCCESS;
}

CUresult drv_cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
  struct call call;
  struct exported exported;
  TRY(call_begin(&call, "cuIpcOpenMemHandle", NEED_CONTEXT));
  memcpy(&exported, &handle, sizeof exported);
  if (strcmp(exported.mark, "fakeipc") != 0 || exported.pid == getpid() ||
      flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = (CUdeviceptr)(uintptr_t)thing_new(GRANULARITY_BYTES);
  return CUDA_SUCCESS;
}

CUresult drv_cuIpcCloseMemHandle(CUdeviceptr address) {
  return thing_drop("cuIpcCloseMemHandle", (struct thing *)(uintptr_t)address);
}
