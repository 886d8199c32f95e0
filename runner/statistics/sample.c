#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *sample_values_new(size_t count) {
  double *values = calloc(count + 1, sizeof *values);
  if (values == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return values;
}

/* Welford's update: exact for values that are far from zero and close together. */
struct sample sample_summary(const double *values, size_t count) {
  struct sample sample = {.count = count};
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    const double step = values[i] - sample.mean;
    sample.mean += step / (double)(i + 1);
    squares += step * (values[i] - sample.mean);
  }
  sample.variance = count > 1 ? squares / (double)(count - 1) : 0;
  return sample;
}

static int sample_compare_values(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

void sample_sort(double *values, size_t count) {
  if (count > 1) { /* an empty array may be NULL */
    qsort(values, count, sizeof *values, sample_compare_values);
  }
}

double sample_median_in_place(double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  sample_sort(values, count);
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double sample_median(const double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  double *copy = sample_values_new(count);
  memcpy(copy, values, count * sizeof *copy);
  const double median = sample_median_in_place(copy, count);
  free(copy);
  return median;
}
