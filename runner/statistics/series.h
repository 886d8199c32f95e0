/* series.h - values in the order of time: how far each is like the one before, and whether they
 * moved at once or little by little.
 *
 * Values are natural logarithms. Nothing here fails. */
#pragma once

#include "runner/statistics/rank_test.h"

#include <stdbool.h>

enum { SERIES_MIN = 24 }; /* fewer values say nothing of their autocorrelation */
#define SERIES_AUTOCORRELATION_MAX 0.97

/* The correlation of a value with the next, if the level wanders as a first-order autoregression:
 * the mean squares of steps over two and three values are then 1 + r and 1 + r + r^2 times that of
 * one. The largest eighth of the steps is left out, so that a few changes of the level count for
 * nothing. 0 to SERIES_AUTOCORRELATION_MAX; 0 of fewer than SERIES_MIN values. */
double series_seen_autocorrelation(const double *values, size_t count);
/* What a series is taken to have: what was seen of it, but for what independent values may seem to
 * have by chance, and at least as much as is usual of the series of its machine; 0 = not known. */
double series_autocorrelation(double seen, double usual, size_t count);
/* So many independent values tell as much as one of these does: (1 - r) / (1 + r). */
double series_worth(double autocorrelation);

/* A straight line through the values. */
struct series_drift {
  double change; /* from the first to the last, ln */
  double p;      /* of no slope: a t test */
};

/* Whether a line describes the values better than the levels between the changes do, by the
 * Bayesian information criterion (Schwarz 1978, "Estimating the dimension of a model", Annals of
 * Statistics 6): two numbers against two per change and one. */
bool series_is_drift(const double *values, size_t count, const struct change_point *changes,
                     size_t change_count, double autocorrelation, struct series_drift *drift);

/* The first and the last value at which a change may have been, with a probability of 95 %, among
 * values with this one change: the posterior of its place, each one being as likely before (Smith
 * 1975, "A Bayesian approach to inference about a change-point in a sequence of random variables",
 * Biometrika 62). */
struct series_range {
  size_t first, last;
};
struct series_range series_change_range(const double *values, size_t count, double autocorrelation);
