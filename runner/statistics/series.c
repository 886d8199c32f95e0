#include "runner/statistics/series.h"

#include "engine/base/arena.h"
#include "runner/statistics/distributions.h"

#include <math.h>

/* No series is known better than this: the clock and the rate are not. */
static const double SPREAD_LEAST = 5e-5;
static const double RANGE_PROBABILITY = 0.95;
/* What independent values seem to have, over the root of their number, in one series of twenty. */
static const double SERIES_CHANCE = 3;

/* The mean square of the steps over so many values, but for the largest eighth: a change of the
 * level is in few of them. What is left out makes it less, by the same share for every lag. */
static double series_steps(const double *values, size_t count, size_t lag, double *scratch) {
  const size_t kept = (count - lag) - (count - lag) / 8;
  double squares = 0;
  for (size_t i = lag; i < count; i++) {
    scratch[i - lag] = values[i] - values[i - lag];
  }
  const double drift = sample_median(scratch, count - lag);
  for (size_t i = 0; i + lag < count; i++) {
    scratch[i] = fabs(scratch[i] - drift);
  }
  sample_sort(scratch, count - lag);
  for (size_t i = 0; i < kept; i++) {
    squares += scratch[i] * scratch[i];
  }
  return squares / (double)kept;
}

double series_seen_autocorrelation(const double *values, size_t count) {
  if (count < SERIES_MIN) {
    return 0;
  }
  SCOPED(memory_free) double *scratch = sample_values_new(count);
  const double one = series_steps(values, count, 1, scratch);
  const double two = series_steps(values, count, 2, scratch);
  const double three = series_steps(values, count, 3, scratch);
  if (!(one > 0)) {
    return 0;
  }
  /* 2 + 2 r + r^2 is the sum of both ratios. */
  const double sum = (two + three) / one;
  return fmax(0, fmin(sqrt(fmax(sum, 1) - 1) - 1, SERIES_AUTOCORRELATION_MAX));
}

double series_autocorrelation(double seen, double usual, size_t count) {
  const double root = sqrt((double)count);
  return fmax(seen < SERIES_CHANCE / root ? 0 : seen, usual < 1 / root ? 0 : usual);
}

double series_worth(double autocorrelation) {
  return (1 - autocorrelation) / (1 + autocorrelation);
}

static double series_squares(const double *values, size_t count) {
  return count > 1 ? sample_summary(values, count).variance * ((double)count - 1) : 0;
}

static double series_least_squares(size_t count) {
  return SPREAD_LEAST * SPREAD_LEAST * (double)count;
}

bool series_is_drift(const double *values, size_t count, const struct change_point *changes,
                     size_t change_count, double autocorrelation, struct series_drift *drift) {
  const double n = (double)count;
  const struct sample sample = sample_summary(values, count);
  double products = 0;
  double levels = 0; /* squares about the levels */
  for (size_t i = 0; i < count; i++) {
    products += ((double)i - (n - 1) / 2) * (values[i] - sample.mean);
  }
  for (size_t c = 0, first = 0; c <= change_count; c++) {
    const size_t end = c < change_count ? changes[c].at : count;
    levels += series_squares(values + first, end - first);
    first = end;
  }
  const double times = n * (n * n - 1) / 12;
  const double slope = products / times;
  const double all = sample.variance * (n - 1);
  const double line = fmax(all - slope * products, series_least_squares(count));
  levels = fmax(levels, series_least_squares(count));
  const double worth = series_worth(autocorrelation);
  const double df = fmax(n * worth - 2, 1);
  const double error = sqrt(line / ((n - 2) * times * worth));
  *drift = (struct series_drift){.change = slope * (n - 1),
                                 .p = 2 * student_upper(fabs(slope) / error, df)};
  return n * worth * log(line / levels) < (2 * (double)change_count - 1) * log(n);
}

struct series_range series_change_range(const double *values, size_t count,
                                        double autocorrelation) {
  struct series_range range = {1, count > 1 ? count - 1 : 1};
  if (count < 3) {
    return range;
  }
  SCOPED(memory_free) double *weights = sample_values_new(count);
  SCOPED(memory_free) double *sorted = sample_values_new(count);
  const double power = fmax((double)count * series_worth(autocorrelation) - 2, 1) / 2;
  double least = INFINITY;
  for (size_t t = 1; t < count; t++) {
    weights[t] = fmax(series_squares(values, t) + series_squares(values + t, count - t),
                      series_least_squares(count));
    least = fmin(least, weights[t]);
  }
  double all = 0;
  for (size_t t = 1; t < count; t++) {
    weights[t] = pow(weights[t] / least, -power);
    sorted[t - 1] = weights[t];
    all += weights[t];
  }
  sample_sort(sorted, count - 1);
  double limit = 0;
  double sum = 0;
  for (size_t i = count - 1; i-- > 0 && sum < RANGE_PROBABILITY * all;) {
    limit = sorted[i];
    sum += limit;
  }
  range.first = count;
  for (size_t t = 1; t < count; t++) {
    if (weights[t] >= limit) {
      range.first = range.first < count ? range.first : t;
      range.last = t;
    }
  }
  return range;
}
