/* wander.h - how the level of a machine may wander from run to run, and what that means for the
 * difference of two sides that were not measured in turn.
 *
 * Models: runs are independent; or their level is an autoregressive series or a random walk, with
 * independent noise beside it, in several proportions. Both sides together tell how likely a model
 * is: by its restricted likelihood, which their means and the variance do not enter (Harville 1977,
 * "Maximum likelihood approaches to variance component estimation", Journal of the American
 * Statistical Association 72), from a Kalman filter (Harvey 1989, "Forecasting, Structural Time
 * Series Models and the Kalman Filter"). Few runs hardly tell models apart: then all of them count,
 * by their probability (Hoeting and others 1999, "Bayesian model averaging", Statistical Science
 * 14). Before anything is seen, half of it is that of independent runs, and every other correlation
 * is as likely as the next.
 *
 * Nothing here fails. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { WANDER_MODELS = 24, WANDER_TRENDS = 5, WANDER_LOGS = WANDER_MODELS + WANDER_TRENDS };
enum { WANDER_RUNS_MAX = 40 }; /* of a side, those next to the other one */

/* The runs of both sides, in the order of time. */
struct wander_runs {
  const double *values;
  const bool *is_b;
  size_t count;
};

/* Adds the logarithm of each model's likelihood, up to a constant; then that of independent runs
 * beside a linear trend that the sides have in common, of several sizes. */
void wander_add_likelihood(const struct wander_runs *runs, double logs[WANDER_LOGS]);

/* Of each model, for one order of runs. */
struct wander_effects {
  /* The variance of the difference of the sides' means, over what the variance within sides says of
   * it if runs are independent; and the degrees of freedom of that variance. */
  double factor[WANDER_MODELS], df[WANDER_MODELS];
};
struct wander_effects wander_find_effects(const bool *is_b, size_t count);

/* The probability of each model if there is no trend, from what the logarithms say times `share`.
 * prior: NULL = none is known. Returns the probability of a trend. */
double wander_weigh(const double logs[WANDER_LOGS], double share, const double *prior,
                    double weights[WANDER_MODELS]);
/* For series that are means of those with these probabilities: as slow, with less noise. */
void wander_of_means(const double weights[WANDER_MODELS], double means[WANDER_MODELS]);

/* The mean of the factors, and the degrees of freedom, fewer for not knowing which model holds, of
 * an effect that has `df` if runs are independent (Satterthwaite's way). */
struct wander {
  double factor, df;
};
struct wander wander_average(const struct wander_effects *effects,
                             const double weights[WANDER_MODELS], double df);
