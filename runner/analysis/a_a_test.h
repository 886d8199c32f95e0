/* a_a_test.h - how often a diff reports a change where there is none.
 *
 * One side is split at random in two halves, again and again. Both halves come from the same
 * machine and driver, so every change that the diff reports between them is a false positive. Where
 * the side has four runs or more, whole runs are split, else processes, which see nothing of how
 * runs differ. Each goes to the same half in all cases, so that what its cases share stays
 * together.
 *
 * Random halves are mixed in time, and so silent about a level that drifts or wanders. Where the
 * times of runs are known, the earlier half is also held against the later one, as if runs were
 * independent: what that reports, a side that is measured after the other would show too. */
#pragma once

#include "runner/analysis/diff.h"

struct a_a_result {
  size_t splits;           /* made; 0 where no case has four processes */
  size_t splits_reporting; /* of them, those with a false positive */
  size_t judged;           /* cases judged, over all splits */
  size_t runs;             /* of the side */
  bool by_run;             /* runs were split */
  size_t false_positives;  /* of them, those reported as changed */
  size_t in_time_judged;   /* cases, of the earlier half against the later; 0 = not known */
  size_t in_time_reported;
};

/* Splits side a of the cases; side b is not read. The same seed gives the same result. */
struct a_a_result a_a_test(const struct diff_case *cases, size_t count,
                           const struct diff_options *options, size_t splits, uint64_t seed);
