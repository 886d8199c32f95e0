#include "runner/statistics/wander.h"

#include "runner/statistics/dependence.h"
#include "runner/statistics/distributions.h"
#include "runner/statistics/sample.h"

#include <math.h>

/* Before anything is seen. */
static const struct {
  double correlation, probability;
  size_t models;
} CLASSES[] = {{0, 0.5, 1},    {0.5, 0.05, 5},   {0.7, 0.075, 5},
               {0.85, 0.1, 5}, {0.95, 0.125, 5}, {1, 0.15, 7}};
enum { CLASS_COUNT = COUNT_OF(CLASSES) };
/* That what cases have in common wanders as slowly as what each has for itself, where that is at
 * least as much: the rest of it may be the noise of measuring. */
static const double ALIKE = 0.9;

static const double TREND = 0.1; /* before anything is seen */

static size_t wander_class(size_t m) {
  size_t class = 0;
  while (CLASSES[class].correlation < wander_models[m].correlation) {
    class ++;
  }
  return class;
}

static double wander_prior(size_t m) {
  const size_t class = wander_class(m);
  return CLASSES[class].probability / (double)CLASSES[class].models;
}

/* ---- what series say ---- */

/* Of one series: its values, and their products with the rows, which spread as one unit. */
struct wander_series {
  double values[WANDER_RUNS_MAX], *spread;
};

static double wander_square(const double *projection, const double *values, size_t n) {
  return TOTAL_OF(i, n, values[i] * wander_product(&projection[i * n], values, n));
}

/* False: it does not spread. */
static bool wander_standardise(const struct wander_order *order, const double *values,
                               struct wander_series *series) {
  double squares = 0;
  for (size_t i = 0; i < order->count; i++) {
    series->values[i] = values[order->at[i]] - values[order->at[0]];
  }
  for (size_t r = 0; r < order->rows; r++) {
    series->spread[r] = wander_product(&order->row[r * order->count], series->values, order->count);
    squares += series->spread[r] * series->spread[r];
  }
  const double scale = sqrt(order->spread_df / squares);
  for (size_t r = 0; r < order->rows && squares > 0; r++) {
    series->spread[r] *= scale;
  }
  for (size_t i = 0; i < order->count && squares > 0; i++) {
    series->values[i] *= scale;
  }
  return squares > 0;
}

static double wander_log(double constant, double df, double square, double all) {
  return constant - df / 2 * log(fmax(square, 1e-12 * all));
}

/* The mean of all series: its products with the projection of each model, and with both. */
struct wander_mean {
  double moved[WANDER_MODELS][WANDER_RUNS_MAX], squares[WANDER_MODELS];
};

static void wander_move_mean(const struct wander_order *order, const double *values,
                             struct wander_mean *mean) {
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    for (size_t i = 0; i < order->count; i++) {
      mean->moved[m][i] =
          wander_product(&order->projections[m][i * order->count], values, order->count);
    }
    mean->squares[m] = wander_product(mean->moved[m], values, order->count);
  }
}

/* Adds what is left of a series beside the mean, as after a regression on it. */
static void wander_add_own(const struct wander_order *order, const struct wander_series *series,
                           const struct wander_mean *mean, double logs[WANDER_MODELS]) {
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    const double squares = wander_square(order->projections[m], series->values, order->count);
    const double products = wander_product(mean->moved[m], series->values, order->count);
    if (mean->squares[m] > 0) {
      logs[m] += wander_log(order->constants[m] - log(mean->squares[m]) / 2, (double)order->df - 1,
                            squares - products * products / mean->squares[m], squares);
    }
  }
}

/* How many independent series the own parts are worth. */
static double wander_count_own(const struct wander_order *order, const struct wander_series *series,
                               size_t count, const struct wander_series *mean) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct deviations *own = arena_array(&arena, count, sizeof *own);
  uint32_t *numbers = arena_array(&arena, order->rows, sizeof *numbers);
  const double means = wander_product(mean->spread, mean->spread, order->rows);
  for (uint32_t r = 0; r < order->rows; r++) {
    numbers[r] = r;
  }
  for (size_t i = 0; i < count; i++) {
    double *values = arena_array(&arena, order->rows, sizeof *values);
    const double loading =
        wander_product(series[i].spread, mean->spread, order->rows) / fmax(means, 1e-12);
    for (size_t r = 0; r < order->rows; r++) {
      values[r] = series[i].spread[r] - loading * mean->spread[r];
    }
    const double squares = wander_product(values, values, order->rows);
    for (size_t r = 0; r < order->rows && squares > 0; r++) {
      values[r] /= sqrt(squares);
    }
    own[i] = (struct deviations){values, numbers, order->rows, order->spread_df - 1};
  }
  const double n = (double)count;
  const double dependence = dependence_estimate(own, count, order->rows);
  return n / (1 + (n - 1) * dependence);
}

/* Probabilities in proportion to prior times likelihood; returns the probability of a trend. */
static double wander_weigh(const double *logs, size_t log_count, double share, const double *prior,
                           double weights[WANDER_MODELS]) {
  double most = -INFINITY;
  double sum = 0;
  double trends = 0;
  for (size_t m = 0; m < log_count; m++) {
    most = fmax(most, share * logs[m]);
  }
  for (size_t m = 0; m < log_count; m++) {
    const double likelihood = exp(share * logs[m] - most);
    if (m < WANDER_MODELS) { /* not 0, so that there is a sum without a trend, too */
      weights[m] = prior[m] * fmax(likelihood, 1e-200);
      sum += weights[m];
    } else {
      trends += likelihood / WANDER_TRENDS;
    }
  }
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    weights[m] /= sum;
  }
  return TREND * trends / (TREND * trends + (1 - TREND) * sum);
}

/* What cases have in common is a mean, with less noise beside it than a case has: the larger the
 * level is to the noise, the likelier, by its rank in the class. */
static void wander_of_machine(const double own[WANDER_MODELS], double share,
                              double machine[WANDER_MODELS]) {
  const double like_own = ALIKE * fmin(1, (1 - share) / fmax(share, 1e-9));
  double alike[CLASS_COUNT] = {0};
  double ranks[CLASS_COUNT] = {0};
  double rank[WANDER_MODELS];
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    const size_t class = wander_class(m);
    rank[m] = m > 0 && wander_class(m - 1) == class ? rank[m - 1] + 1 : 1;
    alike[class] += own[m];
    ranks[class] += rank[m];
  }
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    const size_t class = wander_class(m);
    const double probability =
        like_own * alike[class] + (1 - like_own) * CLASSES[class].probability;
    machine[m] = probability * rank[m] / ranks[class];
  }
}

/* The mean of all series; returns the share of the variance that they have in common. */
static double wander_take_mean(const struct wander_order *order, const struct wander_series *series,
                               size_t count, struct wander_series *mean) {
  const double n = (double)count;
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < order->count; i++) {
      mean->values[i] += series[k].values[i] / n;
    }
    for (size_t r = 0; r < order->rows; r++) {
      mean->spread[r] += series[k].spread[r] / n;
    }
  }
  const double variance =
      wander_product(mean->spread, mean->spread, order->rows) / order->spread_df;
  return count > 1 ? fmin(fmax((variance - 1 / n) / (1 - 1 / n), 0), 1) : 1;
}

/* What most series of one order have in common counts; that of others would be the same again. */
void wander_add(const struct wander_order *order, const double *const *series, size_t count,
                struct wander_evidence *evidence) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct wander_series *known = arena_array(&arena, count + 1, sizeof *known);
  struct wander_series mean = {.spread = arena_array(&arena, WANDER_RUNS_MAX, sizeof(double))};
  size_t used = 0;
  for (size_t i = 0; i < count && order->df > 1; i++) {
    known[used].spread = arena_array(&arena, order->rows, sizeof(double));
    used += wander_standardise(order, series[i], &known[used]);
  }
  if (used == 0) {
    return;
  }
  const double share = wander_take_mean(order, known, used, &mean);
  for (size_t m = 0; m < WANDER_LOGS && used > evidence->most; m++) {
    const double square = wander_square(order->projections[m], mean.values, order->count);
    const bool seen = m < WANDER_MODELS || !order->paired; /* pairs do not show a line */
    evidence->common[m] =
        seen ? wander_log(order->constants[m], (double)order->df, square, square) : -INFINITY;
  }
  evidence->most = used > evidence->most ? used : evidence->most;
  if (used > 1) {
    double own[WANDER_MODELS] = {0};
    struct wander_mean *moved = arena_array(&arena, 1, sizeof *moved);
    wander_move_mean(order, mean.values, moved);
    for (size_t i = 0; i < used; i++) {
      wander_add_own(order, &known[i], moved, own);
    }
    const double worth = wander_count_own(order, known, used, &mean);
    for (size_t m = 0; m < WANDER_MODELS; m++) {
      evidence->own[m] += own[m] * worth / (double)used;
    }
    evidence->own_series += worth;
    evidence->shares += share * (double)used;
    evidence->series += used;
  }
}

void wander_conclude(const struct wander_evidence *evidence, const double *prior,
                     struct wander_belief *belief) {
  double usual[WANDER_MODELS];
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    usual[m] = wander_prior(m);
  }
  *belief = (struct wander_belief){.share = 1, .own_series = 1};
  if (evidence->series > 0) {
    belief->share = evidence->shares / (double)evidence->series;
    belief->own_series = evidence->own_series;
  }
  (void)wander_weigh(evidence->own, WANDER_MODELS,
                     fmin(1, WANDER_SERIES_MAX / fmax(belief->own_series, 1)), usual, belief->own);
  wander_of_machine(belief->own, belief->share, belief->machine);
  belief->trend = wander_weigh(evidence->common, WANDER_LOGS, 1,
                               prior != NULL ? prior : belief->machine, belief->common);
}

/* ---- all models ---- */

static const double DF_MIN = 0.3, DF_MAX = 1e4, ACCURACY = 1e-4;
/* Parts that are not numbers, or weigh nothing, are as far as that. */
static const double DISTANCE_LOG_MAX = 100;

/* One of the t distributions that the difference may have, in standard errors of independent runs.
 */
struct wander_part {
  double weight, scale, df;
};

/* Beyond a distance, on either side. */
static double wander_beyond(const struct wander_part *parts, size_t count, double distance) {
  return TOTAL_OF(m, count,
                  parts[m].weight * 2 * student_upper(distance / parts[m].scale, parts[m].df));
}

enum { STEPS_MAX = 12 };

/* The x between two at which a falling function is 0, both in logarithms: by interpolation, with
 * the value of an end that stays halved (Dowell and Jarratt 1971, "A modified regula falsi method",
 * BIT 11). */
struct wander_root {
  double x[2], y[2]; /* above 0, below 0 */
  bool is_below;     /* the last one */
};

static double wander_next(const struct wander_root *root) {
  return root->x[0] + (root->x[1] - root->x[0]) * root->y[0] / (root->y[0] - root->y[1]);
}

static void wander_narrow(struct wander_root *root, double x, double y) {
  const bool below = y < 0;
  root->x[below] = x;
  root->y[below] = y;
  if (below == root->is_below) {
    root->y[!below] /= 2;
  }
  root->is_below = below;
}

/* The distance that is exceeded so often, as a logarithm. */
static double wander_distance(const struct wander_part *parts, size_t count, double level) {
  struct wander_root root = {.x = {0, 0}};
  double x = 0;
  double y = log(wander_beyond(parts, count, 1) / level);
  const double step = y > 0 ? log(2) : -log(2);
  for (const bool above = y > 0; (y > 0) == above && fabs(x) < DISTANCE_LOG_MAX;) {
    wander_narrow(&root, x, y);
    x += step;
    y = log(wander_beyond(parts, count, exp(x)) / level);
  }
  wander_narrow(&root, x, y);
  for (int i = 0; i < STEPS_MAX && fabs(y) > ACCURACY; i++) {
    x = wander_next(&root);
    y = log(wander_beyond(parts, count, exp(x)) / level);
    wander_narrow(&root, x, y);
  }
  return x;
}

static const double LEVEL = 0.05, FAR_LEVEL = 0.002;

static double wander_quantile(double level, double df) {
  return log(student_quantile(1 - level / 2, df));
}

/* The t distribution with these two quantiles, which are logarithms. */
static struct wander wander_match(double near, double far) {
  const double ratio = far - near;
  struct wander_root root = {.x = {log(DF_MIN), log(DF_MAX)}};
  double x = root.x[0];
  double y = 1;
  for (size_t i = 0; i < 2; i++) {
    const double df = exp(root.x[i]);
    root.y[i] = wander_quantile(FAR_LEVEL, df) - wander_quantile(LEVEL, df) - ratio;
  }
  if (root.y[0] <= 0 || root.y[1] >= 0) {
    x = root.x[root.y[0] > 0];
    y = 0;
  }
  for (int i = 0; i < STEPS_MAX && fabs(y) > ACCURACY; i++) {
    x = wander_next(&root);
    y = wander_quantile(FAR_LEVEL, exp(x)) - wander_quantile(LEVEL, exp(x)) - ratio;
    wander_narrow(&root, x, y);
  }
  const double df = exp(x);
  return (struct wander){exp(2 * (near - wander_quantile(LEVEL, df))), df};
}

/* One t distribution with the mean of the variances, and fewer degrees of freedom for not knowing
 * which one holds (Satterthwaite's way): wider than the mixture. */
static struct wander wander_even_out(const struct wander_part *parts, size_t count) {
  double mean = 0;
  double squares = 0;
  double df = 0;
  for (size_t m = 0; m < count; m++) {
    const double factor = parts[m].scale * parts[m].scale;
    mean += parts[m].weight * factor;
    squares += parts[m].weight * factor * factor;
    df += parts[m].weight * parts[m].df;
  }
  const double variance = fmax(squares - mean * mean, 0);
  return (struct wander){mean, 1 / (1 / df + variance / (2 * mean * mean))};
}

/* The models that are likely enough; series: of how many one has the degrees of freedom, most. */
static size_t wander_take_parts(const struct wander_order *order,
                                const double weights[WANDER_MODELS], double series, double most,
                                struct wander_part parts[WANDER_MODELS]) {
  size_t used = 0;
  double sum = 0;
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    if (weights[m] > 1e-6) {
      parts[used++] = (struct wander_part){weights[m], sqrt(order->factors[m]),
                                           fmin(most, series * order->dfs[m])};
      sum += weights[m];
    }
  }
  for (size_t m = 0; m < used; m++) {
    parts[m].weight /= sum;
  }
  return used;
}

/* Degrees of freedom of a series that hardly tells models apart. */
static const double DF_OF_FEW = 5;

struct wander wander_average(const struct wander_order *order, const struct wander_belief *belief,
                             double df, double own_df) {
  struct wander_part parts[WANDER_MODELS];
  if (!(order->spread_df > 0 && df > 0 && own_df > 0)) {
    return (struct wander){1, df}; /* as if runs are independent: no variance is known */
  }
  size_t used = wander_take_parts(order, belief->own, own_df / order->spread_df, own_df, parts);
  const struct wander own = wander_even_out(parts, used);
  used = wander_take_parts(order, belief->common, 1, df, parts);
  const struct wander even = wander_even_out(parts, used);
  const double few = order->paired ? 0 : fmin(1, DF_OF_FEW / order->spread_df);
  const double near = few * (log(even.factor) / 2 + wander_quantile(LEVEL, even.df)) +
                      (1 - few) * wander_distance(parts, used, LEVEL);
  const double far = fmax(near, wander_distance(parts, used, FAR_LEVEL));
  const struct wander common = wander_match(near, far);
  const double share = belief->share;
  const double factor = share * common.factor + (1 - share) * own.factor;
  /* Satterthwaite's degrees of freedom, where the exponent is 2, are too many where the part with
   * the fewer of them is the larger one. With 1 they are too few. */
  const double exponent = 2 - few;
  const double inverse_df = pow(share * common.factor / factor, exponent) / common.df +
                            pow((1 - share) * own.factor / factor, exponent) / own.df;
  return (struct wander){factor, 1 / inverse_df};
}
