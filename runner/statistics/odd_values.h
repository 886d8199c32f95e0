/* odd_values.h - the few values of a sample that are far from all others.
 *
 * The generalised extreme studentised deviate test (Rosner 1983, "Percentage points for a
 * generalized ESD many-outlier procedure", Technometrics 25): the value farthest from the mean is
 * taken out again and again, and the last time that one was too far for a normal sample, it and all
 * before it are odd. One normal sample in a thousand has some. Where more values than may be odd
 * are far away, as of a sample at two levels, none are: they widen the spread of the rest.
 *
 * Nothing here fails. */
#pragma once

#include <stddef.h>

/* Of so many values at most one; and at most so many in all. */
enum { ODD_VALUES_SHARE = 5, ODD_VALUES_MAX = 6 };

/* Puts the odd values last, each in turn, and the others first in their order; returns how many are
 * odd. order: count indices of the values, out. */
size_t odd_values_find(const double *values, size_t count, size_t *order);
