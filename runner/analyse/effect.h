/* effect.h - a difference of two means, tested against a margin and for equivalence.
 *
 * All values are natural logarithms, so that differences are ratios. */
#ifndef HAUL_RUNNER_ANALYSE_EFFECT_H
#define HAUL_RUNNER_ANALYSE_EFFECT_H

#include "runner/analyse/moderate.h"
#include "runner/analyse/samples.h"

#include <stdbool.h>

struct effect {
  double difference; /* mean of a - mean of b */
  double error;      /* standard error of it */
  double df;
};

struct interval {
  double low, high;
};

/* (s_a^2 (n_a - 1) + s_b^2 (n_b - 1)) / df with df = n_a + n_b - 2; NAN for df 0. */
double effect_pooled_variance(const struct sample *a, const struct sample *b, double *df);
/* Moderated t: the pooled variance shrunk towards the prior, its degrees of freedom added (at most
 * pooled_df, those of all cases that the prior was learnt from). Smyth 2004, section 4. */
struct effect effect_moderated(const struct sample *a, const struct sample *b,
                               const struct variance_prior *prior, double pooled_df);
/* The same with each side's own prior, as Welch's t: for sides of unequal counts, where the larger
 * one would hide that the smaller one spreads more. */
struct effect effect_moderated_apart(const struct sample *a, const struct sample *b,
                                     const struct variance_prior *prior_a,
                                     const struct variance_prior *prior_b, double pooled_df);
/* Welch's t with Satterthwaite's degrees of freedom; both counts at least 2. */
struct effect effect_welch(const struct sample *a, const struct sample *b);

/* P value of |true difference| <= margin: the two tails beyond it together (TREAT, McCarthy and
 * Smyth 2009, "Testing significance relative to a fold-change threshold is a TREAT"). margin 0 is
 * the ordinary two-sided t test. With error 0: 0 or 1. */
double effect_p(const struct effect *effect, double margin);
/* Of the true difference, with that confidence (0.95). */
struct interval effect_interval(const struct effect *effect, double confidence);
/* Two one-sided tests at 5 %: the 90 % interval lies inside (-margin, margin). */
bool effect_is_same(const struct effect *effect, double margin);

/* Fewest processes a side with which a true difference as large as this one would be decided with
 * the wanted power (0.8): told from the margin at level alpha where it is beyond it, shown to lie
 * inside otherwise. sd between processes; prior_df is added to the degrees of freedom. fixed: how
 * many the other side has and keeps; 0 = both sides get as many. 0: not even with `most`. */
unsigned effect_processes_needed(double difference, double sd, double prior_df, double margin,
                                 double alpha, double power, unsigned fixed, unsigned most);

#endif
