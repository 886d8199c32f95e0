/* interference.h - what slowed a case, from what was sampled of its GPUs while it was measured:
 * throttling, other programs, a PCIe link below its best. They are notes of the case. */
#pragma once

#include "engine/machine/telemetry.h"
#include "runner/run/claim.h"

/* Reasons that slow a GPU which has work; idle and settings of clocks are not among them. */
enum { SLOWED_REASONS = 6 };

/* Who worked on a GPU beside this run, at any time of it. */
struct interference_user {
  bool seen;
  struct note note; /* NOTE_IN_USE and its like */
};

/* What was seen of a GPU since the last case. */
struct interference_gpu {
  uint32_t sample_count;
  uint32_t throttled[SLOWED_REASONS]; /* samples with that reason */
  uint32_t answered;                  /* samples that say whether there is one */
  uint64_t capped_clock_khz_sum;      /* SM clock of samples with sw_power_cap */
  uint32_t capped_clock_count;
  int64_t pcie_generation, pcie_width; /* best; -1 = not known */
  struct telemetry_process other;      /* the busiest; pid 0 and busy_percent 0: none */
  int32_t other_count;                 /* most at once */
  struct telemetry_process busiest;    /* the last other, at its busiest in the run */
  struct telemetry_sample last;        /* of this or an earlier case */
  /* Who hides from NVML's list of processes shows up as work on a GPU that this run leaves idle. */
  uint64_t used_ns;              /* when the run used it last; CLOCK_MONOTONIC_RAW, as all below */
  uint64_t idle_seen_ns;         /* when it was last seen while the run left it idle; 0 = never */
  int64_t idle_percent;          /* how busy it was then */
  struct interference_user user; /* of the run */
};

struct interference {
  struct interference_gpu gpus[MACHINE_GPUS_MAX];
};

void interference_init(struct interference *interference);
/* A sample from the time of the case at hand. */
void interference_add(struct interference *interference, const struct telemetry_sample *sample);
/* Adds what slowed the case, from the samples since the last call and from the claim (NULL = none).
 */
void interference_find(struct interference *interference, const struct machine *machine,
                       const struct case_def *def, const struct claim *claim, struct notes *notes);
