#include "runner/statistics/odd_values.h"

#include "runner/statistics/distributions.h"

#include <math.h>
#include <stdbool.h>

static const double ALPHA = 0.001;
/* Nothing nearer is odd: below the limit of any number of values. In standard deviations; the
 * farthest of n values is at most (n - 1) / sqrt(n) away. */
static const double NEVER_ODD = 3, NEVER_ODD_SHARE = 0.75;

/* How many standard deviations from the mean the farthest of so many normal values is, once in
 * 1 / ALPHA samples. */
static double odd_values_limit(size_t count) {
  const double n = (double)count;
  const double t = student_quantile(1 - ALPHA / (2 * n), n - 2);
  return (n - 1) * t / sqrt((n - 2 + t * t) * n);
}

/* Moves the value that is farthest from the mean behind the others. Returns by how many standard
 * deviations it was. */
static double odd_values_take(const double *values, size_t count, size_t *order) {
  double mean = 0;
  double squares = 0;
  size_t farthest = 0;
  for (size_t i = 0; i < count; i++) {
    mean += values[order[i]] / (double)count;
  }
  for (size_t i = 0; i < count; i++) {
    const double away = values[order[i]] - mean;
    squares += away * away;
    farthest = fabs(away) > fabs(values[order[farthest]] - mean) ? i : farthest;
  }
  const size_t taken = order[farthest];
  for (size_t i = farthest; i + 1 < count; i++) {
    order[i] = order[i + 1];
  }
  order[count - 1] = taken;
  return squares > 0 ? fabs(values[taken] - mean) / sqrt(squares / ((double)count - 1)) : 0;
}

/* Back into their places, from the place `from` to `to`. */
static void odd_values_put_back(size_t *order, size_t from, size_t to) {
  for (size_t at = from; at < to; at++) {
    const size_t index = order[at];
    size_t place = at;
    for (; place > 0 && order[place - 1] > index; place--) {
      order[place] = order[place - 1];
    }
    order[place] = index;
  }
}

size_t odd_values_find(const double *values, size_t count, size_t *order) {
  const size_t share = count / ODD_VALUES_SHARE;
  const size_t most = share < ODD_VALUES_MAX ? share : ODD_VALUES_MAX;
  double away[ODD_VALUES_MAX];
  size_t odd = 0;
  for (size_t i = 0; i < count; i++) {
    order[i] = i;
  }
  for (size_t k = 0; k < most; k++) {
    away[k] = odd_values_take(values, count - k, order);
  }
  for (size_t k = 0; k < most; k++) { /* quantiles take time: few values are so far away */
    const double n = (double)(count - k);
    const bool may_be = away[k] > fmin(NEVER_ODD, NEVER_ODD_SHARE * (n - 1) / sqrt(n));
    odd = may_be && away[k] > odd_values_limit(count - k) ? k + 1 : odd;
  }
  odd_values_put_back(order, count - most, count - odd);
  return odd;
}
