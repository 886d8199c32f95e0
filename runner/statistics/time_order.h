/* time_order.h - what the order in time of the runs of two sides says about their difference.
 *
 * A machine's level drifts and wanders. Runs of one side, then runs of the other, cannot tell that
 * from a change; runs in turn (ABAB, ABBA) can. This is known of an order:
 *
 * Pairs: where of each two runs that follow one another one is of either side, each pair is one
 * observation (a randomised or systematic block design; Box, Hunter and Hunter 2005, "Statistics
 * for Experimenters", chapter 3), once the linear trend in time that the sides have in common is
 * taken out (analysis of covariance).
 *
 * Wander: if the level is a random walk from run to run, the worst of the usual models, the
 * difference of the sides' means has a variance that is a multiple, `walk`, of the variance within
 * sides: about 4 where one side follows the other, less than that of independent runs where they
 * alternate. Both expectations follow from the covariance min(i, j) of a random walk.
 *
 * Steps: half the mean square of the steps from one run of a side to its next, over the variance
 * within sides, is 1 on average where runs are independent and less where the level drifts or
 * wanders (von Neumann 1941, "Distribution of the ratio of the mean square successive difference to
 * the variance", Annals of Mathematical Statistics 12).
 *
 * Values are natural logarithms. Nothing here fails. */
#pragma once

#include "engine/base/arena.h"
#include "runner/statistics/process_sample.h"
#include "runner/statistics/wander.h"

#include <stdbool.h>

enum { TIME_ORDER_PAIRS_MIN = 3 }; /* two know nearly nothing of how they differ */

struct time_order {
  bool paired;
  double walk;           /* of variances; 0 = too few runs */
  double steps;          /* NAN = no side has three runs, or all are equal */
  double steps_variance; /* of independent runs */
  /* Paired: by how much more the mean of the differences varies because the trend is estimated, and
   * the degrees of freedom that it takes. */
  double trend_inflation, trend_df;
};

/* One value per run on both sides, whose numbers are process_sample_process(); started: by these
 * numbers. pair: whether to judge pairs, where there are any; then the values and numbers are put
 * in the order of the pairs, without the trend. */
struct time_order time_order_apply(double *a_values, uint32_t *a_runs, size_t a_count,
                                   double *b_values, uint32_t *b_runs, size_t b_count,
                                   const int64_t *started, bool pair);

/* Takes the linear trend that sides have in common out of values, which are those of a and then
 * those of b. Returns by how much more the difference of the sides' means varies for it. */
double time_order_take_trend(const struct process_sample *a, const struct process_sample *b,
                             const int64_t *started, double *values);

/* The orders of runs that were seen, each with the values of its cases in the order of time. Nearly
 * all cases have one. */
struct time_order_kind {
  struct wander_order order;
  const bool *is_b;
  size_t count;
  const double **series;
  size_t series_count;
};
struct time_order_seen {
  struct arena *arena;
  struct time_order_kind **kinds;
  size_t count, last;
};

/* Adds a case to the kind of its order, and returns that. */
const struct time_order_kind *time_order_see(struct time_order_seen *seen,
                                             const struct process_sample *a,
                                             const struct process_sample *b, const int64_t *started,
                                             bool paired);
