/* wander_order.h - what the order in time of the runs of two sides means for their difference,
 * under each of the models of how a level may wander (wander.h).
 *
 * Runs are taken as evenly spaced. Nothing here fails. */
#pragma once

#include "engine/base/arena.h"

#include <stdbool.h>

enum { WANDER_MODELS = 28, WANDER_TRENDS = 5, WANDER_LOGS = WANDER_MODELS + WANDER_TRENDS };
enum { WANDER_RUNS_MAX = 80 };

/* level: variance of the series, or of a step of the walk, over that of the noise beside it. */
struct wander_model {
  double correlation; /* of a run with the next; 0 = independent, 1 = a walk */
  double level;
};
extern const struct wander_model wander_models[WANDER_MODELS]; /* by correlation */

/* An order of runs in time, and what each model means for it. The difference of the sides is that
 * of their means or, where runs are judged as pairs, the mean of the pairs' differences without the
 * linear trend that both sides have. */
struct wander_order {
  bool paired;
  /* The runs that are looked at, WANDER_RUNS_MAX at most: of one side after the other, those next
   * to the other side. */
  size_t count, at[WANDER_RUNS_MAX];
  size_t df;         /* of the restricted likelihood */
  double spread_df;  /* of the variance within the sides, or between the pairs */
  size_t rows;       /* that is the mean square of the values' products with so many */
  const double *row; /* rows * count */
  /* Of the restricted likelihood, by model; those of a linear trend that the sides have in common,
   * of several sizes, come last. */
  const double *projections[WANDER_LOGS];
  double constants[WANDER_LOGS];
  /* The variance of the difference, over what the variance above says of it if runs are
   * independent; and the degrees of freedom of that variance. */
  double factors[WANDER_MODELS], dfs[WANDER_MODELS];
};
void wander_order_init(struct wander_order *order, const bool *is_b, size_t count, bool paired,
                       struct arena *arena);

/* The sum of products. */
static inline double wander_product(const double *x, const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}
