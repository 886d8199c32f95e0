/* collect.h - what arrives while one case is measured, kept until it ends. */
#ifndef HAUL_RUNNER_SUPERVISE_COLLECT_H
#define HAUL_RUNNER_SUPERVISE_COLLECT_H

#include "engine/machine/telemetry.h"
#include "runner/supervise/message.h"

#include <stddef.h>

/* More than any scenario asks for: what a runaway worker can make the parent hold is bounded. */
enum {
  COLLECT_TRIALS_MAX = 1 << 21,
  COLLECT_FLOW_TRIALS_MAX = 1 << 23,
  COLLECT_SAMPLES_MAX = 1 << 20
};

struct collect {
  struct trial *trials;
  size_t trial_count, trial_capacity;
  struct flow_trial *flow_trials;
  size_t flow_trial_count, flow_trial_capacity;
  struct telemetry_sample *samples;
  size_t sample_count, sample_capacity;
};

void collect_fini(struct collect *collect);
/* Forget what was collected, keep the memory. */
void collect_clear(struct collect *collect);
/* A MESSAGE_TRIALS or MESSAGE_FLOW_TRIALS; false: that is more than there can be. */
bool collect_message(struct collect *collect, const struct message *message);
/* Samples past the maximum are dropped. */
void collect_samples(struct collect *collect, const struct telemetry_sample *samples, size_t count);

#endif
