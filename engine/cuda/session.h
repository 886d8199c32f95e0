/* session.h - the CUDA state of one worker process: contexts, loaded kernels, peer access.
 *
 * GPUs are named by their index in struct machine. Contexts are the devices' primary ones, taken at
 * first use and kept. All kernels are loaded when a context is made: one loaded lazily while a gate
 * spins would deadlock. */
#ifndef HAUL_ENGINE_CUDA_SESSION_H
#define HAUL_ENGINE_CUDA_SESSION_H

#include "engine/cuda/driver.h"
#include "engine/cuda/session_lifetime.h"
#include "engine/machine/machine.h"
#include "kernels/kernels.h"

struct cuda_gpu {
  CUdevice device;
  CUcontext context; /* NULL until first used */
  CUmodule module;
  CUfunction kernels[kernel_name_count];
  CUstream stream; /* for work outside timed parts */
  bool peer_enabled[MACHINE_GPUS_MAX];
  CUdeviceptr compare_result; /* of data_gpu.h: made at first use */
  CUdeviceptr flush_buffer;   /* of data_gpu.h: made at first use, twice the L2 cache */
};

struct cuda_session {
  struct cuda_driver driver;
  const struct machine *machine; /* borrowed */
  struct cuda_gpu gpus[MACHINE_GPUS_MAX];
};

/* Make that GPU's context current in the calling thread, creating it at first. */
enum status cuda_session_use(struct cuda_session *session, int32_t gpu,
                             struct error *err) CHECK_RESULT;
/* Let `gpu` reach memory of `peer` directly, or no more (then copies between them go through the
 * host). No error where it is so already; STATUS_UNSUPPORTED where the machine has no peer access
 * between them. Leaves the context of `gpu` current when it changes anything. */
enum status cuda_session_set_peer(struct cuda_session *session, int32_t gpu, int32_t peer,
                                  bool enabled, struct error *err) CHECK_RESULT;
/* Launch on a stream of that GPU, whose context is current. arguments is one struct of kernels.h.
 */
enum status cuda_session_launch(struct cuda_session *session, int32_t gpu, enum kernel kernel,
                                uint32_t grid, uint32_t block, CUstream stream, void *arguments,
                                struct error *err) CHECK_RESULT;
/* The same with that much shared memory for each block. */
enum status cuda_session_launch_shared(struct cuda_session *session, int32_t gpu,
                                       enum kernel kernel, uint32_t grid, uint32_t block,
                                       uint32_t shared_bytes, CUstream stream, void *arguments,
                                       struct error *err) CHECK_RESULT;
/* Until all work of the stream is done; its errors come out here. what: "filling a buffer". */
enum status cuda_session_wait(struct cuda_session *session, CUstream stream, const char *what,
                              struct error *err) CHECK_RESULT;

#endif
