/* Memory in the order of a stream, pools, memory without addresses, handles for other processes.
 * Simpler than real: all of a stream's memory is given and taken at once; addresses that are
 * reserved are device memory from the start, which memory of a node makes pinned; and what is
 * mapped into them is only counted, but for memory that other processes share: the bytes of that
 * are in a file without a name, its memory. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t GRANULARITY_BYTES = (size_t)2 << 20;

/* A pool, or memory without addresses. */
struct thing {
  uint64_t magic;
  size_t size_bytes;
  bool host; /* memory of a node */
  int file;  /* of what other processes share; -1 = they cannot */
  bool lent; /* by another process */
};
enum { THING_MAGIC = 0x7468696e };

static struct thing *thing_new(size_t size_bytes) {
  struct thing *thing = calloc(1, sizeof *thing);
  if (thing == NULL) {
    abort();
  }
  *thing = (struct thing){.magic = THING_MAGIC, .size_bytes = size_bytes, .file = -1};
  return thing;
}

static CUresult thing_drop(const char *name, struct thing *thing) {
  BEGIN_CALL(name, NEED_CONTEXT);
  if (thing == NULL || thing->magic != THING_MAGIC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  thing->magic = 0;
  if (thing->file >= 0) {
    (void)close(thing->file);
  }
  free(thing);
  return CUDA_SUCCESS;
}

/* ---- in the order of a stream ---- */

static CUresult allocate_on(const char *name, CUdeviceptr *pointer, size_t size_bytes,
                            CUstream handle) {
  BEGIN_CALL(name, NEED_CONTEXT);
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
  BEGIN_CALL("cuMemFreeAsync", NEED_CONTEXT);
  return stream_of_handle(&call, handle) == NULL ? CUDA_ERROR_INVALID_HANDLE
                                                 : drv_cuMemFree_v2(pointer);
}

CUresult drv_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  BEGIN_CALL("cuMemPoolCreate", NEED_CONTEXT);
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct thing *thing = thing_new(0);
  if ((properties->handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    thing->file = memfd_create("fake-pool", MFD_CLOEXEC);
  }
  *pool = (CUmemoryPool)(void *)thing;
  return CUDA_SUCCESS;
}

/* One for all devices: where memory comes from depends on the context. */
CUresult drv_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  static struct thing own = {.magic = THING_MAGIC, .file = -1};
  BEGIN_CALL("cuDeviceGetMemPool", NEED_INIT);
  *pool = (CUmemoryPool)(void *)&own;
  return context_of_device(device) == NULL ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult drv_cuMemPoolDestroy(CUmemoryPool pool) {
  return thing_drop("cuMemPoolDestroy", (struct thing *)(void *)pool);
}

CUresult drv_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  BEGIN_CALL("cuMemPoolSetAttribute", NEED_CONTEXT);
  return pool == NULL || attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || value == NULL
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

/* ---- addresses and memory apart ---- */

CUresult drv_cuMemGetAllocationGranularity(size_t *size_bytes,
                                           const CUmemAllocationProp *properties,
                                           CUmemAllocationGranularity_flags which) {
  BEGIN_CALL("cuMemGetAllocationGranularity", NEED_INIT);
  *size_bytes = GRANULARITY_BYTES;
  return properties->type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemAddressReserve(CUdeviceptr *pointer, size_t size_bytes, size_t alignment,
                                 CUdeviceptr wanted, unsigned long long flags) {
  BEGIN_CALL("cuMemAddressReserve", NEED_CONTEXT);
  return size_bytes % GRANULARITY_BYTES != 0 ? CUDA_ERROR_INVALID_VALUE
                                             : drv_cuMemAlloc_v2(pointer, size_bytes);
}

CUresult drv_cuMemAddressFree(CUdeviceptr pointer, size_t size_bytes) {
  BEGIN_CALL("cuMemAddressFree", NEED_CONTEXT);
  const struct allocation *allocation = memory_at(pointer);
  if (allocation == NULL || allocation->size_bytes != size_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return allocation->kind == ALLOCATION_PINNED ? drv_cuMemFreeHost((void *)(uintptr_t)pointer)
                                               : drv_cuMemFree_v2(pointer);
}

CUresult drv_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size_bytes,
                         const CUmemAllocationProp *properties, unsigned long long flags) {
  BEGIN_CALL("cuMemCreate", NEED_CONTEXT);
  if (size_bytes == 0 || size_bytes % GRANULARITY_BYTES != 0 ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct thing *thing = thing_new(size_bytes);
  thing->host = properties->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  if (properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    thing->file =
        memory_file(config_gpu_of_ordinal(call_config(), properties->location.id), size_bytes);
  }
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
  BEGIN_CALL(name, NEED_CONTEXT);
  const struct allocation *allocation = memory_containing(pointer);
  return allocation == NULL || pointer + size_bytes > allocation->base + allocation->size_bytes
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult drv_cuMemMap(CUdeviceptr pointer, size_t size_bytes, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
  TRY(at_reserved("cuMemMap", pointer, size_bytes));
  const struct thing *thing = thing_of(handle);
  if (thing->magic != THING_MAGIC || offset + size_bytes > thing->size_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (thing->host) {
    memory_make_pinned(memory_containing(pointer));
  } else if (thing->file >= 0 &&
             !memory_map_file(memory_containing(pointer), size_bytes, thing->file, thing->lent)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
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

/* Whose memory it is, by its address, or by the file that it was mapped from. */
CUresult drv_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
  BEGIN_CALL("cuMemRetainAllocationHandle", NEED_CONTEXT);
  struct allocation *allocation = memory_containing((uint64_t)(uintptr_t)address);
  if (allocation == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct thing *thing = thing_new(allocation->size_bytes);
  thing->file = allocation->backed ? fcntl(allocation->file, F_DUPFD_CLOEXEC, 0) : -1;
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)thing;
  return CUDA_SUCCESS;
}

static CUresult export_file(int *file, const struct thing *thing, CUmemAllocationHandleType type) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || thing->magic != THING_MAGIC ||
      thing->file < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *file = fcntl(thing->file, F_DUPFD_CLOEXEC, 0);
  return *file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  BEGIN_CALL("cuMemExportToShareableHandle", NEED_CONTEXT);
  return export_file(shareable, thing_of(handle), type);
}

static CUresult import_file(struct thing **thing, void *shareable, CUmemAllocationHandleType type) {
  struct stat facts;
  const int file = (int)(intptr_t)shareable;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(file, &facts) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *thing = thing_new((size_t)facts.st_size);
  (*thing)->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
  (*thing)->lent = true;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                            CUmemAllocationHandleType type) {
  struct thing *thing = NULL;
  BEGIN_CALL("cuMemImportFromShareableHandle", NEED_CONTEXT);
  TRY(import_file(&thing, shareable, type));
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)thing;
  return memory_gpu_of_file(thing->file) >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What stands in a handle: who exports, and which file. */
struct exported {
  char mark[8];
  pid_t pid;
  int32_t file;
  uint64_t size_bytes;
  uint64_t offset;
};

static CUresult export_address(const char *mark, CUdeviceptr pointer, void *handle,
                               size_t handle_bytes) {
  struct allocation *allocation = memory_containing(pointer);
  memset(handle, 0, handle_bytes);
  if (allocation == NULL || allocation->kind != ALLOCATION_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct exported exported = {.pid = getpid(),
                              .file = memory_export(allocation),
                              .size_bytes = allocation->size_bytes,
                              .offset = pointer - allocation->base};
  memcpy(exported.mark, mark, sizeof exported.mark);
  memcpy(handle, &exported, sizeof exported);
  return exported.file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The exporting process is there, as long as its memory. */
static CUresult import_address(const char *mark, const void *handle, CUdeviceptr *address) {
  struct exported exported;
  char path[64];
  memcpy(&exported, handle, sizeof exported);
  if (memcmp(exported.mark, mark, sizeof exported.mark) != 0 || exported.pid == getpid()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)exported.pid, (int)exported.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  const int32_t gpu = file >= 0 ? memory_gpu_of_file(file) : -1;
  struct allocation *allocation = gpu >= 0 ? memory_import(gpu, exported.size_bytes, file) : NULL;
  if (file >= 0) {
    (void)close(file);
  }
  if (allocation == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = allocation->base + exported.offset;
  return CUDA_SUCCESS;
}

static const char IPC_MARK[8] = "fakeipc";
static const char POOL_MARK[8] = "fakepol";

CUresult drv_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer) {
  BEGIN_CALL("cuIpcGetMemHandle", NEED_CONTEXT);
  return export_address(IPC_MARK, pointer, handle, sizeof *handle);
}

CUresult drv_cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
  BEGIN_CALL("cuIpcOpenMemHandle", NEED_CONTEXT);
  TRY(flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ? CUDA_ERROR_INVALID_VALUE
                                                  : import_address(IPC_MARK, &handle, address));
  struct allocation *allocation = memory_containing(*address);
  allocation->for_one = true;
  allocation->user = call.context->gpu;
  return CUDA_SUCCESS;
}

CUresult drv_cuIpcCloseMemHandle(CUdeviceptr address) {
  BEGIN_CALL("cuIpcCloseMemHandle", NEED_CONTEXT);
  const struct allocation *allocation = memory_containing(address);
  return allocation == NULL || !allocation->lent ? CUDA_ERROR_INVALID_VALUE
                                                 : drv_cuMemFree_v2(allocation->base);
}

/* ---- pools of other processes: the pool itself is but a file, memory goes by its address ---- */

/* Before any is, no pointer can be. */
static atomic_bool a_pool_is_exported;

CUresult drv_cuMemPoolExportToShareableHandle(void *shareable, CUmemoryPool pool,
                                              CUmemAllocationHandleType type,
                                              unsigned long long flags) {
  BEGIN_CALL("cuMemPoolExportToShareableHandle", NEED_CONTEXT);
  TRY(pool == NULL || flags != 0
          ? CUDA_ERROR_INVALID_VALUE
          : export_file(shareable, (const struct thing *)(const void *)pool, type));
  atomic_store(&a_pool_is_exported, true);
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *shareable,
                                                CUmemAllocationHandleType type,
                                                unsigned long long flags) {
  struct thing *thing = NULL;
  BEGIN_CALL("cuMemPoolImportFromShareableHandle", NEED_CONTEXT);
  TRY(flags != 0 ? CUDA_ERROR_INVALID_VALUE : import_file(&thing, shareable, type));
  *pool = (CUmemoryPool)(void *)thing;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
  BEGIN_CALL("cuMemPoolSetAccess", NEED_CONTEXT);
  return pool == NULL || count == 0 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult drv_cuMemPoolExportPointer(CUmemPoolPtrExportData *exported, CUdeviceptr pointer) {
  BEGIN_CALL("cuMemPoolExportPointer", NEED_CONTEXT);
  return atomic_load(&a_pool_is_exported)
             ? export_address(POOL_MARK, pointer, exported, sizeof *exported)
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool,
                                    CUmemPoolPtrExportData *exported) {
  BEGIN_CALL("cuMemPoolImportPointer", NEED_CONTEXT);
  return pool == NULL ? CUDA_ERROR_INVALID_VALUE : import_address(POOL_MARK, exported, address);
}
