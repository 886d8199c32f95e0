/* Trials by events and the GPU's part of each kind of case in a build without the CUDA Toolkit:
 * every call fails with STATUS_UNSUPPORTED. */
#include "engine/gpu/session.h"
#include "engine/trial/event_trial.h"
#include "engine/workload/arithmetic.h"
#include "engine/workload/chase_gpu.h"
#include "engine/workload/overhead_gpu.h"
#include "engine/workload/stream.h"

enum status event_trial_new(const struct memory_context *context, struct flow_run *runs,
                            uint32_t count, enum gating gating, const struct copy_order *order,
                            struct event_trial **trial, struct error *err) {
  (void)context, (void)runs, (void)count, (void)gating, (void)order, (void)trial;
  return cuda_absent(err);
}

void event_trial_free(struct event_trial *trial) {
  (void)trial;
}

bool event_trial_is_gated(const struct event_trial *trial) {
  (void)trial;
  return false;
}

void event_trial_cpus(const struct event_trial *trial, struct cpu_set_bits *cpus) {
  (void)trial;
  (void)cpus;
}

enum status event_trial_run(struct event_trial *trial, uint32_t iterations,
                            uint32_t load_iterations, struct trial_times *times,
                            struct error *err) {
  (void)trial, (void)iterations, (void)load_iterations, (void)times;
  return cuda_absent(err);
}

enum status event_trial_enqueue(struct event_trial *trial, uint32_t iterations,
                                uint32_t load_iterations, struct error *err) {
  (void)trial, (void)iterations, (void)load_iterations;
  return cuda_absent(err);
}

void event_trial_open(struct event_trial *trial) {
  (void)trial;
}

bool event_trial_loads_run(const struct event_trial *trial) {
  (void)trial;
  return false;
}

enum status event_trial_poll(struct event_trial *trial, bool *ended, struct error *err) {
  (void)trial, (void)ended;
  return cuda_absent(err);
}

enum status event_trial_finish(struct event_trial *trial, enum status status,
                               struct trial_times *times, struct error *err) {
  (void)trial, (void)status, (void)times;
  return cuda_absent(err);
}

enum status chase_gpu_new(struct cuda_session *session, const struct chase_gpu_request *request,
                          struct chase_gpu **gpu, struct error *err) {
  (void)session, (void)request, (void)gpu;
  return cuda_absent(err);
}

void chase_gpu_free(struct chase_gpu *gpu) {
  (void)gpu;
}

uint64_t *chase_gpu_positions(struct chase_gpu *gpu) {
  (void)gpu;
  return NULL;
}

enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes, struct error *err) {
  (void)session, (void)gpu, (void)address, (void)bytes, (void)size_bytes;
  return cuda_absent(err);
}

enum status chase_gpu_run(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops, uint64_t hops,
                          struct chase_times *times, struct error *err) {
  (void)gpu, (void)table, (void)warm_hops, (void)hops, (void)times;
  return cuda_absent(err);
}

enum status chase_gpu_enqueue(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops,
                              uint64_t hops, void *stream, struct error *err) {
  (void)gpu, (void)table, (void)warm_hops, (void)hops, (void)stream;
  return cuda_absent(err);
}

void chase_gpu_times(const struct chase_gpu *gpu, struct chase_times *times) {
  (void)gpu, (void)times;
}

enum status arithmetic_gpu_new(struct cuda_session *session,
                               const struct arithmetic_gpu_request *request,
                               struct arithmetic_gpu **gpu, struct error *err) {
  (void)session, (void)request, (void)gpu;
  return cuda_absent(err);
}

void arithmetic_gpu_free(struct arithmetic_gpu *gpu) {
  (void)gpu;
}

enum status arithmetic_gpu_run(struct arithmetic_gpu *gpu, uint64_t instructions, uint64_t *cycles,
                               uint64_t *elapsed_ns, struct error *err) {
  (void)gpu, (void)instructions, (void)cycles, (void)elapsed_ns;
  return cuda_absent(err);
}

enum status arithmetic_gpu_results(struct arithmetic_gpu *gpu, const uint64_t **results,
                                   struct error *err) {
  (void)gpu, (void)results;
  return cuda_absent(err);
}

enum status arithmetic_gpu_spoil(struct arithmetic_gpu *gpu, struct error *err) {
  (void)gpu;
  return cuda_absent(err);
}

static enum status stream_gpu_create_absent(const struct memory_context *context,
                                            const struct stream *stream,
                                            const struct stream_arrays *arrays, void **state,
                                            struct error *err) {
  (void)context, (void)stream, (void)arrays, (void)state;
  return cuda_absent(err);
}

/* No other member is called: there is never a state. */
const struct stream_place stream_gpu = {.create = stream_gpu_create_absent};

enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) {
  (void)session, (void)request, (void)overhead;
  return cuda_absent(err);
}

void overhead_gpu_free(struct overhead_gpu *overhead) {
  (void)overhead;
}

enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t operations,
                             uint64_t *elapsed_ns, struct error *err) {
  (void)overhead, (void)operations, (void)elapsed_ns;
  return cuda_absent(err);
}
