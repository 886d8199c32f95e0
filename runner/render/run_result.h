/* run_result.h - what a run measured, for people: block by block, in the order of the plan.
 *
 * A block of pairs of places (one flow a case, both ways between two places, or a chase) at up to
 * RUN_RESULT_MATRICES_MAX settings is a matrix a setting (matrix.h). Every other block is a table,
 * one row a case: sweeps, flows at once with their total over one window, overheads; a chase in ns
 * and clocks a hop, arithmetic in ns and clocks an operation or operations a clock and SM. What is
 * not within the precision asked for is marked, with what would help below. Blocks in a row that
 * have one case each share a table. What went wrong stands in the place of its number, and reasons
 * and notes below, each once. Skipped cases are N/A in a matrix and not shown in a table; a block
 * of skipped cases alone is not shown. */
#ifndef HAUL_RUNNER_RENDER_RUN_RESULT_H
#define HAUL_RUNNER_RENDER_RUN_RESULT_H

#include "runner/render/run_rows.h"
#include "runner/render/sheet.h"

enum { RUN_RESULT_MATRICES_MAX = 6 };

/* cases: of run-result. flows: of run-flows, shown below their cases; NULL = not shown. */
enum status run_result_print(const struct run_rows *cases, const struct run_rows *flows,
                             const struct style *style, struct error *err) CHECK_RESULT;

#endif
