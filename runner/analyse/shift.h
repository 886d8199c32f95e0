/* shift.h - the shift that all cases of a diff have in common. */
#ifndef HAUL_RUNNER_ANALYSE_SHIFT_H
#define HAUL_RUNNER_ANALYSE_SHIFT_H

#include "runner/analyse/diff.h"

/* Each process gets one number: the median over its cases of what it differs by from the case's
 * middle. The shift is the difference of the sides' means of these, its interval that of Welch's
 * test: what all cases of a process share (clocks, boot, neighbours) does not count as many
 * independent observations. A process that has less than half of the cases that another has says
 * too little; where a side has one process, the shift is the median of the cases' changes, without
 * an interval. */
void shift_estimate(const struct diff_case *cases, size_t count, struct diff_shift *shift);

#endif
