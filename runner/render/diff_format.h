/* diff_format.h - words and numbers of a comparison that several outputs have, the same on a
 * terminal and on a page: diff_format.c, the answer in diff_answer.c, distributions in
 * diff_distribution.c. Texts are "" where there is nothing to say. */
#pragma once

#include "runner/analysis/compare.h"
#include "runner/table/table.h"

struct outlier_part;

/* The smallest changes that matter where nobody says another one: diff_usual_margin(). */
#define DIFF_USUAL_THRESHOLDS "1 % for bandwidth from 1 MiB on, 3 % for smaller sizes and latency"

/* Conditions shown without -v. */
enum { DIFF_CONDITIONS_MAX = 6 };
enum { DIFF_HOSTS_SHOWN = 8, FACT_NODES_SHOWN = 3 };

/* Of 0.0302 "+3.02": per cent, two digits after the point below 10 %. */
const char *diff_percent_words(struct arena *arena, double change);
/* "-2.87 ± 0.12": per cent, and the half width of the 95 % interval, the wider half where they
 * differ. */
const char *diff_change_words(struct arena *arena, const struct comparison_row *row);
/* "GB/s", "GFLOP/s", "ns" */
const char *diff_figure_unit(const struct comparison_row *row);
/* The unit of several rows, for the head of their table: `known` is that of those before, NULL at
 * first. "" = they have several, and each number says its own. */
const char *diff_common_unit(const char *known, const struct comparison_row *row);
/* Four digits. */
const char *diff_figure_words(struct arena *arena, const struct comparison_row *row, enum side side,
                              bool with_unit);
/* In which node or on which GPUs the case was measured, where it has several rows; else NULL. */
static inline const char *diff_place_words(const struct comparison_row *row) {
  return row->node != NULL ? row->node : row->hardware;
}
bool diff_has_q(enum verdict verdict, double q);
const char *diff_q_words(struct arena *arena, enum verdict verdict, double q);
/* "REGRESSED"; "REGRESSED?" where it is provisional */
const char *diff_verdict_words(struct arena *arena, const struct diff_result *result);
/* Why changes are provisional; nothing where none is. */
const char *diff_provisional_words(struct arena *arena, const struct comparison *comparison);
/* What diff_counts_words() counts in a row. */
enum diff_counts {
  DIFF_COUNTS_PROCESSES,
  DIFF_COUNTS_NODES,
  DIFF_COUNTS_RUNS,    /* of one process each */
  DIFF_COUNTS_RUNS_OF, /* of as many processes each */
  DIFF_COUNTS_PARTS    /* processes, and their runs */
};
enum diff_counts diff_counts_of(const struct comparison_row *row);
/* What is counted of A and B, processes "5/5" or runs "5/5 runs of 2"; all: processes, boots and
 * GPUs behind them, "5/5 1/1 8/8". */
const char *diff_counts_words(struct arena *arena, const struct comparison_row *row, bool all);
/* Whether the reason of a row, that of a broken one, is too long for it: it is said below. */
bool diff_reason_stands_below(const struct comparison_row *row);
/* what else is to be known of a row, "; " between: the other rate, how many processes are not ok,
 * the reason of its verdict unless that stands below, a spread beyond delta. */
const char *diff_note_words(struct arena *arena, const struct comparison_row *row);

/* The change that the cases have in common, or the median of one run each; nothing where none is
 * known, or a group of all cases tells it. In diff_caveats.c. */
const char *diff_shift_words(struct arena *arena, const struct comparison *comparison);
/* How many are INCOMPARABLE; *reason: why, and the option that compares them; NULL = none is. */
size_t diff_count_incomparable(const struct comparison *comparison, const char **reason);
/* "host to GPU: REGRESSED, -2.03 % on average over 24 cases (95 % CI -2.51 to -1.55; 1 %
 * matters)". */
const char *diff_group_sentence(struct arena *arena, const struct comparison_group *group);
/* "JITTER: units differ by 0.1 % in A, 1.5 % in B"; nothing where nothing changed. */
const char *diff_distribution_words(struct arena *arena, const struct comparison_row *row);
/* "3 TAIL, 1 JITTER, more noise": the distributions that became worse, also those that are
 * provisional if so asked; "more noise": the undisturbed rates of these cases are SAME. "" if there
 * are none. */
const char *diff_worse_distributions(struct arena *arena, const struct comparison *comparison,
                                     bool provisional);
/* "gpu1's host link of n4 alone". */
const char *diff_part_name(struct arena *arena, const struct outlier_part *part);
bool diff_any_on_both(const struct comparison *comparison);
/* "580.159.04 -> 590.44.01"; names: of the sides, where both have one driver. */
const char *diff_sides_words(struct arena *arena, const struct comparison *comparison,
                             const char *const names[SIDES]);
/* How many cases have which verdict, undecided ones by how they look: "2 regressed, 14 same
 * (provisional), 1 undecided (1 looks slower)". */
const char *diff_found_words(struct arena *arena, const struct comparison *comparison);
/* "gpu1-gpu2, -4.2 %": the part of the machine that changed, else the case with the strongest
 * evidence, else the undecided case that differs most; nothing where nothing does. */
const char *diff_cause_words(struct arena *arena, const struct comparison *comparison);
/* The answer in one line: "2 regressed, 30 same: 570.124.06 -> 580.159.04 (gpu1-gpu2, -4.2
 * %)". names: of the sides, which stand where both have one driver. */
const char *diff_answer_words(struct arena *arena, const struct comparison *comparison,
                              const char *const names[SIDES]);
/* "2 regressed (1 provisional), 14 same"; provisional may be NULL. */
const char *diff_verdict_counts(struct arena *arena, const size_t verdicts[verdict_name_count],
                                const size_t provisional[verdict_name_count]);
/* "more noise" where side B became slower by noise alone. */
const char *diff_noise_words(enum verdict verdict);
/* An enum tone. */
unsigned diff_verdict_tone(enum verdict verdict);
/* " of n1, n2, n3, ... (8)"; "" where the fact is of no node alone. */
const char *diff_fact_nodes(struct arena *arena, const struct fact_difference *fact);
