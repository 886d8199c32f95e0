/* Allocation, page-locking, unified memory. */
#include "tests/fake_cuda/driver/driver_api.h"

#include <string.h>

/* What a context itself takes of a GPU's memory. */
static const uint64_t CONTEXT_BYTES = UINT64_C(512) << 20;

static uint64_t usable_bytes(int32_t gpu) {
  const struct gpu *facts = &call_config()->machine.gpus[gpu];
  uint64_t bytes = facts->free_memory_bytes > 0 ? facts->free_memory_bytes : facts->memory_bytes;
  return bytes > CONTEXT_BYTES ? bytes - CONTEXT_BYTES : bytes;
}

CUresult drv_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  struct call call;
  CUresult result = call_begin(&call, "cuMemGetInfo", NEED_CONTEXT, NULL, false);
  if (result == CUDA_SUCCESS) {
    uint64_t usable = usable_bytes(call.context->gpu);
    uint64_t used = memory_used(call.context->gpu);
    *free_bytes = used < usable ? usable - used : 0;
    *total_bytes = call_config()->machine.gpus[call.context->gpu].memory_bytes;
  }
  return result;
}

static CUresult allocate(const char *name, enum allocation_kind kind, size_t size_bytes,
                         unsigned flags, uint64_t *address) {
  struct call call;
  CUresult result = call_begin(
      &call, name, NEED_CONTEXT,
      &(struct fault_call){.from = PLACE_ANY, .to = PLACE_ANY, .size_bytes = size_bytes}, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
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
  CUresult result = allocate("cuMemAlloc", ALLOCATION_DEVICE, size_bytes, 0, &address);
  if (result == CUDA_SUCCESS) {
    *pointer = address;
  }
  return result;
}

CUresult drv_cuMemAllocManaged(CUdeviceptr *pointer, size_t size_bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t address;
  CUresult result = allocate("cuMemAllocManaged", ALLOCATION_MANAGED, size_bytes, flags, &address);
  if (result == CUDA_SUCCESS) {
    *pointer = address;
  }
  return result;
}

CUresult drv_cuMemHostAlloc(void **pointer, size_t size_bytes, unsigned flags) {
  unsigned known =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~known) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t address;
  CUresult result = allocate("cuMemHostAlloc", ALLOCATION_PINNED, size_bytes, flags, &address);
  if (result == CUDA_SUCCESS) {
    *pointer = (void *)(uintptr_t)address;
  }
  return result;
}

/* Freeing waits for all work of the context, as the real driver does. */
static CUresult release(const char *name, uint64_t address, unsigned kinds, CUresult otherwise) {
  struct call call;
  CUresult result = call_begin(&call, name, NEED_CONTEXT, NULL, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  struct allocation *allocation = memory_at(address);
  if (allocation == NULL || (kinds & 1u << allocation->kind) == 0) {
    return otherwise;
  }
  streams_lock();
  streams_wait_allocation(call.context, allocation);
  memory_release(allocation);
  streams_unlock();
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
  CUresult result = call_begin(
      &call, "cuMemHostRegister", NEED_CONTEXT,
      &(struct fault_call){.from = PLACE_ANY, .to = PLACE_ANY, .size_bytes = size_bytes}, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
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

CUresult drv_cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned flags) {
  struct call call;
  CUresult result = call_begin(&call, "cuMemHostGetDevicePointer", NEED_CONTEXT, NULL, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  struct allocation *allocation = memory_containing((uint64_t)(uintptr_t)host);
  if (flags != 0 || allocation == NULL || allocation->kind == ALLOCATION_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pointer = (CUdeviceptr)(uintptr_t)host;
  return CUDA_SUCCESS;
}

CUresult drv_cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr pointer) {
  struct call call;
  CUresult result = call_begin(&call, "cuPointerGetAttribute", NEED_CONTEXT, NULL, false);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  struct allocation *allocation = memory_containing(pointer);
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
