/* measure.h - how carefully a case is measured: [measure] of a scenario, resolved. */
#ifndef HAUL_ENGINE_MEASURE_H
#define HAUL_ENGINE_MEASURE_H

#include "engine/enums.h"

#include <stdint.h>

struct measure {
  uint32_t trials_min;
  uint32_t trials_max;
  uint32_t warmup;       /* trials before those that count */
  uint32_t iterations;   /* back-to-back repeats in one trial; 0 = chosen from min_trial_ns */
  uint64_t max_time_ns;  /* for the trials of one case, warm-up apart */
  uint64_t min_trial_ns; /* shortest trial when iterations is 0 */
  double precision;      /* half-width of the 95 % interval of the median, relative, to stop at */
  double free_share; /* of a GPU's free memory that managed memory may take, below 1; 0 = 0.25 */
  double delta; /* smallest change that matters when the case is compared, relative; 0 = usual */
  enum verify verify;
  enum cache_state host_cache;
  enum cache_state device_cache;
  enum gating gating;
};

#endif
