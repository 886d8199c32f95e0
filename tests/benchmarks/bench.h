/* bench.h - the clock of the benchmarks. */
#ifndef HAUL_TESTS_BENCHMARKS_BENCH_H
#define HAUL_TESTS_BENCHMARKS_BENCH_H

#include <time.h>

static inline double bench_clock_s(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_now_s(void) {
  return bench_clock_s(CLOCK_MONOTONIC_RAW);
}

#endif
