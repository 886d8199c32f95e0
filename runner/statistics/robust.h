/* robust.h - statistics that a few wild values do not pull: spread, outlier scores, median polish.
 *
 * Values are natural logarithms of rates, so that differences are ratios. Nothing here fails.
 *
 * Scores: which of several values is lower than the others. The middle is their median. Two tests
 * share the level: a value is divided by the robust spread of all (1.4826 times the median absolute
 * deviation, corrected for few values: Croux and Rousseeuw 1992, "Time-efficient algorithms for two
 * highly robust estimators of scale", Computational Statistics 1), which several low ones do not
 * hide, and by the standard deviation of all others (externally studentised, as in Grubbs 1969,
 * "Procedures for detecting outlying observations in samples", Technometrics 11), which is better
 * known where values are few. The spread of three or four values alone is now and then almost
 * nothing or far too much: it is combined with the usual one of a quiet machine (ROBUST_SPREAD,
 * with the weight of ROBUST_DF values) and with the noise of a value, where that is known; the
 * usual spread is at least the error that a value has for itself.
 *
 * A value is low where it is below the middle by its margin and one of the tests says so, at the
 * quantile of Student's t at which one in a hundred sets of equal values has a low one
 * (ROBUST_ALPHA, shared by the tests and by those values that are not low: Holm 1979, "A simple
 * sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6). Of three
 * or four values whose noise is not known, up to 7 and 3 in a hundred have one.
 *
 * Of ROBUST_TAIL_COUNT values and more the spread is at least that of their outer part above the
 * middle, the 90 % quantile of the deviations upwards: values of several kinds, as those of GPUs
 * against the median of their machine's four, crowd in the middle. What is slow lies below it and
 * does not widen that spread.
 *
 * Of ROBUST_AGAIN_COUNT values and more, those that are not low are the set by which all are judged
 * again, until no further one is low or half of them are: many low values move the middle and hide
 * one another. Where they are at two levels (shape_levels()), the lower of at most half of the
 * values, those of the upper level are that set from the start: a mixture, whose spread is not that
 * of its parts.
 *
 * Median polish: a two-way table fitted by medians (Tukey 1977, "Exploratory Data Analysis",
 * chapter 11), also with holes and for symmetric tables. A cell is level + effect[a] + effect[b] +
 * residual. Effects below `second` are of the first kind (rows), the others of the second
 * (columns); a symmetric table has one kind (second = effect_count), and each of its cells has two
 * effects of it. The effects of a kind have the median 0. One wild cell does not pull an effect
 * that has MEDIAN_POLISH_CELLS_MIN cells or more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROBUST_SPREAD 0.002 /* two processes of a quiet machine differ by about that much */
#define ROBUST_DF     8.0
#define ROBUST_ALPHA  0.01
enum { ROBUST_TAIL_COUNT = 50, ROBUST_AGAIN_COUNT = 10 };
enum { ROBUST_COUNT_MIN = 3 }; /* of two values neither can be said to be the low one */

/* Median absolute deviation, as an estimate of the standard deviation. The deviations are left
 * absolute and sorted. */
double robust_spread(double *deviations, size_t count);

/* What is usual of values of which some may be low, and how well the spread is known. */
struct robust_usual {
  double middle, spread, df;
};

/* Of fewer than ROBUST_AGAIN_COUNT values mean and standard deviation, else the median and the
 * robust spread. The values are sorted and lost. */
struct robust_usual robust_usual(double *values, size_t count);

struct robust_score {
  double value;
  double noise;     /* standard error of the value; 0 = not known */
  double error;     /* what it is at least, as far as is known: of one process, from its trials */
  double margin;    /* relative */
  double stretch;   /* by how much its tails are longer than those of a normal value; 0.3 = 30 % */
  double deviation; /* out: from the median, ln */
  double robust_z;  /* out: the deviation over the smaller of both spreads */
  bool low;         /* out */
};

/* fitted: how many of the values a fit could make 0; as many of the smallest deviations are left
 * out of the spread. sets: that share ROBUST_ALPHA, at least 1. from_zero: the values are changes,
 * so that the lower of two levels is low, however many are there, if the upper one is nearer to 0.
 * Of fewer than ROBUST_COUNT_MIN none is low. */
void robust_score_all(struct robust_score *scores, size_t count, size_t fitted, size_t sets,
                      bool from_zero);
/* The middle of such changes: the median, or that of the upper level. */
double robust_usual_change(const double *values, size_t count);
/* One value against the only other one: value is their difference. */
void robust_score_pair(struct robust_score *score);

enum { MEDIAN_POLISH_CELLS_MIN = 3 };

struct median_polish_cell {
  size_t a, b;
  double value, residual;
};

/* Whether every effect has MEDIAN_POLISH_CELLS_MIN cells. */
bool median_polish_is_safe(const struct median_polish_cell *cells, size_t count,
                           size_t effect_count);
/* Sets the effects, the level and the residuals. */
void median_polish_fit(struct median_polish_cell *cells, size_t count, size_t effect_count,
                       size_t second, double *effects, double *level);
/* Number of free parameters, which is how many residuals the fit can make 0. */
size_t median_polish_parameters(size_t effect_count, size_t second);
