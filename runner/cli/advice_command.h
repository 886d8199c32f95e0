/* advice_command.h - the commands that measure again what a comparison leaves open. */
#pragma once

#include "runner/analysis/compare_runs.h"

struct strbuf;

/* Whether another tool measured it, so that no command of ours repeats it. */
bool advice_is_imported(const struct results_run *run);
/* Runs whose commands measure all cases to decide, the same for both sides. */
const struct results_run **advice_find_runs(struct arena *arena,
                                            const struct compare_result *result, size_t *count);
/* The run of a side, if it has one, that differs from that one only in its database or node; else
 * that one. */
const struct results_run *advice_own_run(struct arena *arena, const struct compare_result *result,
                                         enum side side, const struct results_run *of);

/* The command that made a run, with that number of processes and, unless tag is NULL, that tag.
 * Options that only change how the result is shown are left out; the name of a node is NODE where
 * there are several. db: " --db FILE" or "", where the command does not say itself where results
 * go. */
void advice_put_command(struct strbuf *command, struct arena *arena, const struct results_run *run,
                        unsigned processes, size_t nodes, const char *tag, const char *db);
/* Whether it writes a shard, which is to be merged. */
bool advice_is_shard(struct arena *arena, const struct results_run *run);
