#include "runner/statistics/t_test.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"
#include "runner/statistics/distributions.h"

#include <math.h>

/* ---- variance shrinkage ---- */

/* The mean weighted by the degrees of freedom: the best single variance for all. */
static double variance_shrinkage_pool(const double *variances, const double *dfs, size_t count) {
  double sum = 0;
  double df_sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += dfs[i] * variances[i];
    df_sum += dfs[i];
  }
  return df_sum > 0 ? sum / df_sum : 0;
}

/* What cases share is seen in a few values alone: where these happen to agree, the cases look
 * nearly independent, just when their variance is taken as too small. So the shared noise counts as
 * more than was seen of it. df: of one case. */
static double variance_shrinkage_cautious(double dependence, double df) {
  const double correlation = sqrt(dependence);
  const double seen = correlation / (1 - correlation); /* shared over own variance */
  const double taken = seen * (df + 1) / (df - 1);
  return dependence < 1 && df > 1 ? pow(taken / (1 + taken), 2) : 1;
}

/* The degrees of freedom of a mean of variances: their number counts as the inverse of their mean
 * squared correlation, that of each with itself included. */
static double variance_shrinkage_pooled_df(const double *dfs, size_t count, double dependence) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += dfs[i];
  }
  const double n = (double)count;
  return n > 0 ? sum / (1 + (n - 1) * variance_shrinkage_cautious(dependence, sum / n)) : 0;
}

struct variance_prior variance_shrinkage_fit(const double *variances, const double *dfs,
                                             size_t count, double dependence) {
  const double pooled_df = variance_shrinkage_pooled_df(dfs, count, dependence);
  if (count < 2) {
    return (struct variance_prior){0, count == 1 ? variances[0] : 0, pooled_df};
  }
  const double least = 1e-5 * sample_median(variances, count);
  if (!(least > 0)) { /* most are exactly zero: there is no spread to learn from */
    return (struct variance_prior){0, variance_shrinkage_pool(variances, dfs, count), pooled_df};
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
  /* What is common to all is no difference between them. */
  expected *= 1 - dependence;
  const double excess = squares / (double)(count - 1) - expected / (double)count;
  if (!(excess > 0)) { /* they differ no more than by chance */
    return (struct variance_prior){INFINITY, variance_shrinkage_pool(variances, dfs, count),
                                   pooled_df};
  }
  const double df = 2 * trigamma_inverse(excess);
  return (struct variance_prior){df, exp(mean + digamma(df / 2) - log(df / 2)), pooled_df};
}

double variance_shrinkage_apply(const struct variance_prior *prior, double variance, double df) {
  if (isinf(prior->df)) {
    return prior->variance;
  }
  const double total = prior->df + df;
  return total > 0 ? (prior->df * prior->variance + df * variance) / total : NAN;
}

/* ---- the difference of two means ---- */

double effect_pooled_variance(const struct sample *a, const struct sample *b, double *df) {
  const double df_a = a->count > 0 ? (double)a->count - 1 : 0;
  const double df_b = b->count > 0 ? (double)b->count - 1 : 0;
  *df = df_a + df_b;
  return *df > 0 ? (a->variance * df_a + b->variance * df_b) / *df : NAN;
}

struct effect effect_moderated(const struct sample *a, const struct sample *b,
                               const struct variance_prior *prior) {
  double df = 0;
  const double pooled = effect_pooled_variance(a, b, &df);
  const double variance = variance_shrinkage_apply(prior, df > 0 ? pooled : 0, df);
  const double total_df = df + prior->df;
  return (struct effect){
      .difference = a->mean - b->mean,
      .error = sqrt(variance * (1 / (double)a->count + 1 / (double)b->count)),
      .df = fmin(total_df, prior->pooled_df),
  };
}

/* One side's part in the variance of the difference. */
struct effect_part {
  double variance, df;
};

/* Satterthwaite's degrees of freedom, at most df_max. */
static struct effect effect_of_parts(double difference, struct effect_part a, struct effect_part b,
                                     double df_max) {
  const double sum = a.variance + b.variance;
  const double below = a.variance * a.variance / a.df + b.variance * b.variance / b.df;
  return (struct effect){
      .difference = difference,
      .error = sqrt(sum),
      .df = below > 0 ? fmin(sum * sum / below, df_max) : fmin(a.df, b.df),
  };
}

static struct effect_part effect_moderated_part(const struct sample *side,
                                                const struct variance_prior *prior) {
  const double df = (double)side->count - 1;
  return (struct effect_part){
      .variance = variance_shrinkage_apply(prior, side->variance, df) / (double)side->count,
      .df = fmin(df + prior->df, prior->pooled_df),
  };
}

struct effect effect_moderated_welch(const struct sample *a, const struct sample *b,
                                     const struct variance_prior *prior_a,
                                     const struct variance_prior *prior_b) {
  return effect_of_parts(a->mean - b->mean, effect_moderated_part(a, prior_a),
                         effect_moderated_part(b, prior_b),
                         prior_a->pooled_df + prior_b->pooled_df);
}

struct effect effect_welch(const struct sample *a, const struct sample *b) {
  const struct effect_part parts[2] = {{a->variance / (double)a->count, (double)a->count - 1},
                                       {b->variance / (double)b->count, (double)b->count - 1}};
  return effect_of_parts(a->mean - b->mean, parts[0], parts[1], INFINITY);
}

double effect_p(const struct effect *effect, double margin) {
  const double distance = fabs(effect->difference);
  if (effect->error == 0) {
    return distance > margin ? 0 : 1;
  }
  const double p = student_upper((distance - margin) / effect->error, effect->df) +
                   student_upper((distance + margin) / effect->error, effect->df);
  return p > 1 ? 1 : p;
}

struct interval effect_interval(const struct effect *effect, double confidence) {
  const double half =
      effect->error == 0 ? 0 : student_quantile(0.5 + confidence / 2, effect->df) * effect->error;
  return (struct interval){effect->difference - half, effect->difference + half};
}

bool effect_is_equivalent(const struct effect *effect, double margin, double alpha) {
  const struct interval interval = effect_interval(effect, 1 - 2 * alpha);
  return interval.low > -margin && interval.high < margin;
}

struct effect_criteria effect_criteria_find(double df, const struct effect_levels *levels) {
  return (struct effect_criteria){df, student_quantile(1 - levels->exceeds, df),
                                  student_quantile(1 - levels->within, df)};
}

/* Wallace's approximation: hundreds of these are for one number of observations. */
static double effect_upper(double t, double df) {
  const double z = isinf(df) ? fabs(t) : (8 * df + 1) / (8 * df + 3) * sqrt(df * log1p(t * t / df));
  return erfc(copysign(z, t) / sqrt(2)) / 2;
}

double effect_power(const struct effect_criteria *criteria, double difference,
                    const struct effect_seen *seen, double margin) {
  if (!(seen->deviation > 0)) {
    return 1;
  }
  const double expected = copysign(1, difference) * seen->expected;
  if (fabs(difference) > margin) {
    const double least = margin + criteria->exceeds * seen->error;
    return effect_upper((least - expected) / seen->deviation, criteria->df);
  }
  const double most = margin - criteria->within * seen->error;
  const double near_miss = effect_upper((most - expected) / seen->deviation, criteria->df);
  const double far_miss = effect_upper((most + expected) / seen->deviation, criteria->df);
  return fmax(1 - near_miss - far_miss, 0);
}

/* ---- many tests ---- */

struct fdr_test {
  double p;
  size_t index;
};

ORDER_DEFINE(fdr_compare, struct fdr_test, ORDER(x->p, y->p) ?: ORDER(x->index, y->index))

size_t fdr_q_values(const double *p, size_t count, double *q) {
  if (count == 0) {
    return 0;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  struct fdr_test *sorted = arena_array(&arena, count, sizeof *sorted);
  size_t tests = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(p[i])) {
      sorted[tests++] = (struct fdr_test){p[i], i};
    } else {
      q[i] = NAN;
    }
  }
  ORDER_SORT(sorted, tests, fdr_compare);
  double least = 1;
  for (size_t i = tests; i-- > 0;) {
    const double raised = sorted[i].p * (double)tests / (double)(i + 1);
    least = raised < least ? raised : least;
    q[sorted[i].index] = least;
  }
  return tests;
}
