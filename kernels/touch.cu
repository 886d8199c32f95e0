/* One byte a page, by one lane of every warp, so that each warp has one page fault at a time
 * (Comm|Scope, "NUMA-Pinned Unified Memory Coherence Bandwidth"). What is written depends on where,
 * so that a page that was not touched shows. */
#include "kernels/kernels.h"
#include "kernels/pattern.h"

enum { WARP_LANES = 32 };

extern "C" __global__ void haul_touch(const struct touch_arguments arguments) {
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t warps = (uint64_t)gridDim.x * blockDim.x / WARP_LANES;
  const unsigned char flip = arguments.complement ? 0xff : 0;
  volatile unsigned char *bytes = (volatile unsigned char *)arguments.address;
  if (thread % WARP_LANES != 0) {
    return;
  }
  for (uint64_t offset = thread / WARP_LANES * arguments.stride_bytes;
       offset < arguments.size_bytes; offset += warps * arguments.stride_bytes) {
    bytes[offset] = (unsigned char)(pattern_byte(arguments.seed, offset) ^ flip);
  }
}
