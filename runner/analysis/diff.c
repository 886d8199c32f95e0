#include "runner/analysis/diff_internal.h"

#include "runner/analysis/diff_odd.h"
#include "runner/statistics/permutations.h"
#include "runner/statistics/rank_test.h"

#include <math.h>

ENUM_NAMES_DEFINE(verdict, VERDICT_LIST)
ENUM_NAMES_DEFINE(diff_method, DIFF_METHOD_LIST)
ENUM_NAMES_DEFINE(diff_test, DIFF_TEST_LIST)
ENUM_NAMES_DEFINE(diff_unit, DIFF_UNIT_LIST)
ENUM_NAMES_DEFINE(diff_doubt, DIFF_DOUBT_LIST)

/* ---- one case ---- */

/* Room for the values of runs, of all cases one after the other. */
struct unit_room {
  double *values;
  uint32_t *numbers;
  size_t used;
};

static struct process_sample diff_units(const struct process_sample *side, enum diff_unit unit,
                                        struct unit_room *room) {
  if (unit == DIFF_UNIT_PROCESS) {
    return *side;
  }
  const struct process_sample runs =
      process_sample_by_run(side, room->values + room->used, room->numbers + room->used);
  room->used += runs.count;
  return runs;
}

/* The summaries of both sides become such that the spread of their difference is that of the pairs'
 * differences. */
static void diff_pair_units(struct work *work, struct unit_room *room) {
  const size_t count = work->a.count;
  double *differences = room->values + room->used;
  for (size_t i = 0; i < count; i++) {
    differences[i] = work->a_units.values[i] - work->b_units.values[i];
  }
  if (work->unit == DIFF_UNIT_NODE) {
    work->unlike = diff_odd_cut(differences, count, sqrt(2) * DIFF_SPREAD_MIN);
  }
  for (size_t i = 0; i < count; i++) {
    differences[i] /= sqrt(2);
  }
  room->used += count;
  work->differences = (struct process_sample){
      .values = differences, .count = count, .processes = work->a_units.processes};
  const struct sample sample = diff_sample(&work->differences);
  const double df = (double)count - 1;
  work->a.variance = work->b.variance = sample.variance * df / (df - work->order.trend_df);
  work->a.mean = work->b.mean + sqrt(2) * sample.mean;
}

/* What counts as one observation, and whether each of a is one with one of b. */
static void diff_set_units(const struct diff_case *c, struct unit_room *room, bool pair,
                           struct work *work, struct diff_result *result) {
  double *values = room->values + room->used;
  uint32_t *numbers = room->numbers + room->used;
  work->a_units = diff_units(&c->a, work->unit, room);
  work->b_units = diff_units(&c->b, work->unit, room);
  const size_t a_count = work->a_units.count;
  const size_t b_count = work->b_units.count;
  work->measured[0] = a_count;
  work->measured[1] = b_count;
  work->paired = c->paired;
  work->mixed = diff_has_both_sides(c) &&
                permutations_mixed_modes(&work->a_units, &work->b_units, log1p(c->delta),
                                         room->values + room->used);
  const bool timed = work->unit == DIFF_UNIT_RUN && c->started != NULL && diff_has_both_sides(c);
  if (timed) {
    work->order = time_order_apply(values, numbers, a_count, values + a_count, numbers + a_count,
                                   b_count, c->started, pair);
    work->paired = work->order.paired;
  }
  values = room->values + room->used;
  numbers = room->numbers + room->used;
  if (!work->paired &&
      diff_odd_drop(&work->a_units, &work->b_units, values, numbers, &result->odd, &work->unlike)) {
    const size_t a_left = work->a_units.count;
    const size_t b_left = work->b_units.count;
    room->used += a_left + b_left;
    if (timed) {
      work->order = time_order_apply(values, numbers, a_left, values + a_left, numbers + a_left,
                                     b_left, c->started, false);
    }
  }
  work->a = diff_sample(&work->a_units);
  work->b = diff_sample(&work->b_units);
  if (work->paired) {
    diff_pair_units(work, room);
  }
}

static void diff_start(const struct diff_case *c, struct unit_room *room, bool pair,
                       struct work *work, struct diff_result *result) {
  const bool several = process_sample_count_runs(&c->a) > 1 || process_sample_count_runs(&c->b) > 1;
  const bool by_run = several || c->run_df > 0;
  *work = (struct work){.unit = c->paired ? DIFF_UNIT_NODE
                                : by_run  ? DIFF_UNIT_RUN
                                          : DIFF_UNIT_PROCESS,
                        .walk_p = NAN,
                        .run_variance = several ? 0 : c->run_variance};
  *result = (struct diff_result){.change = NAN,
                                 .change_low = NAN,
                                 .change_high = NAN,
                                 .p = NAN,
                                 .q = NAN,
                                 .unit = work->unit,
                                 .sd = NAN,
                                 .df = NAN};
  diff_set_units(c, room, pair, work, result);
  result->units[0] = work->a.count;
  result->units[1] = work->b.count;
  work->delta = log1p(c->delta);
  work->sd = NAN;
  work->pooled_variance = effect_pooled_variance(&work->a, &work->b, &work->pooled_df);
  if (work->paired) {
    work->pooled_df = (double)work->a.count - 1 - work->order.trend_df;
  } else if (work->run_variance > 0) {
    work->pooled_variance = work->run_variance;
    work->pooled_df = c->run_df;
  }
  work->difference = work->a.mean - work->b.mean;
  if (diff_has_both_sides(c)) {
    result->change = expm1(work->difference);
    work->testable = by_run || (c->a.count > 1 && c->b.count > 1);
  }
}

static void diff_start_all(const struct diff_case *cases, size_t count, struct unit_room *room,
                           bool pair, struct work *work, struct diff_result *results) {
  room->used = 0;
  for (size_t i = 0; i < count; i++) {
    diff_start(&cases[i], room, pair, &work[i], &results[i]);
  }
}

static double diff_spread(const struct work *work) {
  return sqrt(work->prior.known ? variance_shrinkage_apply(&work->prior.both, work->pooled_variance,
                                                           work->pooled_df)
                                : work->pooled_variance);
}

static double diff_half_width(const struct effect *effect) {
  return effect_interval(effect, 0.95).high - effect->difference;
}

/* Without peers. The pooled variance is that of one side where the other has one observation; two
 * or three on each do not tell which one is noisier. */
static struct effect diff_welch(const struct work *work) {
  const bool one_sided = work->a.count < 2 || work->b.count < 2;
  const size_t fewer = work->a.count < work->b.count ? work->a.count : work->b.count;
  const bool pooled = work->a.count == work->b.count && fewer < DIFF_PROCESSES_FIRM;
  const struct variance_prior none = {.pooled_df = work->pooled_df};
  struct effect effect = one_sided || pooled ? effect_moderated(&work->a, &work->b, &none)
                                             : effect_welch(&work->a, &work->b);
  if (one_sided || work->a.count != work->b.count) {
    effect.df = one_sided ? work->pooled_df : (double)fewer - 1;
  }
  return effect;
}

/* How much more the only run of one side varies than a run of the other because it has fewer
 * processes. */
static double diff_extra_variance(const struct diff_case *c, const struct work *work) {
  if (work->unit == DIFF_UNIT_PROCESS || (work->a.count > 1 && work->b.count > 1)) {
    return 0;
  }
  const struct within_runs a = process_sample_within_runs(&c->a);
  const struct within_runs b = process_sample_within_runs(&c->b);
  const double df = a.df + b.df;
  const double variance = df > 0 ? (a.variance * a.df + b.variance * b.df) / df : 0;
  return variance * fmax(0, work->a.count > 1 ? b.per_run - a.per_run : a.per_run - b.per_run);
}

/* The mean difference of pairs. Of a sample and one value more, a moderated t has their degrees of
 * freedom; its error is of one value instead of the mean of so many. */
static struct effect diff_paired(const struct work *work) {
  const struct sample one = {.count = 1};
  const struct variance_prior none = {.pooled_df = work->pooled_df};
  const double n = (double)work->a.count;
  struct effect effect =
      effect_moderated(&work->a, &one, work->prior.known ? &work->prior.both : &none);
  effect.difference = work->difference;
  effect.error *= sqrt(2 / n) / sqrt(1 / n + 1);
  if (work->unit == DIFF_UNIT_RUN) {
    effect.error *= sqrt(work->order.trend_inflation);
    effect.df -= work->order.trend_df;
  }
  return effect;
}

/* What the clock adds is known: it has no fewer degrees of freedom (Satterthwaite). */
static struct effect diff_add_rounding(const struct diff_case *c, struct effect effect) {
  effect.error *= sqrt(1 - c->rounded_noise);
  const double error = sqrt(effect.error * effect.error + c->rounding * c->rounding);
  if (c->rounding > 0 && effect.error > 0) {
    effect.df *= pow(error / effect.error, 4);
  }
  effect.error = error;
  return effect;
}

static void diff_test_means(const struct diff_case *c, double alpha, struct work *work,
                            struct diff_result *result) {
  const struct diff_prior *prior = &work->prior;
  struct effect effect = work->paired   ? diff_paired(work)
                         : prior->known ? effect_moderated(&work->a, &work->b, &prior->both)
                                        : diff_welch(work);
  const bool uneven = !work->paired && work->run_variance == 0 && work->a.count > 1 &&
                      work->b.count > 1 && work->a.count != work->b.count;
  work->is_wider = uneven && !prior->known;
  if (work->run_variance > 0) {
    effect = (struct effect){work->difference, sqrt(2 * work->run_variance), work->pooled_df};
  } else if (uneven && prior->known) {
    const struct effect apart = effect_moderated_welch(&work->a, &work->b, &prior->a, &prior->b);
    if (diff_half_width(&apart) > diff_half_width(&effect)) {
      effect = apart;
      work->is_wider = true;
    }
  }
  effect.error = sqrt(effect.error * effect.error + diff_extra_variance(c, work));
  if (work->drifts) {
    effect.error *= sqrt(work->order.trend_inflation);
    effect.df -= work->order.trend_df;
  }
  const struct effect walk = diff_add_rounding(c, diff_order_walk(work, effect));
  effect = diff_add_rounding(c, diff_order_wander(work, effect));
  result->test = prior->known ? DIFF_TEST_MODERATED : DIFF_TEST_WELCH;
  result->df = effect.df;
  work->effect = effect;
  result->p = effect_p(&effect, work->delta);
  work->walk_p = effect_p(&walk, work->delta);
  work->interval = effect_interval(&effect, 0.95);
  work->same = effect_is_equivalent(&effect, work->delta, alpha);
}

static void diff_test_ranks(double alpha, struct work *work, struct diff_result *result) {
  const struct process_sample *a = &work->a_units;
  const struct process_sample *b = &work->b_units;
  struct interval narrow;
  result->test = DIFF_TEST_RANK;
  result->p = rank_test_p(a->values, a->count, b->values, b->count, work->delta);
  work->difference =
      rank_test_difference(a->values, a->count, b->values, b->count, 0.95, &work->interval);
  work->effect = (struct effect){.difference = work->difference};
  (void)rank_test_difference(a->values, a->count, b->values, b->count, 1 - 2 * alpha, &narrow);
  work->same = narrow.low > -work->delta && narrow.high < work->delta;
  work->walk_p = work->order.walk > 2 / (double)a->count + 2 / (double)b->count
                     ? 1
                     : result->p; /* ranks know no more */
}

/* Runs that may wander; two a side do not show it, however they follow each other. Of sides that
 * vary differently, too, no test is exact (Scheffe 1970, "Practical solutions of the Behrens-Fisher
 * problem", Journal of the American Statistical Association 65). */
static bool diff_is_conservative(const struct work *work, bool independent) {
  const size_t fewer = work->a.count < work->b.count ? work->a.count : work->b.count;
  const bool open = fewer < 3 && !independent && !work->drifts;
  return work->unit == DIFF_UNIT_RUN && work->run_variance == 0 &&
         (work->wander != NULL || work->is_wider || open);
}

/* The share of every error rate that one look may spend. */
static double diff_share_of_look(const struct diff_options *options) {
  return options->looks > 1 ? 1.0 / options->looks : 1;
}

/* Of each test of equivalence. */
static double diff_same_level(const struct diff_options *options) {
  return fmin(EQUIVALENCE_LEVEL, 0.05 * diff_share_of_look(options));
}

static void diff_test_case(const struct diff_case *c, const struct diff_options *options,
                           struct work *work, struct diff_result *result) {
  const double alpha = diff_same_level(options);
  work->sd = diff_spread(work);
  switch (options->method) {
  case DIFF_MODERATED:
    diff_test_means(c, alpha, work, result);
    break;
  case DIFF_RANK:
    diff_test_ranks(alpha, work, result);
    break;
  case diff_method_name_count:
    break;
  }
  result->is_uneven = work->same && !(fabs(work->difference + work->unlike) < work->delta);
  work->same = work->same && !result->is_uneven;
  result->sd = expm1(work->sd);
  result->change = expm1(work->difference);
  /* Processes of one run tell nothing of how runs differ; ranks of few have none. */
  if (work->unit != DIFF_UNIT_PROCESS && isfinite(work->interval.low) &&
      isfinite(work->interval.high)) {
    result->change_low = expm1(work->interval.low);
    result->change_high = expm1(work->interval.high);
    result->is_conservative =
        options->method == DIFF_MODERATED && diff_is_conservative(work, options->independent);
  }
}

static void diff_set_priors(const struct diff_case *cases, struct work *work, size_t count,
                            size_t own, bool apart, struct arena *arena) {
  struct prior_case *learning = arena_array(arena, count, sizeof *learning);
  struct diff_prior *priors = arena_array(arena, count, sizeof *priors);
  for (size_t i = 0; i < count; i++) {
    const bool teaches = !apart && work[i].testable && work[i].run_variance == 0;
    learning[i] = (struct prior_case){.families = teaches ? cases[i].families : NULL,
                                      .unit = work[i].unit,
                                      .a = work[i].a_units,
                                      .b = work[i].b_units,
                                      .a_sample = work[i].a,
                                      .b_sample = work[i].b};
    if (work[i].paired) { /* one sample */
      learning[i].a = work[i].differences;
      learning[i].b = (struct process_sample){.count = 0};
      learning[i].b_sample = (struct sample){.count = 0};
    }
  }
  const double dependence = diff_find_dependence(learning, own, arena);
  diff_learn_priors(learning, own, priors, arena);
  diff_learn_priors(learning + own, count - own, priors + own, arena);
  for (size_t i = 0; i < count; i++) {
    work[i].prior = priors[i];
    work[i].prior.dependence = priors[i].known ? priors[i].dependence : dependence;
  }
}

/* ---- verdicts ---- */

static enum verdict diff_verdict(const struct diff_case *c, const struct work *work,
                                 const struct diff_result *result, double rate) {
  if (work->is_broken) {
    return VERDICT_BROKEN;
  }
  if (c->a.count == 0) {
    return c->b.count > 0 ? VERDICT_NEW : VERDICT_INCOMPARABLE;
  }
  if (c->b.count == 0) {
    return VERDICT_MISSING;
  }
  if (c->incomparable != NULL) {
    return VERDICT_INCOMPARABLE;
  }
  if (!work->testable) {
    return VERDICT_INSUFFICIENT;
  }
  if (result->q <= rate) {
    return work->difference < 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
  }
  return work->same ? VERDICT_SAME : VERDICT_UNCLEAR;
}

/* The p value of the clearest difference that ranks can show. */
static double diff_rank_p_min(size_t a_count, size_t b_count) {
  return 2 * rank_test_exact_upper(a_count, b_count, a_count * b_count);
}

/* The level at which one change alone is reported among so many tests. */
static void diff_set_rank_least(const struct work *work, size_t count, double rate,
                                struct diff_summary *summary) {
  const double level = rate / (double)(summary->tests > 0 ? summary->tests : 1);
  unsigned least = 2;
  while (least < RANK_TEST_EXACT_MAX && diff_rank_p_min(least, least) > level) {
    least++;
  }
  summary->rank_processes_least = least;
  for (size_t i = 0; i < count; i++) {
    const struct work *w = &work[i];
    const bool is_few = w->a.count < least && w->b.count < least;
    const bool is_uneven = !is_few && (w->a.count < least || w->b.count < least) &&
                           w->a.count <= RANK_TEST_EXACT_MAX && w->b.count <= RANK_TEST_EXACT_MAX;
    summary->rank_too_few +=
        w->testable && (is_few || (is_uneven && diff_rank_p_min(w->a.count, w->b.count) > level));
  }
}

static void diff_set_broken(const struct diff_case *cases, struct work *work, size_t count,
                            const struct diff_options *options, struct arena *arena) {
  bool *broken = arena_array(arena, count, sizeof *broken);
  broken_find(cases, count, options->false_discovery_rate * diff_share_of_look(options), broken);
  for (size_t i = 0; i < count; i++) {
    work[i].is_broken = broken[i];
  }
}

/* Too little for a change to be reported for good: a slow mode of one process in three looks like a
 * change too often, and so does one of three runs. Where one side has runs enough, the other, of
 * which one is held against how they spread, needs no more. */
static bool diff_has_few(const struct diff_case *c, const struct work *work) {
  const size_t fewer = c->a.count < c->b.count ? c->a.count : c->b.count;
  const size_t more_units = work->a.count > work->b.count ? work->a.count : work->b.count;
  return work->run_variance > 0 ? work->pooled_df < DIFF_HISTORY_DF_MIN
                                : fewer < DIFF_PROCESSES_FIRM || (work->unit == DIFF_UNIT_RUN &&
                                                                  more_units < DIFF_PROCESSES_FIRM);
}

/* ---- two units a side ---- */

static bool diff_is_two_by_two(const struct work *work) {
  return work->testable && !work->paired && work->run_variance == 0 && work->a.count == 2 &&
         work->b.count == 2;
}

/* The effect with unit `other` of b exchanged for one of a, in one spread of its own or that of its
 * peers. */
static struct effect diff_exchange(const struct work *work, size_t other, bool alone) {
  const struct variance_prior none = {.pooled_df = work->pooled_df};
  return permutations_exchange(work->a_units.values, work->b_units.values, other,
                               work->prior.known && !alone ? &work->prior.both : &none);
}

/* Where more than a tenth of the intervals exclude 0 once a unit of each side is exchanged, cases
 * have two levels, and chance puts all of one on one side in an eighth of them. No interval of such
 * a case alone tells that: each also gets the spread that it has when exchanged. */
static void diff_widen_intervals(struct work *work, size_t count, struct diff_result *results) {
  size_t known = 0;
  size_t excluded = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t other = 0; other < 2 && diff_is_two_by_two(&work[i]); other++) {
      const struct effect effect = diff_exchange(&work[i], other, false);
      excluded += effect_p(&effect, 0) <= 0.05;
      known++;
    }
  }
  for (size_t i = 0; i < count && (double)excluded > DIFF_CHANCE_SHARE * (double)known; i++) {
    for (size_t other = 0; other < 2 && diff_is_two_by_two(&work[i]); other++) {
      struct effect effect = diff_exchange(&work[i], other, true);
      effect.difference = work[i].difference;
      const double half = diff_half_width(&effect);
      if (effect.difference + half > work[i].interval.high && isfinite(results[i].change_low)) {
        results[i].change_low = expm1(effect.difference - half);
        results[i].change_high = expm1(effect.difference + half);
      }
    }
  }
}

/* Two units a side show hardly how long the tails of their noise are, but all cases together do:
 * with one unit of each side exchanged, no change is left, and what is found then is chance. If
 * that is more than a tenth as much as is found, q is its share (Tusher, Tibshirani and Chu 2001,
 * "Significance analysis of microarrays", PNAS 98). */
static void diff_exchange_units(const struct work *work, size_t count, double rate,
                                struct diff_result *results) {
  size_t found = 0;
  size_t by_chance = 0;
  double cut = 0;
  for (size_t i = 0; i < count; i++) {
    if (diff_is_two_by_two(&work[i]) && results[i].q <= rate) {
      found++;
      cut = fmax(cut, results[i].p);
    }
  }
  for (size_t i = 0; i < count && found > 0; i++) {
    for (size_t other = 0; other < 2 && diff_is_two_by_two(&work[i]); other++) {
      const struct effect effect = diff_exchange(&work[i], other, false);
      by_chance += effect_p(&effect, work[i].delta) <= cut;
    }
  }
  const double share = found > 0 ? (double)by_chance / (2 * (double)found) : 0;
  for (size_t i = 0; i < count && share > DIFF_CHANCE_SHARE; i++) {
    if (diff_is_two_by_two(&work[i]) && results[i].q <= rate) {
      results[i].q = fmin(share, 1);
    }
  }
}

/* Why a verdict is provisional, but for modes. walk_q: of walk_p. */
static enum diff_doubt diff_find_doubt(const struct diff_case *c, const struct work *work,
                                       enum verdict verdict, double walk_q, bool independent,
                                       double rate) {
  const bool reported = verdict_is_change(verdict);
  if (!reported && verdict != VERDICT_SAME) {
    return DIFF_DOUBT_NONE;
  }
  if (work->unit == DIFF_UNIT_PROCESS) {
    return DIFF_DOUBT_ONE_RUN;
  }
  if (!reported) {
    return DIFF_DOUBT_NONE;
  }
  if (diff_has_few(c, work)) {
    return DIFF_DOUBT_FEW;
  }
  return walk_q > rate && !independent ? DIFF_DOUBT_ORDER : DIFF_DOUBT_NONE;
}

/* The changes that may be cases at two levels, one of which chance put on either side: of those
 * dealt to the sides at random as many would be. If that is too large a share of the reports, each
 * is in doubt. */
static void diff_doubt_modes(const struct work *work, size_t count, double rate,
                             struct diff_result *results) {
  size_t mixed = 0;
  size_t reported = 0;
  for (size_t i = 0; i < count; i++) {
    mixed += work[i].mixed;
    reported += verdict_is_change(results[i].verdict) && results[i].doubt == DIFF_DOUBT_NONE;
  }
  for (size_t i = 0; i < count && mixed > 0; i++) {
    if (verdict_is_change(results[i].verdict) && results[i].doubt == DIFF_DOUBT_NONE &&
        work[i].run_variance == 0 &&
        permutations_least_p(work[i].a.count, work[i].b.count) * (double)(mixed + 1) >
            rate * (double)reported) {
      results[i].doubt = DIFF_DOUBT_MODES;
    }
  }
}

static void diff_judge(const struct diff_case *cases, const struct work *work, size_t count,
                       const struct diff_options *options, struct diff_result *results,
                       struct diff_summary *summary, struct arena *arena) {
  const double rate = options->false_discovery_rate;
  double *walk_q = arena_array(arena, count, sizeof *walk_q);
  size_t rejected = 0;
  for (size_t i = 0; i < count; i++) {
    walk_q[i] = work[i].walk_p / diff_share_of_look(options);
  }
  (void)fdr_q_values(walk_q, count, walk_q);
  for (size_t i = 0; i < count; i++) {
    const enum verdict verdict = diff_verdict(&cases[i], &work[i], &results[i], rate);
    results[i].verdict = verdict;
    results[i].doubt =
        diff_find_doubt(&cases[i], &work[i], verdict, walk_q[i], summary->independent, rate);
    rejected += work[i].testable && results[i].q <= rate;
  }
  diff_doubt_modes(work, count, rate, results);
  for (size_t i = 0; i < count; i++) {
    results[i].is_provisional = results[i].doubt != DIFF_DOUBT_NONE;
    summary->provisional[results[i].verdict] += results[i].is_provisional;
    summary->doubts[results[i].doubt]++;
  }
  /* The level that a further rejection would be held to. */
  const double tests = summary->tests > 0 ? (double)summary->tests : 1;
  const double alpha = rate * diff_share_of_look(options) * (double)(rejected + 1) / tests;
  const struct effect_levels levels = {fmin(alpha, rate), diff_same_level(options)};
  diff_needed_ask(cases, work, count, rate, &levels, summary, results, arena);
  for (size_t i = 0; i < count; i++) {
    summary->verdicts[results[i].verdict]++;
  }
}

/* How many cases the common change is true of: one that changed the other way does not agree. */
static void diff_set_share(const struct diff_result *results, size_t count,
                           struct diff_summary *summary) {
  const struct shift *shift = &summary->shift;
  const bool has_sign = shift->change_low > 0 || shift->change_high < 0;
  size_t known = 0;
  size_t agree = 0;
  for (size_t i = 0; i < count; i++) {
    const struct diff_result *r = &results[i];
    known += isnan(r->change_low) ? 0 : 1;
    agree += r->change_low <= shift->change && shift->change <= r->change_high &&
             (!has_sign || r->change * shift->change > 0);
  }
  summary->shift_share = known > 0 ? (double)agree / (double)known : NAN;
  summary->shift_is_common = has_sign && summary->shift_share >= DIFF_SHARE_COMMON;
}

void diff_compare(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results, struct diff_summary *summary) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct work *work = arena_array(&arena, count, sizeof *work);
  double *p = arena_array(&arena, count, sizeof *p);
  size_t values = 0;
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t own = cases[i].a.count + cases[i].b.count;
    values += own;
    most = own > most ? own : most;
  }
  struct unit_room room = {arena_array(&arena, 2 * (values + most), sizeof *room.values),
                           arena_array(&arena, 2 * values, sizeof *room.numbers), 0};
  const size_t own = options->own > 0 ? options->own : count;
  *summary = (struct diff_summary){.shift = diff_shift(cases, own)};
  diff_start_all(cases, count, &room, true, work, results);
  const double independence = diff_order_independence(cases, work, own, &arena);
  if (independence >= DIFF_INDEPENDENT_LEAST) {
    diff_start_all(cases, count, &room, false, work, results);
  }
  diff_set_priors(cases, work, count, own, options->apart, &arena);
  diff_order_find(cases, work, count, own, independence, options, &arena, summary);
  if (summary->drifts) {
    diff_order_take_trends(cases, work, count, &arena);
    diff_set_priors(cases, work, count, own, options->apart, &arena);
  }
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable) {
      diff_test_case(&cases[i], options, &work[i], &results[i]);
    }
    p[i] = results[i].p;
  }
  if (options->method == DIFF_MODERATED) {
    diff_widen_intervals(work, own, results);
  }
  diff_set_share(results, own, summary);
  summary->tests = fdr_q_values(p, count, p);
  for (size_t i = 0; i < count; i++) {
    results[i].q = isnan(p[i]) ? NAN : fmin(p[i] / diff_share_of_look(options), 1);
  }
  if (options->method == DIFF_MODERATED) {
    diff_exchange_units(work, own, options->false_discovery_rate, results);
  }
  if (options->method == DIFF_RANK) {
    diff_set_rank_least(work, count, options->false_discovery_rate * diff_share_of_look(options),
                        summary);
  }
  diff_set_broken(cases, work, own, options, &arena);
  diff_judge(cases, work, count, options, results, summary, &arena);
}
