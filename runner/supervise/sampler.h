/* sampler.h - a process that samples the GPUs through NVML while others measure.
 *
 * A process of its own, because a call to NVML may never return where a GPU or its driver is
 * broken, and then nothing in the process that made it can be ended: the parent only ever reads
 * from a socket that does not block. The child dies with its parent (PR_SET_PDEATHSIG). */
#ifndef HAUL_RUNNER_SUPERVISE_SAMPLER_H
#define HAUL_RUNNER_SUPERVISE_SAMPLER_H

#include "runner/supervise/message.h"
#include "runner/supervise/supervise.h"

#include <sys/types.h>

struct sampler {
  pid_t pid;           /* 0 = none */
  int fd;              /* from the child; -1 = none, as poll() wants it */
  uint64_t checked_ns; /* CLOCK_MONOTONIC */
  uint64_t silent_ns; /* since it last sent something; time in which the parent was stopped apart */
  bool silence_told;
};

enum { SAMPLER_TEXT_MAX = 320 };

/* Without telemetry among the ops, or with an interval of 0, there is none. */
void sampler_start(struct sampler *sampler, const struct supervise_ops *ops,
                   const struct machine *machine, uint64_t interval_ns);
/* Take what came. collect NULL: drop it. True, once for each reason: the samples stopped coming,
 * and text says why; no sample for limit_ns is such a reason. That NVML is not there is none. */
bool sampler_read(struct sampler *sampler, struct collect *collect, uint64_t limit_ns,
                  char text[SAMPLER_TEXT_MAX]);
/* Let it leave in order, or with force at once. Takes 12 s at most, also when it cannot be ended.
 */
void sampler_stop(struct sampler *sampler, bool force);

#endif
