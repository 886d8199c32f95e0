/* worker.h - a worker process: what it measures with, how it starts, and how it ends. */
#pragma once

#include "engine/engine.h"
#include "engine/machine/telemetry.h"
#include "runner/supervise/child.h"
#include "runner/supervise/peer_group.h"

/* What a worker measures with, and what the sampler samples GPUs with. */
struct supervise_ops {
  enum status (*engine_new)(const struct machine *machine, struct peers *peers,
                            struct engine **engine, struct error *err);
  /* Both may be NULL: no case has memory of another process. */
  uint32_t (*engine_case_processes)(const struct case_def *def);
  void (*engine_serve)(int fd, const struct machine *machine, uint32_t process);
  /* Of every case of the plan, before the first is run; may be NULL. */
  void (*engine_expect)(struct engine *engine, const struct case_def *def);
  /* For the first case of a worker that is started ahead; may be NULL. */
  void (*engine_prepare)(struct engine *engine, const struct case_def *def);
  enum status (*engine_run_case)(struct engine *engine, const struct case_def *def,
                                 const struct trial_sink *sink, struct case_outcome *outcome,
                                 struct error *err);
  void (*engine_free)(struct engine *engine);
  /* All NULL: no telemetry. */
  enum status (*telemetry_new)(const struct machine *machine, struct telemetry **telemetry,
                               struct error *err);
  bool (*telemetry_read)(struct telemetry *telemetry, uint32_t gpu,
                         struct telemetry_sample *sample);
  void (*telemetry_read_errors)(struct telemetry *telemetry, uint32_t gpus,
                                struct error_counts errors[MACHINE_GPUS_MAX]);
  void (*telemetry_free)(struct telemetry *telemetry);
};

struct worker {
  pid_t pid; /* 0 = there is none */
  int fd;    /* to it: struct message, without a wait */
  struct peer_group group;
};

/* It sends MESSAGE_READY or MESSAGE_START_FAILED, and then measures the cases of the plan that it
 * is asked for, until the socket ends. ahead: it prepares the first case before it is asked. */
enum status worker_start(struct worker *worker, const struct plan *plan,
                         const struct supervise_ops *ops, bool ahead,
                         struct error *err) CHECK_RESULT;
/* Let it leave by itself; worker_dismiss() waits for it. */
void worker_leave(const struct worker *worker);
/* The same, then those beside it, and wait: they free what they hold. Kills them when the patience
 * is over. */
void worker_dismiss(struct worker *worker, struct child_patience *patience);
/* Its socket ended, or it must end: wait or kill (force), and return how it ended. */
struct child_end worker_end(struct worker *worker, bool force);
