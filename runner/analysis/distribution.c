#include "runner/analysis/distribution.h"

#include "engine/base/arena.h"
#include "runner/statistics/shape.h"
#include "runner/statistics/share_test.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <string.h>

ENUM_NAMES_DEFINE(distribution, DISTRIBUTION_LIST)

enum { KINDS = 3 };

/* What the tests need of one case. */
struct distribution_work {
  struct process_sample units[2];
  double shares[2], spreads[2];
};

static bool distribution_is_judged(const struct diff_case *c, const struct diff_result *level) {
  return c->incomparable == NULL && c->a.count > 1 && c->b.count > 1 &&
         level->verdict != VERDICT_BROKEN;
}

static double distribution_modes(struct distribution_work *work, double delta, double *scratch,
                                 bool *two) {
  size_t count = 0;
  for (size_t s = 0; s < 2; s++) {
    memcpy(scratch + count, work->units[s].values, work->units[s].count * sizeof *scratch);
    count += work->units[s].count;
  }
  const struct shape shape = shape_find(scratch, count, delta, scratch + count);
  *two = shape.kind == SHAPE_TWO_MODES;
  struct share slow[2] = {{0, work->units[0].count}, {0, work->units[1].count}};
  for (size_t s = 0; s < 2 && *two; s++) {
    for (size_t i = 0; i < slow[s].tries; i++) {
      slow[s].hits += work->units[s].values[i] > (shape.low + shape.high) / 2;
    }
    work->shares[s] = (double)slow[s].hits / (double)slow[s].tries;
  }
  if (!*two) {
    return NAN; /* seen without the sides' labels: no test */
  }
  if (fabs(work->shares[0] - work->shares[1]) >= 1) {
    return 1; /* a change of the level */
  }
  const double p = work->shares[1] > work->shares[0] ? share_test_fisher(slow[0], slow[1])
                                                     : share_test_fisher(slow[1], slow[0]);
  return fmin(1, 2 * p);
}

/* The distances from the median, but for the one that is 0 of an odd count. */
static struct sample distribution_deviations(const struct process_sample *side, double *scratch,
                                             double *spread) {
  const double middle = sample_median(side->values, side->count);
  for (size_t i = 0; i < side->count; i++) {
    scratch[i] = fabs(side->values[i] - middle);
  }
  sample_sort(scratch, side->count);
  *spread = sqrt(sample_summary(side->values, side->count).variance);
  return sample_summary(scratch + side->count % 2, side->count - side->count % 2);
}

static double distribution_jitter(struct distribution_work *work, double delta, double *scratch) {
  const size_t counts[2] = {work->units[0].count, work->units[1].count};
  if (counts[0] < DISTRIBUTION_UNITS_MIN || counts[1] < DISTRIBUTION_UNITS_MIN) {
    return NAN;
  }
  const struct sample a = distribution_deviations(&work->units[0], scratch, &work->spreads[0]);
  const struct sample b = distribution_deviations(&work->units[1], scratch, &work->spreads[1]);
  const double all =
      (a.mean * (double)a.count + b.mean * (double)b.count) / (double)(a.count + b.count);
  if (all < delta / 4 || a.variance + b.variance <= 0) {
    return NAN; /* seen without the sides' labels: no test */
  }
  const double wider = fmax(a.mean, b.mean);
  if (wider < DISTRIBUTION_RATIO * fmin(a.mean, b.mean) || wider < delta / 2) {
    return 1;
  }
  const struct effect effect = effect_welch(&a, &b);
  return effect_p(&effect, 0);
}

/* Tails as levels: p95 over the median of each process. */
static void distribution_tails(const struct diff_case *cases, size_t count,
                               const struct diff_options *options, const struct diff_result *levels,
                               struct diff_result *results, struct arena *arena) {
  struct diff_case *tails = arena_array(arena, count, sizeof *tails);
  struct diff_summary summary;
  for (size_t i = 0; i < count; i++) {
    tails[i] = cases[i];
    tails[i].delta = DISTRIBUTION_TAIL_DELTAS * cases[i].delta;
    tails[i].run_df = tails[i].rounding = 0;
    tails[i].a_not_ok = tails[i].b_not_ok = tails[i].corrupt = 0;
    tails[i].a.values = cases[i].tails[0];
    tails[i].b.values = cases[i].tails[1];
    if (tails[i].a.values == NULL || tails[i].b.values == NULL ||
        !distribution_is_judged(&cases[i], &levels[i])) {
      tails[i].a.count = tails[i].b.count = 0;
    }
  }
  diff_compare(tails, count, options, results, &summary);
}

/* Of few runs, or of one, nothing is certain; nor of spreads where the level wanders. */
static bool distribution_is_provisional(const struct diff_case *c, const struct diff_result *level,
                                        bool ordered) {
  const size_t units = level->units[0] < level->units[1] ? level->units[0] : level->units[1];
  const size_t processes = c->a.count < c->b.count ? c->a.count : c->b.count;
  return level->unit == DIFF_UNIT_PROCESS || units < DIFF_PROCESSES_FIRM ||
         processes < DIFF_PROCESSES_FIRM || ordered;
}

void distribution_compare(const struct diff_case *cases, size_t count,
                          const struct diff_options *options, const struct diff_result *levels,
                          const struct diff_summary *summary, struct distribution_change *changes) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct distribution_work *work = arena_array(&arena, count, sizeof *work);
  struct diff_result *tails = arena_array(&arena, count, sizeof *tails);
  double *p = arena_array(&arena, KINDS * count, sizeof *p);
  const size_t values = SUM_OF(i, count, cases[i].a.count + cases[i].b.count);
  double *scratch = arena_array(&arena, 2 * values, sizeof *scratch);
  double *of_runs = arena_array(&arena, values, sizeof *of_runs);
  uint32_t *numbers = arena_array(&arena, values, sizeof *numbers);
  distribution_tails(cases, count, options, levels, tails, &arena);
  for (size_t i = 0; i < count; i++) {
    struct distribution_work *w = &work[i];
    bool two = false;
    p[i] = p[count + i] = p[2 * count + i] = NAN;
    if (!distribution_is_judged(&cases[i], &levels[i])) {
      continue;
    }
    const struct process_sample *sides[2] = {&cases[i].a, &cases[i].b};
    for (size_t s = 0; s < 2; s++) {
      w->units[s] = levels[i].unit == DIFF_UNIT_PROCESS
                        ? *sides[s]
                        : process_sample_by_run(sides[s], of_runs, numbers);
      of_runs += levels[i].unit == DIFF_UNIT_PROCESS ? 0 : w->units[s].count;
      numbers += levels[i].unit == DIFF_UNIT_PROCESS ? 0 : w->units[s].count;
    }
    if (cases[i].paired) {
      continue; /* nodes differ as they always do */
    }
    p[i] = distribution_modes(w, log1p(cases[i].delta), scratch, &two);
    p[2 * count + i] = two ? NAN : distribution_jitter(w, log1p(cases[i].delta), scratch);
  }
  for (size_t i = 0; i < count; i++) {
    p[count + i] = tails[i].p;
  }
  for (size_t k = 0; k < KINDS; k++) {
    (void)fdr_q_values(p + k * count, count, p + k * count);
  }
  const double looks = options->looks > 1 ? options->looks : 1;
  const bool ordered = summary->wanders;
  for (size_t i = 0; i < count; i++) {
    const struct distribution_work *w = &work[i];
    struct distribution_change *change = &changes[i];
    *change = (struct distribution_change){.kind = DISTRIBUTION_SAME, .q = NAN};
    static const enum distribution FOUND[KINDS] = {DISTRIBUTION_MODE, DISTRIBUTION_TAIL,
                                                   DISTRIBUTION_JITTER};
    for (size_t k = 0; k < KINDS && change->kind == DISTRIBUTION_SAME; k++) {
      const double q = looks * KINDS * p[k * count + i];
      const bool of_tail = FOUND[k] == DISTRIBUTION_TAIL;
      if (!(q <= options->false_discovery_rate)) {
        continue;
      }
      *change = (struct distribution_change){
          .kind = FOUND[k],
          .q = q,
          .is_provisional = of_tail ? tails[i].is_provisional
                                    : distribution_is_provisional(&cases[i], &levels[i], ordered)};
      for (size_t s = 0; s < 2; s++) {
        const struct process_sample side = {cases[i].tails[s],
                                            s == 0 ? cases[i].a.count : cases[i].b.count, NULL,
                                            s == 0 ? cases[i].a.runs : cases[i].b.runs};
        change->values[s] = of_tail                         ? expm1(process_sample_mean(&side))
                            : FOUND[k] == DISTRIBUTION_MODE ? w->shares[s]
                                                            : expm1(w->spreads[s]);
      }
      change->is_worse = change->values[1] > change->values[0];
    }
  }
}
