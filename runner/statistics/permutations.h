/* permutations.h - what units that are dealt to two sides at random would show.
 *
 * Values are natural logarithms. Nothing here fails. */
#pragma once

#include "runner/statistics/process_sample.h"
#include "runner/statistics/t_test.h"

/* One in so many ways to deal them puts the units where they are, or with the sides exchanged. */
double permutations_least_p(size_t a_count, size_t b_count);

/* Whether the units are at two levels (shape.h), both of which one side has, and another deal of
 * the same units would give a level to each side. scratch: room for twice as many. */
bool permutations_mixed_modes(const struct process_sample *a, const struct process_sample *b,
                              double margin, double *scratch);

/* The effect (t_test.h) of two units a side with two of them exchanged: a[1] and b[1 - other]. */
struct effect permutations_exchange(const double a[2], const double b[2], size_t other,
                                    const struct variance_prior *prior);
