/* stand_out.h - which of several alike is lower than the others, by a robust z.
 *
 * Values are natural logarithms, and the middle is their median. Two tests share the level: a value
 * is divided by the robust spread of all (1.4826 times the median absolute deviation, corrected for
 * few values: Croux and Rousseeuw 1992, "Time-efficient algorithms for two highly robust estimators
 * of scale"), which several low ones do not hide, and by the standard deviation of all others
 * (externally studentised, as in Grubbs 1969, "Procedures for detecting outlying observations in
 * samples"), which is better known where values are few.The
 * spread of three or four values alone is now and then almost nothing or far too much: it is taken
 * together with the usual one of a quiet machine (STAND_OUT_SPREAD, with the weight of STAND_OUT_DF
 * values) and with the noise of a value, where that is known.
 *
 * A value is low where it is below the middle by its margin and one of the tests says so, at the
 * quantile of Student's t by which one in a hundred sets of values that are alike has a low one
 * (STAND_OUT_ALPHA, shared by the tests and the values). Of three or four values whose noise is not
 * known, that is up to 7 and 3 in a hundred.
 */
#ifndef HAUL_RUNNER_ANALYSE_STAND_OUT_H
#define HAUL_RUNNER_ANALYSE_STAND_OUT_H

#include <stdbool.h>
#include <stddef.h>

#define STAND_OUT_SPREAD 0.002 /* two processes of a quiet machine differ by about that much */
#define STAND_OUT_DF     8.0
#define STAND_OUT_ALPHA  0.01
enum { STAND_OUT_MIN = 3 }; /* with two there is no telling which one is low */

struct standing {
  double value;
  double noise;  /* standard error of the value; 0 = not known */
  double margin; /* relative */
  double change; /* out: against the middle, ln */
  double z;      /* out: the change in the smaller of both spreads */
  bool low;      /* out */
};

/* fitted: how many of the values a fit could make 0; the smallest ones say nothing of the spread.
 * count is at least STAND_OUT_MIN. */
void stand_out_judge(struct standing *standings, size_t count, size_t fitted);
/* Against the only other one there is: value is the difference to it. */
void stand_out_judge_difference(struct standing *standing);
/* Median absolute deviation from the middle, as an estimate of the standard deviation. */
double stand_out_spread(double *deviations, size_t count);

#endif
