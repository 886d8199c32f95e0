/* bulk.cuh - the bulk copy engine, of compute capability 9.0 on: copies between global and shared
 * memory that one thread starts and a barrier in shared memory counts. (PTX ISA, cp.async.bulk,
 * mbarrier.)
 *
 * Addresses and lengths are multiples of BULK_UNIT, barriers of 8 bytes. A load is started by one
 * thread, and waited for with the parity of the barrier's phase: 0 for the first load, 1 for the
 * second, and so on. */
#pragma once

#include "kernels/kernels.h"

#if __CUDA_ARCH__ >= 900

static __device__ __forceinline__ uint32_t shared_address(const void *pointer) {
  return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* Before the first load, for one load at a time. */
static __device__ __forceinline__ void bulk_init(uint64_t *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

/* After the last bulk_init(): the engine sees the barriers. */
static __device__ __forceinline__ void bulk_init_done() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void bulk_load(void *stage, uint64_t source, uint32_t length,
                                                 uint64_t *barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(length)
      : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
               "[%3];" ::"r"(shared_address(stage)),
               "l"(source), "r"(length), "r"(shared_address(barrier))
               : "memory");
}

static __device__ __forceinline__ void bulk_wait(uint64_t *barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  }
}

/* A store is a group of its own. */
static __device__ __forceinline__ void bulk_store(uint64_t target, const void *stage,
                                                  uint32_t length) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(target),
               "r"(shared_address(stage)), "r"(length)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* All but the last PENDING stores of the thread have read their stage. */
template <int PENDING> static __device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

/* Every store of the thread is done. */
static __device__ __forceinline__ void bulk_wait_stored() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif
