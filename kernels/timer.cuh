/* timer.cuh - for kernels that time themselves: clocks of the GPU, and when the blocks of a kernel
 * ran, by SM. */
#pragma once

#include "kernels/kernels.h"

/* Nanoseconds of the GPU's global timer; its step depends on the GPU. */
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

static __device__ __forceinline__ uint32_t sm_number() {
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

struct span_start {
  uint64_t cycle;
  uint64_t ns;
};

/* Called by all threads of the block: none has begun before, none ends before span_end(). */
static __device__ __forceinline__ struct span_start span_begin() {
  __syncthreads();
  struct span_start start;
  start.ns = global_timer_ns();
  start.cycle = clock_cycles();
  return start;
}

/* spans: struct sm_span of kernels.h. Blocks of one SM share a counter of cycles; those of other
 * SMs run apart, so that each SM has a row of its own. */
static __device__ __forceinline__ void span_end(uint64_t spans, struct span_start start) {
  __syncthreads();
  const uint64_t cycle = clock_cycles();
  const uint64_t ns = global_timer_ns();
  const uint32_t sm = sm_number();
  if (threadIdx.x == 0 && sm < SM_SPANS) {
    unsigned long long *span = (unsigned long long *)(spans + sm * sizeof(struct sm_span));
    atomicMin(&span[0], (unsigned long long)start.cycle);
    atomicMax(&span[1], (unsigned long long)cycle);
    atomicMin(&span[2], (unsigned long long)start.ns);
    atomicMax(&span[3], (unsigned long long)ns);
  }
}
