#include "runner/analysis/diff_internal.h"

#include <math.h>

struct sample diff_sample(const struct process_sample *side) {
  struct sample sample = sample_summary(side->values, side->count);
  if (sample.count > 1) {
    sample.variance = fmax(sample.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  }
  return sample;
}

bool diff_order_wastes_pairs(const struct work *work, size_t count) {
  double sum = 0;
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    if (work[i].unit == DIFF_UNIT_RUN && work[i].paired && isfinite(work[i].order.steps)) {
      sum += work[i].order.steps;
      known++;
    }
  }
  return known > 0 && sum >= DIFF_STEPS_PAIRED * (double)known;
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

void diff_order_find(const struct diff_case *cases, struct work *work, size_t count, size_t own,
                     const struct diff_options *options, struct arena *arena,
                     struct order_wander *found, struct diff_summary *summary) {
  struct time_order_wander wander = {.arena = arena};
  double known = 0;
  double steps = 0;
  double variance = 0;
  double dependence = 0;
  for (size_t i = 0; i < count; i++) {
    if (!work[i].testable || work[i].unit != DIFF_UNIT_RUN || !order_is_blocked(&work[i]) ||
        (options->independent && !cases[i].shares_noise)) {
      continue;
    }
    const bool counts = i < own && isfinite(work[i].order.steps);
    work[i].effects =
        time_order_see(&wander, &work[i].a_units, &work[i].b_units, cases[i].started, counts);
    if (counts) {
      known++;
      steps += work[i].order.steps;
      variance += work[i].order.steps_variance;
      dependence += work[i].prior.dependence;
    }
  }
  summary->independent = options->independent;
  summary->dependence = known > 0 ? dependence / known : 1;
  const double alike = known > 0 ? 1 / known + (1 - 1 / known) * summary->dependence : 1;
  if (known > 0 && !options->independent) {
    const double error = sqrt(variance / known * alike);
    const double mean = steps / known;
    summary->independent = mean - 2 * error >= DIFF_STEPS_LEAST;
    summary->wanders = mean < DIFF_STEPS_LEAST && mean + 2 * error < 1;
  }
  const double trend = wander_weigh(wander.logs, known > 0 ? 1 / (known * alike) : 0,
                                    options->wander, found->weights);
  wander_of_means(found->weights, summary->wander);
  summary->drifts = trend >= DIFF_TREND_LEAST;
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
