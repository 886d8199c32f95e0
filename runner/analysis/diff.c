#include "runner/analysis/diff.h"

#include "engine/base/arena.h"
#include "runner/statistics/rank_test.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(verdict, VERDICT_LIST)
ENUM_NAMES_DEFINE(diff_method, DIFF_METHOD_LIST)
ENUM_NAMES_DEFINE(diff_test, DIFF_TEST_LIST)

/* What is known of a case while it is tested. */
struct work {
  bool testable;
  struct sample a, b;
  double pooled_variance, pooled_df;
  bool has_prior;
  struct variance_prior prior;            /* of both sides together */
  struct variance_prior prior_a, prior_b; /* of each side */
  double prior_pooled_df;                 /* of all cases that the prior was learnt from */
  double delta, margin;                   /* ln */
  double sd;                              /* ln */
  double difference;                      /* ln of the rates' ratio, b over a */
  struct interval interval;
  bool same;
};

/* One case of a family, for sorting. */
struct member {
  uint32_t family;
  size_t index;
};

double diff_usual_margin(uint64_t size_bytes) {
  return size_bytes >= UINT64_C(1) << 20 ? 0.01 : 0.03;
}

void diff_families(const char *method, const char *path, uint64_t size_bytes,
                   uint32_t families[DIFF_FAMILY_LEVELS]) {
  const uint32_t size_class = size_bytes < UINT64_C(64) << 10  ? 1
                              : size_bytes < UINT64_C(1) << 20 ? 2
                                                               : 3;
  /* Two families with one hash would only learn from each other. */
  families[2] = XXH32(method, strlen(method), 0);
  families[1] = XXH32(path, strlen(path), families[2]);
  families[0] = XXH32(&size_class, sizeof size_class, families[1]);
}

/* ---- variance shrinkage within families ---- */

static int diff_compare_members(const void *a, const void *b) {
  const struct member *x = a;
  const struct member *y = b;
  if (x->family != y->family) {
    return x->family < y->family ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

/* Room for what a prior is fitted to. */
struct fitting {
  double *variances, *dfs;
};

enum of_side { OF_BOTH, OF_A, OF_B };

/* Fits a prior to the members' variances, of both sides or of one. *df_sum: the degrees of freedom
 * of all members; may be NULL. */
static struct variance_prior diff_fit(const struct work *work, const struct member *members,
                                      size_t count, enum of_side of, const struct fitting *fitting,
                                      double *df_sum) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const struct work *w = &work[members[i].index];
    const struct sample *side = of == OF_A ? &w->a : &w->b;
    fitting->variances[i] = of == OF_BOTH ? w->pooled_variance : side->variance;
    fitting->dfs[i] = of == OF_BOTH ? w->pooled_df : (double)side->count - 1;
    sum += fitting->dfs[i];
  }
  if (df_sum != NULL) {
    *df_sum = sum;
  }
  return variance_shrinkage_fit(fitting->variances, fitting->dfs, count);
}

/* Fits a prior to the members and gives it to those of them that have none yet. */
static void diff_learn(struct work *work, const struct member *members, size_t count,
                       const struct fitting *fitting) {
  struct work learnt = {.has_prior = true};
  learnt.prior = diff_fit(work, members, count, OF_BOTH, fitting, &learnt.prior_pooled_df);
  learnt.prior_a = diff_fit(work, members, count, OF_A, fitting, NULL);
  learnt.prior_b = diff_fit(work, members, count, OF_B, fitting, NULL);
  for (size_t i = 0; i < count; i++) {
    struct work *w = &work[members[i].index];
    if (!w->has_prior) {
      w->has_prior = true;
      w->prior = learnt.prior;
      w->prior_a = learnt.prior_a;
      w->prior_b = learnt.prior_b;
      w->prior_pooled_df = learnt.prior_pooled_df;
    }
  }
}

/* Families of one level; level DIFF_FAMILY_LEVELS is all cases together. */
static void diff_learn_level(const struct diff_case *cases, struct work *work, size_t count,
                             size_t level, struct member *members, const struct fitting *fitting) {
  size_t member_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable) {
      const uint32_t family = level < DIFF_FAMILY_LEVELS ? cases[i].families[level] : 0;
      members[member_count++] = (struct member){family, i};
    }
  }
  qsort(members, member_count, sizeof *members, diff_compare_members);
  for (size_t first = 0; first < member_count;) {
    size_t last = first + 1;
    while (last < member_count && members[last].family == members[first].family) {
      last++;
    }
    if (last - first >= DIFF_FAMILY_MIN) {
      diff_learn(work, members + first, last - first, fitting);
    }
    first = last;
  }
}

static void diff_learn_priors(const struct diff_case *cases, struct work *work, size_t count,
                              struct arena *arena) {
  struct member *members = arena_array(arena, count, sizeof *members);
  const struct fitting fitting = {arena_array(arena, count, sizeof(double)),
                                  arena_array(arena, count, sizeof(double))};
  for (size_t level = 0; level <= DIFF_FAMILY_LEVELS; level++) {
    diff_learn_level(cases, work, count, level, members, &fitting);
  }
}

/* ---- one case ---- */

/* The sample of one side, with a variance of at least DIFF_SPREAD_MIN squared. */
static struct sample diff_sample(const struct process_sample *side) {
  struct sample sample = sample_summary(side->values, side->count);
  if (sample.count > 1) {
    sample.variance = fmax(sample.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  }
  return sample;
}

static bool diff_has_both_sides(const struct diff_case *c) {
  return c->incomparable == NULL && c->a.count > 0 && c->b.count > 0;
}

static void diff_start(const struct diff_case *c, struct work *work, struct diff_result *result) {
  *work = (struct work){.a = diff_sample(&c->a), .b = diff_sample(&c->b)};
  *result = (struct diff_result){.change = NAN,
                                 .change_low = NAN,
                                 .change_high = NAN,
                                 .p = NAN,
                                 .q = NAN,
                                 .margin = c->delta,
                                 .sd = NAN,
                                 .df = NAN};
  work->delta = log1p(c->delta);
  work->margin = work->delta;
  work->sd = NAN;
  work->pooled_variance = effect_pooled_variance(&work->a, &work->b, &work->pooled_df);
  work->difference = work->a.mean - work->b.mean;
  if (diff_has_both_sides(c)) {
    result->change = expm1(work->difference);
    work->testable = c->a.count > 1 && c->b.count > 1;
  }
}

/* The variance of one side, shrunk where there is a prior. */
static double diff_side_variance(const struct work *work, const struct sample *side,
                                 const struct variance_prior *prior) {
  return work->has_prior ? variance_shrinkage_apply(prior, side->variance, (double)side->count - 1)
                         : side->variance;
}

/* The spread of a case, and the noise that its margin is not below. */
static void diff_set_margin(struct work *work) {
  const double variance =
      work->has_prior
          ? variance_shrinkage_apply(&work->prior, work->pooled_variance, work->pooled_df)
          : work->pooled_variance;
  const double noise = sqrt(diff_side_variance(work, &work->a, &work->prior_a) +
                            diff_side_variance(work, &work->b, &work->prior_b));
  work->sd = sqrt(variance);
  work->margin = fmax(work->delta, noise);
}

static double diff_half_width(const struct effect *effect) {
  return effect_interval(effect, 0.95).high - effect->difference;
}

static struct effect diff_welch(const struct sample *a, const struct sample *b) {
  struct effect effect = effect_welch(a, b);
  effect.df = (double)(a->count < b->count ? a->count : b->count) - 1;
  return effect;
}

static void diff_test_means(double alpha, struct work *work, struct diff_result *result) {
  struct effect effect =
      work->has_prior ? effect_moderated(&work->a, &work->b, &work->prior, work->prior_pooled_df)
                      : diff_welch(&work->a, &work->b);
  if (work->has_prior && work->a.count != work->b.count) {
    const struct effect apart = effect_moderated_welch(&work->a, &work->b, &work->prior_a,
                                                       &work->prior_b, work->prior_pooled_df);
    if (diff_half_width(&apart) > diff_half_width(&effect)) {
      effect = apart;
    }
  }
  result->test = work->has_prior ? DIFF_TEST_MODERATED : DIFF_TEST_WELCH;
  result->df = effect.df;
  result->p = effect_p(&effect, work->margin);
  work->interval = effect_interval(&effect, 1 - alpha);
  work->same = effect_is_equivalent(&effect, work->delta, alpha);
}

static void diff_test_ranks(const struct diff_case *c, double alpha, struct work *work,
                            struct diff_result *result) {
  struct interval narrow;
  result->test = DIFF_TEST_RANK;
  result->p = rank_test_p(c->a.values, c->a.count, c->b.values, c->b.count, work->margin);
  work->difference = rank_test_difference(c->a.values, c->a.count, c->b.values, c->b.count,
                                          1 - alpha, &work->interval);
  (void)rank_test_difference(c->a.values, c->a.count, c->b.values, c->b.count, 1 - 2 * alpha,
                             &narrow);
  work->same = narrow.low > -work->delta && narrow.high < work->delta;
}

/* The share of every error rate that one look may spend. */
static double diff_share_of_look(const struct diff_options *options) {
  return options->looks > 1 ? 1.0 / options->looks : 1;
}

static void diff_test_case(const struct diff_case *c, const struct diff_options *options,
                           struct work *work, struct diff_result *result) {
  const double alpha = 0.05 * diff_share_of_look(options);
  diff_set_margin(work);
  switch (options->method) {
  case DIFF_MODERATED:
    diff_test_means(alpha, work, result);
    break;
  case DIFF_RANK:
    diff_test_ranks(c, alpha, work, result);
    break;
  case diff_method_name_count:
    break;
  }
  result->margin = expm1(work->margin);
  result->is_noisy = work->margin > work->delta;
  result->sd = expm1(work->sd);
  result->change = expm1(work->difference);
  if (isfinite(work->interval.low) && isfinite(work->interval.high)) { /* ranks: of few, none */
    result->change_low = expm1(work->interval.low);
    result->change_high = expm1(work->interval.high);
  }
}

/* ---- verdicts ---- */

static bool diff_is_broken(const struct diff_case *c) {
  const size_t a_tried = c->a.count + c->a_not_ok;
  const size_t b_tried = c->b.count + c->b_not_ok;
  return a_tried > 0 ? c->b_not_ok * a_tried > c->a_not_ok * b_tried : c->b_not_ok > 0;
}

static enum verdict diff_verdict(const struct diff_case *c, const struct work *work,
                                 const struct diff_result *result, double rate) {
  if (diff_is_broken(c)) {
    return VERDICT_BROKEN;
  }
  if (c->a.count == 0 && c->b.count == 0) {
    return VERDICT_INCOMPARABLE;
  }
  if (c->a.count == 0) {
    return VERDICT_NEW;
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

/* Fewest processes per side that would decide a case; 0 = not even DIFF_PROCESSES_MAX. fixed: as in
 * effect_processes_needed(). A change between delta and the margin is never decided. */
static unsigned diff_processes_needed(const struct work *work, double alpha, size_t fixed) {
  const double prior_df = work->has_prior && isfinite(work->prior.df) ? work->prior.df : 0;
  const double size = fabs(work->difference);
  if (size >= work->delta && size <= work->margin) {
    return 0;
  }
  return effect_processes_needed(work->difference, work->sd, prior_df,
                                 size < work->delta ? work->delta : work->margin, alpha, 0.8,
                                 (unsigned)fixed, DIFF_PROCESSES_MAX);
}

/* Makes an undecided case INSUFFICIENT, with the number of processes per side that would decide it,
 * where there is one. */
static void diff_ask_for_more(const struct diff_case *c, const struct work *work, double alpha,
                              struct diff_result *result) {
  const size_t counts[2] = {c->a.count, c->b.count};
  const size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
  if (result->verdict == VERDICT_INSUFFICIENT || result->is_provisional) {
    result->processes_needed = DIFF_PROCESSES_USUAL;
    for (size_t s = 0; s < 2; s++) {
      const size_t other_least = result->is_provisional ? DIFF_PROCESSES_FIRM : 2;
      result->needed_alone[s] = counts[1 - s] >= other_least ? DIFF_PROCESSES_USUAL : 0;
    }
    return;
  }
  const unsigned needed = diff_processes_needed(work, alpha, 0);
  if (needed == 0 || fewer >= DIFF_PROCESSES_MAX) {
    return;
  }
  result->verdict = VERDICT_INSUFFICIENT;
  result->processes_needed = needed > fewer ? needed : (unsigned)fewer + 1;
  for (size_t s = 0; s < 2; s++) {
    const unsigned alone = diff_processes_needed(work, alpha, counts[1 - s]);
    result->needed_alone[s] = alone == 0 || alone > counts[s] ? alone : (unsigned)counts[s] + 1;
  }
}

static void diff_judge(const struct diff_case *cases, const struct work *work, size_t count,
                       const struct diff_options *options, struct diff_result *results,
                       struct diff_summary *summary) {
  const double rate = options->false_discovery_rate;
  size_t rejected = 0;
  for (size_t i = 0; i < count; i++) {
    const enum verdict verdict = diff_verdict(&cases[i], &work[i], &results[i], rate);
    const size_t fewer = cases[i].a.count < cases[i].b.count ? cases[i].a.count : cases[i].b.count;
    results[i].verdict = verdict;
    results[i].is_provisional = (verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED) &&
                                fewer < DIFF_PROCESSES_FIRM;
    summary->provisional[verdict] += results[i].is_provisional;
    rejected += work[i].testable && results[i].q <= rate;
  }
  /* The level that a further rejection would be held to. */
  const double tests = summary->tests > 0 ? (double)summary->tests : 1;
  const double alpha = rate * diff_share_of_look(options) * (double)(rejected + 1) / tests;
  for (size_t i = 0; i < count; i++) {
    if (results[i].verdict == VERDICT_UNCLEAR || results[i].verdict == VERDICT_INSUFFICIENT ||
        results[i].is_provisional) {
      diff_ask_for_more(&cases[i], &work[i], alpha < rate ? alpha : rate, &results[i]);
      if (results[i].processes_needed > 0 && fabs(work[i].difference) > work[i].margin &&
          results[i].processes_needed < summary->rank_processes_least) {
        results[i].processes_needed = summary->rank_processes_least;
      }
    }
    summary->verdicts[results[i].verdict]++;
  }
}

/* How many cases the shift of the middle case is true of. */
static void diff_set_share(const struct diff_result *results, size_t count,
                           struct diff_summary *summary) {
  const struct shift *shift = &summary->shift;
  size_t known = 0;
  size_t agree = 0;
  for (size_t i = 0; i < count; i++) {
    const struct diff_result *r = &results[i];
    known += isnan(r->change_low) ? 0 : 1;
    agree += r->change_low <= shift->change && shift->change <= r->change_high;
  }
  summary->shift_share = known > 0 ? (double)agree / (double)known : NAN;
  summary->shift_is_common = summary->shift_share >= DIFF_SHARE_COMMON &&
                             (shift->change_low > 0 || shift->change_high < 0);
}

static struct shift diff_middle_shift(const struct diff_case *cases, size_t count,
                                      struct arena *arena) {
  struct shift_pair *pairs = arena_array(arena, count, sizeof *pairs);
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (diff_has_both_sides(&cases[i])) {
      pairs[used++] = (struct shift_pair){cases[i].a, cases[i].b};
    }
  }
  return shift_estimate(pairs, used);
}

void diff_compare(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results, struct diff_summary *summary) {
  struct arena arena = {0};
  struct work *work = arena_array(&arena, count, sizeof *work);
  double *p = arena_array(&arena, count, sizeof *p);
  *summary = (struct diff_summary){.shift = diff_middle_shift(cases, count, &arena)};
  for (size_t i = 0; i < count; i++) {
    diff_start(&cases[i], &work[i], &results[i]);
  }
  diff_learn_priors(cases, work, count, &arena);
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable) {
      diff_test_case(&cases[i], options, &work[i], &results[i]);
    }
    p[i] = results[i].p;
  }
  diff_set_share(results, count, summary);
  summary->tests = fdr_q_values(p, count, p);
  for (size_t i = 0; i < count; i++) {
    results[i].q = isnan(p[i]) ? NAN : fmin(p[i] / diff_share_of_look(options), 1);
  }
  if (options->method == DIFF_RANK) {
    diff_set_rank_least(work, count, options->false_discovery_rate * diff_share_of_look(options),
                        summary);
  }
  diff_judge(cases, work, count, options, results, summary);
  arena_fini(&arena);
}
