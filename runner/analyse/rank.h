/* rank.h - the same questions asked of ranks: no distribution assumed, but many processes needed.
 *
 * Mann-Whitney's U, exact for up to RANK_EXACT_MAX values a side without ties, else by the normal
 * approximation with correction for ties and continuity; Hodges-Lehmann's difference with the
 * interval that belongs to the test. Values are natural logarithms. */
#ifndef HAUL_RUNNER_ANALYSE_RANK_H
#define HAUL_RUNNER_ANALYSE_RANK_H

#include "runner/analyse/effect.h"

#include <stddef.h>

enum { RANK_EXACT_MAX = 30 };

/* P(U >= u) for counts a and b under the hypothesis of no difference. */
double rank_exact_upper(size_t a_count, size_t b_count, size_t u);
/* P value of "a does not exceed b by more than shift", one-sided. */
double rank_upper_p(const double *a, size_t a_count, const double *b, size_t b_count, double shift);
/* P value of |difference| <= margin: twice the smaller of both sides, at most 1. */
double rank_p(const double *a, size_t a_count, const double *b, size_t b_count, double margin);
/* Median of all a - b; *interval with at least that confidence, from -INFINITY to INFINITY where so
 * few values allow none. */
double rank_difference(const double *a, size_t a_count, const double *b, size_t b_count,
                       double confidence, struct interval *interval);

#endif
