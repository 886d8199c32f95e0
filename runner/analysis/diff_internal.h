/* diff_internal.h - what diff.c and its parts know of a case while it is tested. */
#pragma once

#include "runner/analysis/diff.h"
#include "runner/statistics/t_test.h"
#include "runner/statistics/time_order.h"

/* ---- diff_priors.c: what the peers of a case say about its variance (t_test.h) ----
 *
 * A family with fewer than DIFF_FAMILY_MIN cases learns in the next wider one, at last from all
 * cases; where these are too few, nothing is learnt. Processes and runs vary differently and learn
 * apart. */

/* Of one case: its observations and their summaries; each side may have one observation or none. */
struct prior_case {
  const uint32_t *families; /* DIFF_FAMILY_LEVELS, narrow to wide; NULL = no prior learns it */
  enum diff_unit unit;      /* what the observations are */
  struct process_sample a, b;
  struct sample a_sample, b_sample;
};

enum { DIFF_DEPENDENCE_MIN = 4, DIFF_DEPENDENCE_MAX = 200 };

struct diff_prior {
  bool known;
  double dependence;                /* of the cases: dependence.h */
  struct variance_prior both, a, b; /* of the sides together, and of each */
};

/* priors holds count and is zeroed. */
void diff_learn_priors(const struct prior_case *cases, size_t count, struct diff_prior *priors,
                       struct arena *arena);

/* Of all cases that teach, however few: dependence.h. 1: fewer than DIFF_DEPENDENCE_MIN do. */
double diff_find_dependence(const struct prior_case *cases, size_t count, struct arena *arena);

/* ---- a case while it is tested ---- */

struct work {
  bool testable;
  enum diff_unit unit;
  struct process_sample a_units, b_units; /* what counts as one observation, without odd ones */
  size_t measured[2];                     /* of a and b, with odd ones */
  bool paired;                            /* by node, or by runs in turn */
  struct process_sample differences;      /* paired: of the units, over the root of 2; else empty */
  /* By how much the whole means differ from those that are tested: of nodes where two and more were
   * cut off, else where one side has two odd units more than the other. */
  double unlike;
  bool is_wider;           /* of uneven sides: the interval is that of the less certain test */
  bool drifts;             /* sides that are not in turn, whose trend was taken out */
  struct time_order order; /* of the runs, where their times are known */
  /* Of runs whose order matters: how their level may wander. Else NULL. */
  const struct wander_order *wander_order;
  const struct wander_belief *wander;
  struct order_averages *averages; /* of all cases */
  bool mixed;                      /* units at two levels, both on one side */
  double walk_p;                   /* as p, of a level that is a random walk from run to run */
  double run_variance;             /* of one run each, from earlier runs; 0 = not known */
  struct sample a, b;              /* their summaries */
  double pooled_variance, pooled_df;
  struct diff_prior prior;
  double delta;         /* ln */
  double sd;            /* ln */
  double difference;    /* ln of the rates' ratio, b over a */
  struct effect effect; /* as tested; of ranks, without an error */
  struct interval interval;
  bool same;
  bool is_broken;
};

/* The summary of one side, with a variance of at least DIFF_SPREAD_MIN squared. */
struct sample diff_sample(const struct process_sample *side);

/* broken.c: which cases are not ok more often on side b, beyond chance. broken holds count. */
void broken_find(const struct diff_case *cases, size_t count, double false_discovery_rate,
                 bool *broken);
/* diff_needed.c: makes undecided cases INSUFFICIENT that more units would decide, and says how many
 * they and provisional ones need. rate: of false discoveries; levels: of a further rejection and
 * of SAME. */
void diff_needed_ask(const struct diff_case *cases, const struct work *work, size_t count,
                     double rate, const struct effect_levels *levels,
                     const struct diff_summary *summary, struct diff_result *results,
                     struct arena *arena);
/* diff_shift.c: the shift of the middle case (shift.h) of a diff. Where each side is one run, its
 * interval is that of earlier runs, if all cases have some: they may share all that runs differ by.
 * Else there is none. */
struct shift diff_shift(const struct diff_case *cases, size_t count);

/* ---- diff_order.c: what the order of runs in time means ---- */

/* Of runs in turn, the probability that their level does not wander: 0 where they agree with the
 * next of their side better than with others, in the mean of all cases and beyond chance; 1 where
 * there are no pairs. Where it is not small, pairs only lose half of the degrees of freedom.
 * Without them an interval holds the change at least as often, whatever the level does, for what
 * wanders spreads each side more than it moves their difference. */
double diff_order_independence(const struct diff_case *cases, const struct work *work, size_t count,
                               struct arena *arena);
/* Judges the mean of the steps of all cases (time_order.h) by its standard error: cases that see
 * the same noise tell as much as one does. Sets how the level wanders (wander.h), and whether in a
 * line: what the cases have in common shows that long before any of them does. */
void diff_order_find(const struct diff_case *cases, struct work *work, size_t count, size_t own,
                     double independence, const struct diff_options *options, struct arena *arena,
                     struct diff_summary *summary);
/* Where the level drifts in a line and nothing else depends on the order, the line is taken out: it
 * goes on from one side to the other. */
void diff_order_take_trends(const struct diff_case *cases, struct work *work, size_t count,
                            struct arena *arena);
/* The effect, where the level is a random walk from run to run and sides are not in turn: the worst
 * of the usual models, which a firm change must be beyond. Of a walk's spread within a side, most
 * is in one slow wave (the eigenvalues of its covariance fall with the square of their number),
 * which is worth two to three degrees of freedom a side, however many runs there are. */
struct effect diff_order_walk(const struct work *work, struct effect effect);
/* The effect, where the level may wander as all cases say. Degrees of freedom within 2 % of each
 * other count as equal: their averages are made once. */
struct effect diff_order_wander(const struct work *work, struct effect effect);
