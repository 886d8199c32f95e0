/* engine.h - a case in, trials out.
 *
 * One engine per worker process: it owns the CUDA contexts, streams, loaded kernels and the pool of
 * buffers, which outlive a case. Not thread-safe; it starts threads of its own for host work. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/trial.h"
#include "engine/machine/limits.h"

struct engine;
struct machine;
struct peers;

/* One launch moves the bytes of the flow and of another one of the case; a part of the case_key. */
bool engine_flow_is_paired(const struct case_def *def, uint32_t flow);
/* NULL when this build can measure the case on that machine, else why not, for a person ("GPU 0 and
 * GPU 1 have no peer access"). Needs no GPU and allocates nothing. */
const char *engine_case_unsupported_reason(const struct case_def *def,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]);
/* The i-th path that the case uses; false past the last. */
bool engine_case_path(const struct case_def *def, uint32_t i, struct case_path *path);
/* The GPUs at the ends of those paths: bit i is GPU i. */
uint32_t engine_case_gpus(const struct case_def *def);
/* Bytes of host and GPU memory that the case needs at once, for the plan, which leaves out what
 * does not fit. */
void engine_memory_needs(const struct case_def *def, const struct machine *machine,
                         uint64_t *host_bytes, uint64_t gpu_bytes[MACHINE_GPUS_MAX]);

/* The other processes whose memory the case has: bit i is process i, from 1. */
uint32_t engine_case_processes(const struct case_def *def);
/* What such a process does until fd, a SOCK_SEQPACKET socket, ends. It is forked before CUDA
 * starts. */
void engine_serve(int fd, const struct machine *machine, uint32_t process);
/* machine is borrowed and must outlive the engine. CUDA starts only when machine has GPUs.
 * peers (engine/memory/peer.h): the other ends of those sockets, borrowed; NULL: there is none. */
enum status engine_new(const struct machine *machine, struct peers *peers, struct engine **engine,
                       struct error *err) CHECK_RESULT;
void engine_free(struct engine *engine);
/* This case comes first: have contexts and kernels for it. Errors are left to the case. */
void engine_prepare(struct engine *engine, const struct case_def *def);
/* This case is to be measured later: memory that it and an earlier one can share is then allocated
 * once. */
void engine_expect(struct engine *engine, const struct case_def *def);

/* Measure. What fails to measure is data: the outcome's status and reason. The return value is
 * STATUS_OK, or STATUS_STICKY when a CUDA context may be lost, or another process that the case
 * needs, and this process is to measure nothing more (the outcome is filled in that case too; ok:
 * the context was lost after it). */
enum status engine_run_case(struct engine *engine, const struct case_def *def,
                            const struct trial_sink *sink, struct case_outcome *outcome,
                            struct error *err) CHECK_RESULT;
