/* Device memory: a GPU's own, cuMemAlloc. */
#include "engine/base/units.h"
#include "engine/cuda/session.h"
#include "engine/memory/kinds.h"

static enum status allocate(const struct memory_context *context, struct buffer *buffer,
                            struct error *err) {
  enum status status = cuda_session_use(context->cuda, buffer->endpoint.index, err);
  if (status != STATUS_OK) {
    return status;
  }
  char text[UNITS_TEXT_MAX];
  units_format_size(buffer->size_bytes, text);
  CUdeviceptr device = 0;
  status = cuda_check(&context->cuda->driver,
                      context->cuda->driver.cuMemAlloc(&device, buffer->size_bytes), err,
                      "cuMemAlloc of %s on GPU %d", text, (int)buffer->endpoint.index);
  if (status != STATUS_OK) {
    return status;
  }
  buffer->device = (uint64_t)device;
  buffer->mapped_bytes = buffer->size_bytes;
  buffer->placement_verified = true; /* it is nowhere else */
  return STATUS_OK;
}

static void release(const struct memory_context *context, struct buffer *buffer) {
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
    .help = "a GPU's own memory, cuMemAlloc",
    .allocate = allocate,
    .release = release,
};
