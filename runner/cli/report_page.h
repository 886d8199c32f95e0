/* report_page.h - a report: runs and a comparison, read from the database and written to a page. */
#ifndef HAUL_RUNNER_CLI_REPORT_PAGE_H
#define HAUL_RUNNER_CLI_REPORT_PAGE_H

#include "runner/analysis/compare_runs.h"
#include "runner/console/console.h"
#include "runner/record/query.h"

/* Runs that one page holds; cases of a block and of a run that have a row of their own. */
enum { REPORT_RUNS_MAX = 100, REPORT_BLOCK_ROWS_MAX = 1000, REPORT_ROWS_MAX = 5000 };

struct report_request {
  const struct common_options *common;
  struct query *query;
  const struct run_ref *runs; /* a section each, in this order */
  size_t run_count;
  const struct compare_request *sides;   /* the names of the sides */
  const struct compare_result *compared; /* NULL = no comparison */
};

/* page: in memory; a failure to write to it is not looked for. */
enum status report_write(const struct report_request *request, FILE *page,
                         struct error *err) CHECK_RESULT;

#endif
