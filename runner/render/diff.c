#include "runner/render/diff.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/document/document.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"

#include <math.h>
#include <string.h>

enum { CASE_WIDTH_MIN = 28, NOTES_MAX = 1 << 16 };

/* A text that is appended, as a paragraph. */
static void diff_say_text(struct document *document, struct strbuf *text) {
  if (text->length > 0) {
    document_say(document, TONE_NONE, "%s", text->text);
  }
  strbuf_clear(text);
}

/* ---- around the table ---- */

/* "A  tag:before: driver 580.159.04, host n1; 1 run, 5 processes, ...; run 3 of 2026-..." */
static void diff_say_side(const struct diff_view *view, enum side side) {
  struct arena *arena = &view->document->arena;
  const struct comparison_total *total = &view->comparison->totals[side];
  document_put(view->document, side == SIDE_A ? "A  " : "B  ",
               arena_format(arena, "%s: driver %s, host %s; %zu %s, %u %s%s, %u %s; %s %s",
                            view->show->names[side], total->drivers,
                            outliers_shorten(arena, total->hosts, DIFF_HOSTS_SHOWN), total->runs,
                            strings_plural(total->runs, "run", "runs"), total->processes,
                            strings_plural(total->processes, "process", "processes"),
                            total->boots > 0
                                ? arena_format(arena, ", %u %s", total->boots,
                                               strings_plural(total->boots, "boot", "boots"))
                                : "",
                            total->gpus, strings_plural(total->gpus, "GPU", "GPUs"),
                            strings_plural(total->runs, "run", "runs"), total->which));
}

/* The causes, which belong to the answer, or the caveats. */
static void diff_say_sentences(const struct diff_view *view, bool causes) {
  if (!causes) {
    document_gap(view->document);
  }
  for (size_t i = 0; i < view->layout.sentence_count; i++) {
    const struct diff_sentence *sentence = &view->layout.sentences[i];
    const bool verdict =
        sentence->kind == SENTENCE_CONCLUSION || sentence->kind == SENTENCE_GROUP ||
        sentence->kind == SENTENCE_DISTRIBUTION || sentence->kind == SENTENCE_ALONE;
    if ((verdict || sentence->kind == SENTENCE_ENVIRONMENT) == causes) {
      document_say(view->document,
                   verdict                                ? diff_verdict_tone(sentence->verdict)
                   : sentence->kind == SENTENCE_CONDITION ? TONE_WARN
                                                          : TONE_NONE,
                   "%s", sentence->text);
    }
  }
}

static void diff_say_a_a(struct document *document, const struct a_a_result *a_a) {
  if (a_a == NULL) {
    return;
  }
  document_gap(document);
  if (a_a->splits == 0) {
    document_say(document, TONE_NONE,
                 "A/A test: A has fewer than four processes and cannot be split");
    return;
  }
  document_say(
      document, TONE_NONE,
      "A/A test: %s split at random %zu times: %zu %s false positives; %zu of %zu cases (%.2f %%)",
      a_a->by_run ? "runs of A" : "A", a_a->splits, a_a->splits_reporting,
      strings_plural(a_a->splits_reporting, "split reports", "splits report"), a_a->false_positives,
      a_a->judged,
      a_a->judged > 0 ? 100.0 * (double)a_a->false_positives / (double)a_a->judged : 0.0);
  if (!a_a->by_run) {
    document_say(
        document, TONE_NONE, "%s: splits within %s see nothing of the difference between runs",
        a_a->runs == 1 ? "One run" : "Fewer than four runs", a_a->runs == 1 ? "the run" : "runs");
  }
  if (a_a->in_time_reported > 0) {
    document_say(document, TONE_WARN,
                 "The later half of the runs differs from the earlier in %zu of %zu cases: the "
                 "level drifts or wanders. Measure A and B in turn",
                 a_a->in_time_reported, a_a->in_time_judged);
  }
}

/* What differs in the environments, as a table of its own. */
static void diff_say_facts(const struct diff_view *view) {
  static const char *const COLUMNS[] = {"differs", "A", "B"};
  struct document *document = view->document;
  const struct comparison *comparison = view->comparison;
  const struct diff_layout *layout = &view->layout;
  document_gap(document);
  if (comparison->fact_count == 0) {
    const char *reason = NULL;
    document_say(document, TONE_NONE, "%s",
                 diff_count_incomparable(comparison, &reason) > 0
                     ? "The facts of the environments do not differ, but for what is not compared."
                 : comparison->condition_count == 0
                     ? "The environments do not differ."
                     : "The facts of the environments do not differ; see above for what was not as "
                       "it should be.");
    return;
  }
  if (layout->fact_count > 0) {
    DOCUMENT_TABLE(document, COLUMNS, .wraps = true);
    for (size_t i = 0; i < layout->fact_count; i++) {
      char name[DIFF_FACT_MAX];
      struct cell cells[1 + SIDES];
      diff_fact_cells(layout->facts[i], "every gpu: ", name, cells);
      document_row(document, cells);
    }
    document_table_end(document);
  }
  for (size_t s = 0; s < SIDES; s++) {
    if (layout->unanswered[s] != NULL) {
      document_gap(document);
      document_say(document, TONE_NONE, "%s (-v lists them)", layout->unanswered[s]);
    }
  }
}

/* Of several blocks with a change a line each, and one for all others; all: a line for each. */
static void diff_say_blocks(struct diff_view *view) {
  static const char *const COLUMNS[] = {"block", "cases", "speed %", "verdicts"};
  struct document *document = view->document;
  struct diff_layout *layout = &view->layout;
  const size_t shown = view->show->all ? layout->block_count : layout->changed_blocks;
  double low = NAN;
  double high = NAN;
  if (layout->block_count < 2 || shown < 2) { /* the rows name a single one */
    return;
  }
  document_gap(document);
  DOCUMENT_TABLE(document, COLUMNS, .wraps = true);
  for (size_t i = 0; i < layout->block_count; i++) {
    const struct diff_block *block = &layout->blocks[i];
    char change[DIFF_WORDS_MAX] = "";
    if (i >= shown) {
      low = fmin(low, block->change);
      high = fmax(high, block->change);
      continue;
    }
    if (isfinite(block->change)) {
      diff_percent_words(block->change, change);
    }
    const struct cell cells[] = {cell_text(block->name), cell_integer((int64_t)block->cases),
                                 cell_words(change, TONE_NONE),
                                 cell_text(diff_block_words(layout, block))};
    document_row(document, cells);
  }
  document_table_end(document);
  const size_t left = layout->block_count - shown;
  const char *others = "";
  if (left > 0) {
    char from[DIFF_WORDS_MAX] = "";
    char to[DIFF_WORDS_MAX] = "";
    diff_percent_words(low, from);
    diff_percent_words(high, to);
    others = arena_format(&document->arena, "; %zu other %s without a change%s%s%s%s%s", left,
                          strings_plural(left, "block is", "blocks are"), isfinite(low) ? " (" : "",
                          isfinite(low) ? from : "", isfinite(low) && left > 1 ? " .. " : "",
                          isfinite(low) && left > 1 ? to : "", isfinite(low) ? ")" : "");
  }
  document_say(document, TONE_NONE,
               "speed: geometric mean over the cases of a block that both sides have%s", others);
}

/* ---- the table ---- */

/* Whether all shown rows have the processes of the sides, which stand above: then they need no
 * column. */
static bool diff_counts_are_plain(const struct comparison *comparison,
                                  const struct diff_layout *layout) {
  for (size_t g = 0; g < layout->group_count; g++) {
    const struct diff_group *group = &layout->groups[g];
    for (size_t i = 0; i < group->count && !group->folded; i++) {
      const struct comparison_row *row = &comparison->rows[group->rows[i]];
      for (size_t s = 0; s < SIDES; s++) {
        if (row->sides[s].processes > 0 &&
            row->sides[s].processes != comparison->totals[s].processes) {
          return false;
        }
      }
    }
  }
  return true;
}

enum diff_column {
  COLUMN_VERDICT,
  COLUMN_CASE,
  COLUMN_A,
  COLUMN_B,
  COLUMN_CHANGE,
  COLUMN_Q,
  COLUMN_MOVED,
  COLUMN_COUNTS,
  COLUMN_COUNT
};

/* Which columns the table of cases has. */
struct diff_cases {
  struct document *document;
  bool keep[COLUMN_COUNT];
};

/* words: NULL and "" are empty. */
static void diff_add_cells(const struct diff_cases *cases, enum verdict verdict,
                           const char *const words[COLUMN_COUNT]) {
  struct cell cells[COLUMN_COUNT];
  size_t count = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    if (cases->keep[c]) {
      cells[count++] =
          cell_words(words[c], c == COLUMN_VERDICT ? diff_verdict_tone(verdict) : TONE_NONE);
    }
  }
  document_row(cases->document, cells);
}

static void diff_add_case(const struct diff_cases *cases, const struct diff_view *view,
                          const struct comparison_row *row) {
  struct arena *arena = &view->document->arena;
  char text[COLUMN_COUNT][DIFF_WORDS_MAX];
  SCOPED(strbuf_fini) struct strbuf notes = STRBUF(NOTES_MAX);
  diff_note_words(&notes, row);
  diff_verdict_words(&row->result, text[COLUMN_VERDICT]);
  diff_figure_words(row, SIDE_A, text[COLUMN_A]);
  diff_figure_words(row, SIDE_B, text[COLUMN_B]);
  diff_change_words(row, text[COLUMN_CHANGE]);
  diff_q_words(row->result.q, text[COLUMN_Q]);
  diff_counts_words(row, view->show->all, text[COLUMN_COUNTS]);
  const char *name =
      arena_format(arena, "%s%s%s%s%s%s%s", view->measured->cases[row->bench].name,
                   row->hardware != NULL ? " [" : "", row->hardware != NULL ? row->hardware : "",
                   row->hardware != NULL ? "]" : "", notes.length > 0 ? " (" : "", notes.text,
                   notes.length > 0 ? ")" : "");
  const char *const words[COLUMN_COUNT] = {
      text[COLUMN_VERDICT], name,           text[COLUMN_A],         text[COLUMN_B],
      text[COLUMN_CHANGE],  text[COLUMN_Q], moved_text(row->moved), text[COLUMN_COUNTS]};
  diff_add_cells(cases, row->result.verdict, words);
}

/* One line for what became slower unlike the other nodes. */
static void diff_add_part(const struct diff_cases *cases, const struct outlier_part *part) {
  struct arena *arena = &cases->document->arena;
  const struct diff_result result = {.verdict = VERDICT_REGRESSED,
                                     .is_provisional = !part->certain};
  const char *const words[COLUMN_COUNT] = {
      [COLUMN_VERDICT] = diff_verdict_words(&result, DIFF_TEXT),
      [COLUMN_CASE] = arena_format(arena, "%s: %zu of %zu cases", diff_part_name(arena, part),
                                   part->slow_cases, part->cases),
      [COLUMN_CHANGE] = diff_percent_words(part->change, DIFF_TEXT)};
  diff_add_cells(cases, VERDICT_REGRESSED, words);
}

/* One line for the rows of a block and verdict. */
static void diff_add_group(const struct diff_cases *cases, struct diff_view *view,
                           const struct diff_group *group) {
  const struct comparison *comparison = view->comparison;
  const struct diff_result result = {.verdict = group->verdict,
                                     .is_provisional = group->provisional == group->count};
  const char *verdict = diff_verdict_words(&result, DIFF_TEXT);
  double greatest = NAN; /* that of the last row holds for all of them */
  for (size_t i = 0; i < group->count; i++) {
    greatest = fmax(greatest, comparison->rows[group->rows[i]].result.q);
  }
  const char *const words[COLUMN_COUNT] = {
      [COLUMN_VERDICT] = verdict,
      [COLUMN_CASE] = diff_group_words(&view->layout, view->measured, comparison, group),
      [COLUMN_CHANGE] = diff_group_range(&view->layout, group),
      [COLUMN_Q] = diff_q_words(greatest, DIFF_TEXT)};
  diff_add_cells(cases, group->verdict, words);
}

/* Whether one of the rows has a q: with one process on each side none has. */
static bool diff_any_tested(const struct comparison *comparison, const struct diff_layout *layout) {
  for (size_t g = 0; g < layout->group_count; g++) {
    for (size_t i = 0; i < layout->groups[g].count; i++) {
      if (isfinite(comparison->rows[layout->groups[g].rows[i]].result.q)) {
        return true;
      }
    }
  }
  return false;
}

/* Whether a row is of one case, with its figures. */
static bool diff_any_figure(const struct diff_layout *layout) {
  for (size_t g = 0; g < layout->group_count; g++) {
    if (!layout->groups[g].folded) {
      return true;
    }
  }
  return false;
}

/* Whether visits tell of one of the rows which of its rates changed. */
static bool diff_any_moved(const struct comparison *comparison, const struct diff_layout *layout) {
  for (size_t g = 0; g < layout->group_count; g++) {
    const struct diff_group *group = &layout->groups[g];
    for (size_t i = 0; i < group->count && !group->folded; i++) {
      if (comparison->rows[group->rows[i]].moved != MOVED_UNKNOWN) {
        return true;
      }
    }
  }
  return false;
}

static bool diff_say_cases(struct diff_view *view) {
  const struct comparison *comparison = view->comparison;
  struct diff_layout *layout = &view->layout;
  const bool all = view->show->all;
  const bool figures = diff_any_figure(layout);
  const char *columns[COLUMN_COUNT] = {"verdict",  "case", "A GB/s",  "B GB/s",
                                       "change %", "q",    "changed", all ? "n boots GPUs" : "n"};
  struct diff_cases cases = {
      view->document,
      {true, true, figures, figures, true, diff_any_tested(comparison, layout),
       diff_any_moved(comparison, layout), all || !diff_counts_are_plain(comparison, layout)}};
  const char *kept[COLUMN_COUNT];
  size_t count = 0;
  size_t q = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    q = c == COLUMN_Q ? count : q;
    if (cases.keep[c]) {
      kept[count++] = columns[c];
    }
  }
  /* Names of cases are long: columns that repeat the text above, or are needed least, make room. */
  document_table(view->document, kept, count,
                 &(struct document_table){.narrow = "q,n boots GPUs,n,A GB/s,B GB/s",
                                          .listed_min = CASE_WIDTH_MIN});
  for (size_t i = 0; i < comparison->alone_count; i++) {
    diff_add_part(&cases, &comparison->alone->parts[i]);
  }
  for (size_t g = 0; g < layout->group_count; g++) {
    const struct diff_group *group = &layout->groups[g];
    if (group->folded) {
      diff_add_group(&cases, view, group);
    }
    for (size_t i = 0; i < group->count && !group->folded; i++) {
      diff_add_case(&cases, view, &comparison->rows[group->rows[i]]);
    }
  }
  document_table_end(view->document);
  return cases.keep[COLUMN_Q] && document_shows(view->document, q);
}

/* What the columns of the table mean; a line each. */
static void diff_say_legend(const struct diff_view *view, bool explain_q) {
  struct document *document = view->document;
  const struct comparison *comparison = view->comparison;
  const size_t flaky = comparison->flaky_count;
  bool folded = false;
  for (size_t g = 0; g < view->layout.group_count; g++) {
    folded = folded || (view->layout.groups[g].folded && view->say_cases == NULL);
  }
  if (flaky > 0) {
    document_say(document, TONE_NONE,
                 "%zu %s not always ok, but no more often in B than by chance; -v shows %s", flaky,
                 strings_plural(flaky, "case is", "cases are"),
                 strings_plural(flaky, "it", "them"));
  }
  if (folded) {
    document_say(document, TONE_NONE, "-v lists every case");
  }
  if (view->layout.group_count == 0 || !diff_any_on_both(comparison)) {
    return;
  }
  document_say(document, TONE_NONE, "%s", DIFF_WORDS_CHANGE);
  if (diff_any_moved(comparison, &view->layout)) {
    document_say(document, TONE_NONE, "%s", DIFF_WORDS_MOVED);
  }
  if (explain_q) {
    document_say(document, TONE_NONE, "%s", DIFF_WORDS_Q);
  }
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(NOTES_MAX);
  diff_delta_words(&text, comparison);
  diff_say_text(document, &text);
  const char *provisional = diff_provisional_words(comparison);
  if (provisional[0] != '\0') {
    strbuf_printf(&text, "?: provisional, as %s", provisional);
  }
  diff_say_text(document, &text);
}

/* A page colours it by the worst verdict, as a terminal colours rows. */
static void diff_say_answer(const struct diff_view *view) {
  const size_t *verdicts = view->comparison->summary.verdicts;
  unsigned tone = TONE_HEADING;
  for (unsigned v = verdict_name_count; v-- > 0 && view->say_cases != NULL;) {
    tone = verdicts[v] > 0 && v != VERDICT_SAME ? diff_verdict_tone((enum verdict)v) : tone;
  }
  SCOPED(strbuf_fini) struct strbuf words = STRBUF(NOTES_MAX);
  diff_answer_words(&words, view->measured, view->comparison, view->show->names);
  document_say(view->document, tone, "%s", words.text);
}

void diff_view_init(struct diff_view *view) {
  const struct diff_show *show = view->show;
  bool shown[verdict_name_count];
  for (size_t v = 0; v < verdict_name_count; v++) {
    shown[v] = show->verdicts[v] && (v != VERDICT_SAME || show->all || view->say_cases != NULL);
  }
  diff_layout_init(&view->layout, view->measured, view->comparison, shown, show->all);
}

void diff_say(struct diff_view *view) {
  struct document *document = view->document;
  const bool one_side = view->comparison->totals[SIDE_B].runs == 0;
  const bool brief = !one_side && document->options.format == OUTPUT_MD;
  bool q = true;
  if (!one_side) {
    diff_say_answer(view);
    if (!brief) {
      diff_say_sentences(view, true);
    }
    if (view->layout.group_count + view->comparison->alone_count > 0) {
      document_gap(document);
      q = view->say_cases != NULL ? view->say_cases(view) : diff_say_cases(view);
    }
  }
  if (brief) {
    return;
  }
  if (!one_side) {
    diff_say_legend(view, q);
    diff_say_blocks(view);
  }
  diff_say_sentences(view, false);
  diff_say_a_a(document, view->show->a_a);
  if (!one_side) {
    diff_say_facts(view);
  }
  document_gap(document);
  for (size_t s = 0; s < (one_side ? 1 : SIDES); s++) {
    diff_say_side(view, (enum side)s);
  }
}

enum status diff_print(const struct measured *measured, const struct comparison *comparison,
                       const struct diff_show *show, const struct table_options *options,
                       struct error *err) {
  struct document document;
  struct diff_view view = {
      .document = &document, .measured = measured, .comparison = comparison, .show = show};
  if (output_layout_of(options->format) == LAYOUT_OBJECT) {
    return diff_print_json(measured, comparison, show, options->stream, err);
  }
  document_begin(&document, options, err);
  if (!document_is_for_people(&document)) {
    diff_say_rows(&document, measured, comparison);
  } else if (show->answer_only) {
    diff_say_answer(&view);
  } else {
    diff_view_init(&view);
    diff_say(&view);
    diff_layout_fini(&view.layout);
  }
  return document_end(&document);
}
