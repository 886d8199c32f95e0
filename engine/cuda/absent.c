/* What the engine calls of CUDA, in a build without the CUDA Toolkit: nothing can be had. */
#include "engine/cuda/chase_gpu.h"
#include "engine/cuda/data_gpu.h"
#include "engine/cuda/overhead_gpu.h"
#include "engine/cuda/session_lifetime.h"
#include "engine/event_trial.h"

static enum status absent(struct error *err) {
  return error_set(err, STATUS_UNSUPPORTED,
                   "this haul was built without CUDA (configured with HAUL_CUDA=OFF)");
}

enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) {
  (void)machine;
  (void)session;
  return absent(err);
}

void cuda_session_free(struct cuda_session *session) {
  (void)session;
}

enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)size_bytes, (void)seed, (void)complement;
  return absent(err);
}

enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) {
  (void)session, (void)gpu, (void)rows;
  return absent(err);
}

enum status data_gpu_compare(struct cuda_session *session, int32_t gpu, uint64_t address,
                             uint64_t size_bytes, uint64_t seed,
                             struct pattern_compare_result *result, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)size_bytes, (void)seed, (void)result;
  return absent(err);
}

enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)bytes, (void)size_bytes;
  return absent(err);
}

enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu, struct error *err) {
  (void)session, (void)gpu;
  return absent(err);
}

enum status event_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, struct event_trial **trial, struct error *err) {
  (void)context, (void)runs, (void)count, (void)trial;
  return absent(err);
}

void event_trial_free(struct event_trial *trial) {
  (void)trial;
}

bool event_trial_is_gated(const struct event_trial *trial) {
  (void)trial;
  return false;
}

enum status event_trial_run(struct event_trial *trial, uint32_t iterations,
                            uint32_t load_iterations, struct trial_times *times,
                            struct error *err) {
  (void)trial, (void)iterations, (void)load_iterations, (void)times;
  return absent(err);
}

enum status event_trial_enqueue(struct event_trial *trial, uint32_t iterations,
                                uint32_t load_iterations, struct error *err) {
  (void)trial, (void)iterations, (void)load_iterations;
  return absent(err);
}

void event_trial_open(struct event_trial *trial) {
  (void)trial;
}

enum status event_trial_poll(struct event_trial *trial, bool *ended, struct error *err) {
  (void)trial, (void)ended;
  return absent(err);
}

enum status event_trial_finish(struct event_trial *trial, enum status status,
                               struct trial_times *times, struct error *err) {
  (void)trial, (void)status, (void)times;
  return absent(err);
}

enum status cuda_session_free_bytes(struct cuda_session *session, int32_t gpu, uint64_t *free_bytes,
                                    struct error *err) {
  (void)session, (void)gpu, (void)free_bytes;
  return absent(err);
}

enum status chase_gpu_prepare(struct cuda_session *session, int32_t gpu, int32_t peer,
                              struct chase_slot *slot, struct error *err) {
  (void)session, (void)gpu, (void)peer, (void)slot;
  return absent(err);
}

void chase_gpu_release(struct cuda_session *session, struct chase_slot *slot) {
  (void)session, (void)slot;
}

enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)bytes, (void)size_bytes;
  return absent(err);
}

enum status chase_gpu_run(struct cuda_session *session, int32_t gpu, uint64_t start, uint64_t hops,
                          const struct chase_slot *slot, struct error *err) {
  (void)session, (void)gpu, (void)start, (void)hops, (void)slot;
  return absent(err);
}

enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) {
  (void)session, (void)request, (void)overhead;
  return absent(err);
}

void overhead_gpu_free(struct overhead_gpu *overhead) {
  (void)overhead;
}

enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t operations,
                             uint64_t *elapsed_ns, struct error *err) {
  (void)overhead, (void)operations, (void)elapsed_ns;
  return absent(err);
}
