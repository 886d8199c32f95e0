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
      const double sum = TOTAL_OF(k, NEEDED_POINTS, prior.weights[k] * likelihoods[i][k]);
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
                                    double margin, double spread_df) {
  struct needed_belief belief = {.seen = effect->difference, .spread_df = spread_df};
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

/* The test of so many observations, at the spread that was seen. */
struct needed_test {
  struct effect_criteria criteria;
  double error;
  /* The difference will be what it truly is, and this share of what was seen of it beyond that,
   * with such a standard deviation. */
  double kept, deviation;
};

/* The test by each side's own variance: a pooled one is nearly that of the larger side. */
static void needed_test_apart(const struct needed_sides *sides, const unsigned n[2],
                              const struct effect_levels *levels, struct needed_test *test) {
  double sum = 0;
  double below = 0;
  for (size_t s = 0; s < 2; s++) {
    const double part = sides->variances[s] / n[s];
    sum += part;
    below += part * part / (n[s] - 1 + sides->prior_dfs[s]);
  }
  const double fewer = (n[0] < n[1] ? n[0] : n[1]) - 1.0;
  const double df = sides->alone && n[0] != n[1] ? fewer : below > 0 ? sum * sum / below : fewer;
  const struct effect_criteria criteria = effect_criteria_find(df, levels);
  if (sides->alone || criteria.within * sqrt(sum) > test->criteria.within * test->error) {
    test->criteria = criteria;
    test->error = sqrt(sum);
  }
}

/* The sides' variances as they are pooled from so many observations, up to a factor. */
static double needed_pooled(const struct needed_sides *sides, const unsigned n[2]) {
  const double df = (double)n[0] + n[1] - 2;
  return df > 0 ? ((n[0] - 1.0) * sides->variances[0] + (n[1] - 1.0) * sides->variances[1]) / df
                : 0;
}

static struct needed_test needed_test_of(const struct needed_sides *sides, const bool grows[2],
                                         const unsigned n[2], const struct effect_levels *levels) {
  const double df = (double)n[0] + n[1] - 2 + sides->prior_df;
  const double so_far_pooled = needed_pooled(sides, sides->counts);
  const double growth = so_far_pooled > 0 ? needed_pooled(sides, n) / so_far_pooled : 1;
  struct needed_test test = {.criteria = effect_criteria_find(df, levels),
                             .error = sqrt(sides->variance * growth * (1.0 / n[0] + 1.0 / n[1]))};
  if (n[0] > 1 && n[1] > 1 && (sides->alone || n[0] != n[1])) {
    needed_test_apart(sides, n, levels, &test);
  }
  const double order =
      (grows[0] && grows[1] ? 0 : sides->order_variance) + sides->rounding_variance;
  double so_far = order;
  double kept = order;
  double after = 0;
  double kept_squares = order;
  for (size_t s = 0; s < 2; s++) {
    const double part = sides->variances[s] / sides->counts[s];
    const double share = (double)sides->counts[s] / n[s];
    so_far += part;
    kept += share * part;
    kept_squares += share * share * part;
    after += sides->variances[s] * (n[s] - sides->counts[s]) / ((double)n[s] * n[s]);
  }
  test.error = sqrt(test.error * test.error + order);
  test.kept = so_far > 0 ? kept / so_far : 0;
  test.deviation = sqrt(after + fmax(kept_squares - kept * test.kept, 0));
  return test;
}

static double needed_assurance(const struct needed_belief *belief, const struct needed_sides *sides,
                               const bool grows[2], unsigned units, double margin,
                               const struct effect_levels *levels) {
  unsigned n[2];
  for (size_t s = 0; s < 2; s++) {
    n[s] = grows[s] && units > sides->counts[s] ? units : sides->counts[s];
  }
  const struct needed_test test = needed_test_of(sides, grows, n, levels);
  double sum = 0;
  for (int s = 0; s < SPREADS; s++) {
    const double spread = needed_spread(belief->spread_df, s);
    for (size_t k = 0; k < belief->count; k++) {
      const double truth = belief->differences[k];
      const struct effect_seen seen = {.expected = truth + test.kept * (belief->seen - truth),
                                       .deviation = test.deviation * spread,
                                       .error = test.error * spread};
      sum += belief->weights[k] / SPREADS * effect_power(&test.criteria, truth, &seen, margin);
    }
  }
  return sum;
}

unsigned needed_units(const struct needed_belief *belief, const struct needed_sides *sides,
                      const bool grows[2], double margin, const struct effect_levels *levels,
                      double power, unsigned most) {
  unsigned too_few = most; /* the fewest that a growing side has */
  for (size_t s = 0; s < 2; s++) {
    too_few = grows[s] && sides->counts[s] < too_few ? sides->counts[s] : too_few;
  }
  if (too_few >= most ||
      needed_assurance(belief, sides, grows, most, margin, levels) < LEAST * power) {
    return 0;
  }
  unsigned enough = most;
  while (enough - too_few > 1) {
    const unsigned middle = (too_few + enough) / 2;
    if (needed_assurance(belief, sides, grows, middle, margin, levels) < power) {
      too_few = middle;
    } else {
      enough = middle;
    }
  }
  return enough;
}
