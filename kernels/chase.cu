/* Pointer chase through memory: of the host, of a peer, and the GPU's own through either cache. */
#include "kernels/chase.cuh"

struct load_sys {
  static __device__ __forceinline__ uint64_t next(uint64_t at) {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%0];" : "+l"(at)::"memory");
    return at;
  }
};

struct load_l1 {
  static __device__ __forceinline__ uint64_t next(uint64_t at) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
    return at;
  }
};

struct load_l2 {
  static __device__ __forceinline__ uint64_t next(uint64_t at) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    return at;
  }
};

template <typename LOAD>
static __device__ __forceinline__ void chase_global(const struct chase_arguments &arguments) {
  uint64_t *position =
      (uint64_t *)arguments.positions + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  *position = chase<LOAD>(arguments, *position);
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_sys(const struct chase_arguments arguments) {
  chase_global<load_sys>(arguments);
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_l1(const struct chase_arguments arguments) {
  chase_global<load_l1>(arguments);
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_l2(const struct chase_arguments arguments) {
  chase_global<load_l2>(arguments);
}
