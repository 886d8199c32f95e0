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

/* Averages that were made already, by what they are of. */
enum { AVERAGES = 256 };
struct order_averages {
  struct order_average {
    const struct wander_order *order;
    const struct wander_belief *belief;
    long df, own_df; /* steps of 2 % */
    struct wander average;
  } known[AVERAGES];
};
#define DF_STEPS 50
#define DF_MOST  1e6

static struct wander order_average(const struct work *work, double df, double own_df) {
  const struct order_average asked = {.order = work->wander_order,
                                      .belief = work->wander,
                                      .df = lround(DF_STEPS * log(fmin(df, DF_MOST))),
                                      .own_df = lround(DF_STEPS * log(fmin(own_df, DF_MOST)))};
  struct order_average *known =
      &work->averages->known[(size_t)(asked.df + 7 * asked.own_df) % AVERAGES];
  if (known->order != asked.order || known->belief != asked.belief || known->df != asked.df ||
      known->own_df != asked.own_df) {
    *known = asked;
    known->average = wander_average(asked.order, asked.belief, df, own_df);
  }
  return known->average;
}

struct effect diff_order_wander(const struct work *work, struct effect effect) {
  if (work->wander != NULL && effect.df > 0) {
    /* Peers of equal sides tell more of what a case does not share with them. */
    const bool learns = work->prior.known && work->a.count == work->b.count;
    const double own_df = learns ? fmin(work->pooled_df + work->prior.both.df,
                                        work->pooled_df * work->wander->own_series)
                                 : 0;
    const struct wander average = order_average(work, effect.df, fmax(own_df, effect.df));
    effect.error *= sqrt(average.factor);
    effect.df = average.df;
  }
  return effect;
}

/* Of a thousand cases of one order, others say no more. */
enum { ORDER_SERIES_MAX = 1000 };

static void order_learn(const struct time_order_seen *seen, const double *prior,
                        struct wander_belief *belief) {
  struct wander_evidence evidence = {0};
  for (size_t k = 0; k < seen->count; k++) {
    const struct time_order_kind *kind = seen->kinds[k];
    const size_t stride = 1 + kind->series_count / ORDER_SERIES_MAX;
    for (size_t i = 0; i * stride < kind->series_count; i++) {
      kind->series[i] = kind->series[i * stride];
    }
    wander_add(&kind->order, kind->series, (kind->series_count + stride - 1) / stride, &evidence);
  }
  wander_conclude(&evidence, prior, belief);
}

/* Whether runs in turn agree with the next of their side no better than with others, in the mean of
 * all cases and beyond chance. */
static bool order_steps_are_wide(const struct work *work, size_t count) {
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
  return known == 0 || mean >= fmin(DIFF_STEPS_PAIRED, 1 - DIFF_STEPS_ERRORS * error);
}

double diff_order_independence(const struct diff_case *cases, const struct work *work, size_t count,
                               struct arena *arena) {
  struct time_order_seen seen = {.arena = arena};
  struct wander_belief belief;
  if (!order_steps_are_wide(work, count)) {
    return 0;
  }
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable && work[i].unit == DIFF_UNIT_RUN && work[i].paired) {
      (void)time_order_see(&seen, &work[i].a_units, &work[i].b_units, cases[i].started, true);
    }
  }
  order_learn(&seen, NULL, &belief);
  return seen.count == 0 ? 1 : belief.share * belief.common[0] + (1 - belief.share) * belief.own[0];
}

void diff_order_find(const struct diff_case *cases, struct work *work, size_t count, size_t own,
                     double independence, const struct diff_options *options, struct arena *arena,
                     struct diff_summary *summary) {
  struct time_order_seen seen = {.arena = arena};
  struct time_order_seen others = {.arena = arena};
  struct wander_belief *belief = arena_array(arena, 1, sizeof *belief);
  struct order_averages *averages = arena_array(arena, 1, sizeof *averages);
  size_t used = 0;
  double steps = 0;
  double variance = 0;
  double dependence = 0;
  for (size_t i = 0; i < count; i++) {
    const bool blocked = order_is_blocked(&work[i]);
    const bool open = blocked || work[i].paired ||
                      (isfinite(work[i].order.steps) && independence < DIFF_INDEPENDENT_LIKELY);
    /* What cases share is one series, which may wander although none of them seems to. */
    if (!work[i].testable || work[i].unit != DIFF_UNIT_RUN || !open ||
        (options->independent && !options->apart)) {
      continue;
    }
    const struct time_order_kind *kind =
        time_order_see(i < own ? &seen : &others, &work[i].a_units, &work[i].b_units,
                       cases[i].started, work[i].paired);
    work[i].wander_order = &kind->order;
    work[i].wander = belief;
    work[i].averages = averages;
    if (options->apart) { /* a group says itself what its cases have in common */
      struct wander_evidence evidence = {0};
      struct wander_belief *alone = arena_array(arena, 1, sizeof *alone);
      wander_add(&kind->order, &kind->series[kind->series_count - 1], 1, &evidence);
      wander_conclude(&evidence, options->wander, alone);
      work[i].wander = alone;
    }
    if (i < own && blocked && isfinite(work[i].order.steps)) {
      used++;
      steps += work[i].order.steps;
      variance += work[i].order.steps_variance;
      dependence += work[i].prior.dependence;
    }
  }
  const double known = (double)used;
  summary->independent = options->independent;
  summary->dependence = used > 0 ? dependence / known : 1;
  if (used > 0 && !options->independent) {
    const double alike = 1 / known + (1 - 1 / known) * summary->dependence;
    const double error = sqrt(variance / known * alike);
    const double mean = steps / known;
    summary->independent = mean - 2 * error >= DIFF_STEPS_LEAST;
    summary->wanders = mean < DIFF_STEPS_LEAST && mean + 2 * error < 1;
  }
  order_learn(&seen, options->wander, belief);
  memcpy(summary->wander, belief->machine, sizeof summary->wander);
  summary->drifts = belief->trend >= DIFF_TREND_LEAST;
}

void diff_order_take_trends(const struct diff_case *cases, struct work *work, size_t count,
                            struct arena *arena) {
  for (size_t i = 0; i < count; i++) {
    struct work *w = &work[i];
    const size_t units = w->a.count + w->b.count;
    if (w->wander == NULL || w->paired || units < DIFF_TREND_UNITS) {
      continue;
    }
    double *values = arena_array(arena, units, sizeof *values);
    w->order.trend_inflation =
        time_order_take_trend(&w->a_units, &w->b_units, cases[i].started, values);
    w->order.trend_df = 1;
    w->drifts = true;
    w->wander = NULL;
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
