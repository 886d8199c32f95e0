/* samples.h - means, variances and medians of small samples. */
#ifndef HAUL_RUNNER_ANALYSE_SAMPLES_H
#define HAUL_RUNNER_ANALYSE_SAMPLES_H

#include <stddef.h>

struct sample {
  size_t count;
  double mean;
  double variance; /* with count - 1; 0 for count < 2 */
};

struct sample samples_summary(const double *values, size_t count);
void samples_sort(double *values, size_t count);
/* Sorts. NAN for count 0. */
double samples_median_in_place(double *values, size_t count);
/* Of a copy. */
double samples_median(const double *values, size_t count);

#endif
