/* clock.h - clocks in ns. What is measured is timed by clock_now_ns(): CLOCK_MONOTONIC_RAW, which
 * no time daemon adjusts. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock) {
  struct timespec now = {0};
  (void)clock_gettime(clock, &now); /* fails only for an unknown clock */
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void) {
  return clock_read_ns(CLOCK_MONOTONIC_RAW);
}
