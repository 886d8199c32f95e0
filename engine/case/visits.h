/* visits.h - the undisturbed rate of a case that was measured in several visits.
 *
 * What others do on a host slows a copy and never speeds it up, in episodes that may outlast a
 * whole visit. More trials in a row do not help against that; a visit at another time does.
 *
 *   level        of a visit: its second fastest trial, of more than 20 their 5 % quantile. The
 *                fastest alone is luck, and the median is slow as soon as half are disturbed.
 *   precise      a visit of which the interval of the median is within the precision
 *   undisturbed  the fastest level that was seen again: of the visits that agree with the fastest
 *                within the precision the second fastest.
 *   typical      the median of the visits' medians: summary.median_ns (engine/case/statistics.h)
 *
 * How many visits it takes:
 *   - on a quiet host one that is precise, or whose median is at most VISITS_CALM slower than its
 *     level. Its median is both rates.
 *   - on a noisy host, where one case in VISITS_NOISY was not precise at first, two precise ones
 *     that agree; else two that agree and VISITS_PATIENCE in a row that found nothing faster, for
 *     the first two may share an episode.
 *   - one single faster visit is passed over where VISITS_OUTVOTE others agree, if it was the first
 *     (to cold hardware) or is faster by at most VISITS_LUCK. An episode that most visits met is
 *     slower by more.
 *   - VISITS_SUPPORT trials within the precision of that level: copies that nothing slows take the
 *     same time, while the fastest of many disturbed ones may be close by chance.
 * Two visits that agree at such a level give the undisturbed rate even where the time for more
 * ends. Where none agree, as while a level drifts, there is no undisturbed rate. Where hardware
 * itself has two levels, such as power states, the fast one is taken if it comes back; `disturbed`
 * tells how often it did not. Levels closer than the precision, a tick of the clock for one, are
 * the same. */
#ifndef HAUL_ENGINE_CASE_VISITS_H
#define HAUL_ENGINE_CASE_VISITS_H

#include "engine/case/statistics.h"

/* Why the visits of a case ended. */
#define SETTLED_LIST(X)                                                                            \
  X(SETTLED_NOT, "none")      /* it has no second visit by its scenario, or no result */           \
  X(SETTLED_YES, "settled")   /* its undisturbed rate is known */                                  \
  X(SETTLED_BUDGET, "budget") /* the time for further visits ended before */                       \
  X(SETTLED_NOISE, "noise")   /* VISITS_MAX visits did not settle it */
ENUM_NAMES_DECLARE(settled, SETTLED_LIST)

/* A trial is disturbed where it is slower than the undisturbed rate by more than that. */
#define VISITS_DISTURBED 0.02
#define VISITS_CALM      0.005
#define VISITS_LUCK      0.01
enum { VISITS_PATIENCE = 3, VISITS_OUTVOTE = 3, VISITS_SUPPORT = 8, VISITS_NOISY = 3 };

struct visits_found {
  enum settled settled;
  uint32_t visits;
  bool precise;           /* the first visit */
  double undisturbed_ns;  /* per iteration; 0 = not known, and then all below */
  double low_ns, high_ns; /* the visits that agree; of one visit, the interval of its median */
  double disturbed_share; /* of the trials that count */
  double disturbed_most;  /* how much slower than the undisturbed time the slowest took, relative */
};

/* From the end of a case's visit to its next; visits: how many it had. */
uint64_t visits_gap_ns(uint32_t visits);

/* Trials in the order of their visits; the precision is relative; noisy: the host is.
 * SETTLED_BUDGET means that another visit may settle the case. */
void visits_judge(const struct trial *trials, size_t count, double precision, bool noisy,
                  struct visits_found *found);

#endif
