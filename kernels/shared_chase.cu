/* Pointer chase through shared memory. The words hold addresses, so that nothing
 * but the load is between two hops. */
#include "kernels/chase.cuh"

struct load_shared {
  static __device__ __forceinline__ uint32_t next(uint32_t at) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    return at;
  }
};

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_shared(const struct chase_arguments arguments) {
  extern __shared__ uint32_t words[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(words);
  const uint32_t *table = (const uint32_t *)arguments.table;
  for (uint32_t i = threadIdx.x; i < arguments.table_bytes / sizeof *table; i += blockDim.x) {
    words[i] = base + table[i];
  }
  __syncthreads();
  uint64_t *position =
      (uint64_t *)arguments.positions + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  *position = chase<load_shared>(arguments, base + (uint32_t)*position) - base;
}
