#include "engine/memory/share.h"

#include "engine/gpu/session.h"
#include "engine/memory/kinds.h"

#include <string.h>
#include <unistd.h>

enum { POSIX_FD = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR };

static CUstream share_stream(const struct memory_context *context, const struct buffer *buffer) {
  return context->cuda->gpus[buffer->endpoint.index].stream;
}

const char *share_unsupported_reason(const struct memory_context *context,
                                     const struct endpoint *endpoint,
                                     char reason[CASE_REASON_MAX]) {
  if (endpoint->place != PLACE_GPU) {
    return NULL;
  }
  const struct cuda_driver *driver = &context->cuda->driver;
  const CUdevice device = context->cuda->gpus[endpoint->index].device;
  const char *lacks = NULL;
  int has = 0;
  switch (endpoint->share) {
  case SHARE_IPC:
    lacks = driver->cuIpcGetMemHandle == NULL ? "cuIpcGetMemHandle" : NULL;
    break;
  case SHARE_FD:
    lacks = driver->cuMemRetainAllocationHandle == NULL ? "cuMemRetainAllocationHandle" : NULL;
    if (lacks == NULL && (driver->cuDeviceGetAttribute(
                              &has, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                              device) != CUDA_SUCCESS ||
                          has == 0)) {
      return "the driver exports no memory of this GPU as a file descriptor";
    }
    break;
  case SHARE_POOL:
    lacks = driver->cuMemPoolExportPointer == NULL ? "cuMemPoolExportPointer" : NULL;
    if (lacks == NULL &&
        (driver->cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
                                      device) != CUDA_SUCCESS ||
         (has & POSIX_FD) == 0)) {
      return "the driver exports no pool of this GPU as a file descriptor";
    }
    break;
  case SHARE_MEMFD:
  case SHARE_SHM:
  case share_name_count:
    break;
  }
  if (lacks != NULL) {
    return CASE_REASON(reason, "the driver has no %s", lacks);
  }
  return NULL;
}

/* ---- export ---- */

static enum status share_export_vmm(const struct cuda_driver *driver, const struct buffer *buffer,
                                    struct share_handle *handle, struct error *err) {
  CUmemGenericAllocationHandle memory = 0;
  RETURN_ON_ERROR(cuda_check(
      driver, driver->cuMemRetainAllocationHandle(&memory, (void *)(uintptr_t)buffer->device), err,
      "cuMemRetainAllocationHandle"));
  enum status status =
      cuda_check(driver, driver->cuMemExportToShareableHandle(&handle->file, memory, POSIX_FD, 0),
                 err, "cuMemExportToShareableHandle");
  (void)driver->cuMemRelease(memory);
  handle->has_file = status == STATUS_OK;
  return status;
}

static enum status share_export_pool(const struct memory_context *context,
                                     const struct buffer *buffer, struct share_handle *handle,
                                     struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  CUmemoryPool pool = context->cuda->gpus[buffer->endpoint.index].pools[context->process];
  /* A pointer can be exported once its pool was. */
  RETURN_ON_ERROR(
      cuda_check(driver, driver->cuMemPoolExportToShareableHandle(&handle->file, pool, POSIX_FD, 0),
                 err, "cuMemPoolExportToShareableHandle"));
  CUmemPoolPtrExportData pointer;
  enum status status =
      cuda_check(driver, driver->cuMemPoolExportPointer(&pointer, (CUdeviceptr)buffer->device), err,
                 "cuMemPoolExportPointer");
  handle->has_file = status == STATUS_OK;
  if (status == STATUS_OK) {
    memcpy(handle->bytes, &pointer, sizeof handle->bytes);
  } else {
    (void)close(handle->file);
  }
  return status;
}

enum status share_export(const struct memory_context *context, struct buffer *buffer,
                         struct share_handle *handle, struct error *err) {
  _Static_assert(sizeof(CUipcMemHandle) == sizeof handle->bytes, "a handle fits");
  _Static_assert(sizeof(CUmemPoolPtrExportData) == sizeof handle->bytes, "a pointer fits");
  *handle = (struct share_handle){.mapped_bytes = buffer->mapped_bytes};
  if (buffer->endpoint.place != PLACE_GPU) {
    handle->file = buffer->file;
    handle->has_file = buffer->has_file;
    buffer->has_file = false;
    return handle->has_file ? STATUS_OK
                            : error_set(err, STATUS_INVALID, "this memory was exported before");
  }
  const struct cuda_driver *driver = &context->cuda->driver;
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  if (buffer->endpoint.share == SHARE_FD) {
    return share_export_vmm(driver, buffer, handle, err);
  }
  if (buffer->endpoint.share == SHARE_POOL) {
    return share_export_pool(context, buffer, handle, err);
  }
  CUipcMemHandle ipc;
  RETURN_ON_ERROR(cuda_check(driver, driver->cuIpcGetMemHandle(&ipc, (CUdeviceptr)buffer->device),
                             err, "cuIpcGetMemHandle"));
  memcpy(handle->bytes, &ipc, sizeof handle->bytes);
  return STATUS_OK;
}

/* ---- open ---- */

/* In the context of the GPU that copies: from another one its kernels fault, and its copy engines
 * write more slowly (1.3 % between two H100, driver 580). */
static enum status share_open_ipc(const struct memory_context *context,
                                  const struct share_handle *handle, struct buffer *buffer,
                                  struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  RETURN_ON_ERROR(
      cuda_session_set_peer(context->cuda, buffer->user, buffer->endpoint.index, true, err));
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->user, err));
  CUipcMemHandle ipc;
  CUdeviceptr address = 0;
  memcpy(&ipc, handle->bytes, sizeof ipc);
  enum status status = cuda_check(
      driver, driver->cuIpcOpenMemHandle(&address, ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), err,
      "cuIpcOpenMemHandle");
  buffer->device = (uint64_t)address;
  return status;
}

static enum status share_open_vmm(const struct memory_context *context,
                                  const struct share_handle *handle, struct buffer *buffer,
                                  struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  CUmemAccessDesc access[MACHINE_GPUS_MAX];
  const size_t access_count = gpu_memory_access(context, buffer->endpoint.index, access);
  CUmemGenericAllocationHandle memory = 0;
  RETURN_ON_ERROR(cuda_check(
      driver,
      driver->cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)handle->file, POSIX_FD),
      err, "cuMemImportFromShareableHandle"));
  return vmm_map_handle(context, buffer, memory, access, access_count, err);
}

/* The pool itself is opened once: all that its process has in it are pointers. */
static enum status share_open_pool(const struct memory_context *context,
                                   const struct share_handle *handle, struct buffer *buffer,
                                   struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const int32_t gpu = buffer->endpoint.index;
  CUmemoryPool *pool = &context->cuda->gpus[gpu].pools[buffer->endpoint.process];
  if (*pool == NULL) {
    CUmemAccessDesc access[MACHINE_GPUS_MAX];
    const size_t access_count = gpu_memory_access(context, gpu, access);
    RETURN_ON_ERROR(cuda_check(driver,
                               driver->cuMemPoolImportFromShareableHandle(
                                   pool, (void *)(intptr_t)handle->file, POSIX_FD, 0),
                               err, "cuMemPoolImportFromShareableHandle"));
    RETURN_ON_ERROR(cuda_check(driver, driver->cuMemPoolSetAccess(*pool, access, access_count), err,
                               "cuMemPoolSetAccess"));
  }
  CUmemPoolPtrExportData pointer;
  CUdeviceptr address = 0;
  memcpy(&pointer, handle->bytes, sizeof pointer);
  enum status status = cuda_check(driver, driver->cuMemPoolImportPointer(&address, *pool, &pointer),
                                  err, "cuMemPoolImportPointer");
  buffer->device = (uint64_t)address;
  return status;
}

static enum status share_open_file(const struct memory_context *context,
                                   const struct share_handle *handle, struct buffer *buffer,
                                   struct error *err) {
  buffer->file = handle->file;
  enum status status = shared_map(buffer, err);
  status = THEN(status, shared_lock(context, buffer, err));
  if (status != STATUS_OK) {
    shared_unmap(context, buffer);
  }
  return status;
}

enum status share_open(const struct memory_context *context, const struct share_handle *handle,
                       struct buffer *buffer, struct error *err) {
  if (buffer->endpoint.place != PLACE_GPU) {
    return share_open_file(context, handle, buffer, err);
  }
  buffer->mapped_bytes = handle->mapped_bytes;
  buffer->placement_verified = true; /* it is nowhere else */
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  switch (buffer->endpoint.share) {
  case SHARE_IPC:
    return share_open_ipc(context, handle, buffer, err);
  case SHARE_FD:
    return share_open_vmm(context, handle, buffer, err);
  case SHARE_POOL:
    return share_open_pool(context, handle, buffer, err);
  case SHARE_MEMFD:
  case SHARE_SHM:
  case share_name_count:
    break;
  }
  return error_set(err, STATUS_INVALID, "memory of a GPU is no file");
}

void share_close(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->endpoint.place != PLACE_GPU) {
    shared_unmap(context, buffer);
    return;
  }
  const int32_t gpu = buffer->endpoint.share == SHARE_IPC ? buffer->user : buffer->endpoint.index;
  if (buffer->device == 0 || cuda_session_use(context->cuda, gpu, NULL) != STATUS_OK) {
    return;
  }
  const struct cuda_driver *driver = &context->cuda->driver;
  switch (buffer->endpoint.share) {
  case SHARE_IPC:
    (void)driver->cuIpcCloseMemHandle((CUdeviceptr)buffer->device);
    break;
  case SHARE_FD:
    vmm_unmap(context, buffer);
    break;
  case SHARE_POOL:
    (void)driver->cuMemFreeAsync((CUdeviceptr)buffer->device, share_stream(context, buffer));
    (void)driver->cuStreamSynchronize(share_stream(context, buffer));
    break;
  case SHARE_MEMFD:
  case SHARE_SHM:
  case share_name_count:
    break;
  }
  buffer->device = 0;
}
