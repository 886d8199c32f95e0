/* sampler.h - a process that samples the GPUs through NVML while others measure, and reads their
 * error counters between cases.
 *
 * It is a process of its own, because a call to NVML may never return if a GPU or its driver is
 * broken, and then the calling process cannot be killed: the parent only ever reads from a socket
 * that does not block. The child dies with its parent (PR_SET_PDEATHSIG). */
#pragma once

#include "runner/supervise/message.h"
#include "runner/supervise/worker.h"

#include <sys/types.h>

struct sampler {
  pid_t pid;           /* 0 = none */
  int fd;              /* from the child; -1 = none, as poll() wants it */
  uint64_t checked_ns; /* CLOCK_MONOTONIC */
  uint64_t
      silent_ns; /* since it last sent samples, without the time in which the parent was stopped */
  bool silence_told;
  bool samples;                                 /* it sends some by itself */
  bool answers;                                 /* it is worth asking */
  uint32_t asked, answered;                     /* numbers of questions */
  struct error_counts errors[MACHINE_GPUS_MAX]; /* the answer */
  struct error_counts known[MACHINE_GPUS_MAX];  /* of each GPU the latest, and when it came: */
  uint64_t known_ns[MACHINE_GPUS_MAX];          /* CLOCK_MONOTONIC; 0 = never */
};

enum { SAMPLER_TEXT_MAX = 320 };

/* Starts nothing if the ops have no telemetry. Interval 0: no samples, only answers. */
void sampler_start(struct sampler *sampler, const struct supervise_ops *ops,
                   const struct machine *machine, uint64_t interval_ns);
/* Take the samples that arrived; collect NULL: drop them. Returns true if they stopped, once for
 * each reason, and text gives the reason: the process ended, or sent nothing for limit_ns. A
 * machine without NVML is not a reason. */
bool sampler_read(struct sampler *sampler, struct collect *collect, uint64_t limit_ns,
                  char text[SAMPLER_TEXT_MAX]);
/* Read the error counters of these GPUs (bit i: GPU i) now, for 1 s at most, at first for 3 s,
 * which may have to load NVML; who did not answer is not asked again. Samples are taken meanwhile.
 * Of other GPUs, and without an answer, nothing is available. Returns true where the time was up,
 * once in a run. */
bool sampler_ask(struct sampler *sampler, uint32_t gpus, struct collect *collect,
                 struct error_counts errors[MACHINE_GPUS_MAX]);
/* The same before a case. What was read at most SAMPLER_RECENT_NS ago, after the case before, is
 * not read again. */
#define SAMPLER_RECENT_NS UINT64_C(50000000)
bool sampler_ask_before(struct sampler *sampler, uint32_t gpus,
                        struct error_counts errors[MACHINE_GPUS_MAX]);
/* Let it take a last sample and end, and take what it sent; gives up after 200 ms. sampler_stop()
 * comes after it. */
void sampler_finish(struct sampler *sampler, struct collect *collect);
/* Let it leave in order, or kill it (force). Takes 12 s at most, even if it cannot be killed. */
void sampler_stop(struct sampler *sampler, bool force);
