#include "runner/analyse/stand_out.h"

#include "runner/analyse/distributions.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>

/* Factors for 2 to 9 values; n / (n - 0.8) for more. */
static double few_values_factor(size_t count) {
  static const double FACTORS[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
  const double n = (double)count;
  return count < sizeof FACTORS / sizeof *FACTORS ? FACTORS[count] : n / (n - 0.8);
}

double stand_out_spread(double *deviations, size_t count) {
  if (count < 2) {
    return 0;
  }
  for (size_t i = 0; i < count; i++) {
    deviations[i] = fabs(deviations[i]);
  }
  return 1.4826 * few_values_factor(count) * samples_median_in_place(deviations, count);
}

/* A spread with the usual one, and the degrees of freedom of both together. */
struct spread {
  double value, df;
};

/* own: a standard deviation that is known as well as one of df + 1 normal values. noise: standard
 * error of a value, 0 = not known.
 *
 * Where the noise is known, it and the usual spread are what is expected, and own is shrunk towards
 * them (moderate.h); else they are added, with Satterthwaite's degrees of freedom and half the
 * weight of what is expected. */
static struct spread spread_of(double own, double df, double noise) {
  const double expected = STAND_OUT_SPREAD * STAND_OUT_SPREAD + noise * noise;
  double variance = expected + own * own;
  double total_df =
      variance * variance / (expected * expected / (STAND_OUT_DF / 2) + pow(own, 4) / df);
  if (noise > 0) {
    variance = (STAND_OUT_DF * expected + df * own * own) / (STAND_OUT_DF + df);
    total_df = STAND_OUT_DF + df;
  }
  return (struct spread){sqrt(variance), total_df};
}

/* level: of one test, one-sided. */
static bool is_beyond(double change, const struct spread *spread, double level) {
  return change <= -spread->value * student_quantile(1 - level, spread->df);
}

/* All values, with what their own deviations add up to. */
struct set {
  size_t count;
  double df; /* of the values without one of them */
  double mean, squares;
  double robust, robust_df;
  double level;
};

/* Standard deviation of all without that value. */
static double of_others(const struct set *set, double value) {
  const double n = (double)set->count;
  const double step = value - set->mean;
  const double squares = set->squares - step * step * n / (n - 1);
  return squares > 0 ? sqrt(squares / set->df) : 0;
}

static void judge_one(const struct set *set, struct standing *standing) {
  /* A median absolute deviation is worth 37 % of the values. */
  const struct spread robust = spread_of(set->robust, 0.37 * set->robust_df, standing->noise);
  struct spread left = spread_of(of_others(set, standing->value), set->df, standing->noise);
  const double both = sqrt(1 + 1 / ((double)set->count - 1)); /* the others' mean is not exact */
  left.value *= both;
  standing->z = standing->change / fmin(robust.value, left.value);
  standing->low = standing->change <= log1p(-standing->margin) && /* first: quantiles take long */
                  (is_beyond(standing->change, &robust, set->level) ||
                   is_beyond(standing->change, &left, set->level));
}

void stand_out_judge(struct standing *standings, size_t count, size_t fitted) {
  double *scratch = calloc(count + 1, sizeof *scratch);
  if (scratch == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  for (size_t i = 0; i < count; i++) {
    scratch[i] = standings[i].value;
  }
  const struct sample sample = samples_summary(scratch, count);
  const double middle = samples_median_in_place(scratch, count);
  for (size_t i = 0; i < count; i++) {
    standings[i].change = standings[i].value - middle;
    scratch[i] = fabs(standings[i].change);
  }
  samples_sort(scratch, count);
  const size_t skipped = fitted + 2 < count ? fitted : count - 2;
  const size_t left = count - skipped;
  const size_t used = skipped > 1 ? skipped : 1;
  const struct set set = {.count = count,
                          .df = count > used + 2 ? (double)(count - used - 1) : 1,
                          .mean = sample.mean,
                          .squares = sample.variance * ((double)count - 1),
                          .robust = stand_out_spread(scratch + skipped, left),
                          .robust_df = (double)left - 1,
                          .level = STAND_OUT_ALPHA / (2 * (double)count)};
  for (size_t i = 0; i < count; i++) {
    judge_one(&set, &standings[i]);
  }
  free(scratch);
}

void stand_out_judge_difference(struct standing *standing) {
  struct spread spread = spread_of(0, 1, standing->noise);
  spread.value *= sqrt(2);
  standing->change = standing->value;
  standing->z = standing->change / spread.value;
  standing->low = standing->change <= log1p(-standing->margin) &&
                  is_beyond(standing->change, &spread, STAND_OUT_ALPHA / 2);
}
