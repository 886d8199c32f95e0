/* Copy kernels of method sm. Every variant takes any size; addresses that are not aligned to the
 * access width are copied byte by byte. */
#include "kernels/bulk.cuh"
#include "kernels/kernels.h"

/* Copy of `count` elements by `stride` threads, of which this is number i. Four loads are in flight
 * before the first store wherever a thread has that many elements; with a grid that covers the
 * data, it has one. Not unrolled further: for compute capability 10.0 and 12.0 nvcc 13.0 would, to
 * 78 to 118 registers a thread, with which large blocks cannot be launched and few are resident. */
template <typename T>
static __device__ __forceinline__ void copy_elements(T *target, const T *source, uint64_t count,
                                                     uint64_t i, uint64_t stride) {
#pragma unroll 1
  for (; i + 3 * stride < count; i += 4 * stride) {
    const T a = source[i];
    const T b = source[i + stride];
    const T c = source[i + 2 * stride];
    const T d = source[i + 3 * stride];
    target[i] = a;
    target[i + stride] = b;
    target[i + 2 * stride] = c;
    target[i + 3 * stride] = d;
  }
#pragma unroll 1
  for (; i < count; i += stride) {
    target[i] = source[i];
  }
}

template <typename T>
static __device__ __forceinline__ void copy_by(struct copy_arguments arguments, uint64_t thread,
                                               uint64_t threads) {
  const bool aligned = (arguments.target | arguments.source) % sizeof(T) == 0;
  const uint64_t count = aligned ? arguments.size_bytes / sizeof(T) : 0;
  const uint64_t done = count * sizeof(T);
  copy_elements((T *)arguments.target, (const T *)arguments.source, count, thread, threads);
  copy_elements((unsigned char *)arguments.target + done,
                (const unsigned char *)arguments.source + done, arguments.size_bytes - done, thread,
                threads);
}

static __device__ __forceinline__ uint64_t copy_thread() {
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t copy_threads() {
  return (uint64_t)gridDim.x * blockDim.x;
}

template <typename T> static __device__ __forceinline__ void copy(struct copy_arguments arguments) {
  copy_by<T>(arguments, copy_thread(), copy_threads());
}

extern "C" __global__ void haul_copy_1(const struct copy_arguments arguments) {
  copy<unsigned char>(arguments);
}
extern "C" __global__ void haul_copy_2(const struct copy_arguments arguments) {
  copy<unsigned short>(arguments);
}
extern "C" __global__ void haul_copy_4(const struct copy_arguments arguments) {
  copy<unsigned int>(arguments);
}
extern "C" __global__ void haul_copy_8(const struct copy_arguments arguments) {
  copy<unsigned long long>(arguments);
}
extern "C" __global__ void haul_copy_16(const struct copy_arguments arguments) {
  copy<uint4>(arguments);
}

extern "C" __global__ void haul_copy_pair(const struct copy_pair_arguments arguments) {
  const uint64_t warp = copy_thread() / warpSize;
  const uint64_t thread = warp / 2 * warpSize + threadIdx.x % warpSize;
  const uint64_t threads = copy_threads() / 2;
  if (warp % 2 == 0) {
    copy_by<uint4>(arguments.copies[0], thread, threads);
  } else {
    copy_by<uint4>(arguments.copies[1], thread, threads);
  }
}

#if __CUDA_ARCH__ >= 900

/* The chunks of one block, gridDim.x apart, through a ring of stages in shared memory: one thread
 * starts bulk loads BULK_AHEAD chunks ahead of the bulk stores. */
struct bulk_ring {
  unsigned char *stages;
  uint64_t *barriers;
  uint64_t target;
  uint64_t source;
  uint64_t size_bytes; /* a multiple of BULK_UNIT */
};

static __device__ __forceinline__ uint64_t chunk_offset(uint64_t i) {
  return (blockIdx.x + i * gridDim.x) * BULK_CHUNK;
}

static __device__ __forceinline__ uint32_t chunk_length(const struct bulk_ring *ring, uint64_t i) {
  const uint64_t left = ring->size_bytes - chunk_offset(i);
  return left < BULK_CHUNK ? (uint32_t)left : (uint32_t)BULK_CHUNK;
}

static __device__ __forceinline__ void start_load(const struct bulk_ring *ring, uint64_t i) {
  bulk_load(ring->stages + i % BULK_STAGES * BULK_CHUNK, ring->source + chunk_offset(i),
            chunk_length(ring, i), &ring->barriers[i % BULK_STAGES]);
}

static __device__ void copy_bulk(const struct bulk_ring *ring) {
  const uint64_t chunks = (ring->size_bytes + BULK_CHUNK - 1) / BULK_CHUNK;
  const uint64_t mine = blockIdx.x < chunks ? (chunks - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
  for (int i = 0; i < BULK_STAGES; i++) {
    bulk_init(&ring->barriers[i]);
  }
  bulk_init_done();
  for (uint64_t i = 0; i < BULK_AHEAD && i < mine; i++) {
    start_load(ring, i);
  }
  for (uint64_t i = 0; i < mine; i++) {
    bulk_wait(&ring->barriers[i % BULK_STAGES], (uint32_t)(i / BULK_STAGES % 2));
    bulk_store(ring->target + chunk_offset(i), ring->stages + i % BULK_STAGES * BULK_CHUNK,
               chunk_length(ring, i));
    /* The stage that the next load takes was read by the store BULK_STAGES - BULK_AHEAD ago. */
    bulk_wait_read<BULK_STAGES - BULK_AHEAD - 1>();
    if (i + BULK_AHEAD < mine) {
      start_load(ring, i + BULK_AHEAD);
    }
  }
  bulk_wait_stored();
}

#endif

/* Launched with one warp per block; one thread of it works, the others end at once. */
extern "C" __global__ void haul_copy_bulk(const struct copy_arguments arguments) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(128) unsigned char stages[BULK_STAGES * BULK_CHUNK];
  __shared__ uint64_t barriers[BULK_STAGES];
  const bool aligned = (arguments.target | arguments.source) % BULK_UNIT == 0;
  const uint64_t size_bytes = aligned ? arguments.size_bytes / BULK_UNIT * BULK_UNIT : 0;
  copy_elements((unsigned char *)arguments.target + size_bytes,
                (const unsigned char *)arguments.source + size_bytes,
                arguments.size_bytes - size_bytes, copy_thread(), copy_threads());
  if (threadIdx.x == 0) {
    const struct bulk_ring ring = {stages, barriers, arguments.target, arguments.source,
                                   size_bytes};
    copy_bulk(&ring);
  }
#else
  copy<uint4>(arguments); /* method sm refuses the variant there */
#endif
}
