/* outliers.h - what `haul outliers` prints: for people (table, md) the slow ones (all: everything
 * judged), else one row per GPU, link or host and block. */
#ifndef HAUL_RUNNER_RENDER_OUTLIERS_H
#define HAUL_RUNNER_RENDER_OUTLIERS_H

#include "runner/analysis/outliers.h"
#include "runner/table/table.h"

enum status outliers_print(const struct measured *measured, const struct outliers *outliers,
                           bool all, const struct table_options *options,
                           struct error *err) CHECK_RESULT;

#endif
