#include "runner/render/diff.h"

#include "engine/base/strings.h"
#include "runner/analysis/conclusion.h"
#include "runner/document/document.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"
#include "runner/table/text.h"

#include <math.h>

enum { CASE_WIDTH_MIN = 28, DISTRIBUTIONS_SHOWN = 4, REASONS_SHOWN = 3, FACTS_NAMED = 4 };

/* "gpu1->gpu2: 4.17 % slower (2 of 2 cases); none of the other 22 cases is" */
static const char *diff_conclusion_words(struct arena *arena, const struct conclusion *found) {
  static const char *const WORDS[verdict_name_count][2] = {
      [VERDICT_BROKEN] = {"broken"},
      [VERDICT_REGRESSED] = {"slower", "slower by more noise"},
      [VERDICT_IMPROVED] = {"faster", "faster by less noise"}};
  const char *text = found->what != NULL ? arena_format(arena, "%s: ", found->what)
                     : found->changed == found->cases
                         ? arena_format(arena, "All %zu cases: ", found->cases)
                         : arena_format(arena, "%zu of %zu cases: ", found->changed, found->cases);
  if (isfinite(found->change)) { /* without its sign */
    text = arena_add(arena, text, "%s %% ", diff_percent_words(arena, fabs(found->change)) + 1);
  }
  text = arena_add(arena, text, "%s", WORDS[found->verdict][conclusion_is_noise(found)]);
  if (found->what == NULL) {
    return text;
  }
  text = arena_add(arena, text, " (%zu of %zu %s)", found->changed, found->cases,
                   strings_plural(found->cases, "case", "cases"));
  return found->others == 0 ? text
         : found->others_changed == 0
             ? arena_add(arena, text, "; none of the other %zu cases is", found->others)
             : arena_add(arena, text, "; so %s %zu of the other %zu cases",
                         strings_plural(found->others_changed, "is", "are"), found->others_changed,
                         found->others);
}

/* "Of gpu2 differs: pcie_link_width 16 to 8" */
static const char *diff_gpu_words(struct arena *arena, const struct comparison *comparison,
                                  int gpu) {
  const char *text = "";
  size_t count = 0;
  for (size_t i = 0; i < comparison->fact_count && gpu >= 0 && count < FACTS_NAMED; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    if (fact->gpu == gpu && fact->values[SIDE_A] != NULL && fact->values[SIDE_B] != NULL) {
      text = count++ > 0 ? arena_add(arena, text, ", ")
                         : arena_format(arena, "gpu%d differs in ", gpu);
      text = arena_add(arena, text, "%s%s %s to %s", fact->name, diff_fact_nodes(arena, fact),
                       fact->values[SIDE_A], fact->values[SIDE_B]);
    }
  }
  return text;
}

/* What the verdicts have in common, which belongs to the answer. */
static void diff_put_causes(const struct diff_view *view) {
  struct arena *arena = &view->document->arena;
  const struct comparison *comparison = view->comparison;
  size_t distributions = 0;
  for (size_t i = 0; i < comparison->conclusion_count; i++) {
    const struct conclusion *found = &comparison->conclusions[i];
    document_put_text(view->document, diff_verdict_tone(found->verdict),
                      diff_conclusion_words(arena, found));
    document_put_text(view->document, TONE_NONE, diff_gpu_words(arena, comparison, found->gpu));
  }
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    if (group->is_news) {
      document_put_text(view->document, diff_verdict_tone(group->result.verdict),
                        diff_group_sentence(arena, group));
    }
  }
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const char *words = diff_distribution_words(arena, row);
    distributions += words[0] != '\0';
    if (words[0] != '\0' && (view->show->all || distributions <= DISTRIBUTIONS_SHOWN)) {
      document_put_toned(
          view->document,
          diff_verdict_tone(row->distribution.is_worse ? VERDICT_REGRESSED : VERDICT_IMPROVED),
          "%s: %s", comparison->results->cases[row->bench].name, words);
    }
  }
  if (distributions > DISTRIBUTIONS_SHOWN && !view->show->all) {
    document_put(view->document, "and %zu more distributions (-v lists them)",
                 distributions - DISTRIBUTIONS_SHOWN);
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    document_put_text(view->document, TONE_BAD,
                      outliers_alone_words(arena, &comparison->alone->parts[i]));
  }
}

/* Of several blocks with a change a line each, and one for all others; all: a line for each. */
static void diff_put_blocks(struct diff_view *view) {
  static const char *const COLUMNS[] = {"block", "cases", "speed %", "verdicts"};
  struct document *document = view->document;
  struct arena *arena = &document->arena;
  struct diff_layout *layout = &view->layout;
  const size_t shown = view->show->all ? layout->block_count : layout->changed_blocks;
  size_t undecided = 0;
  bool any_speed = false;
  double low = NAN;
  double high = NAN;
  if (layout->block_count < 2 || shown < 2) { /* the rows name a single one */
    return;
  }
  document_gap(document);
  DOCUMENT_TABLE(document, COLUMNS, .wraps = true);
  for (size_t i = 0; i < layout->block_count; i++) {
    const struct diff_block *block = &layout->blocks[i];
    const char *change = "";
    if (i >= shown) {
      undecided += block->verdicts[VERDICT_UNCLEAR] + block->verdicts[VERDICT_INSUFFICIENT] > 0;
      low = fmin(low, block->change);
      high = fmax(high, block->change);
      continue;
    }
    if (isfinite(block->change)) {
      change = diff_percent_words(arena, block->change);
      any_speed = true;
    }
    DOCUMENT_ROW(document, cell_text(block->name), cell_integer((int64_t)block->cases),
                 cell_words(change, TONE_NONE), cell_text(diff_block_words(layout, block)));
  }
  document_table_end(document);
  if (!any_speed) { /* then the table has no such column */
    return;
  }
  const size_t left = layout->block_count - shown;
  const char *others = "";
  if (left > 0) {
    const char *range = left > 1 ? arena_format(arena, "%s .. %s", diff_percent_words(arena, low),
                                                diff_percent_words(arena, high))
                                 : diff_percent_words(arena, low);
    others = arena_format(arena, "; %zu other %s no %s%s", left,
                          strings_plural(left, "block has", "blocks have"),
                          undecided > 0 ? "proven change" : "change beyond the threshold",
                          arena_around(arena, " (", isfinite(low) ? range : "", ")"));
  }
  document_put(document, "speed %%: geometric mean change over the cases of the block%s", others);
}

/* ---- the table ---- */

static bool diff_side_is_plain(const struct comparison *comparison,
                               const struct comparison_row *row, enum side side) {
  return row->sides[side].processes == 0 ||
         row->sides[side].processes == comparison->totals[side].processes;
}

/* Whether all shown rows have the processes of the sides, which stand above: then they need no
 * column. */
static bool diff_counts_are_plain(const struct comparison *comparison,
                                  const struct diff_layout *layout) {
  return ALL_OF(i, layout->listed_count,
                diff_side_is_plain(comparison, layout->listed[i], SIDE_A) &&
                    diff_side_is_plain(comparison, layout->listed[i], SIDE_B));
}

enum diff_column {
  COLUMN_VERDICT,
  COLUMN_CASE,
  COLUMN_A,
  COLUMN_B,
  COLUMN_CHANGE,
  COLUMN_Q,
  COLUMN_COUNTS,
  COLUMN_COUNT
};

/* A row of the table of cases; columns whose cells are all empty, NULL or "", are not shown. */
static void diff_put_cells(struct diff_view *view, enum verdict verdict,
                           const char *const words[COLUMN_COUNT]) {
  struct cell cells[COLUMN_COUNT];
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    cells[c] = cell_words(words[c], c == COLUMN_VERDICT ? diff_verdict_tone(verdict) : TONE_NONE);
  }
  document_row(view->document, cells);
}

/* units: the numbers have theirs. */
static void diff_put_case(struct diff_view *view, const struct comparison_row *row, bool counts,
                          bool units) {
  struct arena *arena = &view->document->arena;
  const char *const words[COLUMN_COUNT] = {
      [COLUMN_VERDICT] = diff_verdict_words(arena, &row->result),
      [COLUMN_CASE] =
          arena_format(arena, "%s%s%s", view->comparison->results->cases[row->bench].name,
                       arena_around(arena, " [", diff_place_words(row), "]"),
                       arena_around(arena, " (", diff_note_words(arena, row), ")")),
      [COLUMN_A] = diff_figure_words(arena, row, SIDE_A, units),
      [COLUMN_B] = diff_figure_words(arena, row, SIDE_B, units),
      [COLUMN_CHANGE] = diff_change_words(arena, row),
      [COLUMN_Q] = diff_q_words(arena, row->result.verdict, row->result.q),
      [COLUMN_COUNTS] = counts ? diff_counts_words(arena, row, view->show->all) : NULL};
  diff_put_cells(view, row->result.verdict, words);
}

/* One line for what became slower unlike the other nodes. */
static void diff_put_part(struct diff_view *view, const struct outlier_part *part) {
  struct arena *arena = &view->document->arena;
  const struct diff_result result = {.verdict = VERDICT_REGRESSED,
                                     .is_provisional = !part->certain};
  const char *const words[COLUMN_COUNT] = {
      [COLUMN_VERDICT] = diff_verdict_words(arena, &result),
      [COLUMN_CASE] = arena_format(arena, "%s: %zu of %zu cases", diff_part_name(arena, part),
                                   part->slow_cases, part->cases),
      [COLUMN_CHANGE] = diff_percent_words(arena, part->change)};
  diff_put_cells(view, VERDICT_REGRESSED, words);
}

/* One line for the rows of a block and verdict. */
static void diff_put_group(struct diff_view *view, const struct diff_group *group) {
  struct arena *arena = &view->document->arena;
  const struct diff_result result = {.verdict = group->verdict,
                                     .is_provisional = group->provisional == group->count};
  double greatest = NAN; /* that of the last row holds for all of them */
  for (size_t i = 0; i < group->count; i++) {
    greatest = fmax(greatest, view->comparison->rows[group->rows[i]].result.q);
  }
  const char *const words[COLUMN_COUNT] = {[COLUMN_VERDICT] = diff_verdict_words(arena, &result),
                                           [COLUMN_CASE] = diff_group_words(&view->layout, group),
                                           [COLUMN_CHANGE] = diff_group_range(&view->layout, group),
                                           [COLUMN_Q] =
                                               diff_q_words(arena, group->verdict, greatest)};
  diff_put_cells(view, group->verdict, words);
}

static bool diff_put_cases(struct diff_view *view) {
  const struct comparison *comparison = view->comparison;
  const bool all = view->show->all;
  const bool counts = all || !diff_counts_are_plain(comparison, &view->layout);
  struct arena *arena = &view->document->arena;
  const char *unit = NULL;
  for (size_t i = 0; i < view->layout.listed_count; i++) {
    unit = diff_common_unit(unit, view->layout.listed[i]);
  }
  const bool units = unit != NULL && unit[0] == '\0';
  const char *a = arena_join(arena, "A", " ", unit != NULL ? unit : "");
  const char *b = arena_join(arena, "B", " ", unit != NULL ? unit : "");
  const char *const columns[COLUMN_COUNT] = {
      "verdict", "case", a, b, "change %", "q", all ? "processes A/B" : "n"};
  bool tested = false; /* with one process on each side no row has a q */
  /* Names of cases are long: columns that repeat the text above, or are needed least, make room. */
  document_table(
      view->document, columns, COLUMN_COUNT,
      &(struct document_table){
          .narrow = arena_format(arena, "q,processes A/B,n,%s&%s;verdict,case,change %%", a, b),
          .listed_min = CASE_WIDTH_MIN});
  for (size_t i = 0; i < comparison->alone_count; i++) {
    diff_put_part(view, &comparison->alone->parts[i]);
  }
  for (size_t g = 0; g < view->layout.group_count; g++) {
    const struct diff_group *group = &view->layout.groups[g];
    if (group->folded) {
      diff_put_group(view, group);
    }
    for (size_t i = 0; i < group->count; i++) {
      const struct comparison_row *row = &comparison->rows[group->rows[i]];
      tested = tested || diff_has_q(row->result.verdict, row->result.q);
      if (!group->folded) {
        diff_put_case(view, row, counts, units);
      }
    }
  }
  document_table_end(view->document);
  view->counts = counts && !all && document_shows(view->document, COLUMN_COUNTS);
  return tested && document_shows(view->document, COLUMN_Q);
}

/* Why cases are broken, each reason once. */
static void diff_put_reasons(const struct diff_view *view) {
  const struct comparison *comparison = view->comparison;
  const char **said = arena_array(&view->document->arena, comparison->row_count, sizeof *said);
  size_t count = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (!diff_reason_stands_below(row) || ANY_OF(k, count, strcmp(said[k], row->reason) == 0)) {
      continue;
    }
    if (count == REASONS_SHOWN && !view->show->all) {
      document_put(view->document, "and other reasons (-v lists them)");
      return;
    }
    said[count++] = row->reason;
    document_put_toned(view->document, TONE_BAD, "%s: %s",
                       comparison->results->cases[row->bench].name, row->reason);
  }
}

static const char *diff_change_legend(struct arena *arena, const struct comparison *comparison) {
  const struct comparison_row *rows = comparison->rows;
  const size_t known = SUM_OF(i, comparison->row_count, isfinite(rows[i].change_low) ? 1 : 0);
  const size_t wide = SUM_OF(i, comparison->row_count, rows[i].result.is_conservative);
  /* Levels of whole runs may put all of so few on one side. */
  const size_t few = SUM_OF(i, comparison->row_count,
                            rows[i].result.is_conservative && (rows[i].result.units[SIDE_A] < 3 ||
                                                               rows[i].result.units[SIDE_B] < 3));
  const char *interval = known == 0      ? " (one run each: no CI)"
                         : wide == 0     ? ", with 95 % CI"
                         : wide == known ? ", with CI of at least 95 %"
                                         : arena_format(arena,
                                                        ", with 95 %% CI, in %zu of %zu "
                                                        "rows of at least 95 %%",
                                                        wide, known);
  return arena_format(arena, "change: B relative to A%s%s; GB/s: more is better, ns: less",
                      interval, few > 0 ? " if noise is normal" : "");
}

/* Of how many undecided cases the undisturbed rate is the same; nothing where of none. */
static const char *diff_quiet_words(struct arena *arena, const struct comparison *comparison) {
  size_t same = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    same += verdict_is_undecided(row->result.verdict) && comparison_row_is_same_undisturbed(row);
  }
  return same == 0 ? ""
                   : arena_format(arena, "The undisturbed rate of %zu undecided %s is SAME", same,
                                  strings_plural(same, "case", "cases"));
}

/* The threshold, and where it comes from. */
static const char *diff_delta_words(struct arena *arena, const struct comparison *comparison) {
  size_t from[delta_source_name_count] = {0};
  const struct comparison_row *asked = NULL;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    from[row->delta_from]++;
    asked = row->delta_from == DELTA_OPTION ? row : asked;
  }
  const char *text =
      asked != NULL ? arena_format(arena, "threshold: %s", text_percent(arena, asked->delta, 3))
      : from[DELTA_USUAL] > 0 ? "threshold: " DIFF_USUAL_THRESHOLDS
                              : "threshold: ";
  return from[DELTA_SCENARIO] == 0
             ? text
             : arena_add(arena, text, "%sas %s says for %zu %s", from[DELTA_USUAL] > 0 ? ", " : "",
                         strings_plural(from[DELTA_SCENARIO], "its scenario", "their scenario"),
                         from[DELTA_SCENARIO],
                         strings_plural(from[DELTA_SCENARIO], "case", "cases"));
}

/* What the columns of the table mean; a line each. */
static void diff_put_legend(const struct diff_view *view, bool explain_q) {
  struct document *document = view->document;
  const struct comparison *comparison = view->comparison;
  const size_t flaky = comparison->flaky_count;
  const bool folded =
      view->put_cases == NULL && ANY_OF(g, view->layout.group_count, view->layout.groups[g].folded);
  if (flaky > 0) {
    document_put(
        document, "%zu %s not always ok, but no more often in B than by chance; -v shows %s", flaky,
        strings_plural(flaky, "case is", "cases are"), strings_plural(flaky, "it", "them"));
  }
  if (folded) {
    document_put(document, "-v lists every case");
  }
  const char *doubt = diff_provisional_words(&document->arena, comparison);
  if (view->layout.group_count == 0 || !diff_any_on_both(comparison)) {
    document_put_text(view->document, TONE_NONE,
                      arena_around(&document->arena, "provisional: ", doubt, ""));
    return;
  }
  document_put(document, "%s", diff_change_legend(&document->arena, comparison));
  if (view->put_cases != NULL
          ? comparison->rates_count > 0
          : ANY_OF(i, view->layout.listed_count, view->layout.listed[i]->rates != NULL)) {
    document_put(document,
                 "A row has the typical rate, or the undisturbed one (no noise) if that changed");
  }
  document_put_text(view->document, TONE_NONE, diff_quiet_words(&document->arena, comparison));
  if (explain_q) {
    document_put(document, "q: expected share of false positives in this row and those above it");
  }
  if (view->counts) {
    document_put(document, "n: %s", diff_counts_legend(&document->arena, &view->layout, false));
  }
  document_put_text(view->document, TONE_NONE, diff_delta_words(&document->arena, comparison));
  document_put_text(view->document, TONE_NONE,
                    arena_around(&document->arena, "?: provisional: ", doubt, ""));
}

/* A page colours it by the worst verdict, as a terminal colours rows. */
static void diff_put_answer(const struct diff_view *view) {
  const size_t *verdicts = view->comparison->summary.verdicts;
  unsigned tone = TONE_HEADING;
  for (unsigned v = verdict_name_count; v-- > 0 && view->put_cases != NULL;) {
    tone = verdicts[v] > 0 && v != VERDICT_SAME ? diff_verdict_tone((enum verdict)v) : tone;
  }
  struct arena *arena = &view->document->arena;
  document_put_text(view->document, tone,
                    arena_join(arena, view->show->outcome != NULL ? view->show->outcome : "", ": ",
                               diff_answer_words(arena, view->comparison, view->show->names)));
}

void diff_view_init(struct diff_view *view) {
  const struct diff_show *show = view->show;
  bool shown[verdict_name_count];
  for (size_t v = 0; v < verdict_name_count; v++) {
    shown[v] = show->verdicts[v] && (v != VERDICT_SAME || show->all || view->put_cases != NULL);
  }
  diff_layout_init(&view->layout, view->comparison, shown, show->all);
}

void diff_put(struct diff_view *view) {
  struct document *document = view->document;
  const bool one_side = view->comparison->totals[SIDE_B].runs == 0;
  bool q = true;
  if (!one_side) {
    diff_put_answer(view);
    diff_put_causes(view);
    if (view->layout.group_count + view->comparison->alone_count > 0) {
      document_gap(document);
      q = view->put_cases != NULL ? view->put_cases(view) : diff_put_cases(view);
    }
    diff_put_reasons(view);
    diff_put_legend(view, q);
    if (view->put_below != NULL) {
      view->put_below(view);
    }
    diff_put_blocks(view);
  }
  diff_put_caveats(view);
}

enum status diff_print(const struct comparison *comparison, const struct diff_show *show,
                       const struct table_options *options, struct error *err) {
  struct document document;
  struct diff_view view = {.document = &document, .comparison = comparison, .show = show};
  if (output_layout_of(options->format) == LAYOUT_OBJECT) {
    return diff_print_json(comparison, show, options->stream, err);
  }
  document_begin(&document, options, err);
  if (!document_is_for_people(&document)) {
    diff_put_rows(&document, comparison);
  } else if (show->answer_only) {
    diff_put_answer(&view);
  } else {
    diff_view_init(&view);
    diff_put(&view);
    diff_layout_fini(&view.layout);
  }
  return document_end(&document);
}
