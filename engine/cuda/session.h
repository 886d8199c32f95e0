/* session.h - the CUDA state of one worker process: contexts, loaded kernels, peer access.
 *
 * GPUs are named by their index in struct machine. Contexts are the devices' primary ones, taken at
 * first use and kept. All kernels are loaded when a context is made: one loaded lazily while a gate
 * spins would deadlock. */
#ifndef HAUL_ENGINE_CUDA_SESSION_H
#define HAUL_ENGINE_CUDA_SESSION_H

#include "engine/cuda/driver.h"
#include "engine/machine/machine.h"
#include "kernels/kernels.h"

struct cuda_gpu {
  CUdevice device;
  CUcontext context; /* NULL until first used */
  CUmodule module;
  CUfunction kernels[kernel_word_count];
  CUstream stream; /* for work outside timed parts */
  bool peer_enabled[MACHINE_GPUS_MAX];
};

struct cuda_session {
  struct cuda_driver driver;
  const struct machine *machine; /* borrowed */
  struct cuda_gpu gpus[MACHINE_GPUS_MAX];
};

enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) CHECK_RESULT;
void cuda_session_free(struct cuda_session *session);
/* Make that GPU's context current in the calling thread, creating it at first. */
enum status cuda_session_use(struct cuda_session *session, int32_t gpu,
                             struct error *err) CHECK_RESULT;
/* Let `gpu` reach memory of `peer` directly. No error where it is enabled already;
 * STATUS_UNSUPPORTED where the machine has no peer access between them. */
enum status cuda_session_enable_peer(struct cuda_session *session, int32_t gpu, int32_t peer,
                                     struct error *err) CHECK_RESULT;
/* Launch on a stream of that GPU, whose context is current. arguments is one struct of kernels.h.
 */
enum status cuda_session_launch(struct cuda_session *session, int32_t gpu, enum kernel kernel,
                                uint32_t grid, uint32_t block, CUstream stream, void *arguments,
                                struct error *err) CHECK_RESULT;

#endif
