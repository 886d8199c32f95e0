/* run_result.h - what a run measured, for people: block by block, in the order of the scenario.
 *
 * How a block is laid out follows from its axes (result_block.h): matrices of places at up to
 * RUN_RESULT_MATRICES_MAX settings, each direction in its own; grids of a swept number by places;
 * else a table with one row per case: sweeps of one pair, flows at once with their total over one
 * window, overheads; a chase in ns and clocks per hop, arithmetic in ns and clocks per operation or
 * operations per clock and SM. Every case is shown once in its block, in a cell or row whose labels
 * are its own; in a matrix of both ways on both sides of the diagonal. A setting that was measured
 * in another place has its number and a mark that says where. A case that is not within the
 * precision asked for is marked. Adjacent blocks of one case each share a table. What went wrong
 * stands in the place of its number. Notes stand below all blocks, each once. Skipped cases are N/A
 * in a matrix and left out of a table; what the run left out or did not come to is - in a matrix; a
 * block with skipped cases only is left out. */
#pragma once

#include "runner/document/document.h"

struct scenario; /* schema/scenario/scenario.h */

enum { RUN_RESULT_MATRICES_MAX = 6 };

struct run_result_options {
  bool sums;                       /* below each matrix of rates the sum of its cells */
  bool brief;                      /* one line for a block whose places agree within 2 % */
  bool answer;                     /* at the end: the best rate of each kind of path */
  const struct scenario *scenario; /* that was measured; NULL = not known */
  const char *skipped_command;     /* shows what was skipped; NULL = the answer does not count it */
};

/* cases: rows of the saved query run-result. flows: of run-flows, shown below their cases; NULL =
 * not shown. Columns are known by their names; one that a query does not have counts as NULL. */
void run_result_print(const struct result_set *cases, const struct result_set *flows,
                      const struct run_result_options *options, struct document *document);
/* The last of those alone: a paragraph each, with its first words as "Host to GPU". */
void run_result_answer(const struct result_set *cases, struct document *document);
/* "5 of 5 cases: needs 200 GiB of host memory", in the arena of the rows; "" = not all were
 * skipped.
 */
const char *run_result_all_skipped(const struct result_set *cases);
