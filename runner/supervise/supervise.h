/* supervise.h - worker processes: started, listened to, watched, replaced.
 *
 * The parent stays single-threaded and never touches CUDA or NVML, either of which may never
 * return: the GPUs are sampled by a process of its own (runner/supervise/sampler.h). A worker is
 * forked before CUDA starts, inherits the plan, and measures one case after the other as the parent
 * asks for them: the next case starts only when the last one was handed to the sink, so that
 * nothing is written to disk while something is measured. Cases that the sink says are open are
 * visited again, in rounds over all of them, until none is or settle_ns is spent. Between two
 * visits of a case lies a pause, so that one episode of noise does not hit both. A visit by a
 * worker that has measured the case is shorter than the first (engine/case/visits.h). Requests and
 * answers have a fixed size (runner/supervise/message.h). When a worker dies, hangs past the
 * watchdog or loses its CUDA context, the case it was in gets that status and a new worker goes on
 * with the next case. So it does when one of the processes beside it ends whose memory the case has
 * (runner/supervise/peer_group.h). When the parent dies, the kernel ends all of them
 * (PR_SET_PDEATHSIG). */
#pragma once

#include "engine/case/visits.h"
#include "engine/machine/telemetry.h"
#include "runner/supervise/eta.h"
#include "runner/supervise/worker.h"

#include <signal.h>

/* A case hangs when it is silent for ten times the longest time that it can take
 * (plan_case.longest_ns), and at least for the floor. */
enum { SUPERVISE_WATCHDOG_FACTOR = 10 };
#define SUPERVISE_WORKER_STAYS_NS   UINT64_C(2000000000)
#define SUPERVISE_WATCHDOG_FLOOR_NS UINT64_C(30000000000)
/* After a first interrupt the case may end within this time: a scheduler kills 30 s after it. A
 * part of the floor, for tests too. */
enum { SUPERVISE_STOP_PARTS = 2 };
#define SUPERVISE_STOP_NS (SUPERVISE_WATCHDOG_FLOOR_NS / SUPERVISE_STOP_PARTS)

/* Everything that one process measured of one case, also what arrived before a worker died;
 * borrowed for the duration of the call. */
struct case_report {
  uint32_t process;  /* ordinal in the run, from 0 */
  size_t case_index; /* in plan->cases */
  uint32_t visit;    /* in this session, from 0: from 1 on the process measured the case before */
  const struct case_outcome *outcome;
  const struct trial *trials;
  size_t trial_count;
  const struct flow_trial *flow_trials;
  size_t flow_trial_count;
  /* Of these, how many come from earlier visits, first in either list; from the supervisor 0. */
  size_t recorded_trials, recorded_flow_trials;
  bool context_lost; /* after it a GPU took no work any more, until a new process began */
  bool killed; /* a user or the kernel killed the worker, which does not speak against a GPU */
  const struct notes *slowed; /* for the recorder; NULL = nothing, and from the supervisor always */
  /* What noise kept the trials from being as precise as was asked for, in words of
   * runner/statistics/noise.h; likewise. */
  const char *noise;
  double noise_size, noise_ns;       /* 0 where such noise has none */
  const struct visits_found *visits; /* what all visits so far say; likewise */
};

struct progress {
  uint32_t process, process_count;
  size_t done, total;         /* cases over all processes; skipped and resumed ones apart */
  const struct case_def *def; /* being measured; NULL between */
  uint32_t visit;             /* of the cases that are measured; from 1 on `done` stays */
  const struct trial *trials; /* of it, as they came so far */
  size_t trial_count;
  uint64_t elapsed_ns;
  uint64_t left_ns;       /* estimate, corrected by how the run went so far; with the pauses */
  uint64_t pause_left_ns; /* until `process` begins; 0 = no pause */
  uint64_t case_left_ns;  /* longest that `def` should still take; 0 = it takes longer already */
};

/* The receiver. A callback that returns other than STATUS_OK ends the run with that status. All
 * calls but progress() and warning() come while nothing is being measured. */
struct supervise_sink {
  void *context;
  /* May be NULL: nothing was done before. True: this case needs no measuring (--resume). */
  bool (*already_done)(void *context, uint32_t process, size_t case_index);
  /* May be NULL: no case is visited again. Asked when all cases were measured once. True: another
   * visit may settle this one. */
  bool (*is_open)(void *context, uint32_t process, size_t case_index);
  /* With each worker of a process, before its first case; not for a process that has nothing to
   * measure. */
  enum status (*process_started)(void *context, uint32_t process, pid_t pid, struct error *err);
  /* May be NULL. Before each case is measured. */
  enum status (*case_starts)(void *context, size_t case_index, struct error *err);
  enum status (*case_finished)(void *context, const struct case_report *report, struct error *err);
  enum status (*process_ended)(void *context, uint32_t process, struct error *err);
  /* What was sampled during the last case, before its case_finished(). */
  enum status (*telemetry)(void *context, const struct telemetry_sample *samples, size_t count,
                           struct error *err);
  void (*progress)(void *context, const struct progress *progress); /* may be NULL */
  /* A problem that costs no case: samples of the GPUs are missing, a worker was lost while it
   * measured no case, GPUs were set aside. May be NULL; comes at any time. */
  void (*warning)(void *context, const char *text);
};

struct supervise_options {
  const struct supervise_ops *ops;
  uint32_t processes;
  uint64_t telemetry_ns; /* between samples; 0 = off */
  uint64_t pause_ns;     /* from the end of a process to the start of the next */
  /* For further visits, all processes together; PLAN_SETTLE_AUTO = of each process as long as its
   * first round took, and at least PLAN_SETTLE_NS for all. */
  uint64_t settle_ns;
  /* The cases fell short before, which others may have caused: twice that time, and twice the time
   * between two visits, for an episode may outlast all of them. */
  bool doubted;
  uint64_t budget_ns;         /* no case begins later than that after the start; 0 = no limit */
  uint64_t watchdog_floor_ns; /* SUPERVISE_WATCHDOG_FLOOR_NS, but for tests */
  /* May be NULL. A worker that is no longer needed is still freeing its memory after so long. */
  void (*worker_stays)(void *context);
  void *context;
  uint64_t worker_stays_ns; /* SUPERVISE_WORKER_STAYS_NS, but for tests */
  /* Set by the caller's signal handler: 1 = end after the current case, 2 = end now. One that comes
   * while a worker frees its memory ends that worker. */
  const volatile sig_atomic_t *interrupted;
};

/* It samples the GPUs from now on. plan and options are borrowed and must outlive it. */
struct supervisor *supervise_new(const struct plan *plan, const struct supervise_options *options);
/* Start the first worker, for it to open the driver and prepare the first case while the caller
 * does other things. */
void supervise_start_worker(struct supervisor *supervisor);
/* Once. STATUS_OK when all was attempted, whatever the cases' statuses; STATUS_INTERRUPTED when
 * *interrupted ended it or, that being 0, the budget; STATUS_CRASHED when workers cannot start;
 * else what the sink or the system said. The last worker is still there: it frees what it holds. */
enum status supervise_run(struct supervisor *supervisor, const struct supervise_sink *sink,
                          struct error *err) CHECK_RESULT;
/* No worker is left behind, unless the kernel cannot end it: then a case's reason says so. */
void supervise_free(struct supervisor *supervisor);
