#include "runner/render/diff_layout.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/render/diff_format.h"
#include "runner/render/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(sentence, DIFF_SENTENCE_LIST)

/* So many times what matters, a change is said that cannot be judged. */
#define LARGE_CHANGE 5
enum { DISTRIBUTIONS_SHOWN = 4 };
enum { TEXT_MAX = 1 << 16, UNANSWERED_MIN = 4, UNANSWERED_NAMED = 3, FACTS_NAMED = 4 };

/* ---- sentences ---- */

static void layout_add_sentence(struct diff_layout *layout, size_t *capacity, enum sentence kind,
                                enum verdict verdict, const char *text) {
  if (text[0] != '\0') {
    *ARENA_ADD(&layout->arena, layout->sentences, layout->sentence_count, capacity) =
        (struct diff_sentence){kind, arena_strdup(&layout->arena, text), verdict};
  }
}

/* "gpu1->gpu2: 4.17 % slower (2 of 2 cases); none of the other 22 cases is" */
static void layout_conclusion_words(struct strbuf *text, const struct conclusion *conclusion) {
  static const char *const WORDS[verdict_name_count] = {
      [VERDICT_BROKEN] = "broken", [VERDICT_REGRESSED] = "slower", [VERDICT_IMPROVED] = "faster"};
  const char *cases = strings_plural(conclusion->cases, "case", "cases");
  if (conclusion->what != NULL) {
    strbuf_printf(text, "%s: ", conclusion->what);
  } else if (conclusion->changed == conclusion->cases) {
    strbuf_printf(text, "All %zu cases: ", conclusion->cases);
  } else {
    strbuf_printf(text, "%zu of %zu cases: ", conclusion->changed, conclusion->cases);
  }
  if (isfinite(conclusion->change)) {
    strbuf_printf(text, "%s %% ",
                  diff_percent_words(fabs(conclusion->change), DIFF_TEXT) +
                      1); /* without its sign */
  }
  strbuf_append(text, WORDS[conclusion->verdict]);
  if (conclusion->what != NULL) {
    strbuf_printf(text, " (%zu of %zu %s)", conclusion->changed, conclusion->cases, cases);
  }
  if (conclusion->what != NULL && conclusion->others > 0) {
    if (conclusion->others_changed > 0) {
      strbuf_printf(text, "; so %s %zu of the other %zu cases",
                    strings_plural(conclusion->others_changed, "is", "are"),
                    conclusion->others_changed, conclusion->others);
    } else {
      strbuf_printf(text, "; none of the other %zu cases is", conclusion->others);
    }
  }
}

/* "Of gpu2 differ: pcie_link_width 16 to 8" */
static void layout_gpu_words(struct strbuf *text, const struct comparison *comparison, int gpu) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->fact_count && gpu >= 0; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    if (fact->gpu != gpu || fact->values[SIDE_A] == NULL || fact->values[SIDE_B] == NULL ||
        count++ >= FACTS_NAMED) {
      continue;
    }
    if (count == 1) {
      strbuf_printf(text, "Of gpu%d differs: ", gpu);
    }
    strbuf_printf(text, "%s%s %s to %s", count > 1 ? ", " : "", fact->name, fact->values[SIDE_A],
                  fact->values[SIDE_B]);
  }
}

/* What was not as it should be while the runs were made: before everything that it may explain. */
static void layout_set_conditions(struct diff_layout *layout, size_t *capacity,
                                  const struct comparison *comparison, bool all) {
  char more[DIFF_WORDS_MAX];
  const size_t shown = diff_conditions_shown(comparison, all, more);
  SCOPED(strbuf_fini) struct strbuf words = STRBUF(TEXT_MAX);
  for (size_t i = 0; i < shown; i++) {
    strbuf_clear(&words);
    diff_condition_words(&words, comparison, &comparison->conditions[i]);
    layout_add_sentence(layout, capacity, SENTENCE_CONDITION, VERDICT_SAME, words.text);
  }
  layout_add_sentence(layout, capacity, SENTENCE_CONDITION, VERDICT_SAME, more);
}

/* Limits of the whole comparison. */
static void layout_set_notes(struct diff_layout *layout, size_t *capacity,
                             const struct comparison *comparison) {
  const bool one_side = comparison->totals[SIDE_B].runs == 0;
  const char *const notes[] = {
      !comparison->simulated ? ""
      : one_side             ? "SIMULATED: a fake driver answered"
                             : "SIMULATED: a fake driver answered on both sides",
      comparison->other_machine ? "Other hardware: cases are compared between different GPUs or "
                                  "hosts; a change may be theirs"
                                : "",
      comparison->driver_compiled
          ? "Each driver compiled the kernels: build haul with nvcc to rule that out"
          : "",
      comparison->left_out != NULL
          ? arena_format(&layout->arena, "Not compared: %s (not run on both sides)",
                         comparison->left_out)
          : "",
      comparison->judged != NULL ? comparison->judged : "",
      comparison->confounded != NULL ? comparison->confounded : "",
      comparison->looks > 1
          ? arena_format(&layout->arena,
                         "Measured until decided (haul run --decide): judged up to %u times, so "
                         "that each verdict is held to 1/%u of the error rates",
                         comparison->looks, comparison->looks)
          : "",
  };
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    layout_add_sentence(layout, capacity, SENTENCE_NOTE, VERDICT_SAME, notes[i]);
  }
}

/* Why cases are not compared, and what would compare them. */
static void layout_put_incomparable(struct strbuf *text, const struct comparison *comparison) {
  const char *reason = NULL;
  const size_t count = diff_count_incomparable(comparison, &reason);
  if (count > 0) {
    strbuf_printf(text, "%zu %s not compared: %s", count,
                  strings_plural(count, "case is", "cases are"), reason);
  }
}

/* "8 cases of h2d by 49.2 to 49.6 %": of a block, what is much slower and cannot be judged. */
static void layout_put_unjudged(struct strbuf *text, const struct comparison *comparison,
                                const struct diff_block *block, const struct measured *measured) {
  size_t count = 0;
  double least = -1;
  double most = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const double change = row->result.change;
    if (row->result.verdict == VERDICT_INSUFFICIENT && isnan(row->result.p) &&
        change <= -LARGE_CHANGE * row->delta &&
        strcmp(measured->cases[row->bench].block, block->name) == 0) {
      least = fmax(least, change);
      most = fmin(most, change);
      count++;
    }
  }
  if (count > 0) {
    strbuf_printf(text, "%s%zu %s%s%s by %.1f", text->length > 0 ? ", " : "", count,
                  strings_plural(count, "case", "cases"), block->name[0] != '\0' ? " of " : "",
                  block->name, -100 * least);
    if (least - most >= 0.0005) {
      strbuf_printf(text, " to %.1f", -100 * most);
    }
    strbuf_append(text, " %");
  }
}

static void layout_set_unjudged(struct diff_layout *layout, size_t *capacity,
                                const struct measured *measured,
                                const struct comparison *comparison) {
  SCOPED(strbuf_fini) struct strbuf blocks = STRBUF(TEXT_MAX);
  for (size_t b = 0; b < layout->block_count; b++) {
    layout_put_unjudged(&blocks, comparison, &layout->blocks[b], measured);
  }
  if (blocks.length > 0) {
    layout_add_sentence(layout, capacity, SENTENCE_NOTE, VERDICT_INSUFFICIENT,
                        arena_format(&layout->arena,
                                     "Slower, but of too few processes to judge (it takes "
                                     "--processes 5 or several runs on each side): %s",
                                     blocks.text));
  }
}

static void layout_set_sentences(struct diff_layout *layout, const struct measured *measured,
                                 const struct comparison *comparison, bool all) {
  size_t capacity = 0;
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  layout_set_conditions(layout, &capacity, comparison, all);
  layout_set_notes(layout, &capacity, comparison);
  layout_put_incomparable(&text, comparison);
  layout_add_sentence(layout, &capacity, SENTENCE_NOTE, VERDICT_INCOMPARABLE, text.text);
  layout_set_unjudged(layout, &capacity, measured, comparison);
  for (size_t i = 0; i < layout->conclusion_count; i++) {
    const struct conclusion *conclusion = &layout->conclusions[i];
    strbuf_clear(&text);
    layout_conclusion_words(&text, conclusion);
    layout_add_sentence(layout, &capacity, SENTENCE_CONCLUSION, conclusion->verdict, text.text);
    strbuf_clear(&text);
    layout_gpu_words(&text, comparison, conclusion->gpu);
    layout_add_sentence(layout, &capacity, SENTENCE_ENVIRONMENT, conclusion->verdict, text.text);
  }
  for (size_t i = 0; i < comparison->group_count; i++) {
    if (comparison->groups[i].is_news) {
      strbuf_clear(&text);
      diff_group_sentence(&text, &comparison->groups[i]);
      layout_add_sentence(layout, &capacity, SENTENCE_GROUP, comparison->groups[i].result.verdict,
                          text.text);
    }
  }
  size_t distributions = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    strbuf_clear(&text);
    diff_distribution_words(&text, row);
    distributions += text.length > 0;
    if (text.length > 0 && (all || distributions <= DISTRIBUTIONS_SHOWN)) {
      layout_add_sentence(
          layout, &capacity, SENTENCE_DISTRIBUTION,
          row->distribution.is_worse ? VERDICT_REGRESSED : VERDICT_IMPROVED,
          arena_format(&layout->arena, "%s: %s", measured->cases[row->bench].name, text.text));
    }
  }
  if (distributions > DISTRIBUTIONS_SHOWN && !all) {
    layout_add_sentence(layout, &capacity, SENTENCE_DISTRIBUTION, VERDICT_SAME,
                        arena_format(&layout->arena, "and %zu more distributions (-v lists them)",
                                     distributions - DISTRIBUTIONS_SHOWN));
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    layout_add_sentence(layout, &capacity, SENTENCE_ALONE, VERDICT_REGRESSED,
                        outliers_alone_words(&layout->arena, &comparison->alone->parts[i]));
  }
  strbuf_clear(&text);
  diff_shift_words(&text, comparison);
  layout_add_sentence(layout, &capacity, SENTENCE_SHIFT, VERDICT_SAME, text.text);
  strbuf_clear(&text);
  diff_rank_words(&text, comparison);
  layout_add_sentence(layout, &capacity, SENTENCE_RANK, VERDICT_SAME, text.text);
}

/* ---- facts ---- */

static bool layout_is_unanswered(const struct fact_difference *fact, size_t side) {
  return fact->values[side] == NULL && fact->values[1 - side] != NULL;
}

/* The branch of a driver follows from its version. */
static bool layout_is_implied(const struct comparison *comparison,
                              const struct fact_difference *fact) {
  bool version = false;
  for (size_t i = 0; i < comparison->fact_count; i++) {
    version = version || strcmp(comparison->facts[i].name, "driver_version") == 0;
  }
  return version && strcmp(fact->name, "driver_branch") == 0;
}

/* An import, or another version of haul, knows nothing of most facts: one line says so. */
static void layout_set_facts(struct diff_layout *layout, const struct comparison *comparison,
                             bool all) {
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
                       s == SIDE_A ? 'A' : 'B', unanswered[s], s == SIDE_A ? 'B' : 'A', names);
    }
  }
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    bool folded = !all && layout_is_implied(comparison, fact);
    for (size_t s = 0; s < SIDES; s++) {
      folded = folded || (layout->unanswered[s] != NULL && layout_is_unanswered(fact, s));
    }
    if (!folded) {
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
    block.changed =
        block.changed || (result->verdict != VERDICT_SAME && result->verdict != VERDICT_UNCLEAR &&
                          result->verdict != VERDICT_INSUFFICIENT);
    if (isfinite(result->change)) {
      sum += log1p(result->change);
      block.compared++;
    }
  }
  block.change = block.compared > 0 ? expm1(sum / (double)block.compared) : NAN;
  return block;
}

static void layout_set_blocks(struct diff_layout *layout, const struct measured *measured,
                              const struct comparison *comparison) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = comparison->row_count;
  struct blocked_row *rows = arena_array(&arena, count, sizeof *rows);
  struct ordered_block *blocks = arena_array(&arena, count, sizeof *blocks);
  for (size_t i = 0; i < count; i++) {
    const struct measured_case *bench = &measured->cases[comparison->rows[i].bench];
    rows[i] = (struct blocked_row){bench->block, bench->id, i};
  }
  qsort(rows, count, sizeof *rows, layout_compare_blocked);
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count && strcmp(rows[last].block, rows[first].block) == 0) {
      last++;
    }
    blocks[layout->block_count++] = (struct ordered_block){
        layout_block(comparison, rows + first, last - first), rows[first].id};
    first = last;
  }
  qsort(blocks, layout->block_count, sizeof *blocks, layout_compare_blocks);
  layout->blocks = arena_array(&layout->arena, layout->block_count, sizeof *layout->blocks);
  for (size_t i = 0; i < layout->block_count; i++) {
    layout->blocks[i] = blocks[i].block;
    layout->changed_blocks += blocks[i].block.changed;
  }
}

/* ---- groups ---- */

static struct diff_group *layout_group(struct diff_layout *layout, size_t *capacity,
                                       enum verdict verdict, const char *block) {
  for (size_t i = layout->group_count; i > 0 && layout->groups[i - 1].verdict == verdict; i--) {
    if (strcmp(layout->groups[i - 1].block, block) == 0) {
      return &layout->groups[i - 1];
    }
  }
  layout->groups = arena_grow(&layout->arena, layout->groups, layout->group_count, capacity,
                              sizeof *layout->groups);
  layout->groups[layout->group_count] =
      (struct diff_group){.verdict = verdict, .block = block, .low = NAN, .high = NAN};
  return &layout->groups[layout->group_count++];
}

static bool layout_is_small(const struct comparison_row *row) {
  return row->result.verdict == VERDICT_INSUFFICIENT && fabs(row->change) <= row->delta;
}

/* Whether undecided cases that differ by less than matters would hide the others. */
static bool layout_has_many_small(const struct measured *measured,
                                  const struct comparison *comparison) {
  struct diff_layout layout = {0};
  size_t capacity = 0;
  size_t lines = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (layout_is_small(row)) {
      struct diff_group *group =
          layout_group(&layout, &capacity, row->result.verdict, measured->cases[row->bench].block);
      group->count++;
    }
  }
  for (size_t g = 0; g < layout.group_count; g++) {
    lines += layout.groups[g].count >= DIFF_FOLD_MIN ? 1 : layout.groups[g].count;
  }
  arena_fini(&layout.arena);
  return lines > DIFF_SMALL_LINES_MAX;
}

/* The rows are in the order of verdicts already; what differs by less than matters comes last. */
static void layout_set_groups(struct diff_layout *layout, const struct measured *measured,
                              const struct comparison *comparison,
                              const bool shown[verdict_name_count], bool all) {
  size_t capacity = 0;
  size_t *of_row = arena_array(&layout->arena, comparison->row_count, sizeof *of_row);
  const bool small_last = !all && layout_has_many_small(measured, comparison);
  const size_t count_of_rows = comparison->row_count;
  for (size_t k = 0; k < (small_last ? 2 : 1) * count_of_rows; k++) {
    const size_t i = k % count_of_rows;
    const struct comparison_row *row = &comparison->rows[i];
    const bool small = small_last && layout_is_small(row);
    if (!shown[row->result.verdict] || small != (k >= count_of_rows)) {
      continue;
    }
    struct diff_group *group = layout_group(layout, &capacity, row->result.verdict,
                                            small ? "" : measured->cases[row->bench].block);
    of_row[i] = (size_t)(group - layout->groups);
    group->count++;
    group->provisional += row->result.is_provisional;
    group->low = fmin(group->low, row->change);
    group->high = fmax(group->high, row->change);
  }
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
  }
}

/* ---- the whole ---- */

void diff_layout_init(struct diff_layout *layout, const struct measured *measured,
                      const struct comparison *comparison, const bool shown[verdict_name_count],
                      bool all) {
  *layout = (struct diff_layout){0};
  layout->conclusions = comparison->conclusions;
  layout->conclusion_count = comparison->conclusion_count;
  if (comparison->row_count > 0) {
    layout_set_blocks(layout, measured, comparison);
  }
  layout_set_sentences(layout, measured, comparison, all);
  layout_set_facts(layout, comparison, all);
  if (comparison->row_count > 0) {
    layout_set_groups(layout, measured, comparison, shown, all);
  }
}

void diff_layout_fini(struct diff_layout *layout) {
  arena_fini(&layout->arena);
}

const char *diff_group_title(struct diff_layout *layout, const struct diff_group *group) {
  const char *cases = strings_plural(group->count, "case", "cases");
  return group->block[0] == '\0'
             ? arena_format(&layout->arena, "%zu %s below the threshold", group->count, cases)
             : arena_format(&layout->arena, "%s: %zu %s", group->block, group->count, cases);
}

/* " (in B 12 results corrupt, 3 hung)" of a group of BROKEN cases; "" of others. */
static const char *layout_not_ok_words(struct diff_layout *layout,
                                       const struct comparison *comparison,
                                       const struct diff_group *group) {
  struct comparison_side all = {0};
  for (size_t i = 0; i < group->count && group->verdict == VERDICT_BROKEN; i++) {
    const struct comparison_side *side = &comparison->rows[group->rows[i]].sides[SIDE_B];
    for (unsigned s = 0; s < case_status_name_count; s++) {
      all.by_status[s] += side->by_status[s];
    }
  }
  const char *words = "";
  for (unsigned s = 0; s < case_status_name_count; s++) {
    if (all.by_status[s] > 0) {
      const char *status = case_status_text((enum case_status)s);
      words = words[0] != '\0'
                  ? arena_format(&layout->arena, "%s, %u %s", words, all.by_status[s], status)
                  : arena_format(&layout->arena, "in B %u %s %s", all.by_status[s],
                                 strings_plural(all.by_status[s], "result", "results"), status);
    }
  }
  return words[0] != '\0' ? arena_format(&layout->arena, " (%s)", words) : "";
}

const char *diff_group_words(struct diff_layout *layout, const struct measured *measured,
                             const struct comparison *comparison, const struct diff_group *group) {
  const bool evidence = group->verdict == VERDICT_REGRESSED || group->verdict == VERDICT_IMPROVED ||
                        group->verdict == VERDICT_BROKEN;
  const char *first = measured->cases[comparison->rows[group->rows[0]].bench].name;
  const size_t block = strlen(group->block);
  if (block > 0 && strncmp(first, group->block, block) == 0 && first[block] == '/') {
    first += block + 1; /* the line begins with it */
  }
  return arena_format(&layout->arena, "%s%s, %s %s", diff_group_title(layout, group),
                      layout_not_ok_words(layout, comparison, group),
                      evidence ? "strongest" : "first", first);
}

const char *diff_group_range(struct diff_layout *layout, const struct diff_group *group) {
  if (!isfinite(group->low)) {
    return "";
  }
  return arena_format(&layout->arena, "%s .. %s", diff_percent_words(group->low, DIFF_TEXT),
                      diff_percent_words(group->high, DIFF_TEXT));
}

const char *diff_block_words(struct diff_layout *layout, const struct diff_block *block) {
  char counts[DIFF_COUNTS_MAX];
  diff_counts_text(block->verdicts, block->provisional, counts);
  return arena_strdup(&layout->arena, counts);
}
