/* page_history.h - the cases that changed, over all runs of the database: one chart each, with a
 * mark where the driver, the kernel of the host or the GPUs changed. */
#ifndef HAUL_RUNNER_RENDER_PAGE_PAGE_HISTORY_H
#define HAUL_RUNNER_RENDER_PAGE_PAGE_HISTORY_H

#include "runner/analysis/compare.h"

#include <stdio.h>

struct database;

/* Cases that are drawn: of each changed block the one with the strongest evidence. Fewer runs than
 * that are no history. */
enum { PAGE_HISTORY_CASES_MAX = 6, PAGE_HISTORY_RUNS_MIN = 3 };

/* Nothing is written where no case changed or all have too few runs. */
enum status page_history(FILE *page, const struct measured *measured,
                         const struct comparison *comparison, struct database *database,
                         struct error *err) CHECK_RESULT;

#endif
