/* page_history.h - the cases that changed, over all runs of the database: one chart each, with a
 * mark where the driver, the kernel of the host or the GPUs changed. */
#pragma once

#include "runner/analysis/history.h"

#include <stdio.h>

/* Cases that are drawn: of each changed block the one with the strongest evidence. Fewer runs than
 * that are no history. */
enum { PAGE_HISTORY_CASES_MAX = 6, PAGE_HISTORY_RUNS_MIN = 3 };

struct page_history_case {
  const struct measured_case *bench;
  size_t row;            /* of the comparison */
  struct measured *runs; /* all of the host; texts are made in its arena */
  const struct history *history;
};

/* Whether it has a history: else nothing is written. */
bool page_history(FILE *page, const struct page_history_case *changed, bool first);
