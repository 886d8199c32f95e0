#include "runner/statistics/sample.h"

#include "engine/base/arena.h"

#include <string.h>

double *sample_values_new(size_t count) {
  return memory_new(count + 1, sizeof(double));
}

/* Of differences to the first value, and then to the mean: exact for values that are far from zero
 * and close together. */
struct sample sample_summary(const double *values, size_t count) {
  struct sample sample = {.count = count};
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i] - values[0];
  }
  sample.mean = count > 0 ? values[0] + sum / (double)count : 0;
  for (size_t i = 0; i < count; i++) {
    squares += (values[i] - sample.mean) * (values[i] - sample.mean);
  }
  sample.variance = count > 1 ? squares / (double)(count - 1) : 0;
  return sample;
}

double sample_median(const double *values, size_t count) {
  SCOPED(memory_free) double *copy = sample_values_new(count);
  memcpy(copy, values, count * sizeof *copy);
  return sample_median_in_place(copy, count);
}
