/* Chains of one instruction. Every instruction is inline PTX, so that the compiler neither folds
 * nor drops it; operands come at run time. What ptxas makes of it is held against the machine code
 * by tests/gpu/instructions.sh. */
#include "kernels/arithmetic_values.h"
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

/* The operands of a step. */
template <typename T> struct operands {
  T b;
  T c;
};

#define ARITHMETIC_STEP(name, type, constraint, text)                                              \
  struct name {                                                                                    \
    static __device__ __forceinline__ void step(type &x, const struct operands<type> &by) {        \
      asm volatile(text : "+" constraint(x) : constraint(by.b), constraint(by.c));                 \
    }                                                                                              \
  };
ARITHMETIC_STEP(step_add_f16, uint32_t, "r", "add.rn.f16x2 %0, %0, %2;")
ARITHMETIC_STEP(step_mul_f16, uint32_t, "r", "mul.rn.f16x2 %0, %0, %1;")
ARITHMETIC_STEP(step_fma_f16, uint32_t, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
ARITHMETIC_STEP(step_add_f32, float, "f", "add.rn.f32 %0, %0, %2;")
ARITHMETIC_STEP(step_mul_f32, float, "f", "mul.rn.f32 %0, %0, %1;")
ARITHMETIC_STEP(step_fma_f32, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
ARITHMETIC_STEP(step_add_f64, double, "d", "add.rn.f64 %0, %0, %2;")
ARITHMETIC_STEP(step_mul_f64, double, "d", "mul.rn.f64 %0, %0, %1;")
ARITHMETIC_STEP(step_fma_f64, double, "d", "fma.rn.f64 %0, %0, %1, %2;")

/* Of integers: x with the other number of the chain. */
#define ARITHMETIC_INTEGER_STEP(name, text)                                                        \
  struct name {                                                                                    \
    static __device__ __forceinline__ void step(uint32_t &x, uint32_t other, uint32_t b) {         \
      asm volatile(text : "+r"(x) : "r"(other), "r"(b));                                           \
    }                                                                                              \
  };
ARITHMETIC_INTEGER_STEP(step_add_i32, "add.s32 %0, %0, %1;")
ARITHMETIC_INTEGER_STEP(step_mul_i32, "mul.lo.s32 %0, %0, %1;")
ARITHMETIC_INTEGER_STEP(step_fma_i32, "mad.lo.s32 %0, %0, %2, %1;")
/* Of two sums ptxas makes one instruction, which no multiplier can do: of single ones it gives some
 * to the multipliers, so that a chain of step_add_i32 goes from one kind of unit to the other. */
ARITHMETIC_INTEGER_STEP(step_add3_i32, "{\n\t"
                                       ".reg .s32 sum;\n\t"
                                       "add.s32 sum, %0, %1;\n\t"
                                       "add.s32 %0, sum, %2;\n\t"
                                       "}")

/* A chain: how it starts, goes on and ends. */
template <typename STEP> struct chain_f16 {
  typedef uint32_t value;
  uint32_t x;
  __device__ __forceinline__ void start(uint32_t from) {
    /* 1 + n / 64 is 0x3c00 + 16 n. */
    x = (0x3c00u + 16 * from) | (0x3c00u + 16 * (from + 1)) << 16;
  }
  __device__ __forceinline__ void go(int, const struct operands<uint32_t> &by) {
    STEP::step(x, by);
  }
  __device__ __forceinline__ uint64_t end() const { return x; }
};

template <typename STEP> struct chain_f32 {
  typedef float value;
  float x;
  __device__ __forceinline__ void start(uint32_t from) { x = 1 + (float)from / 64; }
  __device__ __forceinline__ void go(int, const struct operands<float> &by) { STEP::step(x, by); }
  __device__ __forceinline__ uint64_t end() const { return __float_as_uint(x); }
};

template <typename STEP> struct chain_f64 {
  typedef double value;
  double x;
  __device__ __forceinline__ void start(uint32_t from) { x = 1 + (double)from / 64; }
  __device__ __forceinline__ void go(int, const struct operands<double> &by) { STEP::step(x, by); }
  __device__ __forceinline__ uint64_t end() const { return (uint64_t)__double_as_longlong(x); }
};

/* Each result is used twice, so that no two steps become one: ptxas makes one IADD3 of two sums and
 * one product of two factors where it can. */
template <typename STEP> struct chain_i32 {
  typedef uint32_t value;
  uint32_t x;
  uint32_t y;
  __device__ __forceinline__ void start(uint32_t from) {
    x = 2 * from + 3;
    y = 2 * from + 5;
  }
  __device__ __forceinline__ void go(int step, const struct operands<uint32_t> &by) {
    if (step % 2 == 0) {
      STEP::step(x, y, by.b);
    } else {
      STEP::step(y, x, by.b);
    }
  }
  __device__ __forceinline__ uint64_t end() const { return x | (uint64_t)y << 32; }
};

template <typename T> static __device__ __forceinline__ T from_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename CHAIN, int ILP>
static __device__ __forceinline__ void arithmetic(const struct arithmetic_arguments &arguments) {
  typedef typename CHAIN::value T;
  const struct operands<T> first = {
    from_bits<T>(arguments.first_b), from_bits<T>(arguments.first_c)
  };
  const struct operands<T> second = {
    from_bits<T>(arguments.second_b), from_bits<T>(arguments.second_c)
  };
  CHAIN chains[ILP];
#pragma unroll
  for (int j = 0; j < ILP; j++) {
    chains[j].start(arithmetic_start(threadIdx.x, j));
  }
  const struct span_start start = span_begin();
#pragma unroll 1
  for (uint64_t round = 0; round < arguments.rounds; round++) {
#pragma unroll
    for (int k = 0; k < ARITHMETIC_BODY / ILP; k++) {
#pragma unroll
      for (int j = 0; j < ILP; j++) {
        chains[j].go(k, k / ARITHMETIC_GROUP % 2 == 0 ? first : second);
      }
    }
  }
  span_end(arguments.spans, start);
  uint64_t folded = 0;
#pragma unroll
  for (int j = 0; j < ILP; j++) {
    folded = arithmetic_fold(folded, chains[j].end());
  }
  ((uint64_t *)arguments.results)[(uint64_t)blockIdx.x * blockDim.x + threadIdx.x] = folded;
}

#define ARITHMETIC_KERNEL(name, chain, ilp)                                                        \
  extern "C" __global__ void __launch_bounds__(1024)                                               \
      haul_arithmetic_##name##_ilp##ilp(const struct arithmetic_arguments arguments) {             \
    arithmetic<chain, ilp>(arguments);                                                             \
  }
#define ARITHMETIC_KERNELS(name, chain)                                                            \
  ARITHMETIC_KERNEL(name, chain, 1)                                                                \
  ARITHMETIC_KERNEL(name, chain, 2)                                                                \
  ARITHMETIC_KERNEL(name, chain, 4)                                                                \
  ARITHMETIC_KERNEL(name, chain, 8)

ARITHMETIC_KERNELS(add_f16, chain_f16<step_add_f16>)
ARITHMETIC_KERNELS(mul_f16, chain_f16<step_mul_f16>)
ARITHMETIC_KERNELS(fma_f16, chain_f16<step_fma_f16>)
ARITHMETIC_KERNELS(add_f32, chain_f32<step_add_f32>)
ARITHMETIC_KERNELS(mul_f32, chain_f32<step_mul_f32>)
ARITHMETIC_KERNELS(fma_f32, chain_f32<step_fma_f32>)
ARITHMETIC_KERNELS(add_f64, chain_f64<step_add_f64>)
ARITHMETIC_KERNELS(mul_f64, chain_f64<step_mul_f64>)
ARITHMETIC_KERNELS(fma_f64, chain_f64<step_fma_f64>)
ARITHMETIC_KERNELS(add_i32, chain_i32<step_add_i32>)
ARITHMETIC_KERNELS(mul_i32, chain_i32<step_mul_i32>)
ARITHMETIC_KERNELS(fma_i32, chain_i32<step_fma_i32>)
ARITHMETIC_KERNELS(add3_i32, chain_i32<step_add3_i32>)
