/* visits.h - the undisturbed rate of a case that was measured in several visits.
 *
 * Other programs on a host slow a copy and never speed it up, in episodes that may outlast a
 * whole visit. More trials in a row do not help against that. A visit at another time does.
 *
 * Undisturbed copies take the same time, so their trials crowd at the fast end:
 *
 *   level        the lower quartile of the twelve fastest trials, of two visits the eight fastest.
 *                A visit has at most VISITS_VOTES of them, so that none decides alone. The fastest
 *                trial alone is luck.
 *   interval     begins before the fastest by twice the span of them, and ends at the slowest. An
 *                undisturbed copy may be faster than any of so few trials. If trials are the rarer
 *                the faster they are, the interval is wide.
 *   undisturbed  known, if half of that interval is at most VISITS_WIDE times the square of the
 *                share of undisturbed trials. The rarer they are, the more closely they must agree,
 *                for the fast ones of many slow trials agree by chance. Else others never rested
 *                long enough, and there is no undisturbed rate. It is the mean over the visits of
 *                the mean of their trials near the level. Undisturbed trials vary, so the level
 *                itself is faster than what a quiet host gives, by 0.1 to 0.7 % on three hosts.
 *   typical      the median over all visits, of which each weighs the same: summary.median_ns
 *                (engine/case/summary.h)
 *
 * Copies in two directions share a link, and the hardware decides how. So one direction may have no
 * level of its own: copies to a GPU by copy engines get what those from it leave, 42 to 50 GB/s on
 * some hosts, while those from it vary by half a percent. Where the measured direction has no
 * level, the load in the other direction says which trials are undisturbed: those in which it is
 * near its own level. The undisturbed rate is the mean over the visits of the mean of these trials,
 * and its interval reaches from the fastest to the slowest visit. Of one visit, it is their median.
 * If it is slower than the median of all trials by more than VISITS_DISTURBED, the load does not
 * tell. Of loads, only visits count in which they can be compared: as many as else, and at least
 * two of several. What slows one direction alone is not seen.
 *
 * A visit is precise if the interval of its median is within the precision. Of a single visit, the
 * median is both rates if the visit is precise, or if the median is at most VISITS_CALM slower than
 * the second fastest trial. The same may be so of the load alone.
 *
 * A host is noisy if the first visits of a fifth of the cases were not precise, or those of a tenth
 * were disturbed (visits_is_noisy()). Copies both ways are not precise on some quiet hosts, either,
 * but give a rate there, and few of their trials are slow. A case that was precise may have met an
 * episode that slowed all of it alike: an H100 had 52.97 +/- 0.09 GB/s instead of 55.2, while all
 * that told of others were slow trials in another case. A case is settled
 *   - on a quiet host, by a visit that gives the rate
 *   - by several visits, if half of the interval is at most VISITS_CLOSE times the square of the
 *     share of undisturbed trials: the more are disturbed, the more another visit may find. Where
 *     the load tells, the same is asked of the mean of the visits.
 * On a noisy host, a case in which the load tells is never settled. Its rate drifts over seconds to
 * minutes (means of 6 s on an H100: 45.1, 45.8 and 46.5 GB/s), so that a run does not see how far.
 * To stop when its visits agree would be to stop at chance. It has visits while others have, and
 * its interval says how much they differ.
 * Most of the time would go into cases that are settled: their intervals end at some tenths of a
 * percent, and copies both ways by copy engines never come near the precision. So a settled case is
 * visited only while more than an eighth of the cases are not: there others disturb many trials,
 * and two visits may share an episode. It has no other visit when its interval is within the
 * precision after more than VISITS_PATIENCE of them. If fewer cases are open, these alone have
 * other visits: up to VISITS_PATIENCE, or until they have a rate (visits_is_open()). All visits end
 * when the time for them is over, or after VISITS_MAX of a case.
 *
 * If the hardware itself has two levels, such as power states, the fast one is taken if it comes
 * back. disturbed_share tells how often it did not. A fast level of one visit alone widens the
 * interval, and so does drift.
 *
 * Copies that last as long as the gaps between two disturbances seldom escape both. Therefore a
 * later visit has shorter trials, and takes a quarter of the time of the first (visits_shorten()):
 * it needs VISITS_VOTES trials, and more visits help more than more trials. Beside whole ones
 * (tests/benchmarks/settle, policy `whole`): on two recorded hosts the rates of one-way copies vary
 * as little, but where episodes of 2 ms take 30 % of the time, whole trials gave a rate for 19 of
 * 80 cases, and half trials for 76. Quarters are faster by 0.25 %: their copies lack the pauses
 * between copies. */
#pragma once

#include "engine/case/summary.h"

/* Why the visits of a case ended. */
#define SETTLED_LIST(X)                                                                            \
  X(SETTLED_NOT, "none")      /* it has no second visit by its scenario, or no result */           \
  X(SETTLED_YES, "settled")   /* its rate is known closely enough */                               \
  X(SETTLED_BUDGET, "budget") /* the time for further visits ended before */                       \
  X(SETTLED_NOISE, "noise")   /* VISITS_MAX visits did not settle it */
ENUM_NAMES_DECLARE(settled, SETTLED_LIST)

/* A trial is disturbed if it is slower than the level by more than VISITS_DISTURBED, and near the
 * level if by at most VISITS_NEAR. All trials in which the load is not near its own are disturbed:
 * copies from a GPU vary by half a percent and are the faster, the slower those to it are (seen on
 * H100 and H200). */
#define VISITS_DISTURBED 0.02
#define VISITS_NEAR      0.01
#define VISITS_MANY      0.3 /* share of the disturbed trials of a disturbed visit */
#define VISITS_CALM      0.005
/* Half of the interval, relative, if no trial is disturbed: of a rate, and of a settled one. The
 * first was chosen on two recorded hosts with a neighbour who never rests: none of the replayed
 * cases has a rate (docs/MEASURE.md). */
#define VISITS_WIDE          0.04
#define VISITS_CLOSE         0.0125
#define VISITS_LONG_TRIAL_NS 4000000
/* From the end of a case's visit to its next. Episodes on the hosts looked at: up to 0.2 s. */
#define VISITS_GAP_NS UINT64_C(250000000)
enum { VISITS_PATIENCE = 3, VISITS_VOTES = 4 };

struct visits_found {
  enum settled settled;
  bool narrows; /* another visit may still narrow the interval */
  uint32_t visits;
  bool precise;           /* the first visit, or its load */
  double undisturbed_ns;  /* per iteration; 0 = not known, and then all below */
  double low_ns, high_ns; /* its interval; of a precise visit alone, that of its median */
  double disturbed_share; /* of the trials that count, or whose load can be compared */
  double disturbed_most;  /* how much slower than the undisturbed time the slowest took, relative */
};

/* Whether a case may have other visits by its scenario. One that asks for a certain time was
 * measured as asked; fewer than six trials never have an interval that could be narrow enough. */
bool visits_are_allowed(const struct measure *measure);
/* Whether it asks for a certain number of trials: it has other visits beside others alone. */
bool visits_follow(const struct measure *measure);

/* What a later visit measures of a case, of which a trial of the first visit had so many
 * iterations: half of all, but that trials of less than VISITS_LONG_TRIAL_NS stay. No fewer
 * iterations: single copies of a case may differ by 1 % in turns, both ways by 4 %, and one alone
 * lacks the pause between two. */
void visits_shorten(struct measure *measure, uint32_t iterations);

/* Whether a first visit has no undisturbed rate, or many trials that are slower than it. */
bool visits_is_disturbed(const struct visits_found *found);

/* Of so many cases that cross a link, how many were not precise, and how many disturbed, in their
 * first visit? */
bool visits_is_noisy(size_t cases, size_t imprecise, size_t disturbed);

/* Whether a case has another visit while so many are not settled, beside so many that cross a link;
 * 0 of these = settled cases have other visits in any case. */
bool visits_is_open(const struct visits_found *found, size_t cases, size_t unsettled);

/* Trials in the order of their visits. load_ns: what an iteration of the load in the other
 * direction took in each; NULL = there is none, 0 = the others cannot be compared with it. The
 * precision is relative; noisy: the host is. SETTLED_BUDGET means that another visit may settle the
 * case. */
void visits_judge(const struct trial *trials, const double *load_ns, size_t count, double precision,
                  bool noisy, struct visits_found *found);
