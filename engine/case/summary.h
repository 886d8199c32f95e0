/* summary.h - order statistics of the trials of one case: the stop rule and the summary. */
#pragma once

#include "engine/case/trial.h"

#include <stddef.h>

enum { VISITS_MAX = 12 };

/* Of the measured trials that are ok, per iteration, in ns. count = 0: all the rest is 0. Of
 * several visits the median is that of all trials, weighted so that each visit counts the same:
 * half of the time was spent below it. The median of the visits' medians varies up to three times
 * as much, for an episode that takes half of a visit decides about all of it (docs/MEASURE.md). Its
 * interval is the range of the visits' medians, which always holds it; the rest is of all trials
 * together. */
struct summary {
  uint32_t count;
  double median_ns;
  double p5_ns, p95_ns; /* linear interpolation between order statistics (type 7) */
  double min_ns, max_ns;
  double mean_ns;
  double cv;            /* sample standard deviation / mean; 0 for count < 2 */
  double median_low_ns; /* distribution-free 95 % interval of the median; 0 for count < 6 */
  double median_high_ns;
};

/* values need not be sorted; they are left sorted. */
void summary_of_values(double *values, size_t count, struct summary *summary);
/* Values in the order of their visits: those of visit i end before ends[i]. A visit may have none.
 */
void summary_of_visits(double *values, const size_t ends[VISITS_MAX], struct summary *summary);
/* Whether it counts: of phase measure, status ok and iterations > 0. */
bool summary_takes(const struct trial *trial);
/* Of the trials that count, in the order of their visits. scratch holds count doubles. */
void summary_of_trials(const struct trial *trials, size_t count, double *scratch,
                       struct summary *summary);
/* Ranks (from 0) of the order statistics that enclose the median with at least 95 % confidence
 * whatever the distribution. The interval from the r-th smallest to the r-th largest of n values
 * holds the median with probability P(r <= B <= n - r), B binomial (n, 1/2) (David and Nagaraja,
 * Order Statistics, 7.1); r is the largest for which that is at least 0.95, from the exact
 * distribution for every n. false for n < 6, where no interval is that sure. */
bool median_interval_ranks(size_t count, size_t *low, size_t *high);
