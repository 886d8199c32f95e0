/* diff_odd.h - the units of a case that are far from all others.
 *
 * One process in twenty that a neighbour disturbed widens every interval so that no change is seen.
 * Odd units (odd_values.h) are left out where they are few: at most one of DIFF_ODD_SHARE units of
 * both sides. Where more are far away, this is how the case is, and all count. A unit must be odd
 * on its side and among all: one that is far from its side alone may be at the level of the other
 * side, of a case at two levels. */
#pragma once

#include "runner/statistics/process_sample.h"

#include <stdbool.h>

enum { DIFF_ODD_SHARE = 10 };
#define DIFF_NODE_SPREADS 4.0

/* What was left out of a and of b. */
struct diff_odd {
  size_t counts[2];
  double shifts[2]; /* by how much the mean of all exceeds that of those left */
};

/* Whether units were left out; then a and b are of values and numbers, which hold as many as both
 * have, and *unlike is by how much the difference of all means is larger than that of those left
 * where one side has two odd units more than the other, else 0. */
bool diff_odd_drop(struct process_sample *a, struct process_sample *b, double *values,
                   uint32_t *numbers, struct diff_odd *odd, double *unlike);

/* Of nodes, what changed unlike the others is cut off instead: "paired" in diff.h. spread_min: no
 * spread counts as less. Returns the mean of what was cut off of two and more, else 0. */
double diff_odd_cut(double *differences, size_t count, double spread_min);
