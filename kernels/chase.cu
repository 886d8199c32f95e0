/* Pointer chase: the latency of one dependent load, launch excluded. */
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

static __device__ __forceinline__ uint64_t load_relaxed(uint64_t address) {
  uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

extern "C" __global__ void haul_chase(const struct chase_arguments arguments) {
  uint64_t address = arguments.start;
  const uint64_t start_ns = global_timer_ns();
  const uint64_t start_cycles = clock_cycles();
#pragma unroll 16
  for (uint64_t i = 0; i < arguments.hops; i++) {
    address = load_relaxed(address);
  }
  const uint64_t end_cycles = clock_cycles();
  const uint64_t end_ns = global_timer_ns();
  struct chase_result *result = (struct chase_result *)arguments.result;
  result->last = address;
  result->elapsed_ns = end_ns - start_ns;
  result->cycles = end_cycles - start_cycles;
}
