/* visits.h - the undisturbed rate of a case that was measured in several visits.
 *
 * Other programs on a host slow a copy and never speed it up, in episodes that may outlast a whole
 * visit. More trials in a row do not help against that. A visit at another time does.
 *
 * Undisturbed copies take the same time, so their trials crowd at the fast end:
 *
 *   fastest      the VISITS_VOTES fastest trials of each visit, of these the VISITS_VOTES times
 *                three fastest, or times two of two visits: no visit decides alone
 *   undisturbed  their lower quartile, for the fastest one is luck
 *   interval     from the slowest of them to twice their span before the fastest: an edge that so
 *                few trials leave open may lie beyond them. Where trials are the rarer the faster
 *                they are, it is wide. Wider than VISITS_WIDE, or VISITS_WIDE_OF_TWO, there is no
 *                undisturbed rate.
 *   typical      the median of the visits' medians: summary.median_ns (engine/case/statistics.h)
 *
 * The median of a single visit is both rates if it is precise, which means that the interval of the
 * median is within the precision, or if it is at most VISITS_CALM slower than the second fastest
 * trial.
 *
 * Visits end
 *   - on a quiet host after one that gives the rate
 *   - else when the interval is within the precision. A noisy host is one where one case in
 *     VISITS_NOISY was not precise at first. There two visits may share an episode, so it takes
 *     more than VISITS_PATIENCE, or two precise ones.
 *   - from VISITS_STEADY_FROM on when the last VISITS_PATIENCE moved the rate by less than the
 *     precision, and the interval is within VISITS_STEADY
 *   - with the time for them, or after VISITS_MAX
 *
 * Where hardware itself has two levels, such as power states, the fast one is taken if it comes
 * back; `disturbed` tells how often it did not. The fast level of one visit alone widens the
 * interval, as drift does.
 *
 * Copies that last as long as the gaps between two disturbances seldom escape both. Therefore a
 * later visit has shorter trials, and takes half the time of the first (visits_shorten()). */
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
#define VISITS_DISTURBED     0.02
#define VISITS_CALM          0.005
#define VISITS_WIDE          0.02 /* half of the interval, relative */
#define VISITS_WIDE_OF_TWO   0.005
#define VISITS_STEADY        0.01
#define VISITS_LONG_TRIAL_NS 4000000
/* From the end of a case's visit to its next. Episodes on the hosts looked at: up to 0.2 s. */
#define VISITS_GAP_NS UINT64_C(250000000)
enum { VISITS_PATIENCE = 3, VISITS_STEADY_FROM = 7, VISITS_VOTES = 4, VISITS_NOISY = 3 };

struct visits_found {
  enum settled settled;
  uint32_t visits;
  bool precise;           /* the first visit */
  double undisturbed_ns;  /* per iteration; 0 = not known, and then all below */
  double low_ns, high_ns; /* its interval; of a precise visit alone, that of its median */
  double disturbed_share; /* of the trials that count */
  double disturbed_most;  /* how much slower than the undisturbed time the slowest took, relative */
};

/* What a later visit measures of a case, of which a trial of the first visit had so many
 * iterations: half of all, but that trials of less than VISITS_LONG_TRIAL_NS stay. No fewer
 * iterations: single copies of a case may differ by 1 % in turns, and one alone lacks the pause
 * between two. */
void visits_shorten(struct measure *measure, uint32_t iterations);

/* Trials in the order of their visits; the precision is relative; noisy: the host is.
 * SETTLED_BUDGET means that another visit may settle the case. */
void visits_judge(const struct trial *trials, size_t count, double precision, bool noisy,
                  struct visits_found *found);

#endif
