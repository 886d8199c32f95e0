#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sample samples_summary(const double *values, size_t count) {
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

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

void samples_sort(double *values, size_t count) {
  if (count > 1) { /* none may be NULL */
    qsort(values, count, sizeof *values, compare_doubles);
  }
}

double samples_median_in_place(double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  samples_sort(values, count);
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double samples_median(const double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  double *copy = reallocarray(NULL, count, sizeof *copy);
  if (copy == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  memcpy(copy, values, count * sizeof *copy);
  const double median = samples_median_in_place(copy, count);
  free(copy);
  return median;
}
