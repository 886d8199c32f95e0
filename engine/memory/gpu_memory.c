/* Memory that the driver gives to GPUs: device and managed. */
#include "engine/base/units.h"
#include "engine/gpu/session.h"
#include "engine/memory/memory.h"

/* Device memory: a GPU's own, cuMemAlloc. */

static enum status device_allocate(const struct memory_context *context, struct buffer *buffer,
                                   struct error *err) {
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  char text[UNITS_TEXT_MAX];
  units_format_size(buffer->size_bytes, text);
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

/* Managed memory: one address for all processors, and pages that move to the one that touches them.
 * A buffer belongs to a GPU, whose free memory its size is held against; method um decides where
 * its pages are. */

/* Drivers manage it in blocks of 2 MiB, and may move one as a whole: no two buffers share one. */
static const uint64_t BLOCK_BYTES = UINT64_C(2) << 20;

static enum status managed_allocate(const struct memory_context *context, struct buffer *buffer,
                                    struct error *err) {
  RETURN_ON_ERROR(cuda_session_use(context->cuda, buffer->endpoint.index, err));
  char text[UNITS_TEXT_MAX];
  units_format_size(buffer->size_bytes, text);
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
