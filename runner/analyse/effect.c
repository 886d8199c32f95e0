#include "runner/analyse/effect.h"

#include "runner/analyse/distributions.h"

#include <math.h>

double effect_pooled_variance(const struct sample *a, const struct sample *b, double *df) {
  const double df_a = a->count > 0 ? (double)a->count - 1 : 0;
  const double df_b = b->count > 0 ? (double)b->count - 1 : 0;
  *df = df_a + df_b;
  return *df > 0 ? (a->variance * df_a + b->variance * df_b) / *df : NAN;
}

struct effect effect_moderated(const struct sample *a, const struct sample *b,
                               const struct variance_prior *prior, double pooled_df) {
  double df = 0;
  const double pooled = effect_pooled_variance(a, b, &df);
  const double variance = variance_posterior(prior, df > 0 ? pooled : 0, df);
  const double total_df = df + prior->df;
  return (struct effect){
      .difference = a->mean - b->mean,
      .error = sqrt(variance * (1 / (double)a->count + 1 / (double)b->count)),
      .df = total_df < pooled_df ? total_df : pooled_df,
  };
}

/* Variance of a side's mean, and its degrees of freedom. */
static double mean_variance(const struct sample *side, const struct variance_prior *prior,
                            double pooled_df, double *df) {
  const double own_df = (double)side->count - 1;
  *df = fmin(own_df + prior->df, pooled_df);
  return variance_posterior(prior, side->variance, own_df) / (double)side->count;
}

struct effect effect_moderated_apart(const struct sample *a, const struct sample *b,
                                     const struct variance_prior *prior_a,
                                     const struct variance_prior *prior_b, double pooled_df) {
  double df_a = 0;
  double df_b = 0;
  const double part_a = mean_variance(a, prior_a, pooled_df, &df_a);
  const double part_b = mean_variance(b, prior_b, pooled_df, &df_b);
  const double sum = part_a + part_b;
  const double below = part_a * part_a / df_a + part_b * part_b / df_b;
  return (struct effect){
      .difference = a->mean - b->mean,
      .error = sqrt(sum),
      .df = below > 0 ? fmin(sum * sum / below, pooled_df) : fmin(df_a, df_b),
  };
}

struct effect effect_welch(const struct sample *a, const struct sample *b) {
  const double part_a = a->variance / (double)a->count;
  const double part_b = b->variance / (double)b->count;
  const double sum = part_a + part_b;
  const double below =
      part_a * part_a / ((double)a->count - 1) + part_b * part_b / ((double)b->count - 1);
  const double least = (double)(a->count < b->count ? a->count : b->count) - 1;
  return (struct effect){
      .difference = a->mean - b->mean,
      .error = sqrt(sum),
      .df = below > 0 ? sum * sum / below : least,
  };
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

bool effect_is_same(const struct effect *effect, double margin) {
  const struct interval interval = effect_interval(effect, 0.90);
  return interval.low > -margin && interval.high < margin;
}

/* Probability of a decision with n processes on a side and m on the other; rises with both. */
static double power_of(unsigned n, unsigned m, double difference, double sd, double prior_df,
                       double margin, double alpha) {
  const double error = sd * sqrt(1.0 / n + 1.0 / m);
  const double df = (double)n + m - 2 + prior_df;
  if (error == 0) {
    return 1;
  }
  const double beyond = fabs(difference) - margin;
  if (beyond > 0) {
    return student_upper(student_quantile(1 - alpha, df) - beyond / error, df);
  }
  /* Inside the margin both one-sided tests must reject, at 5 % each. */
  const double critical = student_quantile(0.95, df);
  const double near_miss = student_upper(-beyond / error - critical, df);
  const double far_miss = student_upper((margin + fabs(difference)) / error - critical, df);
  return 1 - near_miss - far_miss;
}

unsigned effect_processes_needed(double difference, double sd, double prior_df, double margin,
                                 double alpha, double power, unsigned fixed, unsigned most) {
  if (power_of(most, fixed > 0 ? fixed : most, difference, sd, prior_df, margin, alpha) < power) {
    return 0;
  }
  unsigned too_few = 1;
  unsigned enough = most;
  while (enough - too_few > 1) {
    const unsigned middle = (too_few + enough) / 2;
    if (power_of(middle, fixed > 0 ? fixed : middle, difference, sd, prior_df, margin, alpha) <
        power) {
      too_few = middle;
    } else {
      enough = middle;
    }
  }
  return enough;
}
