/* null.h - how often a diff of nothing reports something.
 *
 * One side is split at random in two halves, again and again; the halves come from the same machine
 * and driver, so every change that the diff reports between them is a false alarm. A process goes
 * to the same half in all cases, so that what its cases share stays together. */
#ifndef HAUL_RUNNER_ANALYSE_NULL_H
#define HAUL_RUNNER_ANALYSE_NULL_H

#include "runner/analyse/diff.h"

struct null_rate {
  size_t splits;   /* made; 0 where no case has four processes */
  size_t alarmed;  /* of them, those with a false alarm */
  size_t judged;   /* cases judged, over all splits */
  size_t reported; /* of them, false alarms */
};

/* Splits side a of the cases; b is not looked at. seed: one seed, one result. */
void null_split(const struct diff_case *cases, size_t count, const struct diff_options *options,
                size_t splits, uint64_t seed, struct null_rate *rate);

#endif
