/* This folder in a build without the CUDA Toolkit: every call fails with STATUS_UNSUPPORTED. */
#include "engine/gpu/session.h"

enum status cuda_absent(struct error *err) {
  return error_set(err, STATUS_UNSUPPORTED,
                   "this haul was built without CUDA (configured with HAUL_CUDA=OFF)");
}

enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) {
  (void)machine;
  (void)session;
  return cuda_absent(err);
}

void cuda_session_free(struct cuda_session *session) {
  (void)session;
}

enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)size_bytes, (void)seed, (void)complement;
  return cuda_absent(err);
}

enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) {
  (void)session, (void)gpu, (void)rows;
  return cuda_absent(err);
}

enum status data_gpu_fill_pieces(struct cuda_session *session, int32_t gpu,
                                 struct pattern_pieces_arguments *pieces, struct error *err) {
  (void)session, (void)gpu, (void)pieces;
  return cuda_absent(err);
}

enum status data_gpu_compare(struct cuda_session *session, int32_t gpu, uint64_t address,
                             uint64_t size_bytes, uint64_t seed,
                             struct pattern_compare_result *result, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)size_bytes, (void)seed, (void)result;
  return cuda_absent(err);
}

enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)bytes, (void)size_bytes;
  return cuda_absent(err);
}

enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu, struct error *err) {
  (void)session, (void)gpu;
  return cuda_absent(err);
}

enum status cuda_session_free_bytes(struct cuda_session *session, int32_t gpu, uint64_t *free_bytes,
                                    struct error *err) {
  (void)session, (void)gpu;
  *free_bytes = 0;
  return cuda_absent(err);
}

enum status cuda_session_check(struct cuda_session *session, uint32_t gpus, struct error *err) {
  (void)session, (void)gpus;
  return cuda_absent(err);
}

enum status cuda_session_prepare(struct cuda_session *session, uint32_t gpus, struct error *err) {
  (void)session, (void)gpus;
  return cuda_absent(err);
}
