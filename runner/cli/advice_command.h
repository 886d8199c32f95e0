/* advice_command.h - the commands that measure again what a comparison leaves open. */
#pragma once

#include "runner/analysis/compare_runs.h"

/* Whether another tool measured it, so that no command of ours repeats it. */
bool advice_is_imported(const struct results_run *run);
/* Runs whose commands measure all cases to decide, the same for both sides. */
const struct results_run **advice_find_runs(struct arena *arena,
                                            const struct compare_result *result, size_t *count);
/* The run of a side, if it has one, that differs from that one only in its database or node; else
 * that one. */
const struct results_run *advice_own_run(struct arena *arena, const struct compare_result *result,
                                         enum side side, const struct results_run *of);

/* A --only that leaves out what the run measured of cases that are not open, where there are many
 * of these: names of cases or blocks; NULL = there is none. */
const char *advice_only(struct arena *arena, const struct compare_result *result,
                        const struct results_run *run);

/* The folder of its shard; NULL = it has none. */
const char *advice_shard(struct arena *arena, const struct results_run *run);
/* Whether its command says which node it is. */
bool advice_names_node(struct arena *arena, const struct results_run *run);

/* What a command is to do. */
struct advice_how {
  unsigned processes;
  const char *tag;  /* a word of a shell; NULL = none */
  const char *only; /* instead of that of the run; NULL = the same */
  const char *db;   /* " --db FILE" or "", of a run without a shard; NULL = that of the run */
};

/* The command that made a run, as it is to be given again, without options that only change how
 * the result is shown. */
const char *advice_command(struct arena *arena, const struct results_run *run,
                           const struct advice_how *how);
