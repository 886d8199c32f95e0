/* micro_kernels.h - references of the kernels that measure caches, arrays and instructions; rows of
 * the table in kernels.c. */
#ifndef HAUL_TESTS_FAKE_CUDA_DRIVER_MICRO_KERNELS_H
#define HAUL_TESTS_FAKE_CUDA_DRIVER_MICRO_KERNELS_H

#include "tests/fake_cuda/driver/kernels.h"

void stream_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void stream_run(struct kernel_launch *launch);
void stream_data_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void stream_fill_run(struct kernel_launch *launch);
void stream_compare_run(struct kernel_launch *launch);
void arithmetic_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void arithmetic_run(struct kernel_launch *launch);
void chase_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void chase_run(struct kernel_launch *launch);

#endif
