/* needed.h - how many observations would decide whether a difference exceeds a margin.
 *
 * What is undecided is so because its noise moved it towards the margin, so that what was seen of
 * it says too little of what will be seen. All differences of a comparison tell how true
 * differences are distributed: weights on a grid of multiples of the margin, of the largest
 * likelihood (Kiefer and Wolfowitz 1956, "Consistency of the maximum likelihood estimator in the
 * presence of infinitely many incidental parameters", Annals of Mathematical Statistics 27; by
 * expectation and maximisation, ended early, so that they stay smooth). What one difference may
 * truly be is that distribution times the likelihood of what was seen of it (Efron 2011, "Tweedie's
 * formula and selection bias", Journal of the American Statistical Association 106).
 *
 * Values are natural logarithms. Nothing here fails. */
#pragma once

#include "runner/statistics/t_test.h"

enum { NEEDED_POINTS = 55 };

/* Of true differences: probabilities. */
struct needed_prior {
  double weights[NEEDED_POINTS];
};

/* What one true difference may be, and the spread between observations. */
struct needed_belief {
  double differences[NEEDED_POINTS], weights[NEEDED_POINTS];
  size_t count;
  double sd, sd_df; /* INFINITY: it is known */
};

/* effects[i] is held against margins[i]; those of NAN count nothing. */
struct needed_prior needed_learn(const struct effect *effects, const double *margins, size_t count);
/* Of the effect; without an error, it is what was seen. */
struct needed_belief needed_believe(const struct needed_prior *prior, const struct effect *effect,
                                    double margin, double sd, double sd_df);

/* Fewest observations per side with which the difference is decided with the wanted power (0.8):
 * the mean over what it, and the spread, may be (assurance: O'Hagan, Stevens and Campbell 2005,
 * "Assurance in clinical trial design", Pharmaceutical Statistics 4). alpha, prior_df: as of
 * effect_criteria_find(). fixed: how many the other side has and keeps; 0 = both sides get as many.
 * 0: not even `most` suffice. */
unsigned needed_units(const struct needed_belief *belief, double prior_df, double margin,
                      double alpha, double power, unsigned fixed, unsigned most);
