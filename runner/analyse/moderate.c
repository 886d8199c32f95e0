#include "runner/analyse/moderate.h"

#include "runner/analyse/distributions.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The mean of all, each with its degrees of freedom: the best one variance for all. */
static double pooled_variance(const double *variances, const double *dfs, size_t count) {
  double sum = 0;
  double df_sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += dfs[i] * variances[i];
    df_sum += dfs[i];
  }
  return df_sum > 0 ? sum / df_sum : 0;
}

void variance_prior_fit(const double *variances, const double *dfs, size_t count,
                        struct variance_prior *prior) {
  *prior = (struct variance_prior){0, 0};
  if (count < 2) {
    prior->variance = count == 1 ? variances[0] : 0;
    return;
  }
  const double least = 1e-5 * samples_median(variances, count);
  if (!(least > 0)) {
    prior->variance = pooled_variance(variances, dfs, count);
    return; /* most are exactly zero: there is no spread to learn from */
  }
  /* Fisher's z: log variances have a known mean and variance given d0 and s0^2. Welford's update
   * for the mean and the sum of squares. */
  double mean = 0;
  double squares = 0;
  double expected = 0; /* what the degrees of freedom alone explain */
  for (size_t i = 0; i < count; i++) {
    const double variance = variances[i] > least ? variances[i] : least;
    const double e = log(variance) - digamma(dfs[i] / 2) + log(dfs[i] / 2);
    const double step = e - mean;
    mean += step / (double)(i + 1);
    squares += step * (e - mean);
    expected += trigamma(dfs[i] / 2);
  }
  const double excess = squares / (double)(count - 1) - expected / (double)count;
  if (excess > 0) {
    prior->df = 2 * trigamma_inverse(excess);
    prior->variance = exp(mean + digamma(prior->df / 2) - log(prior->df / 2));
  } else {
    prior->df = INFINITY;
    prior->variance = pooled_variance(variances, dfs, count);
  }
}

double variance_posterior(const struct variance_prior *prior, double variance, double df) {
  if (isinf(prior->df)) {
    return prior->variance;
  }
  const double total = prior->df + df;
  return total > 0 ? (prior->df * prior->variance + df * variance) / total : NAN;
}
