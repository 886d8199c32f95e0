#include "engine/memory/kinds.h"

#include "engine/base/units.h"
#include "engine/gpu/session.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"

/* Host memory needs some context; all see it (PORTABLE). One that exists costs nothing; else that
 * of a GPU near the node. -1: no GPU. */
static int32_t gpu_for_host(const struct memory_context *context, int32_t node) {
  int32_t chosen = -1;
  int32_t chosen_rank = 0;
  for (uint32_t i = 0; i < context->machine->gpu_count; i++) {
    const struct gpu *gpu = &context->machine->gpus[i];
    int32_t rank = gpu->cuda_ordinal < 0                   ? 0
                   : context->cuda->gpus[i].stream != NULL ? 3 /* made whole */
                   : gpu->numa_node == node                ? 2
                                                           : 1;
    if (rank > chosen_rank) {
      chosen_rank = rank;
      chosen = (int32_t)i;
    }
  }
  return chosen;
}

static enum status use_some_gpu(const struct memory_context *context, int32_t node,
                                struct error *err) {
  int32_t gpu = gpu_for_host(context, node);
  if (gpu < 0) {
    return error_set(err, STATUS_UNSUPPORTED, "no GPU is visible to CUDA");
  }
  return cuda_session_use(context->cuda, gpu, err);
}

/* STATUS_OK, or the error with the buffer's kind and size in it. */
static enum status check(const struct memory_context *context, const struct buffer *buffer,
                         CUresult result, const char *call, struct error *err) {
  return cuda_check(&context->cuda->driver, result, err, "%s of %s (%s) on NUMA node %d", call,
                    units_format_size(buffer->size_bytes, UNITS_TEXT),
                    memory_kind_text(buffer->endpoint.memory), (int)buffer->endpoint.index);
}

static enum status find_device_address(const struct memory_context *context, struct buffer *buffer,
                                       struct error *err) {
  CUdeviceptr device = 0;
  enum status status = check(
      context, buffer, context->cuda->driver.cuMemHostGetDevicePointer(&device, buffer->host, 0),
      "cuMemHostGetDevicePointer", err);
  if (status == STATUS_OK) {
    buffer->device = (uint64_t)device;
  }
  return status;
}

enum status page_lock(const struct memory_context *context, struct buffer *buffer,
                      struct error *err) {
  RETURN_ON_ERROR(use_some_gpu(context, buffer->endpoint.index, err));
  RETURN_ON_ERROR(check(context, buffer,
                        context->cuda->driver.cuMemHostRegister(buffer->host, buffer->mapped_bytes,
                                                                CU_MEMHOSTREGISTER_PORTABLE |
                                                                    CU_MEMHOSTREGISTER_DEVICEMAP),
                        "cuMemHostRegister", err));
  buffer->page_locked = true;
  enum status status = find_device_address(context, buffer, err);
  if (status != STATUS_OK) {
    page_unlock(context, buffer);
  }
  return status;
}

void page_unlock(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->page_locked && use_some_gpu(context, buffer->endpoint.index, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemHostUnregister(buffer->host);
  }
  buffer->page_locked = false;
  buffer->device = 0;
}

static void page_locked_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->host != NULL && use_some_gpu(context, buffer->endpoint.index, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemFreeHost(buffer->host);
  }
  buffer->host = NULL;
  buffer->device = 0;
}

static enum status page_locked_allocate(const struct memory_context *context, struct buffer *buffer,
                                        unsigned flags, struct error *err) {
  RETURN_ON_ERROR(
      numa_check_available(context->machine, buffer->endpoint.index, buffer->size_bytes, err));
  RETURN_ON_ERROR(use_some_gpu(context, buffer->endpoint.index, err));
  /* The driver takes its pages where the calling thread runs and its policy says. */
  struct numa_binding before;
  enum status status = numa_bind_thread(context->machine, buffer->endpoint.index, &before, err);
  if (status != STATUS_OK && status != STATUS_DENIED && status != STATUS_UNSUPPORTED) {
    return status;
  }
  void *host = NULL;
  CUresult result = context->cuda->driver.cuMemHostAlloc(
      &host, buffer->size_bytes, flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  numa_restore_thread(&before);
  RETURN_ON_ERROR(check(context, buffer, result, "cuMemHostAlloc", err));
  buffer->host = host;
  buffer->mapped_bytes = buffer->size_bytes;
  status = find_device_address(context, buffer, err);
  status = THEN(status, pages_verify(context, buffer, err));
  if (status != STATUS_OK) {
    page_locked_release(context, buffer);
  }
  return status;
}

/* Pinned memory: page-locked by the driver, placed by the policy of the allocating thread. */

static enum status pinned_allocate(const struct memory_context *context, struct buffer *buffer,
                                   struct error *err) {
  return page_locked_allocate(context, buffer, 0, err);
}

const struct memory_ops memory_pinned = {
    .kind = MEMORY_PINNED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .allocate = pinned_allocate,
    .release = page_locked_release,
};

/* Write-combined memory: as pinned, but not cached by the processors: they write it fast and read
 * it slowly, and copies from it need not look into their caches. */

static enum status write_combined_allocate(const struct memory_context *context,
                                           struct buffer *buffer, struct error *err) {
  return page_locked_allocate(context, buffer, CU_MEMHOSTALLOC_WRITECOMBINED, err);
}

const struct memory_ops memory_write_combined = {
    .kind = MEMORY_WRITE_COMBINED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .allocate = write_combined_allocate,
    .release = page_locked_release,
};

/* Registered memory: pageable memory that the driver locks afterwards. */

static void registered_release(const struct memory_context *context, struct buffer *buffer) {
  page_unlock(context, buffer);
  memory_pageable.release(context, buffer);
}

static enum status registered_allocate(const struct memory_context *context, struct buffer *buffer,
                                       struct error *err) {
  RETURN_ON_ERROR(memory_pageable.allocate(context, buffer, err));
  enum status status = page_lock(context, buffer, err);
  if (status != STATUS_OK) {
    registered_release(context, buffer);
  }
  return status;
}

const struct memory_ops memory_registered = {
    .kind = MEMORY_REGISTERED,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .allocate = registered_allocate,
    .release = registered_release,
};

/* Memory of a node made by cuMemCreate: pages of 2 MiB, for that node's processors and all GPUs. */

static void host_vmm_release(const struct memory_context *context, struct buffer *buffer) {
  if (buffer->device != 0 && use_some_gpu(context, buffer->endpoint.index, NULL) == STATUS_OK) {
    vmm_unmap(context, buffer);
  }
  buffer->host = NULL;
}

static enum status host_vmm_allocate(const struct memory_context *context, struct buffer *buffer,
                                     struct error *err) {
  const CUmemLocation node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = buffer->endpoint.index};
  CUmemAccessDesc access[MACHINE_GPUS_MAX + 1] = {
      {.location = node, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  size_t count = 1;
  RETURN_ON_ERROR(
      numa_check_available(context->machine, buffer->endpoint.index, buffer->size_bytes, err));
  RETURN_ON_ERROR(use_some_gpu(context, buffer->endpoint.index, err));
  for (uint32_t i = 0; i < context->machine->gpu_count; i++) {
    if (context->cuda->gpus[i].device != CU_DEVICE_INVALID) {
      access[count++] = (CUmemAccessDesc){
          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context->cuda->gpus[i].device},
          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    }
  }
  RETURN_ON_ERROR(vmm_map(context, buffer, &node, access, count, err));
  buffer->host = (unsigned char *)(uintptr_t)buffer->device;
  enum status status = pages_verify(context, buffer, err);
  if (status != STATUS_OK) {
    host_vmm_release(context, buffer);
  }
  return status;
}

const struct memory_ops memory_host_vmm = {
    .kind = MEMORY_HOST_VMM,
    .place = PLACE_NUMA,
    .needs_cuda = true,
    .allocate = host_vmm_allocate,
    .release = host_vmm_release,
};
