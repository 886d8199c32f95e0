/* STREAM: loops over arrays of numbers, a template over operation, type, width and depth. Values
 * and contract: kernels.h, stream_values.h. */
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

/* What one access moves. */
template <typename T, int N> struct __align__(sizeof(T) * N) pack {
  T items[N];
};

/* Where a thread of part `part` of `parts` is in an array of `count` packs. A tile is one access of
 * each thread of a block, UNROLL times. */
#define STREAM_TILES(first, count, unroll, part, parts)                                            \
  for (uint64_t first = (uint64_t)(part)*blockDim.x * (unroll) + threadIdx.x,                      \
                stride_ = (uint64_t)(parts)*blockDim.x * (unroll);                                 \
       first < (count); first += stride_)

static __device__ __forceinline__ uint64_t thread_in_grid() {
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t threads_of_grid() {
  return (uint64_t)gridDim.x * blockDim.x;
}

/* The passes are apart: no load of one serves the next. */
static __device__ __forceinline__ void end_pass() {
  asm volatile("" ::: "memory");
}

/* How an access is loaded: as ld.global.ca, which may hit the L1 cache, or past it. */
struct through_l1 {
  template <typename P> static __device__ __forceinline__ P load(const P *from) { return *from; }
};

/* ld.global.cg. Accesses of 4, 8 and 16 bytes of words. */
template <int N> using words = pack<uint32_t, N>;
struct past_l1 {
  static __device__ __forceinline__ words<1> load(const words<1> *from) {
    words<1> to;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(to.items[0]) : "l"(from));
    return to;
  }
  static __device__ __forceinline__ words<2> load(const words<2> *from) {
    words<2> to;
    asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                 : "=r"(to.items[0]), "=r"(to.items[1])
                 : "l"(from));
    return to;
  }
  static __device__ __forceinline__ words<4> load(const words<4> *from) {
    words<4> to;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.items[0]), "=r"(to.items[1]), "=r"(to.items[2]), "=r"(to.items[3])
                 : "l"(from));
    return to;
  }
};

/* Operations with an output: INPUTS arrays of T; at() gets the element's place as well. */
struct op_copy {
  enum { INPUTS = 1 };
  static __device__ __forceinline__ uint32_t at(uint64_t, uint32_t a, uint32_t) { return a; }
};

struct op_write {
  enum { INPUTS = 0 };
  static __device__ __forceinline__ uint32_t at(uint64_t place, uint32_t, uint32_t) {
    return stream_word(place);
  }
};

template <typename T> struct op_mul {
  enum { INPUTS = 1 };
  static __device__ __forceinline__ T at(uint64_t, T a, T) { return (T)STREAM_SCALAR * a; }
};

template <typename T> struct op_add {
  enum { INPUTS = 2 };
  static __device__ __forceinline__ T at(uint64_t, T a, T b) { return a + b; }
};

template <typename T> struct op_triad {
  enum { INPUTS = 2 };
  static __device__ __forceinline__ T at(uint64_t, T a, T b) { return a + (T)STREAM_SCALAR * b; }
};

template <typename OP, typename T, int N>
static __device__ __forceinline__ struct pack<T, N>
apply(uint64_t index, const struct pack<T, N> &a, const struct pack<T, N> &b) {
  struct pack<T, N> result;
#pragma unroll
  for (int i = 0; i < N; i++) {
    result.items[i] = OP::at(index * N + i, a.items[i], b.items[i]);
  }
  return result;
}

/* COUNT accesses of a thread, blockDim.x apart: every load is under way before the first store. */
template <typename LOAD, typename OP, typename T, int N, int COUNT>
static __device__ __forceinline__ void map_tile(const struct stream_arguments &arguments,
                                                uint64_t first) {
  typedef struct pack<T, N> P;
  P x[COUNT];
  P y[COUNT];
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const uint64_t i = first + (uint64_t)k * blockDim.x;
    if (OP::INPUTS > 0) {
      x[k] = LOAD::load((const P *)arguments.a + i);
    }
    if (OP::INPUTS > 1) {
      y[k] = LOAD::load((const P *)arguments.b + i);
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const uint64_t i = first + (uint64_t)k * blockDim.x;
    ((P *)arguments.out)[i] = apply<OP, T, N>(i, x[k], y[k]);
  }
}

template <typename LOAD, typename OP, typename T, int N, int UNROLL>
static __device__ __forceinline__ void map_pass(const struct stream_arguments &arguments) {
  const uint64_t count = arguments.size_bytes / (sizeof(T) * N);
  STREAM_TILES(first, count, UNROLL, blockIdx.x, gridDim.x) {
    if (first + (uint64_t)(UNROLL - 1) * blockDim.x < count) {
      map_tile<LOAD, OP, T, N, UNROLL>(arguments, first);
    } else {
      for (uint64_t i = first; i < count; i += blockDim.x) {
        map_tile<LOAD, OP, T, N, 1>(arguments, i);
      }
    }
  }
  T *out = (T *)arguments.out;
  const T *a = (const T *)arguments.a;
  const T *b = (const T *)arguments.b;
  const uint64_t elements = arguments.size_bytes / sizeof(T);
  for (uint64_t i = count * N + thread_in_grid(); i < elements; i += threads_of_grid()) {
    out[i] = OP::at(i, OP::INPUTS > 0 ? a[i] : (T)0, OP::INPUTS > 1 ? b[i] : (T)0);
  }
}

template <typename LOAD, typename OP, typename T, int N, int UNROLL>
static __device__ __forceinline__ void stream_map(const struct stream_arguments &arguments) {
  struct span_start start = {0, 0};
  if (arguments.spans != 0) {
    start = span_begin();
  }
  for (uint32_t pass = 0; pass < arguments.passes; pass++) {
    map_pass<LOAD, OP, T, N, UNROLL>(arguments);
    end_pass();
  }
  if (arguments.spans != 0) {
    __threadfence();
    span_end(arguments.spans, start);
  }
}

/* Operations with a sum. */
struct op_read {
  typedef uint32_t sum;
  enum { INPUTS = 1, HAS_PARTS = 1 };
  static __device__ __forceinline__ uint32_t add(uint32_t so_far, uint32_t a, uint32_t) {
    return so_far + a;
  }
  static __device__ __forceinline__ uint64_t bits(uint32_t total) { return total; }
};

/* Products of f32 are exact in f64. */
template <typename T> struct op_dot {
  typedef double sum;
  enum { INPUTS = 2, HAS_PARTS = 0 };
  static __device__ __forceinline__ double add(double so_far, T a, T b) {
    return fma((double)a, (double)b, so_far);
  }
  static __device__ __forceinline__ uint64_t bits(double total) {
    return (uint64_t)__double_as_longlong(total);
  }
};

template <typename LOAD, typename OP, typename T, int N, int COUNT>
static __device__ __forceinline__ void sum_tile(const struct stream_arguments &arguments,
                                                uint64_t first, typename OP::sum *sums) {
  typedef struct pack<T, N> P;
  P x[COUNT];
  P y[COUNT];
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const uint64_t i = first + (uint64_t)k * blockDim.x;
    x[k] = LOAD::load((const P *)arguments.a + i);
    if (OP::INPUTS > 1) {
      y[k] = LOAD::load((const P *)arguments.b + i);
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
#pragma unroll
    for (int n = 0; n < N; n++) {
      sums[k] = OP::add(sums[k], x[k].items[n], y[k].items[n]);
    }
  }
}

template <typename LOAD, typename OP, typename T, int N, int UNROLL>
static __device__ __forceinline__ void sum_pass(const struct stream_arguments &arguments,
                                                typename OP::sum (&sums)[UNROLL]) {
  const uint64_t count = arguments.size_bytes / (sizeof(T) * N);
  const bool has_parts = OP::HAS_PARTS && arguments.parts != 0;
  const uint32_t parts = has_parts ? arguments.parts : gridDim.x;
  const uint32_t part = has_parts ? blockIdx.x % arguments.parts : blockIdx.x;
  STREAM_TILES(first, count, UNROLL, part, parts) {
    if (first + (uint64_t)(UNROLL - 1) * blockDim.x < count) {
      sum_tile<LOAD, OP, T, N, UNROLL>(arguments, first, sums);
    } else {
      for (uint64_t i = first; i < count; i += blockDim.x) {
        sum_tile<LOAD, OP, T, N, 1>(arguments, i, sums);
      }
    }
  }
  const T *a = (const T *)arguments.a;
  const T *b = (const T *)arguments.b;
  const uint64_t elements = arguments.size_bytes / sizeof(T);
  for (uint64_t i = count * N + (uint64_t)part * blockDim.x + threadIdx.x; i < elements;
       i += (uint64_t)parts * blockDim.x) {
    sums[0] = OP::add(sums[0], a[i], OP::INPUTS > 1 ? b[i] : (T)0);
  }
}

/* The block's sum, in thread 0; the last warp may be a part of one. */
template <typename SUM> __device__ __forceinline__ SUM block_sum(SUM value) {
  __shared__ SUM warps[32];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t left = blockDim.x - warp * 32;
  const uint32_t lanes = left < 32 ? left : 32;
  const uint32_t mask = lanes < 32 ? (1U << lanes) - 1 : 0xffffffffU;
  for (uint32_t apart = 16; apart > 0; apart /= 2) {
    const SUM other = __shfl_down_sync(mask, value, apart);
    if (lane + apart < lanes) {
      value += other;
    }
  }
  if (lane == 0) {
    warps[warp] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (uint32_t i = 1; i < (blockDim.x + 31) / 32; i++) {
      value += warps[i];
    }
  }
  return value;
}

template <typename LOAD, typename OP, typename T, int N, int UNROLL>
static __device__ __forceinline__ void stream_sum(const struct stream_arguments &arguments) {
  struct span_start start = {0, 0};
  if (arguments.spans != 0) {
    start = span_begin();
  }
  typename OP::sum sums[UNROLL] = {};
  for (uint32_t pass = 0; pass < arguments.passes; pass++) {
    sum_pass<LOAD, OP, T, N, UNROLL>(arguments, sums);
    end_pass();
  }
  typename OP::sum sum = sums[0];
#pragma unroll
  for (int k = 1; k < UNROLL; k++) {
    sum += sums[k];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    ((uint64_t *)arguments.results)[blockIdx.x] = OP::bits(sum);
  }
  if (arguments.spans != 0) {
    __threadfence();
    span_end(arguments.spans, start);
  }
}

#define STREAM_KERNEL(name, body, load, op, type, bytes, unroll)                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                               \
      name##_##bytes##_u##unroll(const struct stream_arguments arguments) {                        \
    body<load, op, type, bytes / sizeof(type), unroll>(arguments);                                 \
  }
#define STREAM_KERNELS_WIDE(name, body, load, op, type)                                            \
  STREAM_KERNEL(name, body, load, op, type, 8, 1)                                                  \
  STREAM_KERNEL(name, body, load, op, type, 8, 4)                                                  \
  STREAM_KERNEL(name, body, load, op, type, 16, 1)                                                 \
  STREAM_KERNEL(name, body, load, op, type, 16, 4)
#define STREAM_KERNELS(name, body, load, op, type)                                                 \
  STREAM_KERNEL(name, body, load, op, type, 4, 1)                                                  \
  STREAM_KERNEL(name, body, load, op, type, 4, 4)                                                  \
  STREAM_KERNELS_WIDE(name, body, load, op, type)

STREAM_KERNELS(haul_stream_copy, stream_map, through_l1, op_copy, uint32_t)
STREAM_KERNELS(haul_stream_copy_l2, stream_map, past_l1, op_copy, uint32_t)
STREAM_KERNELS(haul_stream_write, stream_map, through_l1, op_write, uint32_t)
STREAM_KERNELS(haul_stream_read, stream_sum, through_l1, op_read, uint32_t)
STREAM_KERNELS(haul_stream_read_l2, stream_sum, past_l1, op_read, uint32_t)
STREAM_KERNELS(haul_stream_mul_f32, stream_map, through_l1, op_mul<float>, float)
STREAM_KERNELS(haul_stream_add_f32, stream_map, through_l1, op_add<float>, float)
STREAM_KERNELS(haul_stream_triad_f32, stream_map, through_l1, op_triad<float>, float)
STREAM_KERNELS(haul_stream_dot_f32, stream_sum, through_l1, op_dot<float>, float)
STREAM_KERNELS_WIDE(haul_stream_mul_f64, stream_map, through_l1, op_mul<double>, double)
STREAM_KERNELS_WIDE(haul_stream_add_f64, stream_map, through_l1, op_add<double>, double)
STREAM_KERNELS_WIDE(haul_stream_triad_f64, stream_map, through_l1, op_triad<double>, double)
STREAM_KERNELS_WIDE(haul_stream_dot_f64, stream_sum, through_l1, op_dot<double>, double)

extern "C" __global__ void haul_stream_fill(const struct stream_data_arguments arguments) {
  for (uint64_t i = thread_in_grid(); i < arguments.count; i += threads_of_grid()) {
    const uint64_t bits = stream_bits(&arguments.values, i);
    if (arguments.values.element_bytes == 4) {
      ((uint32_t *)arguments.address)[i] = (uint32_t)bits;
    } else {
      ((uint64_t *)arguments.address)[i] = bits;
    }
  }
}

extern "C" __global__ void haul_stream_compare(const struct stream_data_arguments arguments) {
  for (uint64_t i = thread_in_grid(); i < arguments.count; i += threads_of_grid()) {
    const uint64_t found = arguments.values.element_bytes == 4
                               ? ((const uint32_t *)arguments.address)[i]
                               : ((const uint64_t *)arguments.address)[i];
    if (found != stream_bits(&arguments.values, i)) {
      unsigned long long *slots = (unsigned long long *)arguments.result;
      atomicMin(&slots[0], (unsigned long long)i);
      atomicAdd(&slots[1], 1ULL);
    }
  }
}
