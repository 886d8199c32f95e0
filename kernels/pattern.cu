/* Fill and compare at memory speed: verification must not cost more than what it verifies. */
#include "kernels/kernels.h"
#include "kernels/pattern_values.h"

#define GRID_STRIDE_LOOP(index, count)                                                             \
  for (uint64_t index = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x,                           \
                stride_ = (uint64_t)gridDim.x * blockDim.x;                                        \
       index < (count); index += stride_)

/* Bytes outside the 16-byte units of an aligned address: all of an unaligned one, or the tail. */
static __device__ __forceinline__ uint64_t whole_units(uint64_t address, uint64_t size_bytes) {
  return address % 16 == 0 ? size_bytes / 16 : 0;
}

extern "C" __global__ void haul_pattern_fill(const struct pattern_fill_arguments arguments) {
  const uint64_t flip = arguments.complement ? ~UINT64_C(0) : 0;
  const uint64_t units = whole_units(arguments.address, arguments.size_bytes);
  ulonglong2 *words = (ulonglong2 *)arguments.address;
  GRID_STRIDE_LOOP(i, units) {
    ulonglong2 pair;
    pair.x = pattern_word(arguments.seed, 2 * i) ^ flip;
    pair.y = pattern_word(arguments.seed, 2 * i + 1) ^ flip;
    words[i] = pair;
  }
  unsigned char *bytes = (unsigned char *)arguments.address;
  const uint64_t done = units * 16;
  GRID_STRIDE_LOOP(i, arguments.size_bytes - done) {
    bytes[done + i] = (unsigned char)(pattern_byte(arguments.seed, done + i) ^ flip);
  }
}

static __device__ void report_difference(uint64_t result, uint64_t offset, uint64_t bytes) {
  unsigned long long *slots = (unsigned long long *)result;
  atomicMin(&slots[0], (unsigned long long)offset);
  atomicAdd(&slots[1], (unsigned long long)bytes);
}

/* Differing bytes of one 8-byte word; rare, so it need not be fast. */
static __device__ void report_word(uint64_t result, uint64_t offset, uint64_t found,
                                   uint64_t expected) {
  uint64_t difference = found ^ expected;
  for (uint32_t i = 0; i < 8; i++) {
    if ((difference >> (8 * i) & 0xff) != 0) {
      report_difference(result, offset + i, 1);
    }
  }
}

extern "C" __global__ void haul_pattern_compare(const struct pattern_compare_arguments arguments) {
  const uint64_t units = whole_units(arguments.address, arguments.size_bytes);
  const ulonglong2 *words = (const ulonglong2 *)arguments.address;
  GRID_STRIDE_LOOP(i, units) {
    const ulonglong2 pair = words[i];
    const uint64_t first = pattern_word(arguments.seed, 2 * i);
    const uint64_t second = pattern_word(arguments.seed, 2 * i + 1);
    if (pair.x != first || pair.y != second) {
      report_word(arguments.result, 16 * i, pair.x, first);
      report_word(arguments.result, 16 * i + 8, pair.y, second);
    }
  }
  const unsigned char *bytes = (const unsigned char *)arguments.address;
  const uint64_t done = units * 16;
  GRID_STRIDE_LOOP(i, arguments.size_bytes - done) {
    if (bytes[done + i] != pattern_byte(arguments.seed, done + i)) {
      report_difference(arguments.result, done + i, 1);
    }
  }
}

enum { WARP_LANES = 32 };

/* One byte per page, by one lane of every warp, so that each warp has one page fault at a time
 * (Comm|Scope, "NUMA-Pinned Unified Memory Coherence Bandwidth"). What is written depends on where,
 * so that a page that was not touched shows. */
extern "C" __global__ void haul_touch(const struct touch_arguments arguments) {
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t warps = (uint64_t)gridDim.x * blockDim.x / WARP_LANES;
  const unsigned char flip = arguments.complement ? 0xff : 0;
  volatile unsigned char *bytes = (volatile unsigned char *)arguments.address;
  if (thread % WARP_LANES != 0) {
    return;
  }
  const uint64_t count = (arguments.size_bytes - 1) / arguments.stride_bytes + 1;
  uint64_t sum = 0;
  for (uint32_t pass = 0; pass < arguments.passes; pass++) {
    for (uint64_t i = thread / WARP_LANES; i < count; i += warps) {
      const uint64_t offset =
          (arguments.random ? pattern_shuffled(i, count) : i) * arguments.stride_bytes;
      if (arguments.sum != 0) {
        sum += bytes[offset];
      } else {
        bytes[offset] = (unsigned char)(pattern_byte(arguments.seed, offset) ^ flip);
      }
    }
  }
  if (arguments.sum != 0) {
    atomicAdd((unsigned long long *)arguments.sum, (unsigned long long)sum);
  }
}
