/* pair.h - which results of two sides belong together (compare.h says how). */
#ifndef HAUL_RUNNER_ANALYSE_PAIR_H
#define HAUL_RUNNER_ANALYSE_PAIR_H

#include "runner/analyse/compare.h"

/* Fills rows, inputs and other_machine of the comparison: everything but results and verdicts. */
void pair_sides(const struct measured *measured, const enum side *sides,
                const struct compare_options *options, struct comparison *comparison);

#endif
