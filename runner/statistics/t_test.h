/* t_test.h - the difference of two means: tested against a margin, shown to lie within it; variance
 * shrinkage and false discovery rate over many tests.
 *
 * All values are natural logarithms, so that differences are ratios. Nothing here fails; where a
 * number is undefined it is NAN.
 *
 * Variance shrinkage: with two to ten processes a case's own variance is poorly known, but the
 * cases of a family have similar ones. Their variances are modelled as drawn from s0^2 d0 /
 * chi^2(d0); d0 and s0^2 are estimated from all of them, and each variance is shrunk towards s0^2
 * (empirical Bayes; the t statistic with it is limma's "moderated t"). Smyth 2004, "Linear models
 * and empirical Bayes methods for assessing differential expression in microarray experiments",
 * Statistical Applications in Genetics and Molecular Biology 3(1), sections 4 and 6.2. */
#pragma once

#include "runner/statistics/sample.h"

#include <stdbool.h>

/* ---- variance shrinkage ---- */

struct variance_prior {
  double df;        /* d0: 0 = nothing learnt, INFINITY = all have the same variance */
  double variance;  /* s0^2 */
  double pooled_df; /* of all that it was learnt from: no posterior variance has more */
};

/* variances[i] with dfs[i] > 0 degrees of freedom; count may be 0. dependence: of dependence.h; by
 * how much less many cases tell than that many independent ones. Variances below 1e-5 of their
 * median are raised to that, so that one zero does not pull the fit. */
struct variance_prior variance_shrinkage_fit(const double *variances, const double *dfs,
                                             size_t count, double dependence);
/* Posterior variance: (d0 s0^2 + df s^2) / (d0 + df). */
double variance_shrinkage_apply(const struct variance_prior *prior, double variance, double df);

/* ---- the difference of two means ---- */

struct effect {
  double difference; /* mean of a - mean of b */
  double error;      /* its standard error */
  double df;
};

/* (s_a^2 (n_a - 1) + s_b^2 (n_b - 1)) / df with df = n_a + n_b - 2; NAN for df 0. */
double effect_pooled_variance(const struct sample *a, const struct sample *b, double *df);
/* Moderated t: the pooled variance shrunk towards the prior, its degrees of freedom added (at most
 * pooled_df). Smyth 2004, section 4. */
struct effect effect_moderated(const struct sample *a, const struct sample *b,
                               const struct variance_prior *prior);
/* The same with each side's own prior, as in Welch's t: for sides of unequal counts, where the
 * larger one would hide that the smaller one spreads more. */
struct effect effect_moderated_welch(const struct sample *a, const struct sample *b,
                                     const struct variance_prior *prior_a,
                                     const struct variance_prior *prior_b);
/* Welch's t with Satterthwaite's degrees of freedom; both counts at least 2. */
struct effect effect_welch(const struct sample *a, const struct sample *b);

/* P value of |true difference| <= margin: the two tails beyond it together (TREAT: McCarthy and
 * Smyth 2009, "Testing significance relative to a fold-change threshold is a TREAT",
 * Bioinformatics 25(6)). margin 0 is the ordinary two-sided t test. With error 0: 0 or 1. */
double effect_p(const struct effect *effect, double margin);
/* Confidence interval of the true difference; confidence: 0.95. */
struct interval effect_interval(const struct effect *effect, double confidence);
/* Equivalence: Schuirmann's two one-sided tests (TOST, 1987) at level alpha: the interval of
 * confidence 1 - 2 alpha lies inside (-margin, margin). At the usual level that is the 95 %
 * interval. */
#define EQUIVALENCE_LEVEL 0.025
bool effect_is_equivalent(const struct effect *effect, double margin, double alpha);

/* Error rates: of showing that a difference exceeds a margin, and of each test of equivalence. */
struct effect_levels {
  double exceeds, within;
};
/* The t of that many degrees of freedom beyond which each of these is shown. */
struct effect_criteria {
  double df, exceeds, within;
};
struct effect_criteria effect_criteria_find(double df, const struct effect_levels *levels);
/* What a test will see: a difference that is expected to be so much, with a standard deviation, and
 * the standard error by which it is judged. */
struct effect_seen {
  double expected, deviation, error;
};
/* Probability that a true difference is decided: shown to exceed the margin where it does, else to
 * be equivalent. To within 1 %: the central t distribution is shifted, which is slightly off for
 * few observations, and has its normal approximation (Wallace 1959, "Bounds on normal
 * approximations to Student's and the chi-square distributions", Annals of Mathematical Statistics
 * 30). */
double effect_power(const struct effect_criteria *criteria, double difference,
                    const struct effect_seen *seen, double margin);

/* ---- many tests ---- */

/* False discovery rate: q values of Benjamini and Hochberg 1995, "Controlling the false discovery
 * rate", Journal of the Royal Statistical Society B 57(1). Rejecting every q <= 0.05 keeps the
 * expected share of false rejections at 5 %. A p of NAN is no test and keeps NAN. Returns the
 * number of tests. p and q may be the same array. */
size_t fdr_q_values(const double *p, size_t count, double *q);
