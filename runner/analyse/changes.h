/* changes.h - where a series changes its level.
 *
 * Pettitt's test (1979, "A non-parametric approach to the change-point problem", Applied Statistics
 * 28): K = max |U_t| over the ranks of what is before and after t, p about 2 exp(-6 K^2 / (n^3 +
 * n^2)). It asks for no distribution and no spread, and single wild values do not move it. The
 * series is split where p < alpha and its levels differ by the margin, and both parts are asked
 * again (binary segmentation), so that a series without a change is split at most as often as alpha
 * says. About 14 values are needed before anything can be found. */
#ifndef HAUL_RUNNER_ANALYSE_CHANGES_H
#define HAUL_RUNNER_ANALYSE_CHANGES_H

#include <stddef.h>

struct change {
  size_t at; /* the first value after it */
  double p;
};

/* values: natural logarithms in the order of time. A change falls only where starts[i] says that a
 * group (a run) begins; starts is ascending. margin: relative. changes holds start_count;
 * ascending. Returns how many. */
size_t changes_find(const double *values, size_t count, const size_t *starts, size_t start_count,
                    double margin, double alpha, struct change *changes);

#endif
