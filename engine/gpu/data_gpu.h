/* data_gpu.h - the GPU's part of engine/memory/data.h. Addresses are device addresses that `gpu`
 * reaches; every function returns when the work is done. */
#ifndef HAUL_ENGINE_GPU_DATA_GPU_H
#define HAUL_ENGINE_GPU_DATA_GPU_H

#include "engine/base/error.h"
#include "kernels/kernels.h"

struct cuda_session;

enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement,
                          struct error *err) CHECK_RESULT;
enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) CHECK_RESULT;
enum status data_gpu_compare(struct cuda_session *session, int32_t gpu, uint64_t address,
                             uint64_t size_bytes, uint64_t seed,
                             struct pattern_compare_result *result, struct error *err) CHECK_RESULT;
/* Copy bytes from device memory to the host. */
enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) CHECK_RESULT;
enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu,
                                 struct error *err) CHECK_RESULT;

#endif
