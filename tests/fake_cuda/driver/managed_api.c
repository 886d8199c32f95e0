/* Unified memory: where its pages shall be, and bringing them there. Locations are kept per
 * allocation, not per page. */
#include "tests/fake_cuda/driver/driver_api.h"

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
  struct call call;
  struct memory_place place;
  int32_t to;
  CUresult result = call_begin(&call, "cuMemPrefetchAsync", NEED_CONTEXT, NULL, true);
  if (result == CUDA_SUCCESS) {
    result = managed_range(pointer, size_bytes, &place);
  }
  if (result != CUDA_SUCCESS) {
    return result;
  }
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
  streams_lock();
  allocation->last_prefetch = to;
  stream_enqueue(stream, &operation);
  streams_unlock();
  return CUDA_SUCCESS;
}

CUresult drv_cuMemAdvise(CUdeviceptr pointer, size_t size_bytes, CUmem_advise advice,
                         CUdevice device) {
  struct call call;
  struct memory_place place;
  int32_t where = PLACE_ANY;
  CUresult result = call_begin(&call, "cuMemAdvise", NEED_CONTEXT, NULL, false);
  if (result == CUDA_SUCCESS) {
    result = managed_range(pointer, size_bytes, &place);
  }
  if (result != CUDA_SUCCESS) {
    return result;
  }
  struct allocation *allocation = place.allocation;
  bool known = place_of_device(device, &where);
  uint64_t bit = where >= 0 ? UINT64_C(1) << where : 0;
  streams_lock();
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
  streams_unlock();
  bool needs_device =
      advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
  return needs_device && !known ? CUDA_ERROR_INVALID_DEVICE : result;
}

CUresult drv_cuMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute which,
                                    CUdeviceptr pointer, size_t size_bytes) {
  struct call call;
  struct memory_place place;
  CUresult result = call_begin(&call, "cuMemRangeGetAttribute", NEED_CONTEXT, NULL, false);
  if (result == CUDA_SUCCESS) {
    result = managed_range(pointer, size_bytes, &place);
  }
  if (result != CUDA_SUCCESS) {
    return result;
  }
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

#if CUDA_VERSION >= 12020
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
#endif
