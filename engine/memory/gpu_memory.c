/* Memory that the driver gives to GPUs: device, pool, vmm and managed. */
#include "engine/base/units.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/memory/kinds.h"

/* Device memory: a GPU's own, cuMemAlloc. */

static enum status device_allocate(const struct memory_context *context, struct buffer *buffer,
                                   struct error *err) {
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  const char *text = units_format_size(buffer->size_bytes, UNITS_TEXT);
  CUdeviceptr device = 0;
  RETURN_ON_ERROR(cuda_check(&context->cuda->driver,
                             context->cuda->driver.cuMemAlloc(&device, buffer->size_bytes), err,
                             "cuMemAlloc of %s on GPU %d", text, (int)buffer->endpoint.index));
  buffer->device = (uint64_t)device;
  buffer->mapped_bytes = buffer->size_bytes;
  buffer->placement_verified = true; /* it is nowhere else */
  return STATUS_OK;
}

static void device_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->device != 0 &&
      cuda_session_use(context->cuda, buffer->endpoint.index, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemFree((CUdeviceptr)buffer->device);
  }
  buffer->device = 0;
}

const struct memory_ops memory_device = {
    .kind = MEMORY_DEVICE,
    .place = PLACE_GPU,
    .needs_cuda = true,
    .allocate = device_allocate,
    .release = device_release,
};

size_t gpu_memory_access(const struct memory_context *context, int32_t gpu,
                         CUmemAccessDesc access[MACHINE_GPUS_MAX]) {
  const struct machine *machine = context->machine;
  size_t count = 0;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const CUdevice device = context->cuda->gpus[i].device;
    if (device != CU_DEVICE_INVALID && ((int32_t)i == gpu || machine->links[i][gpu].peer_access)) {
      access[count++] =
          (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    }
  }
  return count;
}

/* Pool memory: the same in the order of a stream, from the pool that every device has; for other
 * processes from one that can be exported. GPUs with peer access may use it. */

static enum status pool_memory_find(const struct memory_context *context,
                                    const struct endpoint *endpoint, CUmemoryPool *pool,
                                    struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  struct cuda_gpu *gpu = &context->cuda->gpus[endpoint->index];
  CUmemoryPool *own = &gpu->pools[context->process];
  if (*own == NULL) {
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device}};
    RETURN_ON_ERROR(cuda_check(driver,
                               context->process == 0 ? driver->cuDeviceGetMemPool(own, gpu->device)
                                                     : driver->cuMemPoolCreate(own, &properties),
                               err, "getting a pool of GPU %d", (int)endpoint->index));
    CUmemAccessDesc access[MACHINE_GPUS_MAX];
    const size_t count = gpu_memory_access(context, endpoint->index, access);
    if (count > 1) {
      RETURN_ON_ERROR(cuda_check(driver, driver->cuMemPoolSetAccess(*own, access, count), err,
                                 "opening a pool of GPU %d to other GPUs", (int)endpoint->index));
    }
  }
  *pool = *own;
  return STATUS_OK;
}

static enum status pool_memory_allocate(const struct memory_context *context, struct buffer *buffer,
                                        struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  CUstream stream = context->cuda->gpus[buffer->endpoint.index].stream;
  const char *text = units_format_size(buffer->size_bytes, UNITS_TEXT);
  if (driver->cuMemAllocFromPoolAsync == NULL || driver->cuMemFreeAsync == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuMemAllocFromPoolAsync");
  }
  CUmemoryPool pool = NULL;
  CUdeviceptr device = 0;
  RETURN_ON_ERROR(pool_memory_find(context, &buffer->endpoint, &pool, err));
  RETURN_ON_ERROR(cuda_check(
      driver, driver->cuMemAllocFromPoolAsync(&device, buffer->size_bytes, pool, stream), err,
      "cuMemAllocFromPoolAsync of %s on GPU %d", text, (int)buffer->endpoint.index));
  RETURN_ON_ERROR(cuda_session_wait(context->cuda, stream, "allocating from a pool", err));
  buffer->device = (uint64_t)device;
  buffer->mapped_bytes = buffer->size_bytes;
  buffer->placement_verified = true;
  return STATUS_OK;
}

/* With nobody's threshold set, the pool gives the memory back to the GPU when the stream is waited
 * for. */
static void pool_memory_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->device != 0 &&
      cuda_session_use(context->cuda, buffer->endpoint.index, NULL) == STATUS_OK) {
    CUstream stream = context->cuda->gpus[buffer->endpoint.index].stream;
    (void)context->cuda->driver.cuMemFreeAsync((CUdeviceptr)buffer->device, stream);
    (void)context->cuda->driver.cuStreamSynchronize(stream);
  }
  buffer->device = 0;
}

const struct memory_ops memory_pool = {
    .kind = MEMORY_POOL,
    .place = PLACE_GPU,
    .needs_cuda = true,
    .allocate = pool_memory_allocate,
    .release = pool_memory_release,
};

/* Vmm memory: made without an address, and mapped at one that was reserved, in whole units of the
 * granularity that the driver recommends. GPUs with peer access may use it. A context is current.
 */

void vmm_unmap(const struct memory_context *context, struct buffer *buffer) {
  const struct cuda_driver *driver = &context->cuda->driver;
  (void)driver->cuMemUnmap((CUdeviceptr)buffer->device, buffer->mapped_bytes);
  (void)driver->cuMemAddressFree((CUdeviceptr)buffer->device, buffer->mapped_bytes);
  buffer->device = 0;
}

enum status vmm_map_handle(const struct memory_context *context, struct buffer *buffer,
                           CUmemGenericAllocationHandle handle, const CUmemAccessDesc *access,
                           size_t access_count, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const size_t bytes = buffer->mapped_bytes;
  CUdeviceptr address = 0;
  CUresult result = driver->cuMemAddressReserve(&address, bytes, 0, 0, 0);
  const bool reserved = result == CUDA_SUCCESS;
  result = reserved ? driver->cuMemMap(address, bytes, 0, handle, 0) : result;
  const bool mapped = result == CUDA_SUCCESS;
  (void)driver->cuMemRelease(handle); /* the mapping keeps the memory */
  result = mapped ? driver->cuMemSetAccess(address, bytes, access, access_count) : result;
  if (result == CUDA_SUCCESS) {
    buffer->device = (uint64_t)address;
    return STATUS_OK;
  }
  if (mapped) {
    (void)driver->cuMemUnmap(address, bytes);
  }
  if (reserved) {
    (void)driver->cuMemAddressFree(address, bytes);
  }
  return cuda_check(driver, result, err, "mapping %s of %s memory",
                    units_format_size(buffer->size_bytes, UNITS_TEXT),
                    memory_kind_text(buffer->endpoint.memory));
}

enum status vmm_map(const struct memory_context *context, struct buffer *buffer,
                    const CUmemLocation *location, const CUmemAccessDesc *access,
                    size_t access_count, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .requestedHandleTypes =
                                              buffer->endpoint.process != 0
                                                  ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                  : CU_MEM_HANDLE_TYPE_NONE,
                                          .location = *location};
  if (driver->cuMemCreate == NULL || driver->cuMemGetAllocationGranularity == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no cuMemCreate");
  }
  size_t unit = 0;
  RETURN_ON_ERROR(cuda_check(driver,
                             driver->cuMemGetAllocationGranularity(
                                 &unit, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                             err, "cuMemGetAllocationGranularity"));
  buffer->mapped_bytes = (buffer->size_bytes - 1) / unit * unit + unit;
  const char *text = units_format_size(buffer->size_bytes, UNITS_TEXT);
  CUmemGenericAllocationHandle handle = 0;
  RETURN_ON_ERROR(cuda_check(driver,
                             driver->cuMemCreate(&handle, buffer->mapped_bytes, &properties, 0),
                             err, "cuMemCreate of %s", text));
  return vmm_map_handle(context, buffer, handle, access, access_count, err);
}

static enum status vmm_allocate(const struct memory_context *context, struct buffer *buffer,
                                struct error *err) {
  const int32_t gpu = buffer->endpoint.index;
  RETURN_ON_ERROR(cuda_session_use(context->cuda, gpu, err));
  const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                              .id = context->cuda->gpus[gpu].device};
  CUmemAccessDesc access[MACHINE_GPUS_MAX];
  const size_t access_count = gpu_memory_access(context, gpu, access);
  enum status status = vmm_map(context, buffer, &here, access, access_count, err);
  buffer->placement_verified = status == STATUS_OK;
  return status;
}

static void vmm_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->device != 0 &&
      cuda_session_use(context->cuda, buffer->endpoint.index, NULL) == STATUS_OK) {
    vmm_unmap(context, buffer);
  }
}

const struct memory_ops memory_vmm = {
    .kind = MEMORY_VMM,
    .place = PLACE_GPU,
    .needs_cuda = true,
    .allocate = vmm_allocate,
    .release = vmm_release,
};

/* Managed memory: one address for all processors, and pages that move to the one that touches them.
 * A buffer belongs to a GPU, whose free memory its size is held against; method um decides where
 * its pages are. */

/* Drivers manage it in blocks of 2 MiB, and may move one as a whole: no two buffers share one. */
static const uint64_t BLOCK_BYTES = UINT64_C(2) << 20;

static enum status managed_allocate(const struct memory_context *context, struct buffer *buffer,
                                    struct error *err) {
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  const char *text = units_format_size(buffer->size_bytes, UNITS_TEXT);
  CUdeviceptr address = 0;
  const uint64_t mapped_bytes = (buffer->size_bytes - 1) / BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES;
  RETURN_ON_ERROR(cuda_check(
      &context->cuda->driver,
      context->cuda->driver.cuMemAllocManaged(&address, mapped_bytes, CU_MEM_ATTACH_GLOBAL), err,
      "cuMemAllocManaged of %s", text));
  buffer->device = (uint64_t)address;
  buffer->host = (unsigned char *)(uintptr_t)address;
  buffer->mapped_bytes = mapped_bytes;
  return STATUS_OK;
}

static void managed_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->device != 0 &&
      cuda_session_use(context->cuda, buffer->endpoint.index, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemFree((CUdeviceptr)buffer->device);
  }
  buffer->device = 0;
  buffer->host = NULL;
}

const struct memory_ops memory_managed = {
    .kind = MEMORY_MANAGED,
    .place = PLACE_GPU,
    .needs_cuda = true,
    .allocate = managed_allocate,
    .release = managed_release,
};
