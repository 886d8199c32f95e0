#include "engine/gpu/data_gpu.h"

#include "engine/gpu/session.h"

enum { DATA_BLOCK = 512, DATA_BLOCKS_PER_SM = 4, DATA_BLOCK_BYTES = 16 * DATA_BLOCK };

static uint32_t grid_for(const struct cuda_session *session, int32_t gpu, uint64_t size_bytes) {
  uint64_t most = (uint64_t)session->machine->gpus[gpu].sm_count * DATA_BLOCKS_PER_SM;
  uint64_t useful = (size_bytes + DATA_BLOCK_BYTES - 1) / DATA_BLOCK_BYTES;
  uint64_t grid = useful < most ? useful : most;
  return grid > 0 ? (uint32_t)grid : 1;
}

enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  struct pattern_fill_arguments arguments = {
      .address = address, .size_bytes = size_bytes, .seed = seed, .complement = complement};
  if (status == STATUS_OK) {
    status =
        cuda_session_launch(session, gpu, KERNEL_PATTERN_FILL, grid_for(session, gpu, size_bytes),
                            DATA_BLOCK, session->gpus[gpu].stream, &arguments, err);
  }
  return status == STATUS_OK
             ? cuda_session_wait(session, session->gpus[gpu].stream, "filling a buffer", err)
             : status;
}

enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) {
  const uint64_t size_bytes = rows->width_bytes * rows->rows;
  enum status status = cuda_session_use(session, gpu, err);
  if (status == STATUS_OK) {
    status =
        cuda_session_launch(session, gpu, KERNEL_PATTERN_ROWS, grid_for(session, gpu, size_bytes),
                            DATA_BLOCK, session->gpus[gpu].stream, rows, err);
  }
  return status == STATUS_OK ? cuda_session_wait(session, session->gpus[gpu].stream,
                                                 "filling rows of a buffer", err)
                             : status;
}

enum status data_gpu_compare(struct cuda_session *session, int32_t gpu, uint64_t address,
                             uint64_t size_bytes, uint64_t seed,
                             struct pattern_compare_result *result, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  if (status != STATUS_OK) {
    return status;
  }
  const struct cuda_driver *driver = &session->driver;
  struct cuda_gpu *state = &session->gpus[gpu];
  if (state->compare_result == 0) {
    status = cuda_check(driver, driver->cuMemAlloc(&state->compare_result, sizeof *result), err,
                        "allocating the result of a comparison");
  }
  const struct pattern_compare_result nothing = {.first_offset = UINT64_MAX};
  /* The copies that are judged and those that bring the judgement are of one kind: what never
   * arrived must not read as "nothing differs". */
  *result = (struct pattern_compare_result){.bad_bytes = UINT64_MAX};
  if (status == STATUS_OK) {
    status = cuda_check(
        driver,
        driver->cuMemcpyHtoDAsync(state->compare_result, &nothing, sizeof nothing, state->stream),
        err, "preparing a comparison");
  }
  struct pattern_compare_arguments arguments = {
      .address = address, .size_bytes = size_bytes, .seed = seed, .result = state->compare_result};
  if (status == STATUS_OK) {
    status = cuda_session_launch(session, gpu, KERNEL_PATTERN_COMPARE,
                                 grid_for(session, gpu, size_bytes), DATA_BLOCK, state->stream,
                                 &arguments, err);
  }
  if (status == STATUS_OK) {
    status = cuda_check(
        driver,
        driver->cuMemcpyDtoHAsync(result, state->compare_result, sizeof *result, state->stream),
        err, "reading the result of a comparison");
  }
  if (status == STATUS_OK) {
    status = cuda_session_wait(session, session->gpus[gpu].stream, "comparing a buffer", err);
  }
  if (status == STATUS_OK && result->bad_bytes > size_bytes) {
    status = error_set(err, STATUS_CORRUPT,
                       "the copies that compare %llu bytes on GPU %d are themselves lost or wrong",
                       (unsigned long long)size_bytes, gpu);
  }
  return status;
}

enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  if (status == STATUS_OK) {
    status = cuda_check(
        &session->driver,
        session->driver.cuMemcpyDtoHAsync(bytes, address, size_bytes, session->gpus[gpu].stream),
        err, "reading device memory");
  }
  return status == STATUS_OK
             ? cuda_session_wait(session, session->gpus[gpu].stream, "reading device memory", err)
             : status;
}

enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu, struct error *err) {
  const uint64_t size_bytes = 2 * session->machine->gpus[gpu].l2_bytes;
  enum status status = cuda_session_use(session, gpu, err);
  struct cuda_gpu *state = &session->gpus[gpu];
  if (status == STATUS_OK && size_bytes == 0) {
    return error_set(err, STATUS_UNSUPPORTED, "GPU %d does not say how large its L2 cache is", gpu);
  }
  if (status == STATUS_OK && state->flush_buffer == 0) {
    status =
        cuda_check(&session->driver, session->driver.cuMemAlloc(&state->flush_buffer, size_bytes),
                   err, "allocating %llu bytes to flush the L2 cache of GPU %d",
                   (unsigned long long)size_bytes, gpu);
  }
  return status == STATUS_OK
             ? data_gpu_fill(session, gpu, state->flush_buffer, size_bytes, 0, false, err)
             : status;
}
