/* code.h - the device code in this executable, and which of it a GPU gets.
 *
 * Every module of kernels.h is there as PTX (kernels/ptx), which the driver compiles when it loads
 * it; and, where nvcc was there to build, as machine code for some GPU architectures, which the
 * driver loads as it is. Machine code comes first: two drivers may compile the same PTX
 * differently, and the first load of PTX takes up to seconds, after which the driver has it in its
 * cache. */
#pragma once

#include "kernels/kernels.h"

enum { KERNEL_CODE_TEXT_MAX = 64 };

/* A GPU's compute capability, and the CUDA version of its driver: 13000 is 13.0. */
struct kernel_target {
  uint32_t compute_major;
  uint32_t compute_minor;
  int32_t driver_version;
};

/* What cuModuleLoadData() takes, or NULL: there is no code for such a GPU. Machine code runs on
 * GPUs of the same major and no lower minor version (CUDA C++ Programming Guide, "Binary
 * Compatibility"), under drivers of no older major CUDA version than nvcc's (CUDA Compatibility,
 * "Minor Version Compatibility"). PTX is there for compute capability 7.5 and, where a file has
 * more for it, 8.0, 9.0, and 9.0 alone. */
const void *kernel_image(enum kernel_module module, const struct kernel_target *target);
/* Which code that is: "sm_90 by nvcc 13.0", "PTX 7.5 by the driver" or "none". */
void kernel_code_describe(const struct kernel_target *target, char text[KERNEL_CODE_TEXT_MAX]);
/* The same of the executable: "PTX", or "PTX; machine code for 75 80 90 by nvcc 13.0". */
const char *kernel_code_built(void);
