/* method.h - ways to move bytes behind one ops table, one file per method.
 *
 * The trial (engine/workload/case_run.c) makes a flow ready with prepare(), then either enqueues it
 * on a stream (event clock) or has it executed by host threads (host clock), any number of times,
 * and ends with release(). */
#pragma once

#include "engine/case/transfer.h"
#include "engine/case/trial.h"
#include "engine/host/thread_team.h"
#include "engine/memory/memory.h"

struct gpu; /* engine/machine/machine.h */

/* A flow made ready to run. */
struct flow_run {
  const struct flow *flow;
  const struct buffer *source;
  const struct buffer *target;
  int32_t gpu;  /* the GPU whose stream it runs on; -1 = host threads */
  void *stream; /* CUstream of that GPU; NULL for host threads */
  void *
      part; /* CUgreenCtx, set by prepare(): of the SMs that the stream's kernels have; NULL: all */
  uint32_t part_sm_count;    /* how many those are */
  uint32_t kernels_on_gpu;   /* flows of the case whose kernels share that GPU, this one included */
  struct flow_run *leader;   /* whose launches move this flow's bytes, too; NULL = its own do */
  struct flow_run *follower; /* whose bytes this flow's launches move, too; NULL = none */
  void *state;               /* the method's own, made by prepare() */
  struct cpu_reservation
      *reservation; /* processors shared with the case's other flows; NULL = alone */
  uint64_t seed;    /* of the pattern that the flow moves */
  uint64_t notes;   /* set by prepare() and after_trial(): NOTE_BIT of what the reader must know */
  bool unproven;    /* set by prepare(): nothing will show whether its pages moved */
  /* PRIMER_BYTES beside the source and the target, which no trial copies; NULL = not primed. */
  const struct buffer *primer, *primer_target;
  uint64_t load_iterations; /* host threads: repeats of a load flow, known after wait() */
  /* Of a scattered flow: struct piece of each piece, in page-locked memory. */
  const struct buffer *pieces;
  /* On a stream: CLOCK_MONOTONIC_RAW before the first and after the last call that enqueued its
   * work since called_ns was 0. */
  uint64_t called_ns, returned_ns;
  /* In place of the method's own, for work that is no flow's (engine/workload/stream_gpu.c); NULL =
   * the method's. */
  enum status (*enqueue)(const struct memory_context *context, struct flow_run *run,
                         uint32_t iterations, struct error *err) CHECK_RESULT;
  /* Event clock only: enqueue what comes between the gate and the start event. NULL: nothing. */
  enum status (*enqueue_before)(const struct memory_context *context, struct flow_run *run,
                                struct error *err) CHECK_RESULT;
  /* The same for work of host threads: thread_count, execute and wait are looked at. */
  const struct method_ops *host_ops;
  /* Where the method shares one buffer: that buffer as the source and as the target see it. */
  struct buffer shared[2];
};

/* Larger than what a driver embeds in its commands, so that a copy engine does the copy. */
enum { PRIMER_BYTES = 64 << 10 };

struct method_ops {
  enum method method;
  enum clock clock;
  /* Where the clock depends on the flow; NULL = always `clock`. See method_clock(). */
  enum clock (*clock_of)(const struct flow *flow);
  /* Most repeats of a measured flow in one trial; 0 = as many as the trial can have. */
  uint32_t iterations_max;
  /* Source and target are one buffer of managed memory, of which run->source and run->target are
   * two views. */
  bool shares_buffer;
  /* Why this flow cannot be measured there, or NULL (see method_unsupported_reason). */
  const char *(*unsupported_reason)(const struct flow *flow, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]);
  /* The GPU that runs it, -1 = the host. */
  int32_t (*gpu)(const struct flow *flow);
  enum status (*prepare)(const struct memory_context *context, struct flow_run *run,
                         struct error *err) CHECK_RESULT;
  void (*release)(const struct memory_context *context, struct flow_run *run);
  /* Outside the timed part, before and after every trial: establish and prove what the number
   * presumes (pages at the source before, at the target after). Either may be NULL. */
  enum status (*before_trial)(const struct memory_context *context, struct flow_run *run,
                              struct error *err) CHECK_RESULT;
  enum status (*after_trial)(const struct memory_context *context, struct flow_run *run,
                             struct error *err) CHECK_RESULT;
  /* What the flow's memory holds, where that is not the pattern: the operands, or results that are
   * wrong in every byte (spoiled). NULL: the pattern. */
  enum status (*fill)(const struct memory_context *context, struct flow_run *run, bool spoiled,
                      struct error *err) CHECK_RESULT;
  /* STATUS_CORRUPT where the results are wrong. NULL: the target is compared with the pattern. */
  enum status (*verify)(const struct memory_context *context, const struct flow_run *run,
                        struct error *err) CHECK_RESULT;
  /* Shared buffers only: make the bytes wrong that a trial writes, so that verification proves that
   * it wrote them. NULL: a trial writes none. */
  enum status (*invalidate)(const struct memory_context *context, struct flow_run *run,
                            struct error *err) CHECK_RESULT;
  /* Event clock only: `iterations` repeats onto run->stream; returns without waiting, except where
   * blocks_host() says so. */
  enum status (*enqueue)(const struct memory_context *context, struct flow_run *run,
                         uint32_t iterations, struct error *err) CHECK_RESULT;
  /* Event clock only: copy the first bytes of a flow that is one copy, as a last repeat that is not
   * whole. NULL: it has whole repeats alone. */
  enum status (*enqueue_part)(const struct memory_context *context, struct flow_run *run,
                              uint64_t size_bytes, struct error *err) CHECK_RESULT;
  /* Event clock only: enqueue one small operation of the flow's kind, from run->primer to
   * run->primer_target, before the timed part, so that the engine that does the work is already
   * running when the timed part begins. NULL: the engine that holds the gate does the work. */
  enum status (*prime)(const struct memory_context *context, struct flow_run *run,
                       struct error *err) CHECK_RESULT;
  /* Event clock only: enqueueing may wait for the copy itself (pageable memory), so that it cannot
   * stand behind a gate. */
  bool (*blocks_host)(const struct flow *flow);
  /* Host clock only (NULL for the others): add what prepare() will take to the reservation; called
   * for every flow of the case before the first prepare(). */
  void (*expect_cpus)(const struct flow *flow, const struct machine *machine,
                      struct cpu_reservation *reservation);
  /* Host clock only: threads that execute() will bring to start->ready. */
  uint32_t (*thread_count)(const struct flow_run *run);
  /* Host clock only: wake the threads; each reports ready and waits for the start; then
   * `iterations` repeats, or, for a load flow, repeats until start->stop. Returns at once; wait()
   * returns when all have ended, with the first start and the last end on CLOCK_MONOTONIC_RAW. */
  enum status (*execute)(struct flow_run *run, uint32_t iterations, struct host_start *start,
                         struct error *err) CHECK_RESULT;
  void (*wait)(struct flow_run *run, uint64_t *start_ns, uint64_t *end_ns);
};

/* The clock that a flow is timed by. */
enum clock method_clock(const struct flow *flow);

/* Every method, in the order of enum method; NULL entries: not in this build. */
extern const struct method_ops *const methods[method_name_count];
/* NULL when this build can measure the flow's method and memory on that machine, else why not, for
 * a person. Needs no GPU and allocates nothing. */
const char *method_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                      char reason[CASE_REASON_MAX]);

/* ---- What the methods that run on a GPU share ---- */

/* The initiating side where it is a GPU, else the GPU at the other end; -1 without any. */
int32_t gpu_flow_gpu(const struct flow *flow);
/* Peer access that the flow needs and the machine lacks; NULL = none. */
const char *gpu_flow_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                        char reason[CASE_REASON_MAX]);
/* What is wrong with a strided or scattered copy; NULL = nothing, or another one. */
const char *gpu_flow_shape_unsupported_reason(const struct flow *flow,
                                              char reason[CASE_REASON_MAX]);
/* That the GPU has no bulk copy engine; NULL = it has one. */
const char *gpu_bulk_unsupported_reason(const struct gpu *gpu,
                                        char reason[CASE_REASON_MAX]) CHECK_RESULT;
/* Contexts of both GPUs exist, and peer access is on (direct) or off (staged) between them. */
enum status gpu_flow_prepare(const struct memory_context *context, struct flow_run *run,
                             struct error *err) CHECK_RESULT;
