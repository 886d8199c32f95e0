/* history.h - what `haul history` prints: for people one small chart per series with what changed
 * below it, and the runs as a table where there is one series (or all: true); else one row per
 * series and run. */
#pragma once

#include "runner/analysis/history.h"
#include "runner/analysis/machines.h"
#include "runner/table/table.h"

struct json_shape;

enum status history_print(const struct results *results, const struct history *history, bool all,
                          const struct table_options *options, struct error *err) CHECK_RESULT;

/* The same of many machines, for people: their median and the lowest tenth by block, what drivers
 * changed, machines that are or became unlike the others, and the cases that changed most. */
enum status history_print_machines(const struct results *results, const struct machines *machines,
                                   const struct history *history,
                                   const struct table_options *options,
                                   struct error *err) CHECK_RESULT;

/* The columns of the rows for programs. */
void history_describe_json(struct json_shape *shape);

/* What a mark means: "the latest run differs from the level before it (p 0.001)"; in the arena. */
const char *history_mark_words(struct arena *arena, const struct history_series *series, size_t i);
