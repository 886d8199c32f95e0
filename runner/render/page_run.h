/* page_run.h - a run on a page: what was measured, on what, in which state; after its results what
 * has no number and why. Writing fails as in html.h. */
#ifndef HAUL_RUNNER_RENDER_PAGE_RUN_H
#define HAUL_RUNNER_RENDER_PAGE_RUN_H

#include "runner/table/result_set.h"

#include <stdio.h>

/* The saved queries that tell it, and the rows of each that a page has. */
#define RUN_PART_LIST(X)                                                                           \
  X(RUN_PART_SUMMARY, "run-summary")                                                               \
  X(RUN_PART_GPUS, "gpus")                                                                         \
  X(RUN_PART_CHECKS, "checks")                                                                     \
  X(RUN_PART_NOT_MEASURED, "not-measured")                                                         \
  X(RUN_PART_TIMES, "run-time")                                                                    \
  X(RUN_PART_FACTS, "environment")
ENUM_NAMES_DECLARE(run_part, RUN_PART_LIST)
enum { PAGE_RUN_ROWS_MAX = 500 };

struct page_run {
  const char *id;     /* of the section: letters, digits and '-' */
  bool alone;         /* the page is about it: its title says what it is */
  const char *number; /* of the run in the database, for commands that show the rest */
  struct result_set parts[run_part_name_count];
};

/* "quick on node7, 2026-08-01 12:30" as far as the summary tells. In the run's arena. */
const char *page_run_title(struct page_run *run);
/* Up to the results. */
void page_run_begin(FILE *page, const struct page_run *run);
/* results_left_out: cases that the results do not show. */
void page_run_end(FILE *page, const struct page_run *run, size_t results_left_out);

#endif
