/* workload.h - kinds of case behind one ops table, one file per kind: what is set up once, and what
 * one trial does. The loop over trials, warm-up and stop rule are the same for all (case_run.c). */
#pragma once

#include "engine/case/trial.h"
#include "engine/host/cache.h"
#include "engine/host/numa.h"
#include "engine/memory/data.h"
#include "engine/memory/memory.h"

/* The exact dot product of the arrays of a stream, which takes the host seconds for large ones and
 * is the same on every GPU. */
struct stream_dot {
  uint64_t size_bytes; /* 0: none so far */
  enum number_type type;
  long double product;
};

/* What one engine owns (engine/engine.h), and what every workload works with. */
struct engine {
  struct memory_context context;
  struct pool *pool;
  struct data *data;
  uint64_t host_need_bytes, gpu_need_bytes[MACHINE_GPUS_MAX]; /* of the largest case so far */
  uint64_t host_expected_bytes;                               /* of the largest that is to come */
  uint64_t host_spare_bytes;                                  /* that the pool may hold beside it */
  bool flush_proven; /* flush_proof is filled in: at the first case with host_cache not as_is */
  struct cache_flush_proof flush_proof;
  struct stream_dot stream_dot; /* the last that was needed */
};

struct workload_ops {
  enum case_kind kind;
  /* The kernels of its trials besides those of its flows (bit i: enum kernel_module). */
  uint32_t kernel_modules;
  /* Why the case cannot be measured there, or NULL. Needs no GPU. */
  const char *(*unsupported_reason)(const struct case_def *def, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]);
  /* Adds to what engine_memory_needs() has zeroed. */
  void (*memory_needs)(const struct case_def *def, uint64_t *host_bytes,
                       uint64_t gpu_bytes[MACHINE_GPUS_MAX]);
  /* The i-th path that the case uses besides those of its flows; false past the last. */
  bool (*path)(const struct case_def *def, uint32_t i, struct case_path *path);
  enum clock (*clock)(const struct case_def *def);
  /* Take buffers and make everything ready; adds to the outcome's times and note. *state is the
   * workload's own and is set even on an error, for tear_down(). */
  enum status (*set_up)(struct engine *engine, const struct case_def *def,
                        struct case_outcome *outcome, void **state, struct error *err) CHECK_RESULT;
  /* Most repeats that a trial can have. */
  uint32_t (*iterations_max)(const void *state);
  /* Before a trial, outside its time: bring caches into the wanted state. May be NULL. */
  enum status (*before_trial)(void *state, struct error *err) CHECK_RESULT;
  enum status (*run)(void *state, uint32_t iterations, struct trial_times *times,
                     struct error *err) CHECK_RESULT;
  /* Make the result wrong in every byte, so that verify() proves what came after. May be NULL. */
  enum status (*poison)(void *state, struct error *err) CHECK_RESULT;
  /* STATUS_CORRUPT with the first difference. May be NULL: nothing to verify. */
  enum status (*verify)(void *state, struct error *err) CHECK_RESULT;
  bool verifies_itself; /* run() compares what it got: verify() is NULL */
  void (*tear_down)(void *state);
};

/* Every kind, in the order of enum case_kind. */
extern const struct workload_ops *const workloads[case_kind_name_count];

/* The i-th path that the case uses: of its flows, then what its kind says; false past the last. */
bool workload_path(const struct case_def *def, uint32_t i, struct case_path *path);
/* The GPUs at the ends of the case's paths: bit i is GPU i. */
uint32_t workload_gpus(const struct case_def *def);
/* The other processes whose memory the case has: bit i is process i. */
uint32_t workload_processes(const struct case_def *def);
/* Has contexts and kernels for the case, where there is a GPU. */
enum status workload_prepare(const struct engine *engine, const struct case_def *def,
                             struct error *err);
/* The kernels that the case's trials, data and verification launch: bit i is enum kernel_module. */
uint32_t workload_kernel_modules(const struct case_def *def);

/* The life of one case, by the ops of its kind: what engine_run_case() promises (engine/engine.h;
 * engine/workload/case_run.c). */
enum status case_run_measure(const struct workload_ops *ops, struct engine *engine,
                             const struct case_def *def, const struct trial_sink *sink,
                             struct case_outcome *outcome, struct error *err) CHECK_RESULT;

/* The processors that the case's threads could run on become the outcome's, if there are any. */
void workload_set_cpus(struct case_outcome *outcome, const struct cpu_set_bits *cpus);
/* What its reader must know goes to the notes of the outcome. */
void workload_note_buffer(struct case_outcome *outcome, const struct buffer *buffer);
/* For cases that want host caches warm or flushed: proven once per engine; its times become those
 * of the outcome, and where it cannot be done or proven, a note says so. */
void workload_prove_caches(struct engine *engine, enum host_cache wanted,
                           struct case_outcome *outcome);
/* The same in a buffer of the case, whose first bytes are lost, by a thread of its node. */
enum status workload_prove_buffer(const struct engine *engine, enum host_cache wanted,
                                  const struct buffer *buffer, uint64_t size_bytes,
                                  struct case_outcome *outcome, struct error *err) CHECK_RESULT;
/* Whether a note says that the caches are not proven to be as wanted. */
bool workload_is_unflushed(const struct case_outcome *outcome);

/* How much managed memory a case may have: measure.free_share of what each GPU has free. More than
 * a GPU has free can hang the GPU itself, so it is refused before anything is allocated: when the
 * case is planned, by what the GPU had free when it was probed, and again before the case's first
 * allocation, by what it has free then. */

/* bytes: managed memory of the case that may come to each GPU. NULL: allowed. */
const char *managed_share_unsupported_reason(const struct measure *measure,
                                             const struct machine *machine,
                                             const uint64_t bytes[MACHINE_GPUS_MAX],
                                             char reason[CASE_REASON_MAX]);
/* STATUS_UNSUPPORTED: not allowed, also with the pool's free buffers released. No managed buffers
 * may be in the pool. */
enum status managed_share_admit(struct engine *engine, const struct measure *measure,
                                const uint64_t bytes[MACHINE_GPUS_MAX],
                                struct error *err) CHECK_RESULT;
