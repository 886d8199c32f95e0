/* diff_layout.h - a comparison laid out once: what differs between the sides, each block in one
 * line, and the cases in groups of one block and verdict, for text (diff.c), JSON (diff_json.c) and
 * page (page_diff.c).
 *
 * Texts are in the layout's arena or the comparison's, unescaped. No errors but want of memory. */
#pragma once

#include "runner/analysis/compare.h"

/* Groups of fewer rows are not folded: the rows say more than their count. Where undecided cases
 * that differ by less than matters would take more lines, they are one group of all blocks. */
enum { DIFF_FOLD_MIN = 3, DIFF_SMALL_LINES_MAX = 12 };

/* One block. */
struct diff_block {
  const char *name;
  size_t cases, compared; /* compared: measured on both sides */
  double change;          /* of the rate: geometric mean of those; NAN = none */
  size_t verdicts[verdict_name_count], provisional[verdict_name_count]; /* of the cases */
  bool changed; /* some verdict is neither "same" nor undecided */
};

/* Rows of one block and verdict, in the order of the comparison. */
struct diff_group {
  enum verdict verdict;
  const char *block;  /* "" = undecided cases of all blocks that differ by less than matters */
  const size_t *rows; /* of comparison.rows */
  size_t count;
  size_t provisional; /* of those */
  bool folded;
  double low, high; /* of the changes of the figure; NAN = none has one */
};

struct diff_layout {
  struct arena arena;
  const struct comparison *comparison;
  /* comparison.facts, but for those that only one side has, where they are many. */
  const struct fact_difference **facts;
  size_t fact_count;
  const char *unanswered[SIDES]; /* "34 facts, such as bios_version, that A does not have" */
  struct diff_block *blocks;     /* in the order of the runs; changed ones first */
  size_t block_count, changed_blocks;
  struct diff_group *groups; /* by verdict, strongest evidence first */
  size_t group_count;
  const struct comparison_row **listed; /* of groups that are not folded */
  size_t listed_count;
};

/* Rows of verdicts that are not shown are in no group; all: nothing is folded. */
void diff_layout_init(struct diff_layout *layout, const struct comparison *comparison,
                      const bool shown[verdict_name_count], bool all);
void diff_layout_fini(struct diff_layout *layout);

/* What the counts of the rows mean, by what occurs; folded: in those of folded groups, too. */
const char *diff_counts_legend(struct arena *arena, const struct diff_layout *layout, bool folded);
/* "down: 12 cases", "59 cases below the threshold" */
const char *diff_group_title(struct diff_layout *layout, const struct diff_group *group);
/* "down: 12 cases, worst gpu2-numa0:pinned/4MiB": the one that changed most. */
const char *diff_group_words(struct diff_layout *layout, const struct diff_group *group);
/* "-5.21 .. -4.98"; "" = no change is known. */
const char *diff_group_range(struct diff_layout *layout, const struct diff_group *group);
/* "8 regressed, 4 same" */
const char *diff_block_words(struct diff_layout *layout, const struct diff_block *block);
