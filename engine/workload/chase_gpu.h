/* chase_gpu.h - the GPU's part of a pointer chase (engine/workload/chase.c). */
#pragma once

#include "engine/base/error.h"
#include "engine/case/chase.h"
#include "kernels/kernels.h"

struct cuda_session;
struct chase_gpu;

struct chase_gpu_request {
  enum kernel kernel; /* KERNEL_CHASE_... */
  int32_t gpu;        /* whose threads load */
  int32_t peer;     /* the GPU whose memory they read, to which access is switched on; -1 = none */
  uint32_t threads; /* per block */
  uint32_t blocks;
  bool in_turn;          /* one block after the other */
  bool by_sm;            /* positions are those of SMs, by their numbers, not of blocks */
  uint32_t shared_bytes; /* of each block: the table of KERNEL_CHASE_SHARED; else 0 */
  enum l1_size l1_size;
};

/* What a run took, of the slowest thread; of blocks in turn, their mean. */
struct chase_times {
  uint64_t cycles;
  uint64_t elapsed_ns;
};

enum status chase_gpu_new(struct cuda_session *session, const struct chase_gpu_request *request,
                          struct chase_gpu **gpu, struct error *err) CHECK_RESULT;
void chase_gpu_free(struct chase_gpu *gpu); /* NULL is fine */
/* Where each thread of the grid is: an address, or, in shared memory, a byte offset. Set it before
 * the first run; each run goes on from where the last one ended. */
uint64_t *chase_gpu_positions(struct chase_gpu *gpu);
/* Copy the elements to memory of that GPU. */
enum status chase_gpu_upload(struct cuda_session *session, int32_t gpu, uint64_t address,
                             const void *bytes, uint64_t size_bytes,
                             struct error *err) CHECK_RESULT;
/* The same of lines of CHASE_LINE_BYTES, to every stride_bytes from address on. */
enum status chase_gpu_upload_lines(struct cuda_session *session, int32_t gpu, uint64_t address,
                                   uint64_t stride_bytes, const void *lines, uint64_t count,
                                   struct error *err) CHECK_RESULT;
/* A run in steps: onto a stream of that GPU; and, once it has ended, what it took. */
enum status chase_gpu_enqueue(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops,
                              uint64_t hops, void *stream, struct error *err) CHECK_RESULT;
void chase_gpu_times(const struct chase_gpu *gpu, struct chase_times *times);
/* Every thread goes warm_hops, then `hops` that are timed; waits for them. table: of shared memory,
 * else 0. */
enum status chase_gpu_run(struct chase_gpu *gpu, uint64_t table, uint64_t warm_hops, uint64_t hops,
                          struct chase_times *times, struct error *err) CHECK_RESULT;
