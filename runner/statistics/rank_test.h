/* rank_test.h - tests on ranks: they assume no distribution, but need more values than t_test.h.
 *
 * Values are natural logarithms, so that differences are ratios. Nothing here fails; where a number
 * is undefined it is NAN.
 *
 * Two samples: Mann-Whitney's U, exact for up to RANK_TEST_EXACT_MAX values per side without ties,
 * else by the normal approximation with corrections for ties and continuity (Mann and Whitney 1947,
 * Annals of Mathematical Statistics 18); the Hodges-Lehmann estimate of their difference with the
 * interval that belongs to the test (Hodges and Lehmann 1963, ibid. 34).
 *
 * One series: Pettitt's test for a change point (1979, "A non-parametric approach to the
 * change-point problem", Applied Statistics 28): K = max |U_t| over the ranks of the values before
 * and after t, p about 2 exp(-6 K^2 / (n^3 + n^2)). Single wild values do not move it. Where each
 * value is like the one before, n of them are worth as few as series_worth() says, and so is the
 * exponent. The series is split where p < alpha and the levels differ by the margin, and both parts
 * are tested again (binary segmentation), so that a series without a change is split at most as
 * often as alpha says. Nothing can be found among fewer than about 14 values. */
#pragma once

#include "runner/statistics/sample.h"

enum { RANK_TEST_EXACT_MAX = 30 };

/* P(U >= u) for counts a and b under the hypothesis of no difference. */
double rank_test_exact_upper(size_t a_count, size_t b_count, size_t u);
/* One-sided p value of "a does not exceed b by more than shift". */
double rank_test_upper_p(const double *a, size_t a_count, const double *b, size_t b_count,
                         double shift);
/* P value of |difference| <= margin: twice the smaller of both sides, at most 1. */
double rank_test_p(const double *a, size_t a_count, const double *b, size_t b_count, double margin);
/* Hodges-Lehmann: the median of all a - b. *interval has at least that confidence; it is -INFINITY
 * to INFINITY where so few values allow none. */
double rank_test_difference(const double *a, size_t a_count, const double *b, size_t b_count,
                            double confidence, struct interval *interval);

struct change_point {
  size_t at; /* the first value after the change */
  double p;
};

/* values: in the order of time. worth: of one value; 1 = they are independent. margin: relative.
 * changes holds count, and is ascending. Returns their number. */
size_t change_point_find(const double *values, size_t count, double margin, double alpha,
                         double worth, struct change_point *changes);
