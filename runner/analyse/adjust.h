/* adjust.h - many tests at once. */
#ifndef HAUL_RUNNER_ANALYSE_ADJUST_H
#define HAUL_RUNNER_ANALYSE_ADJUST_H

#include <stddef.h>

/* q values of Benjamini and Hochberg 1995, "Controlling the false discovery rate": rejecting every
 * q <= 0.05 keeps the expected share of false ones among them at 5 %. A p of NAN is no test and
 * keeps NAN. Returns the number of tests. p and q may be the same array. */
size_t adjust_false_discovery(const double *p, size_t count, double *q);

#endif
