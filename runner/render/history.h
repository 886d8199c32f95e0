/* history.h - what `haul history` prints: for people one small chart per series with what changed
 * below it, and the runs as a table where there is one series (or all: true); else one row per
 * series and run. */
#ifndef HAUL_RUNNER_RENDER_HISTORY_H
#define HAUL_RUNNER_RENDER_HISTORY_H

#include "runner/analysis/history.h"
#include "runner/table/table.h"

enum status history_print(const struct measured *measured, const struct history *history, bool all,
                          const struct table_options *options, struct error *err) CHECK_RESULT;

#endif
