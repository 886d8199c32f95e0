/* statistics.h - order statistics of the trials of one case: the stop rule and the summary. */
#ifndef HAUL_ENGINE_STATISTICS_H
#define HAUL_ENGINE_STATISTICS_H

#include "engine/trial.h"

#include <stddef.h>

/* Of the measured trials that are ok, per iteration, in ns. n = 0: all the rest is 0. */
struct summary {
  uint32_t count;
  double median_ns;
  double p5_ns, p95_ns; /* linear interpolation between order statistics (type 7) */
  double min_ns, max_ns;
  double mean_ns;
  double cv;            /* sample standard deviation / mean; 0 for n < 2 */
  double median_low_ns; /* distribution-free 95 % interval of the median; 0 for n < 6 */
  double median_high_ns;
};

/* values need not be sorted; they are left sorted. */
void summary_of_values(double *values, size_t count, struct summary *summary);
/* scratch holds count doubles. */
void summary_of_trials(const struct trial *trials, size_t count, double *scratch,
                       struct summary *summary);
/* Ranks (from 0) of the order statistics that enclose the median with at least 95 % confidence for
 * any distribution (binomial, exact up to 70, normal approximation above); false for n < 6. */
bool median_interval_ranks(size_t count, size_t *low, size_t *high);

#endif
