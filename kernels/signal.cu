/* Signals: flags that are passed to and fro, and atomic additions that the whole system sees. */
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

static __device__ __forceinline__ uint32_t flag_read(uint64_t flag) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

static __device__ __forceinline__ void flag_write(uint64_t flag, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/* false: it has not come in time. */
static __device__ __forceinline__ bool flag_wait(uint64_t flag, uint32_t value,
                                                 uint64_t timeout_ns) {
  const uint64_t start_ns = global_timer_ns();
  while (flag_read(flag) != value) {
    if (global_timer_ns() - start_ns > timeout_ns) {
      return false;
    }
  }
  return true;
}

extern "C" __global__ void haul_signal_flag(struct signal_flag_arguments x) {
  uint64_t start_ns = global_timer_ns();
  uint64_t start_cycle = clock_cycles();
  bool in_time = true;
  for (uint32_t i = 0; in_time && i < x.warm_rounds + x.rounds; i++) {
    if (i == x.warm_rounds) {
      start_ns = global_timer_ns();
      start_cycle = clock_cycles();
    }
    if (x.begins) {
      flag_write(x.answer, x.first + i);
    }
    in_time = flag_wait(x.watched, x.first + i, x.timeout_ns);
    if (!x.begins && in_time) {
      flag_write(x.answer, x.first + i);
    }
  }
  struct signal_time *time = (struct signal_time *)x.time;
  time->cycles = clock_cycles() - start_cycle;
  time->elapsed_ns = global_timer_ns() - start_ns;
  time->in_time = in_time;
}

extern "C" __global__ void haul_signal_atomic(struct signal_atomic_arguments x) {
  const uint64_t start_ns = global_timer_ns();
  const uint64_t start_cycle = clock_cycles();
  uint64_t before = 0;
  for (uint32_t i = 0; i < x.count; i++) {
    const uint64_t add = 1 + (before >> 63); /* 1, which is not known before the answer is there */
    asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(x.address), "l"(add)
                 : "memory");
  }
  struct signal_time *time = (struct signal_time *)x.time;
  time->in_time = before + 1 == x.first + x.count;
  time->cycles = clock_cycles() - start_cycle;
  time->elapsed_ns = global_timer_ns() - start_ns;
}

extern "C" __global__ void haul_signal_atomics(struct signal_atomic_arguments x) {
  const struct span_start start = span_begin();
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t address = x.address + thread % x.addresses * SIGNAL_STRIDE;
  for (uint32_t i = 0; i < x.count; i++) {
    asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(address), "l"((uint64_t)1)
                 : "memory");
  }
  __threadfence_system(); /* until they are performed */
  span_end(x.spans, start);
}
