#include "runner/analysis/diff_internal.h"

#include <math.h>
#include <string.h>

struct sample diff_sample(const struct process_sample *side) {
  struct sample sample = sample_summary(side->values, side->count);
  if (sample.count > 1) {
    sample.variance = fmax(sample.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  }
  return sample;
}

bool diff_order_wastes_pairs(const struct work *work, size_t count) {
  double steps = 0;
  double squares = 0;
  double variance = 0;
  double known = 0;
  for (size_t i = 0; i < count; i++) {
    if (work[i].unit == DIFF_UNIT_RUN && work[i].paired && isfinite(work[i].order.steps)) {
      steps += work[i].order.steps;
      squares += work[i].order.steps * work[i].order.steps;
      variance += work[i].order.steps_variance;
      known++;
    }
  }
  /* Cases that see the same noise have the same steps: what they differ by is what they do not
   * share. */
  const double mean = steps / known;
  const double apart = fmax(squares / known - mean * mean, 0);
  const double shared = fmin(fmax(1 - apart / (variance / known), 0), 1);
  const double error = sqrt(variance / known * (shared + (1 - shared) / known));
  return known > 0 && mean >= fmin(DIFF_STEPS_PAIRED, 1 - DIFF_STEPS_ERRORS * error);
}

static bool order_is_blocked(const struct work *work) {
  return !work->paired && work->order.walk > 1 / (double)work->a.count + 1 / (double)work->b.count;
}

struct effect diff_order_walk(const struct work *work, struct effect effect) {
  if (order_is_blocked(work)) {
    const double plain = 1 / (double)work->a.count + 1 / (double)work->b.count;
    effect.error *= sqrt(work->order.walk / plain);
    effect.df = fmin(effect.df, DIFF_WALK_DF);
  }
  return effect;
}

struct effect diff_order_wander(const struct work *work, struct effect effect,
                                const struct order_wander *wander) {
  if (work->effects != NULL) {
    const struct wander average = wander_average(work->effects, wander->weights, effect.df);
    effect.error *= sqrt(average.factor);
    effect.df = average.df;
  }
  return effect;
}

/* What is left within the sides, in standard deviations. False: nothing. */
static bool order_standardise(const struct wander_runs *runs, double *values) {
  double means[2] = {0, 0};
  double counts[2] = {0, 0};
  double squares = 0;
  for (size_t i = 0; i < runs->count; i++) {
    counts[runs->is_b[i]]++;
    means[runs->is_b[i]] += runs->values[i] - runs->values[0];
  }
  for (size_t i = 0; i < runs->count; i++) {
    const bool is_b = runs->is_b[i];
    values[i] = runs->values[i] - runs->values[0] - means[is_b] / counts[is_b];
    squares += values[i] * values[i];
  }
  for (size_t i = 0; i < runs->count; i++) {
    values[i] *= sqrt(((double)runs->count - 2) / squares);
  }
  return squares > 0;
}

/* The series of the cases that have the same order of runs as the longest; returns how many. */
static size_t order_take_series(const struct wander_runs *runs, size_t count, double **series,
                                struct wander_runs *common, struct arena *arena) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    *common = i == 0 || runs[i].count > common->count ? runs[i] : *common;
  }
  for (size_t i = 0; i < count; i++) {
    if (runs[i].count == common->count &&
        memcmp(runs[i].is_b, common->is_b, common->count * sizeof *common->is_b) == 0) {
      series[used] = arena_array(arena, common->count, sizeof **series);
      used += order_standardise(&runs[i], series[used]);
    }
  }
  return used;
}

/* The probability of a line in the mean of the cases' series, which has less noise than any of
 * them. */
static double order_line(const struct wander_runs *runs, size_t known, const double *prior,
                         struct arena *arena) {
  double **series = arena_array(arena, known, sizeof *series);
  struct wander_runs common = {0};
  double logs[WANDER_LOGS] = {0};
  double weights[WANDER_MODELS];
  const size_t used = order_take_series(runs, known, series, &common, arena);
  if (used == 0) {
    return 0;
  }
  double *mean = arena_array(arena, common.count, sizeof *mean);
  for (size_t k = 0; k < used; k++) {
    for (size_t i = 0; i < common.count; i++) {
      mean[i] += series[k][i] / (double)used;
    }
  }
  common.values = mean;
  wander_add_likelihood(&common, logs);
  return wander_weigh(logs, 1, prior, weights);
}

void diff_order_find(const struct diff_case *cases, struct work *work, size_t count, size_t own,
                     const struct diff_options *options, struct arena *arena,
                     struct order_wander *found, struct diff_summary *summary) {
  struct time_order_seen seen = {.arena = arena};
  struct wander_runs *runs = arena_array(arena, count, sizeof *runs);
  double logs[WANDER_LOGS] = {0};
  size_t used = 0;
  double steps = 0;
  double variance = 0;
  double dependence = 0;
  for (size_t i = 0; i < count; i++) {
    if (!work[i].testable || work[i].unit != DIFF_UNIT_RUN || !order_is_blocked(&work[i]) ||
        (options->independent && !cases[i].shares_noise)) {
      continue;
    }
    runs[used] = time_order_see(&seen, &work[i].a_units, &work[i].b_units, cases[i].started,
                                &work[i].effects);
    if (i < own && isfinite(work[i].order.steps)) {
      wander_add_likelihood(&runs[used++], logs);
      steps += work[i].order.steps;
      variance += work[i].order.steps_variance;
      dependence += work[i].prior.dependence;
    }
  }
  const double known = (double)used;
  summary->independent = options->independent;
  summary->dependence = used > 0 ? dependence / known : 1;
  const double alike = used > 0 ? 1 / known + (1 - 1 / known) * summary->dependence : 1;
  if (used > 0 && !options->independent) {
    const double error = sqrt(variance / known * alike);
    const double mean = steps / known;
    summary->independent = mean - 2 * error >= DIFF_STEPS_LEAST;
    summary->wanders = mean < DIFF_STEPS_LEAST && mean + 2 * error < 1;
  }
  const double share = used > 0 ? 1 / (known * alike) : 0;
  (void)wander_weigh(logs, share, options->wander, found->weights);
  wander_of_means(found->weights, summary->wander);
  summary->drifts = order_line(runs, used, options->wander, arena) >= DIFF_TREND_LEAST;
}

void diff_order_take_trends(const struct diff_case *cases, struct work *work, size_t count,
                            struct arena *arena) {
  for (size_t i = 0; i < count; i++) {
    struct work *w = &work[i];
    const size_t units = w->a.count + w->b.count;
    if (w->effects == NULL || units < DIFF_TREND_UNITS) {
      continue;
    }
    double *values = arena_array(arena, units, sizeof *values);
    w->order.trend_inflation =
        time_order_take_trend(&w->a_units, &w->b_units, cases[i].started, values);
    w->order.trend_df = 1;
    w->drifts = true;
    w->effects = NULL;
    w->a_units.values = values;
    w->b_units.values = values + w->a.count;
    w->a = diff_sample(&w->a_units);
    w->b = diff_sample(&w->b_units);
    w->a.variance *= ((double)units - 2) / ((double)units - 3);
    w->b.variance *= ((double)units - 2) / ((double)units - 3);
    w->difference = w->a.mean - w->b.mean;
    w->pooled_variance = effect_pooled_variance(&w->a, &w->b, &w->pooled_df);
    w->pooled_df -= 1;
  }
}
