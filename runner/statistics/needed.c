#include "runner/statistics/needed.h"

#include "engine/base/arena.h"

#include <math.h>

enum { NEEDED_STEPS = 8, NEEDED_CASES_MAX = 1000, SPREADS = 3 };

/* Few observations leave the difference so open that no number is likely enough to decide: then the
 * largest is said, if it is at least nearly so. */
static const double LEAST = 0.9;
static const double WEIGHT_LEAST = 1e-3; /* of a point that counts */

/* In margins: dense where verdicts turn. */
static double needed_point(size_t i) {
  static const double FAR[] = {5, 6, 8, 10, 14, 20, 30};
  enum { FAR_COUNT = COUNT_OF(FAR), NEAR_COUNT = NEEDED_POINTS - 2 * FAR_COUNT };
  return i < FAR_COUNT                ? -FAR[FAR_COUNT - 1 - i]
         : i < FAR_COUNT + NEAR_COUNT ? 0.2 * ((double)(i - FAR_COUNT) - (NEAR_COUNT - 1) / 2.0)
                                      : FAR[i - FAR_COUNT - NEAR_COUNT];
}

/* The likelihood of what was seen at each point, up to a factor. False: there is none. */
static bool needed_likelihood(const struct effect *effect, double margin,
                              double likelihood[NEEDED_POINTS]) {
  if (!(effect->error > 0) || !(margin > 0) || !(effect->df > 0)) {
    return false;
  }
  for (size_t i = 0; i < NEEDED_POINTS; i++) {
    const double t = (effect->difference - margin * needed_point(i)) / effect->error;
    likelihood[i] = isinf(effect->df) ? exp(-t * t / 2)
                                      : exp(-(effect->df + 1) / 2 * log1p(t * t / effect->df));
  }
  return true;
}

struct needed_prior needed_learn(const struct effect *effects, const double *margins,
                                 size_t count) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct needed_prior prior;
  const size_t stride = 1 + count / NEEDED_CASES_MAX;
  double(*likelihoods)[NEEDED_POINTS] =
      arena_array(&arena, count / stride + 1, sizeof *likelihoods);
  size_t used = 0;
  for (size_t i = 0; i < count; i += stride) {
    used += !isnan(margins[i]) && needed_likelihood(&effects[i], margins[i], likelihoods[used]);
  }
  for (size_t k = 0; k < NEEDED_POINTS; k++) {
    prior.weights[k] = 1.0 / NEEDED_POINTS;
  }
  for (int step = 0; step < NEEDED_STEPS && used > 0; step++) {
    double next[NEEDED_POINTS] = {0};
    for (size_t i = 0; i < used; i++) {
      double sum = 0;
      for (size_t k = 0; k < NEEDED_POINTS; k++) {
        sum += prior.weights[k] * likelihoods[i][k];
      }
      for (size_t k = 0; k < NEEDED_POINTS && sum > 0; k++) {
        next[k] += prior.weights[k] * likelihoods[i][k] / sum;
      }
    }
    for (size_t k = 0; k < NEEDED_POINTS; k++) {
      prior.weights[k] = next[k] / (double)used;
    }
  }
  return prior;
}

struct needed_belief needed_believe(const struct needed_prior *prior, const struct effect *effect,
                                    double margin, double sd, double sd_df) {
  struct needed_belief belief = {.sd = sd, .sd_df = sd_df};
  double weights[NEEDED_POINTS] = {0};
  double sum = 0;
  const bool known = needed_likelihood(effect, margin, weights);
  for (size_t k = 0; k < NEEDED_POINTS && known; k++) {
    weights[k] *= prior->weights[k];
    sum += weights[k];
  }
  for (size_t k = 0; k < NEEDED_POINTS && sum > 0; k++) {
    if (weights[k] >= WEIGHT_LEAST * sum) {
      belief.differences[belief.count] = margin * needed_point(k);
      belief.weights[belief.count++] = weights[k] / sum;
    }
  }
  if (belief.count == 0) {
    belief.differences[0] = effect->difference;
    belief.weights[0] = 1;
    belief.count = 1;
  }
  return belief;
}

/* By how much the spread may truly be larger than what was seen: equally likely slices of its chi
 * square distribution, each by its middle (Wilson and Hilferty 1931, "The distribution of
 * chi-square", PNAS 17). */
static double needed_spread(double df, int slice) {
  static const double MIDDLES[SPREADS] = {0.9674, 0, -0.9674}; /* of a normal variate */
  if (isinf(df)) {
    return 1;
  }
  const double root = 1 - 2 / (9 * df) + MIDDLES[slice] * sqrt(2 / (9 * df));
  return sqrt(1 / pow(fmax(root, 0.1), 3));
}

static double needed_assurance(const struct needed_belief *belief, unsigned n, unsigned m,
                               double prior_df, double margin, double alpha) {
  const struct effect_criteria criteria = effect_criteria_find(n, m, prior_df, alpha);
  double sum = 0;
  for (int s = 0; s < SPREADS; s++) {
    const double error = belief->sd * needed_spread(belief->sd_df, s) * sqrt(1.0 / n + 1.0 / m);
    for (size_t k = 0; k < belief->count; k++) {
      sum += belief->weights[k] / SPREADS *
             effect_power(&criteria, belief->differences[k], error, margin);
    }
  }
  return sum;
}

unsigned needed_units(const struct needed_belief *belief, double prior_df, double margin,
                      double alpha, double power, unsigned fixed, unsigned most) {
  const unsigned others = fixed > 0 ? fixed : most;
  if (needed_assurance(belief, most, others, prior_df, margin, alpha) < LEAST * power) {
    return 0;
  }
  unsigned too_few = 1;
  unsigned enough = most;
  while (enough - too_few > 1) {
    const unsigned middle = (too_few + enough) / 2;
    if (needed_assurance(belief, middle, fixed > 0 ? fixed : middle, prior_df, margin, alpha) <
        power) {
      too_few = middle;
    } else {
      enough = middle;
    }
  }
  return enough;
}
