/* Kernels that compute beside copies: a matrix product by tensor cores and a triad of any
 * arithmetic intensity. (Chains of multiply-adds alone are in arithmetic.cu.) A block for each SM
 * that they may have; each goes on until all work is done, so that the number of blocks is the
 * share of the GPU.
 *
 * The matrix product is out = a * transposed b, row by row in all three: bf16 in, f32 out. A block
 * makes tiles of MATMUL_ROWS x MATMUL_COLUMNS, with MATMUL_DEPTH of the common side in shared
 * memory at a time, several of them on the way (cp.async). Rows there have 128 bytes, and the
 * 16-byte units of a row are exchanged by the row's number modulo 8, so that eight rows of one unit
 * are in different banks: what wgmma calls the 128-byte swizzle. Compute capability 9.0 multiplies
 * by wgmma, straight from shared memory; the others by mma.sync out of registers. (PTX ISA,
 * "Asynchronous Warpgroup Level Matrix Instructions".) */
#include "kernels/kernels.h"

#include <string.h>

enum {
  ROW_BYTES = 2 * MATMUL_DEPTH,
  UNIT = 16,
  UNITS = ROW_BYTES / UNIT,
  A_BYTES = MATMUL_ROWS * ROW_BYTES,
  ROWS_AT_ONCE = MATMUL_BLOCK / UNITS,
  WARP_ROWS = 64,
  WARP_COLUMNS = 64,
  GROUP_ROWS = 8 /* of tiles, which blocks that run together share */
};

static_assert(ROW_BYTES == 128 && MATMUL_STAGE_BYTES == A_BYTES + MATMUL_COLUMNS * ROW_BYTES, "");

#if __CUDA_ARCH__ >= 800

/* Of the tiles in the order of the blocks: tall groups, so that neighbours share rows and columns
 * in the L2. */
struct place {
  uint32_t row;
  uint32_t column;
};
static __device__ __forceinline__ struct place tile_place(uint32_t tile, uint32_t side) {
  const uint32_t rows = side / MATMUL_ROWS;
  const uint32_t columns = side / MATMUL_COLUMNS;
  const uint32_t group = tile / (GROUP_ROWS * columns);
  const uint32_t first = group * GROUP_ROWS;
  const uint32_t height = rows - first < GROUP_ROWS ? rows - first : GROUP_ROWS;
  const uint32_t within = tile - group * GROUP_ROWS * columns;
  struct place place;
  place.row = (first + within % height) * MATMUL_ROWS;
  place.column = within / height * MATMUL_COLUMNS;
  return place;
}

static __device__ __forceinline__ uint32_t shared_of(const void *pointer) {
  return (uint32_t)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void load_unit(uint32_t to, const unsigned char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/* What comes next from memory, one depth of one tile after the other: where this thread's first
 * units of a and b are. */
struct feed {
  const unsigned char *a, *b;
  uint64_t pitch; /* bytes from row to row */
  uint32_t tiles, steps;
  uint32_t tile, step;
};

static __device__ __forceinline__ void feed_tile(const struct matmul_arguments *x,
                                                 struct feed *feed) {
  if (feed->tile >= feed->tiles) {
    return;
  }
  const struct place place = tile_place(feed->tile, x->side);
  const uint32_t row = threadIdx.x / UNITS;
  const uint64_t column = threadIdx.x % UNITS * UNIT;
  feed->a = (const unsigned char *)x->a + (place.row + row) * feed->pitch + column;
  feed->b = (const unsigned char *)x->b + (place.column + row) * feed->pitch + column;
}

static __device__ __forceinline__ void feed_next(const struct matmul_arguments *x,
                                                 struct feed *feed, uint32_t stage) {
  if (feed->tile < feed->tiles) {
    const uint32_t row = threadIdx.x / UNITS;
    const uint32_t to = stage + row * ROW_BYTES + (threadIdx.x % UNITS ^ (row % 8)) * UNIT;
#pragma unroll
    for (uint32_t i = 0; i < MATMUL_ROWS / ROWS_AT_ONCE; i++) {
      load_unit(to + i * ROWS_AT_ONCE * ROW_BYTES, feed->a + i * ROWS_AT_ONCE * feed->pitch);
    }
#pragma unroll
    for (uint32_t i = 0; i < MATMUL_COLUMNS / ROWS_AT_ONCE; i++) {
      load_unit(to + A_BYTES + i * ROWS_AT_ONCE * ROW_BYTES,
                feed->b + i * ROWS_AT_ONCE * feed->pitch);
    }
    feed->a += ROW_BYTES;
    feed->b += ROW_BYTES;
    feed->step++;
    if (feed->step == feed->steps) {
      feed->step = 0;
      feed->tile += gridDim.x;
      feed_tile(x, feed);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until all but that many of the depths that were asked for are there. */
static __device__ __forceinline__ void feed_wait(uint32_t but) {
  if (but >= 2) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
  } else if (but == 1) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  } else {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
}

static __device__ __forceinline__ struct feed feed_begin(const struct matmul_arguments *x) {
  struct feed feed;
  feed.pitch = 2 * (uint64_t)x->side;
  feed.tiles = (x->side / MATMUL_ROWS) * (x->side / MATMUL_COLUMNS);
  feed.steps = x->side / MATMUL_DEPTH;
  feed.tile = blockIdx.x;
  feed.step = 0;
  feed_tile(x, &feed);
  return feed;
}

/* Four 8 x 8 matrices of 16 bits, each lane with the address of one row. */
static __device__ __forceinline__ void load_matrices(uint32_t *to, uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

static __device__ __forceinline__ void multiply(float *sum, const uint32_t *a, const uint32_t *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

enum { WIDTH = WARP_COLUMNS / 8, HEIGHT = WARP_ROWS / 16, SLICES = MATMUL_DEPTH / 16 };

/* What a warp multiplies of one slice of 16: its rows of a and its columns of b. */
struct operands_16 {
  uint32_t a[HEIGHT][4];
  uint32_t b[WIDTH][2];
};

static __device__ __forceinline__ void load_slice(struct operands_16 *to, uint32_t stage,
                                                  uint32_t slice, uint32_t warp_row,
                                                  uint32_t warp_column) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t i = 0; i < HEIGHT; i++) {
    const uint32_t row = warp_row + i * 16 + lane % 16;
    load_matrices(to->a[i], stage + row * ROW_BYTES + ((slice * 2 + lane / 16) ^ (row % 8)) * UNIT);
  }
#pragma unroll
  for (uint32_t i = 0; i < WIDTH / 2; i++) {
    const uint32_t row = warp_column + i * 16 + lane % 8 + lane / 16 * 8;
    uint32_t matrices[4];
    load_matrices(matrices, stage + A_BYTES + row * ROW_BYTES +
                                ((slice * 2 + lane / 8 % 2) ^ (row % 8)) * UNIT);
    to->b[2 * i][0] = matrices[0];
    to->b[2 * i][1] = matrices[1];
    to->b[2 * i + 1][0] = matrices[2];
    to->b[2 * i + 1][1] = matrices[3];
  }
}

static __device__ __forceinline__ void matmul_by_warps(const struct matmul_arguments *x,
                                                       uint32_t shared) {
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t warp_row = warp % (MATMUL_ROWS / WARP_ROWS) * WARP_ROWS;
  const uint32_t warp_column = warp / (MATMUL_ROWS / WARP_ROWS) * WARP_COLUMNS;
  const uint32_t stages = x->stages;
  struct feed feed = feed_begin(x);
  uint32_t read = 0;
  uint32_t write = stages - 1;
  for (uint32_t i = 0; i + 1 < stages; i++) {
    feed_next(x, &feed, shared + i * MATMUL_STAGE_BYTES);
  }
  for (uint32_t tile = blockIdx.x; tile < feed.tiles; tile += gridDim.x) {
    float sums[HEIGHT][WIDTH][4];
#pragma unroll
    for (uint32_t i = 0; i < HEIGHT * WIDTH * 4; i++) {
      (&sums[0][0][0])[i] = 0;
    }
    for (uint32_t step = 0; step < x->side / MATMUL_DEPTH; step++) {
      feed_wait(stages - 2);
      __syncthreads();
      feed_next(x, &feed, shared + write * MATMUL_STAGE_BYTES);
      write = write + 1 == stages ? 0 : write + 1;
      const uint32_t stage = shared + read * MATMUL_STAGE_BYTES;
      read = read + 1 == stages ? 0 : read + 1;
      struct operands_16 operands[2];
      load_slice(&operands[0], stage, 0, warp_row, warp_column);
#pragma unroll
      for (uint32_t slice = 0; slice < SLICES; slice++) {
        if (slice + 1 < SLICES) {
          load_slice(&operands[(slice + 1) % 2], stage, slice + 1, warp_row, warp_column);
        }
#pragma unroll
        for (uint32_t i = 0; i < HEIGHT; i++) {
#pragma unroll
          for (uint32_t k = 0; k < WIDTH; k++) {
            multiply(sums[i][k], operands[slice % 2].a[i], operands[slice % 2].b[k]);
          }
        }
      }
    }
    const struct place place = tile_place(tile, x->side);
    const uint32_t lane = threadIdx.x % 32;
    float *out = (float *)x->out + (uint64_t)(place.row + warp_row + lane / 4) * x->side +
                 place.column + warp_column + lane % 4 * 2;
#pragma unroll
    for (uint32_t i = 0; i < HEIGHT; i++) {
#pragma unroll
      for (uint32_t k = 0; k < WIDTH; k++) {
        float *at = out + (uint64_t)i * 16 * x->side + k * 8;
        *(float2 *)at = make_float2(sums[i][k][0], sums[i][k][1]);
        *(float2 *)(at + (uint64_t)8 * x->side) = make_float2(sums[i][k][2], sums[i][k][3]);
      }
    }
  }
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

enum { GROUP = 128, SUMS = MATMUL_COLUMNS / 2 }; /* threads of a warpgroup; sums of a thread */

/* A tile in shared memory whose rows have 128 bytes, with the 128-byte swizzle: groups of eight
 * rows are 1024 bytes apart. (PTX ISA, "Matrix descriptor".) */
static __device__ __forceinline__ uint64_t matrix_descriptor(uint32_t address) {
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
         (uint64_t)1 << 62;
}

#define SUMS_8(n)                                                                                  \
  "+f"(sums[n]), "+f"(sums[n + 1]), "+f"(sums[n + 2]), "+f"(sums[n + 3]), "+f"(sums[n + 4]),       \
      "+f"(sums[n + 5]), "+f"(sums[n + 6]), "+f"(sums[n + 7])

static __device__ __forceinline__ void multiply_group(float *sums, uint64_t a, uint64_t b,
                                                      uint32_t add) {
  asm volatile(
      "{\n\t"
      ".reg .pred add;\n\t"
      "setp.ne.b32 add, %130, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
      "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "
      "%125, %126, %127}, %128, %129, add, 1, 1, 0, 0;\n\t"
      "}"
      : SUMS_8(0), SUMS_8(8), SUMS_8(16), SUMS_8(24), SUMS_8(32), SUMS_8(40), SUMS_8(48),
        SUMS_8(56), SUMS_8(64), SUMS_8(72), SUMS_8(80), SUMS_8(88), SUMS_8(96), SUMS_8(104),
        SUMS_8(112), SUMS_8(120)
      : "l"(a), "l"(b), "r"(add));
}

/* One depth is multiplied while the next ones come; the stage that it leaves is free when the next
 * one's multiplication has begun, so that loads are one stage less ahead. */
static __device__ __forceinline__ void matmul_by_groups(const struct matmul_arguments *x,
                                                        uint32_t shared) {
  const uint32_t group = threadIdx.x / GROUP;
  const uint32_t stages = x->stages;
  struct feed feed = feed_begin(x);
  uint32_t read = 0;
  uint32_t write = stages - 2;
  for (uint32_t i = 0; i + 2 < stages; i++) {
    feed_next(x, &feed, shared + i * MATMUL_STAGE_BYTES);
  }
  for (uint32_t tile = blockIdx.x; tile < feed.tiles; tile += gridDim.x) {
    float sums[SUMS];
    for (uint32_t step = 0; step < x->side / MATMUL_DEPTH; step++) {
      feed_wait(stages - 3);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      const uint32_t stage = shared + read * MATMUL_STAGE_BYTES;
      read = read + 1 == stages ? 0 : read + 1;
      const uint64_t a = matrix_descriptor(stage + group * WARP_ROWS * ROW_BYTES);
      const uint64_t b = matrix_descriptor(stage + A_BYTES);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (uint32_t slice = 0; slice < SLICES; slice++) {
        multiply_group(sums, a + 2 * slice, b + 2 * slice, step + slice > 0);
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      feed_next(x, &feed, shared + write * MATMUL_STAGE_BYTES); /* meanwhile */
      write = write + 1 == stages ? 0 : write + 1;
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (uint32_t i = 0; i < SUMS; i++) {
      asm volatile("" : "+f"(sums[i])::"memory"); /* not before the wait */
    }
    const struct place place = tile_place(tile, x->side);
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t row = group * WARP_ROWS + threadIdx.x / 32 % 4 * 16 + lane / 4;
    float *out =
        (float *)x->out + (uint64_t)(place.row + row) * x->side + place.column + lane % 4 * 2;
#pragma unroll
    for (uint32_t k = 0; k < MATMUL_COLUMNS / 8; k++) {
      *(float2 *)(out + k * 8) = make_float2(sums[4 * k], sums[4 * k + 1]);
      *(float2 *)(out + k * 8 + (uint64_t)8 * x->side) =
          make_float2(sums[4 * k + 2], sums[4 * k + 3]);
    }
  }
}
#endif

extern __shared__ __align__(1024) unsigned char compute_stages[];

extern "C" __global__ void __launch_bounds__(MATMUL_BLOCK, 1)
    haul_compute_matmul(struct matmul_arguments x) {
#if __CUDA_ARCH__ >= 800
  matmul_by_warps(&x, shared_of(compute_stages));
#else
  __trap();
#endif
}

extern "C" __global__ void __launch_bounds__(MATMUL_BLOCK, 1)
    haul_compute_matmul_groups(struct matmul_arguments x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  matmul_by_groups(&x, shared_of(compute_stages));
#else
  __trap();
#endif
}

static __device__ __forceinline__ uint64_t compute_thread() {
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t compute_threads() {
  return (uint64_t)gridDim.x * blockDim.x;
}

/* intensity multiply-adds for each element; that of one more costs no memory. */
extern "C" __global__ void __launch_bounds__(1024) haul_compute_triad(struct triad_arguments x) {
  const float4 *a = (const float4 *)x.a;
  const float4 *b = (const float4 *)x.b;
  float4 *out = (float4 *)x.out;
  const float factor = x.factor;
  const uint64_t count = x.count / 4;
  const uint64_t step = compute_threads();
  for (uint64_t i = compute_thread(); i < count; i += 2 * step) {
    const bool second = i + step < count;
    float4 sum[2];
    float4 add[2];
    sum[0] = a[i];
    add[0] = b[i];
    sum[1] = second ? a[i + step] : sum[0];
    add[1] = second ? b[i + step] : add[0];
    for (uint32_t n = 0; n < x.intensity; n++) {
#pragma unroll
      for (int k = 0; k < 2; k++) {
        sum[k].x = fmaf(factor, add[k].x, sum[k].x);
        sum[k].y = fmaf(factor, add[k].y, sum[k].y);
        sum[k].z = fmaf(factor, add[k].z, sum[k].z);
        sum[k].w = fmaf(factor, add[k].w, sum[k].w);
      }
    }
    out[i] = sum[0];
    if (second) {
      out[i + step] = sum[1];
    }
  }
}

/* Chains of multiply-adds, as many at a time as hide each other's latency. */
extern "C" __global__ void __launch_bounds__(1024) haul_compute_fma(struct fma_arguments x) {
  const uint64_t thread = compute_thread();
  float chains[FMA_CHAINS];
#pragma unroll
  for (int i = 0; i < FMA_CHAINS; i++) {
    chains[i] = (float)compute_chain_start(thread, i);
  }
  for (uint32_t round = 0; round < x.rounds; round++) {
#pragma unroll
    for (int step = 0; step < FMA_STEPS; step++) {
#pragma unroll
      for (int i = 0; i < FMA_CHAINS; i++) {
        chains[i] = fmaf(chains[i], x.factor, x.add);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < FMA_CHAINS; i++) {
    sum += chains[i];
  }
  ((float *)x.out)[thread] = sum;
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_compute_fill(struct compute_data_arguments x) {
  for (uint64_t i = compute_thread(); i < x.count; i += compute_threads()) {
    const float value = (float)compute_number(x.seed, i, x.element_bytes);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (x.element_bytes == 2) {
      ((uint16_t *)x.address)[i] = (uint16_t)(bits >> 16); /* bf16: exact, for it is small */
    } else {
      ((uint32_t *)x.address)[i] = bits;
    }
  }
}

static __device__ void compute_note(uint64_t result, uint64_t element) {
  unsigned long long *note = (unsigned long long *)result;
  atomicMin(&note[0], (unsigned long long)element);
  atomicAdd(&note[1], 1ULL);
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_compute_check_triad(struct compute_check_arguments x) {
  const float *out = (const float *)x.out;
  for (uint64_t i = compute_thread(); i < x.count; i += compute_threads()) {
    const int64_t sum =
        compute_number(x.seed_a, i, 4) + x.intensity * compute_number(x.seed_b, i, 4);
    if (!(out[i] == (float)sum)) {
      compute_note(x.result, i);
    }
  }
}

extern "C" __global__ void __launch_bounds__(1024)
    haul_compute_check_fma(struct compute_check_arguments x) {
  const float *out = (const float *)x.out;
  for (uint64_t i = compute_thread(); i < x.count; i += compute_threads()) {
    if (!(out[i] == (float)compute_chains_end(i, x.intensity))) {
      compute_note(x.result, i);
    }
  }
}

/* Sixteen rows of one column for each thread, without the tensor cores. */
extern "C" __global__ void __launch_bounds__(256)
    haul_compute_check_matmul(struct compute_check_arguments x) {
  enum { ROWS = 16, TOGETHER = 8 };
  const float *out = (const float *)x.out;
  const uint64_t side = x.side;
  for (uint64_t i = compute_thread(); i < side * side / ROWS; i += compute_threads()) {
    const uint64_t column = i % side;
    const uint64_t row = i / side * ROWS;
    const uint16_t *a = (const uint16_t *)x.a + row * side;
    const uint16_t *b = (const uint16_t *)x.b + column * side;
    float sums[ROWS] = {0};
    for (uint64_t k = 0; k < side; k += TOGETHER) {
      const uint4 of_b = *(const uint4 *)(b + k);
      const uint32_t *pairs_b = (const uint32_t *)&of_b;
#pragma unroll
      for (uint32_t r = 0; r < ROWS; r++) {
        const uint4 of_a = *(const uint4 *)(a + r * side + k);
        const uint32_t *pairs_a = (const uint32_t *)&of_a;
#pragma unroll
        for (uint32_t n = 0; n < TOGETHER / 2; n++) {
          sums[r] =
              fmaf(__uint_as_float(pairs_a[n] << 16), __uint_as_float(pairs_b[n] << 16), sums[r]);
          sums[r] = fmaf(__uint_as_float(pairs_a[n] & 0xffff0000u),
                         __uint_as_float(pairs_b[n] & 0xffff0000u), sums[r]);
        }
      }
    }
    for (uint32_t r = 0; r < ROWS; r++) {
      if (!(out[(row + r) * side + column] == sums[r])) {
        compute_note(x.result, (row + r) * side + column);
      }
    }
  }
}
