#include "runner/analysis/diff_internal.h"

#include "engine/base/arena.h"
#include "runner/statistics/needed.h"

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

/* Fewest units per side that would decide a case; 0 = not even DIFF_PROCESSES_MAX. fixed: as in
 * needed_units(). */
static unsigned diff_units_needed(const struct work *work, const struct needed_belief *belief,
                                  double alpha, size_t fixed) {
  const struct variance_prior *prior = &work->prior.both;
  const double prior_df = work->prior.known && isfinite(prior->df) ? prior->df : 0;
  return needed_units(belief, prior_df, work->delta, alpha, DIFF_POWER, (unsigned)fixed,
                      DIFF_PROCESSES_MAX);
}

/* Makes an undecided case INSUFFICIENT, with the number of units per side that would decide it,
 * where there is one. */
static void diff_ask_for_more(const struct diff_case *c, const struct work *work,
                              const struct needed_prior *changes, double alpha,
                              struct diff_result *result) {
  const size_t *counts = work->measured;
  const size_t processes[2] = {c->a.count, c->b.count};
  const size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
  /* A change stays provisional where the other side stays shorter than that. */
  const bool alone_helps[2] = {processes[1] >= DIFF_PROCESSES_FIRM,
                               processes[0] >= DIFF_PROCESSES_FIRM};
  if (result->verdict == VERDICT_INSUFFICIENT || result->is_provisional) {
    result->needed_is_least = result->verdict == VERDICT_INSUFFICIENT;
    result->units_needed = DIFF_PROCESSES_USUAL;
    for (size_t s = 0; s < 2; s++) {
      const bool helps = alone_helps[s] || result->verdict == VERDICT_SAME;
      result->needed_alone[s] = helps ? DIFF_PROCESSES_USUAL : 0;
    }
    return;
  }
  const struct needed_belief belief =
      needed_believe(changes, &work->effect, work->delta, work->sd,
                     work->effect.df > 0 ? work->effect.df : INFINITY); /* ranks have none */
  /* More units do not make the steps of a clock smaller. */
  const bool is_rounded = 2 * c->rounding * c->rounding > work->effect.error * work->effect.error;
  const unsigned needed =
      result->is_uneven || is_rounded ? 0 : diff_units_needed(work, &belief, alpha, 0);
  if (needed == 0 || fewer >= DIFF_PROCESSES_MAX) {
    return;
  }
  result->verdict = VERDICT_INSUFFICIENT;
  result->needed_is_least = counts[0] + counts[1] < DIFF_UNITS_PROMISE;
  result->units_needed = needed > fewer ? needed : (unsigned)fewer + 1;
  for (size_t s = 0; s < 2; s++) {
    const unsigned alone =
        alone_helps[s] ? diff_units_needed(work, &belief, alpha, counts[1 - s]) : 0;
    result->needed_alone[s] = alone == 0 || alone > counts[s] ? alone : (unsigned)counts[s] + 1;
  }
}

void diff_needed_ask(const struct diff_case *cases, const struct work *work, size_t count,
                     double alpha, unsigned rank_least, struct diff_result *results,
                     struct arena *arena) {
  const struct needed_prior changes = needed_changes(work, count, arena);
  for (size_t i = 0; i < count; i++) {
    if (verdict_is_undecided(results[i].verdict) || results[i].is_provisional) {
      diff_ask_for_more(&cases[i], &work[i], &changes, alpha, &results[i]);
      if (results[i].units_needed > 0 && fabs(work[i].difference) > work[i].delta &&
          results[i].units_needed < rank_least) {
        results[i].units_needed = rank_least;
      }
    }
  }
}
