/* Allocation, page-locking, unified memory. Locations of unified memory are kept per allocation,
 * not per page. */
#include "tests/fake_cuda/driver/driver_api.h"

/* What a context itself takes of a GPU's memory. */
static const uint64_t CONTEXT_BYTES = UINT64_C(512) << 20;

static uint64_t usable_bytes(int32_t gpu) {
  const struct gpu *facts = &call_config()->machine.gpus[gpu];
  uint64_t bytes = facts->free_memory_bytes > 0 ? facts->free_memory_bytes : facts->memory_bytes;
  return bytes > CONTEXT_BYTES ? bytes - CONTEXT_BYTES : bytes;
}

CUresult drv_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  BEGIN_CALL("cuMemGetInfo", NEED_CONTEXT);
  uint64_t usable = usable_bytes(call.context->gpu);
  uint64_t used = memory_used(call.context->gpu);
  *free_bytes = used < usable ? usable - used : 0;
  *total_bytes = call_config()->machine.gpus[call.context->gpu].memory_bytes;
  return CUDA_SUCCESS;
}

static CUresult begin_allocation(struct call *call, const char *name, size_t size_bytes) {
  const struct fault_call about = {.from = PLACE_ANY, .to = PLACE_ANY, .size_bytes = size_bytes};
  return call_begin_with(call, name, &about, false);
}

static CUresult allocate(const char *name, enum allocation_kind kind, size_t size_bytes,
                         unsigned flags, uint64_t *address) {
  struct call call;
  TRY(begin_allocation(&call, name, size_bytes));
  if (size_bytes == 0 || address == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct allocation *allocation =
      memory_allocate(kind, call.context->gpu, size_bytes, flags, usable_bytes(call.context->gpu));
  if (allocation == NULL) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *address = allocation->base;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemAlloc_v2(CUdeviceptr *pointer, size_t size_bytes) {
  uint64_t address;
  TRY(allocate("cuMemAlloc", ALLOCATION_DEVICE, size_bytes, 0, &address));
  *pointer = address;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemAllocManaged(CUdeviceptr *pointer, size_t size_bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t address;
  TRY(allocate("cuMemAllocManaged", ALLOCATION_MANAGED, size_bytes, flags, &address));
  *pointer = address;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemHostAlloc(void **pointer, size_t size_bytes, unsigned flags) {
  unsigned known =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~known) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t address;
  TRY(allocate("cuMemHostAlloc", ALLOCATION_PINNED, size_bytes, flags, &address));
  *pointer = (void *)(uintptr_t)address;
  return CUDA_SUCCESS;
}

/* Freeing waits for all work of the context, as the real driver does. */
static CUresult release(const char *name, uint64_t address, unsigned kinds, CUresult otherwise) {
  BEGIN_CALL(name, NEED_CONTEXT);
  struct allocation *allocation = memory_at(address);
  if (allocation == NULL || (kinds & 1u << allocation->kind) == 0) {
    return otherwise;
  }
  STREAMS_LOCKED();
  streams_wait_allocation(call.context, allocation);
  memory_release(allocation);
  return (CUresult)atomic_load(&call.context->error);
}

CUresult drv_cuMemFree_v2(CUdeviceptr pointer) {
  if (pointer == 0) {
    return CUDA_SUCCESS;
  }
  return release("cuMemFree", pointer, 1u << ALLOCATION_DEVICE | 1u << ALLOCATION_MANAGED,
                 CUDA_ERROR_INVALID_VALUE);
}

CUresult drv_cuMemFreeHost(void *pointer) {
  return release("cuMemFreeHost", (uint64_t)(uintptr_t)pointer, 1u << ALLOCATION_PINNED,
                 CUDA_ERROR_INVALID_VALUE);
}

CUresult drv_cuMemHostRegister_v2(void *pointer, size_t size_bytes, unsigned flags) {
  struct call call;
  TRY(begin_allocation(&call, "cuMemHostRegister", size_bytes));
  if (pointer == NULL || size_bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!call_config()->machine.gpus[call.context->gpu].host_register_supported) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  struct allocation *allocation;
  return memory_register(pointer, size_bytes, call.context->gpu, flags, &allocation)
             ? CUDA_SUCCESS
             : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult drv_cuMemHostUnregister(void *pointer) {
  return release("cuMemHostUnregister", (uint64_t)(uintptr_t)pointer, 1u << ALLOCATION_REGISTERED,
                 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult drv_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size_bytes, CUdeviceptr pointer) {
  BEGIN_CALL("cuMemGetAddressRange", NEED_CONTEXT);
  const struct allocation *allocation = memory_containing(pointer);
  if (allocation == NULL) {
    return CUDA_ERROR_NOT_FOUND;
  }
  *base = allocation->base;
  *size_bytes = allocation->size_bytes;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned flags) {
  BEGIN_CALL("cuMemHostGetDevicePointer", NEED_CONTEXT);
  struct allocation *allocation = memory_containing((uint64_t)(uintptr_t)host);
  if (flags != 0 || allocation == NULL || allocation->kind == ALLOCATION_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pointer = (CUdeviceptr)(uintptr_t)host;
  return CUDA_SUCCESS;
}

static CUresult attribute_of(void *data, CUpointer_attribute which, CUdeviceptr pointer) {
  const struct allocation *allocation = memory_containing(pointer);
  if (data == NULL || allocation == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool device = allocation->kind == ALLOCATION_DEVICE || allocation->kind == ALLOCATION_MANAGED;
  switch ((int)which) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)data = device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *(CUdeviceptr *)data = pointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (allocation->kind == ALLOCATION_DEVICE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *(void **)data = (void *)(uintptr_t)pointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *(bool *)data = allocation->kind == ALLOCATION_MANAGED;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *(int *)data = call_config()->machine.gpus[allocation->gpu].cuda_ordinal;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *(CUdeviceptr *)data = allocation->base;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    *(unsigned long long *)data = allocation->base;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *(size_t *)data = allocation->size_bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)data = (CUcontext)(void *)context_of_device(
        call_config()->machine.gpus[allocation->gpu].cuda_ordinal);
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult drv_cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr pointer) {
  BEGIN_CALL("cuPointerGetAttribute", NEED_CONTEXT);
  return attribute_of(data, which, pointer);
}

/* What the memory has no answer to becomes 0, as in the real driver. */
CUresult drv_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                    CUdeviceptr pointer) {
  BEGIN_CALL("cuPointerGetAttributes", NEED_CONTEXT);
  for (unsigned i = 0; i < count; i++) {
    if (attribute_of(data[i], attributes[i], pointer) != CUDA_SUCCESS) {
      *(int *)data[i] = 0;
    }
  }
  return CUDA_SUCCESS;
}

/* false: no such place. */
static bool place_of_device(CUdevice device, int32_t *place) {
  if (device == CU_DEVICE_CPU) {
    *place = PLACE_HOST;
    return true;
  }
  *place = config_gpu_of_ordinal(call_config(), device);
  return *place >= 0;
}

static int device_of_place(int32_t place) {
  switch (place) {
  case PLACE_HOST:
    return CU_DEVICE_CPU;
  case PLACE_ANY:
    return CU_DEVICE_INVALID;
  default:
    return call_config()->machine.gpus[place].cuda_ordinal;
  }
}

static CUresult managed_range(uint64_t address, size_t size_bytes, struct memory_place *place) {
  if (!memory_locate(address, size_bytes, place) || place->allocation == NULL ||
      place->allocation->kind != ALLOCATION_MANAGED || size_bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPrefetchAsync(CUdeviceptr pointer, size_t size_bytes, CUdevice device,
                                CUstream handle) {
  struct memory_place place;
  int32_t to;
  BEGIN_CALL_WITH("cuMemPrefetchAsync", NULL, true);
  TRY(managed_range(pointer, size_bytes, &place));
  struct stream *stream = stream_of_handle(&call, handle);
  if (stream == NULL) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!place_of_device(device, &to)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  struct allocation *allocation = place.allocation;
  /* Whether the host has touched pages since is not known: all of them come from elsewhere. */
  int32_t from = place.place != to ? place.place : PLACE_HOST;
  struct operation operation = {.kind = OPERATION_PREFETCH,
                                .fault = call.fault,
                                .touches = {allocation},
                                .work = work_new(size_bytes),
                                .takes_engine = true,
                                .prefetch = {allocation, to}};
  struct transfer transfer = {.from = from, .to = to, .bytes = size_bytes};
  links_add_transfer(streams_links(), &operation.work, &transfer);
  STREAMS_LOCKED();
  allocation->last_prefetch = to;
  stream_enqueue(stream, &operation);
  return CUDA_SUCCESS;
}

CUresult drv_cuMemAdvise(CUdeviceptr pointer, size_t size_bytes, CUmem_advise advice,
                         CUdevice device) {
  struct memory_place place;
  int32_t where = PLACE_ANY;
  CUresult result = CUDA_SUCCESS;
  BEGIN_CALL("cuMemAdvise", NEED_CONTEXT);
  TRY(managed_range(pointer, size_bytes, &place));
  struct allocation *allocation = place.allocation;
  bool known = place_of_device(device, &where);
  uint64_t bit = where >= 0 ? UINT64_C(1) << where : 0;
  STREAMS_LOCKED();
  switch ((int)advice) {
  case CU_MEM_ADVISE_SET_READ_MOSTLY:
  case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
    allocation->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
    break;
  case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
    if (known) {
      allocation->preferred_location = where;
    }
    break;
  case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
    allocation->preferred_location = PLACE_ANY;
    known = true;
    break;
  case CU_MEM_ADVISE_SET_ACCESSED_BY:
    allocation->accessed_by |= bit;
    break;
  case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
    allocation->accessed_by &= ~bit;
    break;
  default:
    result = CUDA_ERROR_INVALID_VALUE;
  }
  bool needs_device =
      advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
  return needs_device && !known ? CUDA_ERROR_INVALID_DEVICE : result;
}

CUresult drv_cuMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute which,
                                    CUdeviceptr pointer, size_t size_bytes) {
  struct memory_place place;
  BEGIN_CALL("cuMemRangeGetAttribute", NEED_CONTEXT);
  TRY(managed_range(pointer, size_bytes, &place));
  if (data == NULL || data_bytes < sizeof(int)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  int *values = data;
  switch ((int)which) {
  case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
    *values = place.allocation->read_mostly;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    *values = device_of_place(place.allocation->preferred_location);
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    *values = device_of_place(place.allocation->last_prefetch);
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
    size_t count = 0;
    for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX && count < data_bytes / sizeof(int); gpu++) {
      if ((place.allocation->accessed_by >> gpu & 1) != 0) {
        values[count++] = device_of_place(gpu);
      }
    }
    while (count < data_bytes / sizeof(int)) {
      values[count++] = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
  }
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

/* The older functions know GPUs and the host as a whole; so does this driver. */
static bool device_of_location(CUmemLocation location, CUdevice *device) {
  switch ((int)location.type) {
  case CU_MEM_LOCATION_TYPE_DEVICE:
    *device = location.id;
    return true;
  case CU_MEM_LOCATION_TYPE_HOST:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
    *device = CU_DEVICE_CPU;
    return true;
  default:
    return false;
  }
}

CUresult drv_cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t size_bytes, CUmemLocation location,
                                   unsigned flags, CUstream stream) {
  CUdevice device;
  if (flags != 0 || !device_of_location(location, &device)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return drv_cuMemPrefetchAsync(pointer, size_bytes, device, stream);
}

CUresult drv_cuMemAdvise_v2(CUdeviceptr pointer, size_t size_bytes, CUmem_advise advice,
                            CUmemLocation location) {
  CUdevice device = CU_DEVICE_CPU;
  bool ignored = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ||
                 advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY ||
                 advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  if (!device_of_location(location, &device) && !ignored) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return drv_cuMemAdvise(pointer, size_bytes, advice, device);
}
