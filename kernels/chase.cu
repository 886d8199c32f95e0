/* Pointer chases: through memory of the host, of a peer, and the GPU's own through either cache,
 * and through shared memory.
 *
 * load.next(at) gives the next address. The loop is loads alone: what counts the hops runs while a
 * load is under way. */
#include "kernels/bulk.cuh"
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

enum { CHASE_UNROLL = 64 };

template <typename LOAD, typename ADDRESS>
static __device__ __forceinline__ ADDRESS chase_follow(LOAD &load, ADDRESS at, uint64_t hops) {
  for (uint64_t turns = hops / CHASE_UNROLL; turns > 0; turns--) {
#pragma unroll
    for (int i = 0; i < CHASE_UNROLL; i++) {
      at = load.next(at);
    }
  }
#pragma unroll 1
  for (uint64_t rest = hops % CHASE_UNROLL; rest > 0; rest--) {
    at = load.next(at);
  }
  return at;
}

/* Nothing that comes after is done before the last load has arrived: all ones is no address. */
template <typename ADDRESS> static __device__ __forceinline__ void arrived(ADDRESS at) {
  if (at == (ADDRESS) ~(ADDRESS)0) {
    asm volatile("trap;");
  }
}

/* The slowest of the block's threads. */
__device__ __forceinline__ void note_time(const struct chase_arguments &arguments, uint64_t cycles,
                                          uint64_t elapsed_ns) {
  __shared__ unsigned long long slowest[2];
  static_assert(sizeof slowest == CHASE_OWN_SHARED_BYTES, "the host leaves room for it");
  if (threadIdx.x == 0) {
    slowest[0] = 0;
    slowest[1] = 0;
  }
  __syncthreads();
  atomicMax(&slowest[0], (unsigned long long)cycles);
  atomicMax(&slowest[1], (unsigned long long)elapsed_ns);
  __syncthreads();
  if (threadIdx.x == 0) {
    struct chase_time *time = (struct chase_time *)arguments.times + blockIdx.x;
    time->cycles = slowest[0];
    time->elapsed_ns = slowest[1];
  }
}

/* Blocks are on the SMs in the order of their numbers, so that the one whose turn it is always is
 * on one. */
static __device__ __forceinline__ void wait_for_turn(const struct chase_arguments &arguments) {
  if (arguments.turn != 0 && threadIdx.x == 0) {
    while (*(volatile uint32_t *)arguments.turn != blockIdx.x) {
#if __CUDA_ARCH__ >= 700
      __nanosleep(500);
#endif
    }
  }
  __syncthreads();
}

static __device__ __forceinline__ void end_turn(const struct chase_arguments &arguments) {
  __syncthreads();
  if (arguments.turn != 0 && threadIdx.x == 0) {
    __threadfence();
    *(volatile uint32_t *)arguments.turn = blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : 0;
  }
}

template <typename LOAD, typename ADDRESS>
static __device__ __forceinline__ ADDRESS chase(const struct chase_arguments &arguments, LOAD &load,
                                                ADDRESS at) {
  wait_for_turn(arguments);
  at = chase_follow(load, at, arguments.warm_hops);
  arrived(at);
  __syncthreads();
  const uint64_t start_ns = global_timer_ns();
  const uint64_t start_cycle = clock_cycles();
  at = chase_follow(load, at, arguments.hops);
  arrived(at);
  const uint64_t end_cycle = clock_cycles();
  const uint64_t end_ns = global_timer_ns();
  note_time(arguments, end_cycle - start_cycle, end_ns - start_ns);
  end_turn(arguments);
  return at;
}

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

/* The lower half of an address follows the lower half of one: no instruction but the load. */
struct load_l1_u32 {
  static __device__ __forceinline__ uint64_t next(uint64_t at) {
    asm volatile("{\n\t"
                 ".reg .b32 low, high;\n\t"
                 "mov.b64 {low, high}, %0;\n\t"
                 "ld.global.ca.u32 low, [%0];\n\t"
                 "mov.b64 %0, {low, high};\n\t"
                 "}"
                 : "+l"(at)::"memory");
    return at;
  }
};

struct load_l2_u32 {
  static __device__ __forceinline__ uint64_t next(uint64_t at) {
    asm volatile("{\n\t"
                 ".reg .b32 low, high;\n\t"
                 "mov.b64 {low, high}, %0;\n\t"
                 "ld.global.cg.u32 low, [%0];\n\t"
                 "mov.b64 %0, {low, high};\n\t"
                 "}"
                 : "+l"(at)::"memory");
    return at;
  }
};

template <typename LOAD>
static __device__ __forceinline__ void chase_global(const struct chase_arguments &arguments,
                                                    LOAD load = LOAD()) {
  const uint32_t block = arguments.by_sm != 0 ? sm_number() % gridDim.x : blockIdx.x;
  uint64_t *position = (uint64_t *)arguments.positions + (uint64_t)block * blockDim.x + threadIdx.x;
  *position = chase(arguments, load, *position);
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

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_l1_u32(const struct chase_arguments arguments) {
  chase_global<load_l1_u32>(arguments);
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_l2_u32(const struct chase_arguments arguments) {
  chase_global<load_l2_u32>(arguments);
}

#if __CUDA_ARCH__ >= 900

/* Through the bulk copy engine: each thread has a barrier and BULK_UNIT bytes of shared memory. */
struct load_bulk {
  ulonglong2 *stage;
  uint64_t *barrier;
  uint32_t parity;

  __device__ __forceinline__ uint64_t next(uint64_t at) {
    bulk_load(stage, at, BULK_UNIT, barrier);
    bulk_wait(barrier, parity);
    parity ^= 1;
    return *(const volatile unsigned long long *)&stage->x;
  }
};

#endif

extern "C" __global__ void __launch_bounds__(1024)
    haul_chase_bulk(const struct chase_arguments arguments) {
#if __CUDA_ARCH__ >= 900
  __shared__ ulonglong2 stages[1024];
  __shared__ uint64_t barriers[1024];
  static_assert(sizeof *stages == BULK_UNIT, "an access each");
  struct load_bulk load = {&stages[threadIdx.x], &barriers[threadIdx.x], 0};
  bulk_init(load.barrier);
  bulk_init_done();
  chase_global(arguments, load);
#else
  chase_global<load_sys>(arguments); /* the workload refuses the access there */
#endif
}

/* In shared memory the words hold addresses, so that nothing but the load is between two hops. */
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
  struct load_shared load;
  *position = chase(arguments, load, base + (uint32_t)*position) - base;
}

enum { LINE_REPEATS = 5 }; /* after one that brings the line into the L2 */

static __device__ __forceinline__ uint16_t line_cycles(uint64_t at) {
  uint64_t least = 0xffff;
  for (int i = 0; i <= LINE_REPEATS; i++) {
    uint64_t zero = at;
    const uint64_t start = clock_cycles();
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(zero)::"memory");
    arrived(zero);
    const uint64_t cycles = clock_cycles() - start;
    at += zero; /* the next load waits for this one */
    least = i > 0 && cycles < least ? cycles : least;
  }
  return (uint16_t)least;
}

extern "C" __global__ void __launch_bounds__(32)
    haul_line_times(const struct chase_lines_arguments arguments) {
  const uint32_t sm = sm_number();
  if (threadIdx.x == 0 && sm < arguments.sm_count) {
    uint16_t *cycles = (uint16_t *)arguments.cycles + (uint64_t)sm * arguments.count;
    const uint32_t first = (uint64_t)sm * arguments.count / arguments.sm_count;
    for (uint32_t i = 0; i < arguments.count; i++) {
      const uint32_t line = (first + i) % arguments.count;
      cycles[line] = line_cycles(arguments.address + line * arguments.stride_bytes);
    }
  }
}
