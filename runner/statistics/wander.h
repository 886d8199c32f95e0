/* wander.h - how the level of a machine may wander from run to run, and what that means for the
 * difference of two sides.
 *
 * Models: runs are independent; or their level is an autoregressive series or a random walk, with
 * independent noise beside it, in several proportions. Both sides together tell how likely a model
 * is: by its restricted likelihood, which their means and the variance do not enter (Harville 1977,
 * "Maximum likelihood approaches to variance component estimation", Journal of the American
 * Statistical Association 72). Few runs hardly tell models apart: then all of them count, by their
 * probability (Hoeting and others 1999, "Bayesian model averaging", Statistical Science 14). Before
 * anything is seen, independent runs are the likeliest, and slow wandering, which hides most, is
 * likelier than fast.
 *
 * Noise has two parts: what cases share (clocks, neighbours, a boot), and what is each case's own.
 * What they share is one series, however many cases there are, and says little. What is left of the
 * cases beside it is many, so that they say a lot, of their own part and of how the machine may
 * wander. The models are no more than models: their word counts as that of WANDER_SERIES_MAX series
 * at most (Miller and Dunson 2019, "Robust Bayesian inference via coarsening", Journal of the
 * American Statistical Association 114).
 *
 * Nothing here fails. */
#pragma once

#include "runner/statistics/wander_order.h"

enum { WANDER_SERIES_MAX = 80 };

/* What series say, those of one order after the other. */
struct wander_evidence {
  double own[WANDER_MODELS], common[WANDER_LOGS]; /* logarithms of likelihoods */
  double own_series, shares;
  size_t series, most; /* that have something in common; of one order */
};
/* series[i]: a value for each run of the order. Zeroed, evidence is that of none. */
void wander_add(const struct wander_order *order, const double *const *series, size_t count,
                struct wander_evidence *evidence);

struct wander_belief {
  double share;                                     /* of the variance, that all have in common */
  double common[WANDER_MODELS], own[WANDER_MODELS]; /* probabilities */
  double machine[WANDER_MODELS]; /* of what other cases would have in common: from the own parts */
  double own_series;             /* so many independent ones the own parts are worth */
  double trend;                  /* the probability of a line in what they have in common */
};
/* prior: of what they have in common; NULL = what the own parts say. */
void wander_conclude(const struct wander_evidence *evidence, const double *prior,
                     struct wander_belief *belief);

/* Of the variance of a difference: a factor, and degrees of freedom. Each model has a t
 * distribution, and the difference has the mixture of them by their probability. The t distribution
 * that is returned has the quantiles of the mixture at 5 % and 0.2 %: a few unlikely models of a
 * large variance make its tail long, and not all of it wide. What cases share is one series. It
 * hardly tells models apart where it is short, and moves the difference the way that it moves
 * within the sides: there, the interval of the mixture holds the change too seldom, and that of the
 * mean variance counts, which is wider. What is shared and what is not add up as variances, with
 * Satterthwaite's degrees of freedom or, where few runs are known, fewer. df: if runs are
 * independent; own_df: the same if cases share no noise. Without degrees of freedom: factor 1 and
 * df. */
struct wander {
  double factor, df;
};
struct wander wander_average(const struct wander_order *order, const struct wander_belief *belief,
                             double df, double own_df);
