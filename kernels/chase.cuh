/* chase.cuh - a pointer chase: the loop of dependent loads and its time, for every kind of load.
 *
 * LOAD::next(at) gives the next address. The loop is loads alone: what counts the hops runs while a
 * load is under way. */
#ifndef HAUL_KERNELS_CHASE_CUH
#define HAUL_KERNELS_CHASE_CUH

#include "kernels/kernels.h"
#include "kernels/timer.cuh"

enum { CHASE_UNROLL = 64 };

template <typename LOAD, typename ADDRESS>
static __device__ __forceinline__ ADDRESS follow(ADDRESS at, uint64_t hops) {
  for (uint64_t turns = hops / CHASE_UNROLL; turns > 0; turns--) {
#pragma unroll
    for (int i = 0; i < CHASE_UNROLL; i++) {
      at = LOAD::next(at);
    }
  }
#pragma unroll 1
  for (uint64_t rest = hops % CHASE_UNROLL; rest > 0; rest--) {
    at = LOAD::next(at);
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
static __device__ __forceinline__ void note_time(const struct chase_arguments &arguments,
                                                 uint64_t cycles, uint64_t elapsed_ns) {
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

template <typename LOAD, typename ADDRESS>
static __device__ __forceinline__ ADDRESS chase(const struct chase_arguments &arguments,
                                                ADDRESS at) {
  at = follow<LOAD>(at, arguments.warm_hops);
  arrived(at);
  __syncthreads();
  const uint64_t start_ns = global_timer_ns();
  const uint64_t start_cycle = clock_cycles();
  at = follow<LOAD>(at, arguments.hops);
  arrived(at);
  const uint64_t end_cycle = clock_cycles();
  const uint64_t end_ns = global_timer_ns();
  note_time(arguments, end_cycle - start_cycle, end_ns - start_ns);
  return at;
}

#endif
