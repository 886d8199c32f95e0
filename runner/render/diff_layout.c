#include "runner/render/diff_layout.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/render/diff_format.h"

#include <math.h>
#include <string.h>

enum { UNANSWERED_MIN = 4, UNANSWERED_NAMED = 3 };

/* ---- facts ---- */

static bool layout_is_unanswered(const struct fact_difference *fact, size_t side) {
  return fact->values[side] == NULL && fact->values[1 - side] != NULL;
}

/* The branch of a driver follows from its version. */
static bool layout_is_implied(const struct comparison *comparison,
                              const struct fact_difference *fact) {
  const bool version =
      ANY_OF(i, comparison->fact_count, strcmp(comparison->facts[i].name, "driver_version") == 0);
  return version && strcmp(fact->name, "driver_branch") == 0;
}

/* An import, or another version of haul, knows nothing of most facts: one line says so. */
static void layout_set_facts(struct diff_layout *layout, bool all) {
  const struct comparison *comparison = layout->comparison;
  size_t unanswered[SIDES] = {0};
  layout->facts = arena_array(&layout->arena, comparison->fact_count, sizeof(void *));
  for (size_t s = 0; s < SIDES; s++) {
    const char *names = "";
    for (size_t i = 0; i < comparison->fact_count; i++) {
      const struct fact_difference *fact = &comparison->facts[i];
      if (layout_is_unanswered(fact, s) && unanswered[s]++ < UNANSWERED_NAMED) {
        names = arena_add_word(&layout->arena, names, fact->name);
      }
    }
    if (unanswered[s] >= UNANSWERED_MIN && !all) {
      layout->unanswered[s] =
          arena_format(&layout->arena, "%c has no answer for %zu facts that %c has: %s ...",
                       side_letter(s), unanswered[s], side_letter(1 - s), names);
    }
  }
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    if (!layout_is_implied(comparison, fact) &&
        !ANY_OF(s, SIDES, layout->unanswered[s] != NULL && layout_is_unanswered(fact, s))) {
      layout->facts[layout->fact_count++] = fact;
    }
  }
}

/* ---- blocks ---- */

/* A row by its block; blocks in the order of their first case. */
struct blocked_row {
  const char *block;
  int64_t id; /* of the case */
  size_t row;
};

ORDER_DEFINE(layout_compare_blocked, struct blocked_row,
             strcmp(x->block, y->block) ?: ORDER(x->id, y->id))

/* A block with the id of its first case. */
struct ordered_block {
  struct diff_block block;
  int64_t id;
};

ORDER_DEFINE(layout_compare_blocks, struct ordered_block,
             ORDER(y->block.changed, x->block.changed) ?: ORDER(x->id, y->id))

static struct diff_block layout_block(const struct comparison *comparison,
                                      const struct blocked_row *rows, size_t count) {
  struct diff_block block = {.name = rows->block, .cases = count, .change = NAN};
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const struct diff_result *result = &comparison->rows[rows[i].row].result;
    block.verdicts[result->verdict]++;
    block.provisional[result->verdict] += result->is_provisional;
    block.changed = block.changed ||
                    (result->verdict != VERDICT_SAME && !verdict_is_undecided(result->verdict));
    if (isfinite(result->change)) {
      sum += log1p(result->change);
      block.compared++;
    }
  }
  block.change = block.compared > 0 ? expm1(sum / (double)block.compared) : NAN;
  return block;
}

static void layout_set_blocks(struct diff_layout *layout) {
  const struct comparison *comparison = layout->comparison;
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = comparison->row_count;
  struct blocked_row *rows = arena_array(&arena, count, sizeof *rows);
  struct ordered_block *blocks = arena_array(&arena, count, sizeof *blocks);
  for (size_t i = 0; i < count; i++) {
    const struct results_case *bench = &comparison->results->cases[comparison->rows[i].bench];
    rows[i] = (struct blocked_row){bench->block, bench->id, i};
  }
  ORDER_SORT(rows, count, layout_compare_blocked);
  FOR_EACH_GROUP(first, last, count, strcmp(rows[last].block, rows[first].block) == 0) {
    blocks[layout->block_count++] = (struct ordered_block){
        layout_block(comparison, rows + first, last - first), rows[first].id};
  }
  ORDER_SORT(blocks, layout->block_count, layout_compare_blocks);
  layout->blocks = arena_array(&layout->arena, layout->block_count, sizeof *layout->blocks);
  for (size_t i = 0; i < layout->block_count; i++) {
    layout->blocks[i] = blocks[i].block;
    layout->changed_blocks += blocks[i].block.changed;
  }
}

/* ---- groups ---- */

static struct diff_group *layout_group(struct diff_layout *layout, enum verdict verdict,
                                       const char *block) {
  for (size_t i = layout->group_count; i > 0 && layout->groups[i - 1].verdict == verdict; i--) {
    if (strcmp(layout->groups[i - 1].block, block) == 0) {
      return &layout->groups[i - 1];
    }
  }
  layout->groups =
      arena_grow(&layout->arena, layout->groups, layout->group_count, sizeof *layout->groups);
  layout->groups[layout->group_count] =
      (struct diff_group){.verdict = verdict, .block = block, .low = NAN, .high = NAN};
  return &layout->groups[layout->group_count++];
}

static bool layout_is_small(const struct comparison_row *row) {
  return row->result.verdict == VERDICT_INSUFFICIENT && fabs(row->change) <= row->delta;
}

/* Whether undecided cases that differ by less than matters would hide the others. */
static bool layout_has_many_small(const struct comparison *comparison) {
  struct diff_layout layout = {0};
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (layout_is_small(row)) {
      struct diff_group *group =
          layout_group(&layout, row->result.verdict, comparison->results->cases[row->bench].block);
      group->count++;
    }
  }
  const size_t lines = SUM_OF(g, layout.group_count,
                              layout.groups[g].count >= DIFF_FOLD_MIN ? 1 : layout.groups[g].count);
  arena_fini(&layout.arena);
  return lines > DIFF_SMALL_LINES_MAX;
}

/* The rows are in the order of verdicts already; what differs by less than matters comes last. */
static void layout_set_groups(struct diff_layout *layout, const bool shown[verdict_name_count],
                              bool all) {
  const struct comparison *comparison = layout->comparison;
  size_t *of_row = arena_array(&layout->arena, comparison->row_count, sizeof *of_row);
  const bool small_last = !all && layout_has_many_small(comparison);
  const size_t count_of_rows = comparison->row_count;
  for (size_t k = 0; k < (small_last ? 2 : 1) * count_of_rows; k++) {
    const size_t i = k < count_of_rows ? k : k - count_of_rows;
    const struct comparison_row *row = &comparison->rows[i];
    const bool small = small_last && layout_is_small(row);
    if (!shown[row->result.verdict] || small != (k >= count_of_rows)) {
      continue;
    }
    struct diff_group *group = layout_group(
        layout, row->result.verdict, small ? "" : comparison->results->cases[row->bench].block);
    of_row[i] = (size_t)(group - layout->groups);
    group->count++;
    group->provisional += row->result.is_provisional;
    group->low = fmin(group->low, row->change);
    group->high = fmax(group->high, row->change);
  }
  layout->listed = arena_array(&layout->arena, comparison->row_count, sizeof(void *));
  for (size_t g = 0; g < layout->group_count; g++) {
    struct diff_group *group = &layout->groups[g];
    size_t *rows = arena_array(&layout->arena, group->count, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < comparison->row_count && count < group->count; i++) {
      if (shown[comparison->rows[i].result.verdict] && of_row[i] == g) {
        rows[count++] = i;
      }
    }
    group->rows = rows;
    group->folded = (group->count >= DIFF_FOLD_MIN || group->block[0] == '\0') && !all;
    for (size_t i = 0; i < count && !group->folded; i++) {
      layout->listed[layout->listed_count++] = &comparison->rows[rows[i]];
    }
  }
}

/* ---- the whole ---- */

void diff_layout_init(struct diff_layout *layout, const struct comparison *comparison,
                      const bool shown[verdict_name_count], bool all) {
  *layout = (struct diff_layout){.comparison = comparison};
  layout_set_facts(layout, all);
  if (comparison->row_count > 0) {
    layout_set_blocks(layout);
    layout_set_groups(layout, shown, all);
  }
}

void diff_layout_fini(struct diff_layout *layout) {
  arena_fini(&layout->arena);
}

const char *diff_counts_legend(struct arena *arena, const struct diff_layout *layout, bool folded) {
  bool has[DIFF_COUNTS_PARTS + 1] = {false};
  unsigned each = 0;
  for (size_t g = 0; g < layout->group_count; g++) {
    const struct diff_group *group = &layout->groups[g];
    for (size_t i = 0; i < group->count && (folded || !group->folded); i++) {
      const struct comparison_row *row = &layout->comparison->rows[group->rows[i]];
      const struct comparison_side *side = &row->sides[SIDE_A];
      const enum diff_counts counts = diff_counts_of(row);
      each = counts == DIFF_COUNTS_RUNS_OF ? side->processes / side->runs : each;
      has[counts] = true;
    }
  }
  const bool runs = has[DIFF_COUNTS_RUNS] || has[DIFF_COUNTS_RUNS_OF];
  const bool processes = has[DIFF_COUNTS_PROCESSES] || has[DIFF_COUNTS_PARTS];
  const char *text = runs && processes ? "runs or processes of A/B"
                     : runs            ? "runs of A/B"
                     : processes       ? "processes of A/B"
                                       : "nodes with both A and B";
  text = has[DIFF_COUNTS_PARTS] ? arena_add(arena, text, "; \"in\": in so many runs") : text;
  return each > 0 ? arena_add(arena, text, "; \"of %u\": %u processes each", each, each) : text;
}

const char *diff_group_title(struct diff_layout *layout, const struct diff_group *group) {
  const char *cases = strings_plural(group->count, "case", "cases");
  return group->block[0] == '\0'
             ? arena_format(&layout->arena, "%zu %s below the threshold", group->count, cases)
             : arena_format(&layout->arena, "%s: %zu %s", group->block, group->count, cases);
}

/* " (in B 12 results corrupt, 3 hung)" of a group of BROKEN cases; "" of others. */
static const char *layout_not_ok_words(struct diff_layout *layout, const struct diff_group *group) {
  const struct comparison *comparison = layout->comparison;
  unsigned all[case_status_name_count] = {0};
  const char *words = "";
  for (size_t i = 0; i < group->count && group->verdict == VERDICT_BROKEN; i++) {
    const struct comparison_side *side = &comparison->rows[group->rows[i]].sides[SIDE_B];
    for (unsigned s = 0; s < case_status_name_count; s++) {
      all[s] += side->by_status[s];
    }
  }
  for (unsigned s = 0; s < case_status_name_count; s++) {
    if (all[s] > 0) {
      const char *status = case_status_text((enum case_status)s);
      words = words[0] != '\0' ? arena_add(&layout->arena, words, ", %u %s", all[s], status)
                               : arena_format(&layout->arena, "in B %u %s %s", all[s],
                                              strings_plural(all[s], "result", "results"), status);
    }
  }
  return arena_around(&layout->arena, " (", words, ")");
}

/* The row of a group to name, and why. */
static size_t layout_pick_row(const struct comparison *comparison, const struct diff_group *group,
                              const char **why) {
  size_t picked = group->rows[0];
  *why = "first";
  for (size_t i = 0; i < group->count; i++) {
    const struct comparison_row *row = &comparison->rows[group->rows[i]];
    const double change = row->result.change;
    const double widest = comparison->rows[picked].result.change;
    if (group->verdict != VERDICT_BROKEN && isfinite(change) &&
        !(fabs(change) < fabs(widest))) { /* also where that is NAN */
      picked = group->rows[i];
      *why = !(fabs(change) > row->delta) ? "most changed" : change < 0 ? "worst" : "best";
    }
  }
  return picked;
}

const char *diff_group_words(struct diff_layout *layout, const struct diff_group *group) {
  const struct comparison *comparison = layout->comparison;
  const char *why = NULL;
  const size_t picked = layout_pick_row(comparison, group, &why);
  const char *name = comparison->results->cases[comparison->rows[picked].bench].name;
  const size_t block = strlen(group->block);
  if (block > 0 && strncmp(name, group->block, block) == 0 && name[block] == '/') {
    name += block + 1; /* the line begins with it */
  }
  const char *title = arena_format(&layout->arena, "%s%s", diff_group_title(layout, group),
                                   layout_not_ok_words(layout, group));
  const bool is_still = fabs(group->low) < 0.00005 && fabs(group->high) < 0.00005; /* as 0.00 % */
  const char *node = arena_around(&layout->arena, " [", comparison->rows[picked].node, "]");
  return is_still ? title : arena_format(&layout->arena, "%s, %s %s%s", title, why, name, node);
}

const char *diff_group_range(struct diff_layout *layout, const struct diff_group *group) {
  if (!isfinite(group->low)) {
    return "";
  }
  return arena_format(&layout->arena, "%s .. %s", diff_percent_words(&layout->arena, group->low),
                      diff_percent_words(&layout->arena, group->high));
}

const char *diff_block_words(struct diff_layout *layout, const struct diff_block *block) {
  return diff_verdict_counts(&layout->arena, block->verdicts, block->provisional);
}
