#include "runner/analysis/diff_internal.h"

#include "engine/base/arena.h"
#include "runner/statistics/needed.h"
#include "runner/statistics/permutations.h"

#include <math.h>

/* How the true changes of all cases differ. */
static struct needed_prior needed_changes(const struct work *work, size_t count,
                                          struct arena *arena) {
  struct effect *effects = arena_array(arena, count, sizeof *effects);
  double *margins = arena_array(arena, count, sizeof *margins);
  for (size_t i = 0; i < count; i++) {
    effects[i] = work[i].effect;
    margins[i] = work[i].testable ? work[i].delta : NAN;
  }
  return needed_learn(effects, margins, count);
}

/* What the peers add to the degrees of freedom. */
static double needed_prior_df(const struct diff_prior *prior, const struct variance_prior *of) {
  return prior->known && isfinite(of->df) ? of->df : 0;
}

/* The units of a case as needed_units() takes them. */
static struct needed_sides needed_sides_of(const struct diff_case *c, const struct work *work) {
  const struct diff_prior *prior = &work->prior;
  const struct sample *samples[2] = {&work->a, &work->b};
  const struct variance_prior *priors[2] = {&prior->a, &prior->b};
  struct needed_sides sides = {.variance = work->sd * work->sd,
                               .prior_df = needed_prior_df(prior, &prior->both),
                               .alone = !prior->known && !work->paired && work->run_variance == 0};
  double variance = 0; /* of the difference, in whatever order the units are */
  for (size_t s = 0; s < 2; s++) {
    const double df = (double)samples[s]->count - 1;
    const bool own = df > 0 && !work->paired && work->run_variance == 0;
    sides.counts[s] = (unsigned)samples[s]->count;
    sides.variances[s] = !own ? sides.variance
                         : !prior->known
                             ? samples[s]->variance
                             : variance_shrinkage_apply(priors[s], samples[s]->variance, df);
    sides.prior_dfs[s] = needed_prior_df(prior, priors[s]);
    variance += sides.variances[s] / (double)samples[s]->count;
  }
  const double error = work->effect.error;
  sides.rounding_variance = c->rounding * c->rounding;
  sides.order_variance = fmax(error * error - variance - sides.rounding_variance, 0);
  return sides;
}

/* A few more decide hardly what as many as there are did not. */
static unsigned needed_grown(unsigned needed, size_t have) {
  const size_t least = have + (have / 4 > 2 ? have / 4 : 2);
  const size_t grown = needed > least ? needed : least;
  return grown < DIFF_PROCESSES_FIRM  ? DIFF_PROCESSES_FIRM
         : grown < DIFF_PROCESSES_MAX ? (unsigned)grown
         : have < DIFF_PROCESSES_MAX  ? DIFF_PROCESSES_MAX
                                      : (unsigned)have + 2;
}

/* How many units a provisional verdict of that doubt needs, and one of a case whose spread nobody
 * knows (DIFF_DOUBT_NONE); grows: of which sides. */
static unsigned needed_for_doubt(const struct work *work, enum diff_doubt doubt, double modes_most,
                                 const bool grows[2]) {
  const size_t counts[2] = {work->a.count, work->b.count};
  const size_t fewer = grows[0] && (!grows[1] || counts[0] < counts[1]) ? counts[0] : counts[1];
  if (doubt != DIFF_DOUBT_MODES) {
    return doubt == DIFF_DOUBT_NONE ? DIFF_PROCESSES_USUAL : DIFF_PROCESSES_FIRM;
  }
  unsigned units = needed_grown(0, fewer);
  while (units < DIFF_PROCESSES_MAX &&
         permutations_least_p(grows[0] && units > counts[0] ? units : counts[0],
                              grows[1] && units > counts[1] ? units : counts[1]) > modes_most) {
    units++;
  }
  return units;
}

static const bool BOTH[2] = {true, true};
static const bool ALONE[2][2] = {{true, false}, {false, true}};

/* Of the tests, and below which probability chance makes few enough cases look changed that have
 * two modes. */
struct needed_levels {
  struct effect_levels tests;
  double modes;
};

/* Makes an undecided case INSUFFICIENT, with the number of units per side that would decide it,
 * where there is one. */
static void diff_ask_for_more(const struct diff_case *c, const struct work *work,
                              const struct needed_prior *changes,
                              const struct needed_levels *levels, struct diff_result *result) {
  const size_t *counts = work->measured;
  const size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
  const size_t processes[2] = {c->a.count, c->b.count};
  /* A change stays provisional where the other side stays shorter than that. Pairs need both. */
  const bool alone_helps[2] = {!work->paired && processes[1] >= DIFF_PROCESSES_FIRM,
                               !work->paired && processes[0] >= DIFF_PROCESSES_FIRM};
  if (result->verdict == VERDICT_INSUFFICIENT || result->is_provisional) {
    result->needed_is_least = result->verdict == VERDICT_INSUFFICIENT;
    result->units_needed = needed_for_doubt(work, result->doubt, levels->modes, BOTH);
    for (size_t s = 0; s < 2; s++) {
      const bool helps = alone_helps[s] || result->verdict == VERDICT_SAME;
      result->needed_alone[s] =
          helps ? needed_for_doubt(work, result->doubt, levels->modes, ALONE[s]) : 0;
    }
    return;
  }
  const struct needed_belief belief =
      needed_believe(changes, &work->effect, work->delta,
                     work->effect.df > 0 ? work->effect.df : INFINITY); /* ranks have none */
  /* More units do not make the steps of a clock smaller. */
  const bool is_rounded = 2 * c->rounding * c->rounding > work->effect.error * work->effect.error;
  const struct needed_sides sides = needed_sides_of(c, work);
  const unsigned needed = result->is_uneven || is_rounded
                              ? 0
                              : needed_units(&belief, &sides, BOTH, work->delta, &levels->tests,
                                             DIFF_POWER, DIFF_PROCESSES_MAX);
  if (needed == 0) {
    return;
  }
  const unsigned odd = (unsigned)(result->odd.counts[0] + result->odd.counts[1]);
  result->verdict = VERDICT_INSUFFICIENT;
  result->needed_is_least = counts[0] + counts[1] < DIFF_UNITS_PROMISE;
  result->units_needed = needed_grown(needed + odd, fewer);
  for (size_t s = 0; s < 2; s++) {
    const unsigned alone = alone_helps[s]
                               ? needed_units(&belief, &sides, ALONE[s], work->delta,
                                              &levels->tests, DIFF_POWER, DIFF_PROCESSES_MAX)
                               : 0;
    result->needed_alone[s] = alone > 0 ? needed_grown(alone + odd, counts[s]) : 0;
  }
}

/* Of how few deals of the units a provisional change must be one (diff_doubt_modes()). */
static double needed_modes_level(const struct work *work, size_t count,
                                 const struct diff_result *results, double rate) {
  const size_t mixed = SUM_OF(i, count, work[i].mixed);
  const size_t reported =
      SUM_OF(i, count,
             verdict_is_change(results[i].verdict) &&
                 (results[i].doubt == DIFF_DOUBT_NONE || results[i].doubt == DIFF_DOUBT_MODES));
  return rate * (double)reported / (double)(mixed + 1);
}

void diff_needed_ask(const struct diff_case *cases, const struct work *work, size_t count,
                     double rate, const struct effect_levels *levels,
                     const struct diff_summary *summary, struct diff_result *results,
                     struct arena *arena) {
  const unsigned rank_least = summary->rank_processes_least;
  const struct needed_prior changes = needed_changes(work, count, arena);
  const struct needed_levels asked = {*levels, needed_modes_level(work, count, results, rate)};
  for (size_t i = 0; i < count; i++) {
    if (verdict_is_undecided(results[i].verdict) || results[i].is_provisional) {
      diff_ask_for_more(&cases[i], &work[i], &changes, &asked, &results[i]);
      if (results[i].units_needed > 0 && fabs(work[i].difference) > work[i].delta &&
          results[i].units_needed < rank_least) {
        results[i].units_needed = rank_least;
      }
    }
  }
}
