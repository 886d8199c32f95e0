#include "engine/case/summary.h"

#include "engine/base/order.h"

#include <math.h>

enum { INTERVAL_COUNT_MIN = 6 };
static const double INTERVAL_CONFIDENCE = 0.95;

/* log of P(B = k), B binomial (n, 1/2). lgamma_r, since lgamma() writes a global. */
static double log_binomial_half(double n, double k) {
  int sign = 0;
  return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign) -
         n * log(2.0);
}

bool median_interval_ranks(size_t count, size_t *low, size_t *high) {
  if (count < INTERVAL_COUNT_MIN) {
    return false;
  }
  /* Add up P(r <= B <= n - r) from the middle outwards: no term is too small for a double, and
   * about sqrt(n) terms do. */
  double n = (double)count;
  size_t r = count / 2;
  double term = exp(log_binomial_half(n, (double)r));
  double inside = count % 2 == 0 ? term : 2 * term;
  while (inside < INTERVAL_CONFIDENCE && r > 1) {
    /* P(B = r - 1) from P(B = r). */
    term *= (double)r / (n - (double)r + 1);
    inside += 2 * term;
    r--;
  }
  *low = r - 1;
  *high = count - r;
  return true;
}

static double coefficient_of_variation(const double *values, size_t count, double mean) {
  if (count < 2 || mean == 0) {
    return 0;
  }
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    squares += (values[i] - mean) * (values[i] - mean);
  }
  return sqrt(squares / (double)(count - 1)) / mean;
}

void summary_of_values(double *values, size_t count, struct summary *summary) {
  *summary = (struct summary){.count = (uint32_t)count};
  if (count == 0) {
    return;
  }
  order_sort_values(values, count);
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i];
  }
  summary->median_ns = sorted_quantile(values, count, 0.5);
  summary->p5_ns = sorted_quantile(values, count, 0.05);
  summary->p95_ns = sorted_quantile(values, count, 0.95);
  summary->min_ns = values[0];
  summary->max_ns = values[count - 1];
  summary->mean_ns = sum / (double)count;
  summary->cv = coefficient_of_variation(values, count, summary->mean_ns);
  size_t low = 0;
  size_t high = 0;
  if (median_interval_ranks(count, &low, &high)) {
    summary->median_low_ns = values[low];
    summary->median_high_ns = values[high];
  }
}

/* The median of sorted visits, merged, in which a trial weighs the less, the more its visit has:
 * the middle of the two between which half of the weight ends, or else the one in which it does. */
static double visits_median(const double *values, const size_t ends[VISITS_MAX], size_t visits) {
  static const double ROUNDING = 1e-9;
  size_t taken[VISITS_MAX] = {0};
  double last = 0;
  for (double weight = 0;;) {
    size_t least = VISITS_MAX;
    const double *next = NULL;
    for (size_t i = 0, begin = 0; i < VISITS_MAX; begin = ends[i++]) {
      if (begin + taken[i] < ends[i] && (next == NULL || values[begin + taken[i]] < *next)) {
        next = &values[begin + taken[i]];
        least = i;
      }
    }
    if (weight > 0.5 - ROUNDING) {
      return (last + *next) / 2;
    }
    taken[least]++;
    last = *next;
    weight += 1 / (double)((ends[least] - (least == 0 ? 0 : ends[least - 1])) * visits);
    if (weight > 0.5 + ROUNDING) {
      return last;
    }
  }
}

void summary_of_visits(double *values, const size_t ends[VISITS_MAX], struct summary *summary) {
  double medians[VISITS_MAX];
  size_t visits = 0;
  size_t begin = 0;
  for (size_t i = 0; i < VISITS_MAX; begin = ends[i++]) {
    const size_t count = ends[i] - begin;
    if (count > 0) {
      order_sort_values(values + begin, count);
      medians[visits++] = sorted_quantile(values + begin, count, 0.5);
    }
  }
  const double median_ns = visits > 1 ? visits_median(values, ends, visits) : 0;
  summary_of_values(values, begin, summary);
  if (visits > 1) {
    order_sort_values(medians, visits);
    summary->median_ns = median_ns;
    summary->median_low_ns = medians[0];
    summary->median_high_ns = medians[visits - 1];
  }
}

bool summary_takes(const struct trial *trial) {
  return trial->phase == TRIAL_MEASURE && trial->status == TRIAL_OK && trial->iterations > 0;
}

void summary_of_trials(const struct trial *trials, size_t count, double *scratch,
                       struct summary *summary) {
  size_t ends[VISITS_MAX] = {0};
  size_t used = 0;
  size_t next = 0;
  for (uint32_t visit = 0; visit < VISITS_MAX; visit++) {
    for (; next < count && trials[next].visit <= visit; next++) {
      if (summary_takes(&trials[next])) {
        scratch[used++] = (double)trials[next].elapsed_ns / (double)trials[next].iterations;
      }
    }
    ends[visit] = used;
  }
  summary_of_visits(scratch, ends, summary);
}
