/* dependence.h - how far the cases of a comparison see the same noise.
 *
 * What the cases of a process or run share (a boot, clocks, a GPU) moves them together. Then a
 * hundred cases know the variance between runs no better than one does, and a variance that is
 * shrunk towards that of its peers must not count as many degrees of freedom.
 *
 * Each case has a vector: the deviations of its observations (processes or runs) from the mean of
 * their side. Between independent cases the squared correlation of two such vectors is 1 / df on
 * average, df being the dimensions that the means leave them; between cases that share everything
 * it is 1. Nothing here fails. */
#pragma once

#include "runner/statistics/process_sample.h"

struct deviations {
  double *values;    /* of one case; the squares sum to 1, or all are 0 */
  uint32_t *numbers; /* of the observations, the same in all cases; those of two sides differ */
  size_t count;
  double df;
};

/* The deviations of one or two sides; either may be NULL. values and numbers are the caller's, and
 * hold as many as both sides have; the rest is set. b_offset is added to the numbers of b. */
void deviations_set(struct deviations *deviations, const struct process_sample *a,
                    const struct process_sample *b, uint32_t b_offset);

/* The mean squared correlation of the true noise of two different cases, 0 to 1. With less than two
 * degrees of freedom nothing can be told apart: 1. numbers_end: all numbers are below. */
double dependence_estimate(const struct deviations *cases, size_t count, size_t numbers_end);
