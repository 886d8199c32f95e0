#include "engine/host/touch.h"

#include "kernels/pattern.h"

void touch_part(const struct touch *touch, uint32_t part, uint32_t count) {
  const uint64_t stride = touch->stride_bytes;
  const uint64_t strides_per_unit = (touch->page_bytes + stride - 1) / stride;
  const uint64_t unit = strides_per_unit * stride;
  const uint64_t units = (touch->size_bytes - 1) / unit + 1;
  const uint64_t begin = (units / count * part + units % count * part / count) * unit;
  const uint64_t next = units / count * (part + 1) + units % count * (part + 1) / count;
  const uint64_t end = part + 1 == count ? touch->size_bytes : next * unit;
  const unsigned char flip = touch->complement ? 0xff : 0;
  volatile unsigned char *bytes = touch->bytes;
  for (uint64_t offset = begin; offset < end; offset += stride) {
    bytes[offset] = (unsigned char)(pattern_byte(touch->seed, offset) ^ flip);
  }
}
