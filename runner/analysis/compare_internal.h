/* compare_internal.h - what the files of this folder share. */
#pragma once

#include "engine/base/text_index.h"
#include "runner/analysis/compare.h"

enum { ANALYSIS_GPUS_MAX = 64 }; /* bits of results_case.gpus */

/* Whether two medians are of one case_key; those of one are adjacent. */
bool analysis_is_same_key(const struct results *results, size_t median, size_t other);
/* The hardware of a result: UUIDs of its GPUs, ", " between, else the host's name; may be NULL. */
const char *analysis_hardware_text(const struct results *results, size_t run, size_t bench,
                                   struct arena *arena);
/* By environment: the first with the same boot or node; UINT32_MAX = not known. */
uint32_t *analysis_equal_environments(const struct results *results, bool boot,
                                      struct arena *arena);
/* By case: the number of its block. Blocks are in the order of their first cases by id: that of
 * their scenarios. */
uint32_t *analysis_number_blocks(const struct results *results, struct text_index *blocks,
                                 struct arena *arena);
/* STATUS_INVALID where `simulated` of `count` runs are, but not all. */
enum status analysis_check_simulated(size_t simulated, size_t count,
                                     struct error *err) CHECK_RESULT;

/* compare_pairs.c: fills rows, inputs and other_machine of the comparison: everything but results
 * and verdicts. */
void compare_pair_sides(const enum side *sides, const struct compare_options *options,
                        struct comparison *comparison);
/* compare_history.c: of pairs of one run each, how runs of the case on that hardware differ, from
 * earlier runs, those under one driver compared with each other: run_variance and run_df of the
 * inputs, and what that changes of confounded and judged. */
void compare_set_history(const struct results *before, struct comparison *comparison);
/* compare_shapes.c: fills the shapes of all sides. */
void compare_set_shapes(struct comparison *comparison);
/* compare_groups.c: fills groups, from rows that are judged and in the order of pairing. */
void compare_groups(const char *only, const struct diff_options *options,
                    struct comparison *comparison);
/* compare_facts.c: fills facts and, but for the processes, totals. The boot_id is left out of the
 * facts: boots are counted. */
void compare_environments(const enum side *sides, struct comparison *comparison);

/* compare_conditions.c: fills conditions. */
void compare_conditions(const enum side *sides, struct comparison *comparison);

struct machines;
/* For machines_new(): what drivers changed. node_of: by run. */
void machines_find_upgrades(struct machines *machines, const struct results *results,
                            const uint32_t *node_of);
