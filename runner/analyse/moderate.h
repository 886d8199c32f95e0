/* moderate.h - variances that learn from each other.
 *
 * With two to ten processes a case's own variance is poorly known, but the cases of a family spread
 * alike. Their variances are taken as drawn from s0^2 d0 / chi^2(d0); d0 and s0^2 are estimated
 * from all of them, and each is shrunk towards s0^2. Smyth 2004, "Linear models and empirical Bayes
 * methods for assessing differential expression in microarray experiments", section 6.2. */
#ifndef HAUL_RUNNER_ANALYSE_MODERATE_H
#define HAUL_RUNNER_ANALYSE_MODERATE_H

#include <stddef.h>

struct variance_prior {
  double df;       /* d0: 0 = nothing learnt, INFINITY = all have the same variance */
  double variance; /* s0^2 */
};

/* variances[i] with dfs[i] > 0 degrees of freedom; count may be 0. Variances below 1e-5 of their
 * median are taken as that, so that one zero does not pull the fit. */
void variance_prior_fit(const double *variances, const double *dfs, size_t count,
                        struct variance_prior *prior);
/* (d0 s0^2 + df s^2) / (d0 + df) */
double variance_posterior(const struct variance_prior *prior, double variance, double df);

#endif
