/* session.h - the CUDA state of one worker process: contexts, loaded kernels, peer access, and the
 * work that GPUs do outside timed parts.
 *
 * GPUs are named by their index in struct machine. Contexts are the devices' primary ones, taken at
 * first use and kept. A case's kernels are loaded before it begins: one loaded lazily while a gate
 * spins would deadlock. */
#pragma once

#include "engine/cuda/driver.h"
#include "engine/machine/limits.h"
#include "kernels/kernels.h"

struct cuda_session;
struct machine;

/* Load the driver and find the machine's GPUs; one that cannot be found is an error at its first
 * use, so that it costs its own cases only. Contexts are made at first use. machine is borrowed.
 * STATUS_UNSUPPORTED: no usable driver. */
enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) CHECK_RESULT;
void cuda_session_free(struct cuda_session *session); /* NULL is fine */
/* Make the contexts of these GPUs (bit i: GPU i), so that whatever needs any context takes one of
 * them and no other GPU can fail the case; and load these modules there (bit i: enum
 * kernel_module). The driver takes up to seconds for one that it has to compile. */
enum status cuda_session_prepare(struct cuda_session *session, uint32_t gpus, uint32_t modules,
                                 struct error *err) CHECK_RESULT;
/* Whether the contexts of these GPUs still work, where they were made; STATUS_STICKY: one is lost.
 * Others are not touched: their failures do not affect the case. */
enum status cuda_session_check(struct cuda_session *session, uint32_t gpus,
                               struct error *err) CHECK_RESULT;
/* Memory of that GPU that nobody uses now. */
enum status cuda_session_free_bytes(struct cuda_session *session, int32_t gpu, uint64_t *free_bytes,
                                    struct error *err) CHECK_RESULT;

/* Fill, compare and read buffers on a GPU (engine/memory/data.h). Addresses are device addresses
 * that `gpu` reaches. The first of them returns at once, and its work is done after the second;
 * every other function returns when the work is done. */
enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement,
                          struct error *err) CHECK_RESULT;
enum status data_gpu_fill_wait(struct cuda_session *session, int32_t gpu,
                               struct error *err) CHECK_RESULT;
enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) CHECK_RESULT;
enum status data_gpu_fill_pieces(struct cuda_session *session, int32_t gpu,
                                 struct pattern_pieces_arguments *pieces,
                                 struct error *err) CHECK_RESULT;
/* In two steps, so that GPUs can compare at the same time. A GPU has one comparison at a time. */
enum status data_gpu_compare_start(struct cuda_session *session, int32_t gpu, uint64_t address,
                                   uint64_t size_bytes, uint64_t seed,
                                   struct error *err) CHECK_RESULT;
enum status data_gpu_compare_finish(struct cuda_session *session, int32_t gpu, uint64_t size_bytes,
                                    struct pattern_compare_result *result,
                                    struct error *err) CHECK_RESULT;
/* Around a kernel that compares into *verdict (a struct pattern_compare_result in device memory),
 * on its stream, whose context is current: it becomes "nothing differs", and is waited for and
 * read. most: as much as can differ. STATUS_CORRUPT where the verdict itself did not arrive. */
enum status data_gpu_compare_begin(struct cuda_session *session, uint64_t verdict, CUstream stream,
                                   struct error *err) CHECK_RESULT;
enum status data_gpu_compare_end(struct cuda_session *session, uint64_t verdict, CUstream stream,
                                 uint64_t most, struct pattern_compare_result *result,
                                 struct error *err) CHECK_RESULT;
/* Copy bytes from device memory to the host. */
enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) CHECK_RESULT;
enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu,
                                 struct error *err) CHECK_RESULT;

struct cuda_gpu {
  CUdevice device;
  CUcontext context; /* NULL until first used */
  CUmodule modules[kernel_module_name_count];
  CUfunction kernels[kernel_name_count]; /* NULL: its module is not loaded */
  CUstream stream;                       /* for work outside timed parts */
  bool peer_enabled[MACHINE_GPUS_MAX];
  uint64_t peer_case[MACHINE_GPUS_MAX]; /* the last that asked for it, by session.cases */
  CUdeviceptr compare_result;           /* of data_gpu_compare_start(): made at first use */
  CUdeviceptr flush_buffer; /* of data_gpu_flush_cache(): made at first use, twice the L2 cache */
  /* That processes export, by their numbers (engine/memory/share.h): made or opened at first use.
   */
  CUmemoryPool pools[PEERS_MAX + 1];
};

struct cuda_page {
  void *host;
  CUdeviceptr device;
  uint64_t size_bytes;
  bool taken;
};

struct cuda_session {
  struct cuda_driver driver;
  const struct machine *machine; /* borrowed */
  struct cuda_gpu gpus[MACHINE_GPUS_MAX];
  uint64_t cases;        /* that have ended */
  struct cuda_page gate; /* kept between cases, for the driver takes up to 3 ms for a page */
};

/* Make that GPU's context current in the calling thread, creating it at first, with the modules
 * that every case needs: gate and pattern. */
enum status cuda_session_use(struct cuda_session *session, int32_t gpu,
                             struct error *err) CHECK_RESULT;
/* Let `gpu` reach memory of `peer` directly, or no more (then copies between them go through the
 * host). No error where it is so already; STATUS_UNSUPPORTED where the machine has no peer access
 * between them. Leaves the context of `gpu` current when it changes anything. */
enum status cuda_session_set_peer(struct cuda_session *session, int32_t gpu, int32_t peer,
                                  bool enabled, struct error *err) CHECK_RESULT;
/* A stream of the GPU whose context is current; priority -1: the lowest that there is, 1: the
 * highest, 0: the usual. part: of the SMs, whose kernels run on no others; NULL: of all.
 * STATUS_UNSUPPORTED: streams have no priorities there. */
enum status cuda_session_new_stream(struct cuda_session *session, int priority, CUgreenCtx part,
                                    CUstream *stream, struct error *err) CHECK_RESULT;
/* At least that many SMs of the GPU, and no more than the driver has to add: a green context, to be
 * ended after its streams; *part_sm_count is how many it has. STATUS_UNSUPPORTED: the driver has
 * none. */
enum status cuda_session_new_part(struct cuda_session *session, int32_t gpu, uint32_t sm_count,
                                  CUgreenCtx *part, uint32_t *part_sm_count,
                                  struct error *err) CHECK_RESULT;
/* Launch on a stream of that GPU, whose context is current. arguments is one struct of kernels.h.
 */
enum status cuda_session_launch(struct cuda_session *session, int32_t gpu, enum kernel kernel,
                                uint32_t grid, uint32_t block, CUstream stream, void *arguments,
                                struct error *err) CHECK_RESULT;
/* The same with shared_bytes of shared memory for each block. */
enum status cuda_session_launch_shared(struct cuda_session *session, int32_t gpu,
                                       enum kernel kernel, uint32_t grid, uint32_t block,
                                       uint32_t shared_bytes, CUstream stream, void *arguments,
                                       struct error *err) CHECK_RESULT;
/* How many blocks of that many threads one SM holds at a time. */
enum status cuda_session_fitting_blocks(struct cuda_session *session, int32_t gpu,
                                        enum kernel kernel, uint32_t block, uint32_t *blocks,
                                        struct error *err) CHECK_RESULT;
/* Page-locked memory of the host, zeroed, that GPUs and processors read and write while kernels
 * run: *host, and *device as every GPU sees it. The GPU's context is current. On failure there is
 * none. what: "the gate". */
enum status cuda_session_new_page(struct cuda_session *session, uint64_t size_bytes,
                                  const char *what, void **host, CUdeviceptr *device,
                                  struct error *err) CHECK_RESULT;
void cuda_session_free_page(struct cuda_session *session, void *host); /* NULL is fine */
/* The same for the gate of a trial. Kernels that read it have ended before it is given back. */
enum status cuda_session_take_gate(struct cuda_session *session, uint64_t size_bytes, void **host,
                                   CUdeviceptr *device, struct error *err) CHECK_RESULT;
void cuda_session_give_gate(struct cuda_session *session, void *host); /* NULL is fine */
/* Wait until all work of the stream is done, and report its errors. what: "filling a buffer". */
enum status cuda_session_wait(struct cuda_session *session, CUstream stream, const char *what,
                              struct error *err) CHECK_RESULT;

/* What kernels that time themselves note about each SM (struct sm_span): cleared before a launch,
 * summed up after it. */
struct spans {
  CUdeviceptr device;   /* for the kernel's arguments */
  struct sm_span *host; /* SM_SPANS rows */
};

struct spans_total {
  uint64_t cycles;     /* of the SM that took longest: first block's start to last one's end */
  uint64_t elapsed_ns; /* from the first block of all to the last */
};

/* The GPU's context is current, here and below. */
enum status spans_init(struct cuda_session *session, struct spans *spans,
                       struct error *err) CHECK_RESULT;
void spans_fini(struct cuda_session *session, struct spans *spans); /* a zeroed one is fine */
/* On that stream, before the launch; returns when it is done. */
enum status spans_reset(struct cuda_session *session, struct spans *spans, CUstream stream,
                        struct error *err) CHECK_RESULT;
/* On that stream, after the launch; waits for it. STATUS_CUDA: no block has noted anything. */
enum status spans_read(struct cuda_session *session, struct spans *spans, CUstream stream,
                       struct spans_total *total, struct error *err) CHECK_RESULT;
