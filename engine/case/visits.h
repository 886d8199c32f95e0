/* visits.h - the undisturbed rate of a case that was measured in several visits.
 *
 * What others do on a host slows a copy and never speeds it up, in episodes that may outlast a
 * whole visit. More trials in a row do not help against that; a visit at another time does.
 *
 *   level        of a visit: the median of the fastest third of its trials. The fastest trial alone
 *                is luck, and the median of all is slow as soon as half of them are disturbed.
 *   undisturbed  the fastest level that was seen again: of two visits that agree within the
 *                precision, and than which no visit was faster, the slower one. One single faster
 *                visit is passed over where three others agree: a first visit to cold hardware is
 *                such a one.
 *   typical      the median of the visits' medians: summary.median_ns (engine/case/statistics.h)
 *
 * A case that is within its precision at once is visited once, and its median is both rates. With
 * fewer than two visits that agree there is no undisturbed rate. Where hardware itself has two
 * levels, such as power states, the fast one is taken if it comes back; `disturbed` tells how often
 * it did not. */
#ifndef HAUL_ENGINE_CASE_VISITS_H
#define HAUL_ENGINE_CASE_VISITS_H

#include "engine/case/statistics.h"

/* Why the visits of a case ended. */
#define SETTLED_LIST(X)                                                                            \
  X(SETTLED_NOT, "none")      /* it has no second visit by its scenario, or no result */           \
  X(SETTLED_YES, "settled")   /* its undisturbed rate is known */                                  \
  X(SETTLED_BUDGET, "budget") /* the time for further visits ended before */                       \
  X(SETTLED_NOISE, "noise")   /* VISITS_MAX visits had no level in common */
ENUM_NAMES_DECLARE(settled, SETTLED_LIST)

/* A trial is disturbed where it is slower than the undisturbed rate by more than that. */
#define VISITS_DISTURBED 0.02

struct visits_found {
  enum settled settled;
  uint32_t visits;
  double undisturbed_ns;  /* per iteration; 0 = not known, and then all below */
  double low_ns, high_ns; /* the visits that agree; of one visit, the interval of its median */
  double disturbed_share; /* of the trials that count */
  double disturbed_most;  /* how much slower than the undisturbed time the slowest took, relative */
};

/* Trials in the order of their visits. precise: the first visit was within the precision, which is
 * relative. SETTLED_BUDGET means that another visit may settle the case. */
void visits_judge(const struct trial *trials, size_t count, bool precise, double precision,
                  struct visits_found *found);

#endif
