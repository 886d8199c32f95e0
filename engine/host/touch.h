/* touch.h - host threads that bring pages of memory to themselves: one byte a stride is written,
 * what the pattern has there (kernels/pattern.h), so that a page left out shows. The same as kernel
 * haul_touch. */
#ifndef HAUL_ENGINE_HOST_TOUCH_H
#define HAUL_ENGINE_HOST_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

struct touch {
  unsigned char *bytes;
  uint64_t size_bytes;
  uint64_t stride_bytes; /* at least 1 */
  uint64_t page_bytes;
  uint64_t seed;
  bool complement; /* poison instead */
};

/* The part of one of `count` threads; no two threads touch one page, where the stride divides the
 * page or the page the stride. */
void touch_part(const struct touch *touch, uint32_t part, uint32_t count);

#endif
