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

/* What one true difference may be, and how well the spread between observations is known. */
struct needed_belief {
  double seen; /* the difference of the observations so far */
  double differences[NEEDED_POINTS], weights[NEEDED_POINTS];
  size_t count;
  double spread_df; /* INFINITY: it is known */
};

/* The observations of both sides so far, as the test takes them (diff.h). Variances are of one
 * observation. */
struct needed_sides {
  unsigned counts[2];
  double variances[2], variance; /* of each side, and of both together */
  double prior_dfs[2], prior_df; /* added to the degrees of freedom of these */
  bool alone;                    /* nothing is learnt from others: Welch's test */
  /* In the square of the difference's error, that of the order of the observations: more of one
   * side alone leave it. That of rounding stays. */
  double order_variance, rounding_variance;
};

/* effects[i] is held against margins[i]; those of NAN count nothing. */
struct needed_prior needed_learn(const struct effect *effects, const double *margins, size_t count);
/* Of the effect; without an error, it is what was seen. */
struct needed_belief needed_believe(const struct needed_prior *prior, const struct effect *effect,
                                    double margin, double spread_df);

/* Fewest observations of each growing side, those so far included, with which the difference is
 * decided with the wanted power (0.8). It is predicted from the observations so far, which stay:
 * the mean over what the difference, and the spread, may be (assurance: O'Hagan, Stevens and
 * Campbell 2005, "Assurance in clinical trial design", Pharmaceutical Statistics 4; of part of the
 * data: Spiegelhalter, Freedman and Blackburn 1986, "Monitoring clinical trials: conditional or
 * predictive power?", Controlled Clinical Trials 7). A side that does not grow, or has more, keeps
 * its observations. 0: not even `most` suffice. */
unsigned needed_units(const struct needed_belief *belief, const struct needed_sides *sides,
                      const bool grows[2], double margin, const struct effect_levels *levels,
                      double power, unsigned most);
