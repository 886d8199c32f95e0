/* sample.h - means, variances and medians of small samples.
 *
 * Values have no unit here; callers pass natural logarithms of times or rates, so that differences
 * are ratios. Nothing here fails: running out of memory ends the process, as in arena.h. */
#pragma once

#include <stddef.h>

struct sample {
  size_t count;
  double mean;
  double variance; /* with count - 1; 0 for count < 2 */
};

struct interval {
  double low, high;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed room for that many values, for the caller to free(). */
double *sample_values_new(size_t count);
struct sample sample_summary(const double *values, size_t count);
void sample_sort(double *values, size_t count);
/* NAN for count 0. Moves the values about, which takes less time than to sort them. */
double sample_median_in_place(double *values, size_t count);
double sample_median(const double *values, size_t count);

#ifdef __cplusplus
}
#endif
