/* timer.cuh - clocks of the GPU, for kernels that time themselves. */
#ifndef HAUL_KERNELS_TIMER_CUH
#define HAUL_KERNELS_TIMER_CUH

#include <stdint.h>

/* Nanoseconds of the GPU's global timer; its step is 32 ns on Hopper, up to 1 us elsewhere. */
static __device__ __forceinline__ uint64_t global_timer_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/* Cycles of this SM. */
static __device__ __forceinline__ uint64_t clock_cycles() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

#endif
