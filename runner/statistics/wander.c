#include "runner/statistics/wander.h"

#include "engine/base/arena.h"

#include <math.h>

/* level: variance of the series, or of a step of the walk, over that of the noise beside it. */
struct wander_model {
  double correlation; /* of a run with the next; 0 = independent, 1 = a walk */
  double level;
};
static const struct wander_model MODELS[WANDER_MODELS] = {
    {0, 0},     {0.5, 0.3},  {0.5, 1},  {0.5, 3},  {0.5, 30},  {0.7, 0.3},  {0.7, 1},  {0.7, 3},
    {0.7, 30},  {0.85, 0.3}, {0.85, 1}, {0.85, 3}, {0.85, 30}, {0.95, 0.3}, {0.95, 1}, {0.95, 3},
    {0.95, 30}, {1, 0.01},   {1, 0.03}, {1, 0.1},  {1, 0.3},   {1, 1},      {1, 3},    {1, 30},
};

static const double INDEPENDENT = 0.5; /* before anything is seen */

/* Every other correlation is as likely as the next. */
static double model_prior(size_t m) {
  size_t classes = 0;
  size_t own = 0;
  for (size_t i = 1; i < WANDER_MODELS; i++) {
    classes += MODELS[i].correlation != MODELS[i - 1].correlation;
    own += MODELS[i].correlation == MODELS[m].correlation;
  }
  return m == 0 ? INDEPENDENT : (1 - INDEPENDENT) / (double)classes / (double)own;
}

/* Of a trend: before anything is seen, and its variance within a side over that of the noise. */
static const double TREND = 0.1;
static const double TRENDS[WANDER_TRENDS] = {1, 10, 100, 1e3, 1e4};

/* ---- likelihood ---- */

/* Of the level, before a run is seen. */
struct wander_filter {
  double variance;
  double mean[2]; /* of the values; of a series of ones, whose innovations are those of the mean */
};

/* Of a side, those next to the other one. */
struct wander_side {
  double values[WANDER_RUNS_MAX];
  size_t at[WANDER_RUNS_MAX];
  size_t count;
};

/* What both sides add up to; the logarithm of the likelihood, but for the squares. */
struct wander_sums {
  double logs, squares;
};

static void wander_add_model(const struct wander_model *model, const struct wander_side *side,
                             struct wander_sums *sums) {
  struct wander_filter filter = {.variance = model->correlation < 1 ? model->level : 0};
  double squares = 0;
  double products = 0;
  double ones = 0;
  for (size_t i = 0; i < side->count; i++) {
    if (i > 0) {
      const double steps = (double)(side->at[i] - side->at[i - 1]);
      const double kept = pow(model->correlation, steps);
      filter.variance = model->correlation < 1
                            ? kept * kept * filter.variance + (1 - kept * kept) * model->level
                            : filter.variance + steps * model->level;
      filter.mean[0] *= kept;
      filter.mean[1] *= kept;
    }
    const double variance = filter.variance + 1;
    const double gain = filter.variance / variance;
    const double value = side->values[i] - side->values[0] - filter.mean[0];
    const double one = 1 - filter.mean[1];
    sums->logs -= log(variance) / 2;
    squares += value * value / variance;
    products += value * one / variance;
    ones += one * one / variance;
    filter.mean[0] += gain * value;
    filter.mean[1] += gain * one;
    filter.variance *= 1 - gain;
  }
  sums->logs -= log(ones) / 2;
  sums->squares += squares - products * products / ones;
}

/* Of a line with that variance within a side, over that of the noise. */
static void wander_add_trend(double trend, const struct wander_side sides[2],
                             struct wander_sums *sums) {
  double times = 0;
  double products = 0;
  double count = 0;
  for (size_t s = 0; s < 2; s++) {
    const struct wander_side *side = &sides[s];
    const double n = (double)side->count;
    double sum[2] = {0}; /* of times and values */
    for (size_t i = 0; i < side->count; i++) {
      sum[0] += (double)(side->at[i] - side->at[0]) / n;
      sum[1] += (side->values[i] - side->values[0]) / n;
    }
    for (size_t i = 0; i < side->count; i++) {
      const double t = (double)(side->at[i] - side->at[0]) - sum[0];
      const double y = side->values[i] - side->values[0] - sum[1];
      times += t * t;
      products += t * y;
      sums->squares += y * y;
    }
    sums->logs -= log(n) / 2;
    count += n;
  }
  sums->logs -= log1p(trend * count) / 2;
  sums->squares -= trend * count / (1 + trend * count) * products * products / times;
}

static void wander_take_side(const struct wander_runs *runs, bool is_b, struct wander_side *side) {
  size_t all = 0;
  side->count = 0;
  for (size_t i = 0; i < runs->count; i++) {
    all += runs->is_b[i] == is_b;
  }
  /* The last ones of the side that comes first, the first ones of the other. */
  size_t skipped = runs->is_b[0] == is_b && all > WANDER_RUNS_MAX ? all - WANDER_RUNS_MAX : 0;
  for (size_t i = 0; i < runs->count && side->count < WANDER_RUNS_MAX; i++) {
    if (runs->is_b[i] != is_b) {
      continue;
    }
    if (skipped > 0) {
      skipped--;
      continue;
    }
    side->at[side->count] = i;
    side->values[side->count++] = runs->values[i];
  }
}

void wander_add_likelihood(const struct wander_runs *runs, double logs[WANDER_LOGS]) {
  struct wander_side sides[2];
  wander_take_side(runs, false, &sides[0]);
  wander_take_side(runs, true, &sides[1]);
  const double df = (double)sides[0].count + (double)sides[1].count - 2;
  struct wander_sums sums[WANDER_LOGS] = {{0}};
  for (size_t m = 0; m < WANDER_LOGS; m++) {
    if (m < WANDER_MODELS) {
      wander_add_model(&MODELS[m], &sides[0], &sums[m]);
      wander_add_model(&MODELS[m], &sides[1], &sums[m]);
    } else {
      wander_add_trend(TRENDS[m - WANDER_MODELS], sides, &sums[m]);
    }
  }
  if (sides[0].count == 0 || sides[1].count == 0 || df < 2 || !(sums[0].squares > 0)) {
    return;
  }
  for (size_t m = 0; m < WANDER_LOGS; m++) {
    logs[m] += sums[m].logs - df / 2 * log(fmax(sums[m].squares, 1e-12 * sums[0].squares));
  }
}

/* ---- what a model means for two sides ---- */

/* Without the noise. */
static double wander_covariance(const struct wander_model *model, size_t i, size_t j) {
  return model->correlation < 1
             ? model->level * pow(model->correlation, fabs((double)i - (double)j))
             : model->level * (double)(i < j ? i : j);
}

/* Some or all of the runs of both sides. */
struct wander_order {
  const bool *is_b;
  size_t count, stride; /* every so many runs of all */
  double counts[2], all[2];
  double *matrix, (*sums)[2]; /* room for the covariance, and for its sums over a row, by side */
};

/* Of the means' difference, and of the variance within sides: mean and degrees of freedom, from the
 * covariance with rows and columns centred by side. */
static void wander_find_effect(const struct wander_model *model, struct wander_order *order,
                               double *factor, double *df) {
  const bool *is_b = order->is_b;
  const size_t count = order->count;
  double blocks[2][2] = {{0}};
  for (size_t i = 0; i < count; i++) {
    order->sums[i][0] = order->sums[i][1] = 0;
    for (size_t j = 0; j < count; j++) {
      const double covariance = wander_covariance(model, i * order->stride, j * order->stride);
      order->matrix[i * count + j] = covariance;
      order->sums[i][is_b[j]] += covariance / order->counts[is_b[j]];
    }
    blocks[is_b[i]][0] += order->sums[i][0] / order->counts[is_b[i]];
    blocks[is_b[i]][1] += order->sums[i][1] / order->counts[is_b[i]];
  }
  double trace = 0;
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      const double noise = (i == j ? 1 : 0) - (is_b[i] == is_b[j] ? 1 / order->counts[is_b[i]] : 0);
      const double centred = order->matrix[i * count + j] - order->sums[i][is_b[j]] -
                             order->sums[j][is_b[i]] + blocks[is_b[i]][is_b[j]] + noise;
      trace += i == j ? centred : 0;
      squares += centred * centred;
    }
  }
  const double independent = 1 / order->all[0] + 1 / order->all[1];
  const double within = trace / ((double)count - 2);
  const double difference = blocks[0][0] + blocks[1][1] - 2 * blocks[0][1] + independent;
  *factor = difference / within / independent;
  *df = trace * trace / squares;
}

struct wander_effects wander_find_effects(const bool *is_b, size_t count) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct wander_effects effects;
  struct wander_order order = {.stride = 1};
  while (count / order.stride > 4 * (size_t)WANDER_RUNS_MAX) { /* a large matrix takes long */
    order.stride *= 2;
  }
  bool *sides = arena_array(&arena, count / order.stride + 1, sizeof *sides);
  for (size_t i = 0; i < count; i++) {
    order.all[is_b[i]]++;
    if (i % order.stride == order.stride / 2) {
      sides[order.count++] = is_b[i];
      order.counts[is_b[i]]++;
    }
  }
  order.is_b = sides;
  order.matrix = arena_array(&arena, order.count * order.count, sizeof *order.matrix);
  order.sums = arena_array(&arena, order.count, sizeof *order.sums);
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    effects.factor[m] = effects.df[m] = 1;
    if (order.counts[0] > 0 && order.counts[1] > 0 && order.count > 2) {
      wander_find_effect(&MODELS[m], &order, &effects.factor[m], &effects.df[m]);
    }
  }
  return effects;
}

/* ---- all models ---- */

double wander_weigh(const double logs[WANDER_LOGS], double share, const double *prior,
                    double weights[WANDER_MODELS]) {
  double most = -INFINITY;
  double sum = 0;
  double trends = 0;
  for (size_t m = 0; m < WANDER_LOGS; m++) {
    most = fmax(most, share * logs[m]);
  }
  for (size_t m = 0; m < WANDER_LOGS; m++) {
    const double likelihood = exp(share * logs[m] - most);
    if (m < WANDER_MODELS) { /* not 0, so that there is a sum without a trend, too */
      weights[m] = (prior != NULL ? prior[m] : model_prior(m)) * fmax(likelihood, 1e-200);
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

void wander_of_means(const double weights[WANDER_MODELS], double means[WANDER_MODELS]) {
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    double alike = 0;
    double prior = 0;
    for (size_t i = 0; i < WANDER_MODELS; i++) {
      const bool same = MODELS[i].correlation == MODELS[m].correlation;
      alike += same ? weights[i] : 0;
      prior += same ? model_prior(i) : 0;
    }
    means[m] = alike * model_prior(m) / prior;
  }
}

struct wander wander_average(const struct wander_effects *effects,
                             const double weights[WANDER_MODELS], double df) {
  double factor = 0;
  double squares = 0;
  double mean_df = 0;
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    factor += weights[m] * effects->factor[m];
    squares += weights[m] * effects->factor[m] * effects->factor[m];
    mean_df += weights[m] * fmin(df, effects->df[m] * df / effects->df[0]);
  }
  /* That the factor is not known takes degrees of freedom as if it were a chi square's. */
  const double variance = fmax(0, squares - factor * factor);
  const double of_factor = variance > 0 ? 2 * factor * factor / variance : INFINITY;
  return (struct wander){factor, 1 / (1 / mean_df + 1 / of_factor)};
}
