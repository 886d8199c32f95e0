#include "runner/analyse/diff.h"

#include "runner/analyse/adjust.h"
#include "runner/analyse/effect.h"
#include "runner/analyse/rank.h"
#include "runner/analyse/shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(verdict, VERDICT_LIST)
ENUM_NAMES_DEFINE(diff_method, DIFF_METHOD_LIST)
ENUM_NAMES_DEFINE(diff_test, DIFF_TEST_LIST)

/* What is known of a case while the diff is made. */
struct work {
  bool testable;
  struct sample a, b;
  double pooled_variance, pooled_df;
  bool has_prior;
  struct variance_prior prior;            /* of both sides together */
  struct variance_prior prior_a, prior_b; /* of each side */
  double prior_pooled_df;                 /* of all cases that the prior was learnt from */
  double margin;                          /* ln */
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

static void *new_array(size_t count, size_t size_bytes) {
  void *array = calloc(count > 0 ? count : 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

/* ---- priors ---- */

static int compare_members(const void *a, const void *b) {
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

/* Of the members' variances, of both sides or of one; returns the degrees of freedom of all. */
static double fit(const struct work *work, const struct member *members, size_t count,
                  enum of_side of, const struct fitting *fitting, struct variance_prior *prior) {
  double df_sum = 0;
  for (size_t i = 0; i < count; i++) {
    const struct work *w = &work[members[i].index];
    const struct sample *side = of == OF_A ? &w->a : &w->b;
    fitting->variances[i] = of == OF_BOTH ? w->pooled_variance : side->variance;
    fitting->dfs[i] = of == OF_BOTH ? w->pooled_df : (double)side->count - 1;
    df_sum += fitting->dfs[i];
  }
  variance_prior_fit(fitting->variances, fitting->dfs, count, prior);
  return df_sum;
}

/* Learn from these and give the prior to those that have none yet. */
static void learn(struct work *work, const struct member *members, size_t count,
                  const struct fitting *fitting) {
  struct work learnt = {.has_prior = true};
  learnt.prior_pooled_df = fit(work, members, count, OF_BOTH, fitting, &learnt.prior);
  (void)fit(work, members, count, OF_A, fitting, &learnt.prior_a);
  (void)fit(work, members, count, OF_B, fitting, &learnt.prior_b);
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
static void learn_level(const struct diff_case *cases, struct work *work, size_t count,
                        size_t level, struct member *members, const struct fitting *fitting) {
  size_t member_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable) {
      const uint32_t family = level < DIFF_FAMILY_LEVELS ? cases[i].families[level] : 0;
      members[member_count++] = (struct member){family, i};
    }
  }
  qsort(members, member_count, sizeof *members, compare_members);
  for (size_t first = 0; first < member_count;) {
    size_t last = first + 1;
    while (last < member_count && members[last].family == members[first].family) {
      last++;
    }
    if (last - first >= DIFF_FAMILY_MIN) {
      learn(work, members + first, last - first, fitting);
    }
    first = last;
  }
}

static void learn_priors(const struct diff_case *cases, struct work *work, size_t count) {
  struct member *members = new_array(count, sizeof *members);
  const struct fitting fitting = {new_array(count, sizeof(double)),
                                  new_array(count, sizeof(double))};
  for (size_t level = 0; level <= DIFF_FAMILY_LEVELS; level++) {
    learn_level(cases, work, count, level, members, &fitting);
  }
  free(members);
  free(fitting.variances);
  free(fitting.dfs);
}

/* ---- one case ---- */

/* Of one side, its variance never less than the least that is believed. */
static struct sample sample_of(const struct diff_side *side) {
  struct sample sample = samples_summary(side->values, side->count);
  if (sample.count > 1) {
    sample.variance = fmax(sample.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  }
  return sample;
}

static void look_at(const struct diff_case *c, struct work *work, struct diff_result *result) {
  *work = (struct work){.a = sample_of(&c->a), .b = sample_of(&c->b)};
  *result = (struct diff_result){.change = NAN,
                                 .change_low = NAN,
                                 .change_high = NAN,
                                 .p = NAN,
                                 .q = NAN,
                                 .margin = c->margin,
                                 .sd = NAN,
                                 .df = NAN};
  work->margin = log1p(c->margin);
  work->sd = NAN;
  work->pooled_variance = effect_pooled_variance(&work->a, &work->b, &work->pooled_df);
  work->difference = work->a.mean - work->b.mean;
  if (c->incomparable == NULL && c->a.count > 0 && c->b.count > 0) {
    result->change = expm1(work->difference);
    work->testable = c->a.count > 1 && c->b.count > 1;
  }
}

/* The spread of a case and, from side a alone, the noise that no margin may be below. */
static void find_spread(struct work *work) {
  double noise_variance = work->a.variance;
  double variance = work->pooled_variance;
  if (work->has_prior) {
    noise_variance = variance_posterior(&work->prior, work->a.variance, (double)work->a.count - 1);
    variance = variance_posterior(&work->prior, work->pooled_variance, work->pooled_df);
  }
  const double noise = sqrt(2 * noise_variance);
  work->sd = sqrt(variance);
  work->margin = noise > work->margin ? noise : work->margin;
}

static double half_width(const struct effect *effect) {
  return effect_interval(effect, 0.95).high - effect->difference;
}

static void test_by_mean(struct work *work, struct diff_result *result) {
  struct effect effect =
      work->has_prior ? effect_moderated(&work->a, &work->b, &work->prior, work->prior_pooled_df)
                      : effect_welch(&work->a, &work->b);
  if (work->has_prior && work->a.count != work->b.count) {
    const struct effect apart = effect_moderated_apart(&work->a, &work->b, &work->prior_a,
                                                       &work->prior_b, work->prior_pooled_df);
    if (half_width(&apart) > half_width(&effect)) {
      effect = apart;
    }
  }
  result->test = work->has_prior ? DIFF_TEST_MODERATED : DIFF_TEST_WELCH;
  result->df = effect.df;
  result->p = effect_p(&effect, work->margin);
  work->interval = effect_interval(&effect, 0.95);
  work->same = effect_is_same(&effect, work->margin);
}

static void test_by_rank(const struct diff_case *c, struct work *work, struct diff_result *result) {
  struct interval narrow;
  result->test = DIFF_TEST_RANK;
  result->p = rank_p(c->a.values, c->a.count, c->b.values, c->b.count, work->margin);
  work->difference =
      rank_difference(c->a.values, c->a.count, c->b.values, c->b.count, 0.95, &work->interval);
  (void)rank_difference(c->a.values, c->a.count, c->b.values, c->b.count, 0.90, &narrow);
  work->same = narrow.low > -work->margin && narrow.high < work->margin;
}

static void test_case(const struct diff_case *c, enum diff_method method, struct work *work,
                      struct diff_result *result) {
  find_spread(work);
  switch (method) {
  case DIFF_MODERATED:
    test_by_mean(work, result);
    break;
  case DIFF_RANK:
    test_by_rank(c, work, result);
    break;
  case diff_method_name_count:
    break;
  }
  result->margin = expm1(work->margin);
  result->sd = expm1(work->sd);
  result->change = expm1(work->difference);
  result->change_low = expm1(work->interval.low);
  result->change_high = expm1(work->interval.high);
}

/* ---- verdicts ---- */

static enum verdict judge(const struct diff_case *c, const struct work *work,
                          const struct diff_result *result, double rate) {
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

/* Of an undecided case: how many processes a side would decide it, and then INSUFFICIENT. */
static void ask_for_more(const struct diff_case *c, const struct work *work, double alpha,
                         struct diff_result *result) {
  const size_t counts[2] = {c->a.count, c->b.count};
  const size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
  if (result->verdict == VERDICT_INSUFFICIENT) {
    result->processes_needed = DIFF_PROCESSES_USUAL;
    for (size_t s = 0; s < 2; s++) {
      result->needed_alone[s] = counts[1 - s] > 1 ? DIFF_PROCESSES_USUAL : 0;
    }
    return;
  }
  const double prior_df = work->has_prior && isfinite(work->prior.df) ? work->prior.df : 0;
  const unsigned needed = effect_processes_needed(work->difference, work->sd, prior_df,
                                                  work->margin, alpha, 0.8, 0, DIFF_PROCESSES_MAX);
  if (needed == 0 || fewer >= DIFF_PROCESSES_MAX) {
    return;
  }
  result->verdict = VERDICT_INSUFFICIENT;
  result->processes_needed = needed > fewer ? needed : (unsigned)fewer + 1;
  for (size_t s = 0; s < 2; s++) {
    const unsigned alone =
        effect_processes_needed(work->difference, work->sd, prior_df, work->margin, alpha, 0.8,
                                (unsigned)counts[1 - s], DIFF_PROCESSES_MAX);
    result->needed_alone[s] = alone == 0 || alone > counts[s] ? alone : (unsigned)counts[s] + 1;
  }
}

static void judge_all(const struct diff_case *cases, const struct work *work, size_t count,
                      double rate, struct diff_result *results, struct diff_summary *summary) {
  size_t rejected = 0;
  for (size_t i = 0; i < count; i++) {
    results[i].verdict = judge(&cases[i], &work[i], &results[i], rate);
    rejected += work[i].testable && results[i].q <= rate;
  }
  /* The level that a further rejection would be held to. */
  const double tests = summary->tests > 0 ? (double)summary->tests : 1;
  const double alpha = rate * (double)(rejected + 1) / tests;
  for (size_t i = 0; i < count; i++) {
    if (results[i].verdict == VERDICT_UNCLEAR || results[i].verdict == VERDICT_INSUFFICIENT) {
      ask_for_more(&cases[i], &work[i], alpha < rate ? alpha : rate, &results[i]);
    }
    summary->verdicts[results[i].verdict]++;
  }
}

void diff_compare(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results, struct diff_summary *summary) {
  struct work *work = new_array(count, sizeof *work);
  double *p = new_array(count, sizeof *p);
  *summary = (struct diff_summary){.tests = 0};
  shift_estimate(cases, count, &summary->shift);
  for (size_t i = 0; i < count; i++) {
    look_at(&cases[i], &work[i], &results[i]);
  }
  learn_priors(cases, work, count);
  for (size_t i = 0; i < count; i++) {
    if (work[i].testable) {
      test_case(&cases[i], options->method, &work[i], &results[i]);
    }
    p[i] = results[i].p;
  }
  summary->tests = adjust_false_discovery(p, count, p);
  for (size_t i = 0; i < count; i++) {
    results[i].q = p[i];
  }
  judge_all(cases, work, count, options->false_discovery_rate, results, summary);
  free(p);
  free(work);
}
