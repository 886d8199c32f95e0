/* clock.h - the host's clock for everything that is measured: CLOCK_MONOTONIC_RAW, ns, which no
 * time daemon bends. */
#ifndef HAUL_ENGINE_BASE_CLOCK_H
#define HAUL_ENGINE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
