/* run_result.h - what a run measured, for people: block by block, in the order of the plan.
 *
 * A block of pairs of places (one flow per case, both ways between two places, or a chase) at up to
 * RUN_RESULT_MATRICES_MAX settings is a matrix per setting (matrix.h). Every other block is a table
 * with one row per case: sweeps, flows at once with their total over one window, overheads; a chase
 * in ns and clocks per hop, arithmetic in ns and clocks per operation or operations per clock and
 * SM. A case that is not within the precision asked for is marked, with what would help below.
 * Adjacent blocks of one case each share a table. What went wrong stands in the place of its
 * number; reasons and notes stand below, each once. Skipped cases are N/A in a matrix and left out
 * of a table; a block with skipped cases only is left out. */
#ifndef HAUL_RUNNER_RENDER_RUN_RESULT_H
#define HAUL_RUNNER_RENDER_RUN_RESULT_H

#include "runner/table/output.h"

enum { RUN_RESULT_MATRICES_MAX = 6 };

/* cases: rows of the saved query run-result. flows: of run-flows, shown below their cases; NULL =
 * not shown. Columns are known by their names; one that a query does not have counts as NULL. */
enum status run_result_print(const struct result_set *cases, const struct result_set *flows,
                             const struct output *output, struct error *err) CHECK_RESULT;

#endif
