#include "runner/statistics/robust.h"

#include "engine/base/arena.h"
#include "runner/statistics/distributions.h"
#include "runner/statistics/sample.h"
#include "runner/statistics/shape.h"

#include <math.h>
#include <string.h>

/* ---- spread and scores ---- */

/* Corrects the median absolute deviation of 2 to 9 values; n / (n - 0.8) for more (Croux and
 * Rousseeuw 1992). */
static double robust_small_sample_factor(size_t count) {
  static const double FACTORS[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
  const double n = (double)count;
  return count < COUNT_OF(FACTORS) ? FACTORS[count] : n / (n - 0.8);
}

double robust_spread(double *deviations, size_t count) {
  if (count < 2) {
    return 0;
  }
  for (size_t i = 0; i < count; i++) {
    deviations[i] = fabs(deviations[i]);
  }
  return 1.4826 * robust_small_sample_factor(count) * sample_median_in_place(deviations, count);
}

struct spread {
  double value, df;
};

/* Combines an observed standard deviation, own, known as well as that of df + 1 normal values, with
 * the usual spread and the noise (the standard error of a value; 0 = not known),
 * which is at least the error.
 *
 * Where the noise is known, own is shrunk towards the usual spread and the noise (t_test.h); else
 * both variances are added, with Satterthwaite's degrees of freedom and half the weight of the
 * usual spread. */
static struct spread robust_combine_spreads(double own, double df,
                                            const struct robust_score *score) {
  const double noise = score->noise;
  const double least = fmax(noise, score->error);
  const double expected = ROBUST_SPREAD * ROBUST_SPREAD + least * least;
  if (noise > 0) {
    const double shrunk = (ROBUST_DF * expected + df * own * own) / (ROBUST_DF + df);
    return (struct spread){sqrt(shrunk), ROBUST_DF + df};
  }
  const double variance = expected + own * own;
  const double parts = expected * expected / (ROBUST_DF / 2) + pow(own, 4) / df;
  return (struct spread){sqrt(variance), variance * variance / parts};
}

/* One-sided test at that level. */
static bool robust_is_beyond(double deviation, const struct spread *spread, double level) {
  return deviation <= -spread->value * student_quantile(1 - level, spread->df);
}

static const double MAD_EFFICIENCY = 0.37; /* of the median absolute deviation */

/* Values that are judged together: those that are not low. */
struct score_set {
  size_t count;
  double df;                  /* of all values but one */
  double mean, squares;       /* squares: sum of squared deviations from the mean */
  struct robust_usual robust; /* by the median absolute deviation */
  double level;               /* of one test */
};

/* Standard deviation of all values of the set but that one. */
static double robust_spread_of_others(const struct score_set *set,
                                      const struct robust_score *score) {
  const double n = (double)set->count;
  const double step = score->value - set->mean;
  const double own = score->low ? 0 : step * step * n / (n - 1); /* a low one is not of the set */
  const double squares = set->squares - own;
  return squares > 0 ? sqrt(squares / set->df) : 0;
}

static bool robust_score_one(const struct score_set *set, struct robust_score *score) {
  score->deviation = score->value - set->robust.middle;
  struct spread robust =
      robust_combine_spreads(set->robust.spread, MAD_EFFICIENCY * set->robust.df, score);
  struct spread others =
      robust_combine_spreads(robust_spread_of_others(set, score), set->df, score);
  others.value *= sqrt(1 + 1 / ((double)set->count - 1)); /* the others' mean is not exact */
  robust.value *= 1 + score->stretch;
  others.value *= 1 + score->stretch;
  score->robust_z = score->deviation / fmin(robust.value, others.value);
  return score->deviation <= log1p(-score->margin) && /* first: quantiles are slow */
         (robust_is_beyond(score->deviation, &robust, set->level) ||
          robust_is_beyond(score->deviation, &others, set->level));
}

/* The normal standard deviation of which the deviations upwards have that 90 % quantile. */
static double robust_tail_spread(const double *sorted, size_t count, double middle) {
  const size_t above = count / 2;
  return count < ROBUST_TAIL_COUNT ? 0 : (sorted[count - 1 - above / 10] - middle) / 1.6449;
}

/* Of the median, and of the spread without as many of the smallest deviations as are skipped. */
static struct robust_usual robust_measure(double *values, size_t count, size_t skipped) {
  struct robust_usual usual = {.middle = sample_median_in_place(values, count),
                               .df = (double)(count - skipped) - 1};
  sample_sort(values, count);
  const double tail = robust_tail_spread(values, count, usual.middle);
  for (size_t i = 0; i < count; i++) {
    values[i] = fabs(values[i] - usual.middle);
  }
  if (skipped > 0) {
    sample_sort(values, count);
  }
  usual.spread = fmax(tail, robust_spread(values + skipped, count - skipped));
  return usual;
}

struct robust_usual robust_usual(double *values, size_t count) {
  const struct sample sample = sample_summary(values, count);
  if (count < ROBUST_AGAIN_COUNT) {
    return (struct robust_usual){sample.mean, sqrt(sample.variance), (double)count - 1};
  }
  struct robust_usual usual = robust_measure(values, count, 0);
  usual.df *= MAD_EFFICIENCY;
  return usual;
}

/* scratch is as long as the scores. */
static struct score_set robust_measure_set(const struct robust_score *scores, size_t count,
                                           size_t fitted, double *scratch) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[kept] = scores[i].value;
    kept += !scores[i].low;
  }
  const struct sample sample = sample_summary(scratch, kept);
  fitted = fitted * kept / count;
  const size_t skipped = fitted + 2 < kept ? fitted : kept - 2;
  const size_t used = skipped > 1 ? skipped : 1;
  return (struct score_set){.count = kept,
                            .df = kept > used + 2 ? (double)(kept - used - 1) : 1,
                            .mean = sample.mean,
                            .squares = sample.variance * ((double)kept - 1),
                            .robust = robust_measure(scratch, kept, skipped)};
}

static bool robust_is_upper_usual(const struct shape *shape, size_t count, bool from_zero) {
  return 2 * shape->low_count < count || (from_zero && fabs(shape->high) < fabs(shape->low));
}

double robust_usual_change(const double *values, size_t count) {
  SCOPED(memory_free) double *scratch = sample_values_new(count);
  struct shape shape;
  const bool two = count >= ROBUST_AGAIN_COUNT && shape_levels(values, count, &shape, scratch);
  return two && robust_is_upper_usual(&shape, count, true) ? shape.high
                                                           : sample_median(values, count);
}

/* Marks the lower of two levels, of less than half of the values, which then are not of the set. */
static bool robust_mark_level(struct robust_score *scores, size_t count, bool from_zero) {
  SCOPED(memory_free) double *values = sample_values_new(2 * count);
  double margin = INFINITY;
  for (size_t i = 0; i < count; i++) {
    values[i] = scores[i].value;
    margin = fmin(margin, -log1p(-scores[i].margin));
  }
  struct shape shape;
  const bool found = shape_levels(values, count, &shape, values + count) &&
                     robust_is_upper_usual(&shape, count, from_zero) &&
                     shape.high - shape.low > margin;
  for (size_t i = 0; i < count && found; i++) {
    scores[i].low = scores[i].value < (shape.low + shape.high) / 2;
  }
  return found;
}

void robust_score_all(struct robust_score *scores, size_t count, size_t fitted, size_t sets,
                      bool from_zero) {
  SCOPED(memory_free) double *scratch = sample_values_new(count);
  size_t lows = 0;
  bool again = count >= ROBUST_COUNT_MIN;
  for (size_t i = 0; i < count; i++) {
    scores[i].low = false;
  }
  bool marked = count >= ROBUST_AGAIN_COUNT && robust_mark_level(scores, count, from_zero);
  while (again) {
    struct score_set set = robust_measure_set(scores, count, fitted, scratch);
    set.level = ROBUST_ALPHA / (2 * (double)set.count * (double)sets);
    const size_t before = lows;
    lows = 0;
    for (size_t i = 0; i < count; i++) {
      scores[i].low = robust_score_one(&set, &scores[i]) || (scores[i].low && !marked);
      lows += scores[i].low;
    }
    marked = false;
    again = lows > before && count >= ROBUST_AGAIN_COUNT && 2 * lows < count;
  }
}

void robust_score_pair(struct robust_score *score) {
  struct spread spread = robust_combine_spreads(0, 1, score);
  spread.value *= sqrt(2);
  score->deviation = score->value;
  score->robust_z = score->deviation / spread.value;
  score->low = score->deviation <= log1p(-score->margin) &&
               robust_is_beyond(score->deviation, &spread, ROBUST_ALPHA / 2);
}

/* ---- median polish ---- */

enum { SWEEPS_MAX = 60 };
static const double CONVERGED = 1e-9; /* the largest step that no longer matters */

bool median_polish_is_safe(const struct median_polish_cell *cells, size_t count,
                           size_t effect_count) {
  for (size_t e = 0; e < effect_count; e++) {
    const size_t own = SUM_OF(i, count, cells[i].a == e || cells[i].b == e);
    if (own < MEDIAN_POLISH_CELLS_MIN) {
      return false;
    }
  }
  return effect_count > 0;
}

/* Median of an effect's residuals. */
static double median_polish_median(const struct median_polish_cell *cells, size_t count, size_t e,
                                   double *scratch) {
  size_t own = 0;
  for (size_t i = 0; i < count; i++) {
    if (cells[i].a == e || cells[i].b == e) {
      scratch[own++] = cells[i].residual;
    }
  }
  return sample_median_in_place(scratch, own);
}

/* One half-sweep: moves the median residual of every effect of a kind into the effect, and the
 * median of these effects into the level. `times`: how many effects of this kind a cell has; where
 * it is two, each takes half, or the first would take what belongs to the other. Returns the
 * largest step. */
static double median_polish_sweep(struct median_polish_cell *cells, size_t count, size_t first,
                                  size_t last, double times, double *effects, double *level,
                                  double *scratch) {
  double most = 0;
  SCOPED(memory_free) double *steps = sample_values_new(last);
  for (size_t e = first; e < last; e++) {
    steps[e] = median_polish_median(cells, count, e, scratch) / times;
    effects[e] += steps[e];
    most = fmax(most, fabs(steps[e]));
  }
  for (size_t i = 0; i < count; i++) {
    const bool a = cells[i].a >= first && cells[i].a < last;
    const bool b = cells[i].b >= first && cells[i].b < last;
    cells[i].residual -= (a ? steps[cells[i].a] : 0) + (b ? steps[cells[i].b] : 0);
  }
  memcpy(scratch, effects + first, (last - first) * sizeof *scratch);
  const double middle = sample_median_in_place(scratch, last - first);
  for (size_t e = first; e < last; e++) {
    effects[e] -= middle;
  }
  *level += times * middle;
  return most;
}

void median_polish_fit(struct median_polish_cell *cells, size_t count, size_t effect_count,
                       size_t second, double *effects, double *level) {
  SCOPED(memory_free)
  double *scratch = sample_values_new(count > effect_count ? count : effect_count);
  for (size_t i = 0; i < count; i++) {
    scratch[i] = cells[i].value;
  }
  *level = sample_median_in_place(scratch, count);
  memset(effects, 0, effect_count * sizeof *effects);
  for (size_t i = 0; i < count; i++) {
    cells[i].residual = cells[i].value - *level;
  }
  const bool symmetric = second == effect_count;
  double step = INFINITY;
  for (int sweep = 0; sweep < SWEEPS_MAX && step > CONVERGED; sweep++) {
    step = median_polish_sweep(cells, count, 0, second, symmetric ? 2 : 1, effects, level, scratch);
    if (!symmetric) {
      step = fmax(step, median_polish_sweep(cells, count, second, effect_count, 1, effects, level,
                                            scratch));
    }
  }
}

size_t median_polish_parameters(size_t effect_count, size_t second) {
  return second == effect_count ? effect_count : effect_count - 1;
}
