/* trial.h - what a measurement yields: trials, and the outcome of a case. Plain data: it travels
 * through the worker's pipe as it is. */
#pragma once

#include "engine/case/case.h"
#include "engine/case/note.h"

#define TRIAL_PHASE_LIST(X)                                                                        \
  X(TRIAL_WARMUP, "warmup")                                                                        \
  X(TRIAL_MEASURE, "measure")
ENUM_NAMES_DECLARE(trial_phase, TRIAL_PHASE_LIST)

#define TRIAL_STATUS_LIST(X)                                                                       \
  X(TRIAL_OK, "ok")                                                                                \
  X(TRIAL_GATE_TIMEOUT, "gate_timeout") /* the gate opened by itself: the time means nothing */    \
  X(TRIAL_CORRUPT, "corrupt")           /* verification failed after this trial */
ENUM_NAMES_DECLARE(trial_status, TRIAL_STATUS_LIST)

/* Why a case stopped measuring. */
#define STOP_LIST(X)                                                                               \
  X(STOP_NONE, "none") /* it did not come so far */                                                \
  X(STOP_PRECISION, "precision")                                                                   \
  X(STOP_TRIALS, "trials")                                                                         \
  X(STOP_TIME, "time")
ENUM_NAMES_DECLARE(stop, STOP_LIST)

/* The clock of a trial. */
#define CLOCK_LIST(X)                                                                              \
  X(CLOCK_EVENT, "event")   /* CUDA events, on the GPU */                                          \
  X(CLOCK_HOST, "host")     /* CLOCK_MONOTONIC_RAW */                                              \
  X(CLOCK_KERNEL, "kernel") /* the GPU's global timer, read inside the kernel */
ENUM_NAMES_DECLARE(clock, CLOCK_LIST)

/* One timed execution of all flows of a case. */
struct trial {
  uint32_t ordinal; /* from 0 in the case, warm-up included */
  uint32_t visit;   /* of the case, from 0 (engine/case/visits.h) */
  enum trial_phase phase;
  enum trial_status status;
  uint32_t iterations; /* back-to-back repeats in elapsed_ns */
  uint64_t start_ns;   /* CLOCK_MONOTONIC_RAW at submission */
  uint64_t elapsed_ns; /* the window: first flow's start to last flow's end */
  uint64_t cycles;     /* of the SM that took longest, by its own counter; 0 = not counted */
  /* Of a scattered copy, beside elapsed_ns from the first call to the end; else 0. */
  uint64_t submit_ns; /* in calls of the driver: from the first call to the return of the last */
  uint64_t gpu_ns;    /* between events */
};

/* One flow in one trial; sent only for cases of several flows. */
struct flow_trial {
  uint32_t ordinal;  /* of the trial */
  uint32_t flow;     /* index in the case */
  uint64_t start_ns; /* after the window's start; UINT64_MAX = not known: of a load flow, which
                        starts before it, or on another GPU's clock */
  uint64_t elapsed_ns;
  uint64_t iterations; /* repeats in elapsed_ns; 0 = those of the trial */
};

/* What one execution of the flows took; inside the engine only. */
struct flow_times {
  uint64_t start_ns;   /* after the window's start; UINT64_MAX: on another GPU's clock, not known */
  uint64_t elapsed_ns; /* of a load flow: from its own start to its own end; 0 = not timed */
  uint64_t iterations; /* repeats in it; 0 = those of the trial */
};

struct trial_times {
  uint64_t window_ns;         /* first measured flow's start to last one's end */
  uint64_t cycles;            /* of the SM, where a kernel times itself; else 0 */
  uint64_t submit_ns, gpu_ns; /* as in struct trial */
  uint64_t ended_ns;        /* CLOCK_MONOTONIC_RAW, when the host saw the end of flows on streams */
  bool gate_timed_out;      /* the gate opened by itself: the times mean nothing */
  bool load_outlasted;      /* every load flow was still running when the window had closed */
  bool load_paused;         /* some was not all the time: the host enqueued its repeats too late */
  bool again;               /* some was not: it is no trial, and is made again with longer loads */
  struct flow_times *flows; /* one per flow of the case; owned by what filled it in */
};

enum { CASE_CPUS_MAX = 96 };

struct case_outcome {
  enum case_status status;
  enum stop stop;
  enum clock clock;
  bool gated;    /* enqueueing was kept out of the time by the gate */
  bool verified; /* every byte of every measured flow was compared and right, and it moved */
  bool unproven; /* never verified: events, and unified memory that nothing proves to have moved */
  bool serialised; /* flow times and window disagree: the flows did not run side by side */
  uint32_t iterations;
  /* Wall time of the case by what it went to, ns. */
  uint64_t allocate_ns;
  uint64_t measure_ns; /* inside trials */
  uint64_t verify_ns;  /* filling, poisoning and comparing */
  uint64_t total_ns;
  /* Clock of the processor that starts the trials, before the first and after the last; 0 = not
   * known. */
  uint32_t cpu_before_khz;
  uint32_t cpu_after_khz;
  /* Processors that the threads could run on that copied, or else started the trials: "0-23,48". */
  char cpus[CASE_CPUS_MAX];
  /* Time to read a probe of 128 KiB whose lines were written, or flushed, before; 0: no
   * caches were brought into a state, or the processor has no instruction for it. */
  uint64_t cache_warm_ns;
  uint64_t cache_flushed_ns;
  /* Of an overhead by the driver, single calls: the first one, and of the latest some thousand the
   * median and the 99th percentile. 0 = not known. */
  uint64_t call_first_ns, call_median_ns, call_p99_ns;
  /* Of memory of another process: to export it, to open it first and later, to close it; 0 = there
   * is none. */
  uint64_t share_export_ns, share_open_first_ns, share_open_ns, share_close_ns;
  char reason[CASE_REASON_MAX]; /* why it is not ok; empty when ok */
  struct notes notes;           /* what the reader of the number must know */
};

/* Where the engine delivers. Calls come between timed parts, never inside one. */
struct trial_sink {
  void *context;
  void (*trial)(void *context, const struct trial *trial);
  void (*flow_trial)(void *context, const struct flow_trial *flow_trial);
};
