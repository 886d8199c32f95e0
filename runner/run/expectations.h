/* expectations.h - the data files of expectations that hold here, opened together: the user's, and
 * the shipped one; and the result of a run shown beside them. */
#pragma once

#include "runner/console/console.h"
#include "runner/expect/judge.h"

struct scenario; /* schema/scenario/scenario.h */

struct expectations {
  struct expect_set set;
  struct expect_file *files[EXPECT_FILES_MAX]; /* those of the set, owned */
};

/* given: a file; NULL: the one that HAUL_EXPECT or ~/.config/haul/expect.toml names, if there is
 * one. Its mistakes are printed on stderr; then false, and the shipped file alone is open. */
bool expectations_open(struct expectations *expectations, const struct common_options *common,
                       const char *given);
void expectations_fini(struct expectations *expectations);

/* How a result is shown. */
struct result_view {
  const struct common_options *common;
  const struct expectations *expectations;
  const struct row_sink *rows;     /* where it goes unless people read it */
  bool sums;                       /* of the cells of matrices of rates */
  bool brief;                      /* one line for a block whose places agree, unless verbose */
  const char *lead;                /* above the blocks: which run it is; NULL = nothing */
  bool simulated;                  /* which is said below that */
  const char *incomplete;          /* below that: what lacks, and how to go on; NULL = nothing */
  const struct scenario *scenario; /* these as of struct run_result_options */
  const char *skipped_command;
};

/* Show what came of a run: to people its blocks, each as matrix, grid or table. run: as runs are
 * named; options may be NULL. */
enum status expectations_show_run(const struct result_view *view, struct query *query,
                                  const char *run, const struct query_options *options,
                                  struct error *err) CHECK_RESULT;
/* Where the wall time of a run went, on stderr: it is about the run, not its result. */
enum status expectations_show_times(const struct common_options *common, struct query *query,
                                    const char *run, struct error *err) CHECK_RESULT;
