/* broken.h - which cases are not ok more often on side b, beyond chance. For diff.c alone.
 *
 * A case that now and then fails does so on both sides, and more often on one of them in half of
 * all comparisons. It is broken where it was corrupt in a larger share of the processes of b: wrong
 * data is never chance. Else it must fail in a larger share, and one of two tests says so at 5 %,
 * false discoveries over all cases:
 *   Fisher's, of the processes of both sides;
 *   where a never failed, the binomial test against the share in which all other cases of a failed,
 *   of those that were ok at least once: where none did, one failure is enough. */
#ifndef HAUL_RUNNER_ANALYSIS_BROKEN_H
#define HAUL_RUNNER_ANALYSIS_BROKEN_H

#include "runner/analysis/diff.h"

/* broken holds count. */
void broken_find(const struct diff_case *cases, size_t count, double false_discovery_rate,
                 bool *broken);

#endif
