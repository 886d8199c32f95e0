#include "runner/render/diff.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/document/document.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"
#include "runner/table/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { CASE_WIDTH_MIN = 28, LINE_MAX = 4096, NOTES_MAX = 1 << 16 };

/* ---- the part above the table ---- */

/* "A  tag:before: driver 580.159.04, host n1; 1 run, 5 processes, ...; run 3 of 2026-..." */
static void diff_print_side(struct document *document, enum side side, const char *name,
                            const struct comparison_total *total) {
  struct arena arena = {0};
  struct strbuf text;
  strbuf_init(&text, NOTES_MAX);
  text_append(&text, name);
  strbuf_append(&text, ": driver ");
  text_append(&text, total->drivers);
  strbuf_append(&text, ", host ");
  text_append(&text, outliers_shorten(&arena, total->hosts, DIFF_HOSTS_SHOWN));
  strbuf_printf(&text, "; %zu %s, %u %s", total->runs, strings_plural(total->runs, "run", "runs"),
                total->processes, strings_plural(total->processes, "process", "processes"));
  if (total->boots > 0) {
    strbuf_printf(&text, ", %u %s", total->boots, strings_plural(total->boots, "boot", "boots"));
  }
  strbuf_printf(&text, ", %u %s; %s %s", total->gpus, strings_plural(total->gpus, "GPU", "GPUs"),
                strings_plural(total->runs, "run", "runs"), total->which);
  document_put(document, side == SIDE_A ? "A  " : "B  ", text.text);
  strbuf_fini(&text);
  arena_fini(&arena);
}

/* A text of its own paragraph, broken to the width. */
static void diff_put_paragraph(struct strbuf *text, const struct table_options *options,
                               const char *words) {
  strbuf_append_char(text, '\n');
  text_wrap(text, words, options->width, 0, false);
  strbuf_append_char(text, '\n');
}

/* The causes, which belong to the answer, or the caveats. */
static void diff_put_sentences(struct strbuf *text, const struct diff_layout *layout, bool causes,
                               const struct table_options *options) {
  struct strbuf words;
  size_t put = 0;
  strbuf_init(&words, NOTES_MAX);
  for (size_t i = 0; i < layout->sentence_count; i++) {
    const struct diff_sentence *sentence = &layout->sentences[i];
    const bool is_cause = sentence->kind == SENTENCE_CONCLUSION ||
                          sentence->kind == SENTENCE_ALONE ||
                          sentence->kind == SENTENCE_ENVIRONMENT;
    if (is_cause != causes) {
      continue;
    }
    const char *colour = options->colour && (sentence->kind == SENTENCE_CONCLUSION ||
                                             sentence->kind == SENTENCE_ALONE)
                             ? text_colour(diff_verdict_tone(sentence->verdict))
                             : NULL;
    strbuf_clear(&words);
    text_append(&words, sentence->text);
    strbuf_append(text, is_cause || put++ > 0 ? "" : "\n");
    strbuf_append(text, colour != NULL ? colour : "");
    text_wrap(text, words.text, options->width, 0, false);
    strbuf_append(text, colour != NULL ? TEXT_COLOUR_OFF : "");
    strbuf_append_char(text, '\n');
  }
  strbuf_fini(&words);
}

static void diff_put_a_a(struct strbuf *text, const struct a_a_result *a_a) {
  if (a_a == NULL) {
    return;
  }
  if (a_a->splits == 0) {
    strbuf_append(text, "\nA/A test: A has fewer than four processes and cannot be split\n");
    return;
  }
  strbuf_printf(
      text,
      "\nA/A test: %s split at random %zu times: %zu %s false positives; %zu of %zu cases "
      "(%.2f %%)\n",
      a_a->by_run ? "runs of A" : "A", a_a->splits, a_a->splits_reporting,
      strings_plural(a_a->splits_reporting, "split reports", "splits report"), a_a->false_positives,
      a_a->judged,
      a_a->judged > 0 ? 100.0 * (double)a_a->false_positives / (double)a_a->judged : 0.0);
  if (!a_a->by_run) {
    strbuf_printf(text, "%s: splits within %s see nothing of the difference between runs\n",
                  a_a->runs == 1 ? "One run" : "Fewer than four runs",
                  a_a->runs == 1 ? "the run" : "runs");
  }
}

/* What differs in the environments, as a table of its own. */
static enum status diff_print_facts(const struct comparison *comparison,
                                    const struct diff_layout *layout,
                                    const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"  differs", "A", "B"};
  enum status status = STATUS_OK;
  errno = 0;
  if (comparison->fact_count == 0) {
    struct strbuf text;
    strbuf_init(&text, NOTES_MAX);
    const char *reason = NULL;
    diff_put_paragraph(&text, options,
                       diff_count_incomparable(comparison, &reason) > 0
                           ? "The facts of the environments do not differ, but for what is not "
                             "compared."
                       : comparison->condition_count == 0
                           ? "The environments do not differ."
                           : "The facts of the environments do not differ; see above for what was "
                             "not as it should be.");
    const bool failed = fputs(text.text, options->stream) == EOF;
    strbuf_fini(&text);
    return stream_check(options->stream, failed, NULL, err);
  }
  if (layout->fact_count > 0) {
    (void)fputc('\n', options->stream);
    struct table *table = TABLE_OPEN(options, COLUMNS, err);
    for (size_t i = 0; i < layout->fact_count; i++) {
      char name[DIFF_FACT_MAX];
      struct cell cells[1 + SIDES];
      diff_fact_cells(layout->facts[i], "  ", "every gpu: ", name, cells);
      table_add(table, cells, err);
    }
    status = table_close(table, err);
  }
  struct strbuf text;
  strbuf_init(&text, NOTES_MAX);
  for (size_t s = 0; s < SIDES; s++) {
    if (layout->unanswered[s] != NULL) {
      char line[NOTES_MAX / 16];
      (void)snprintf(line, sizeof line, "%s (-v lists them)", layout->unanswered[s]);
      diff_put_paragraph(&text, options, line);
    }
  }
  status = THEN(status, stream_write(options->stream, &text, NULL, err));
  strbuf_fini(&text);
  return status;
}

/* ---- the blocks ---- */

/* Of several blocks with a change a line each, and one for all others; all: a line for each. */
static enum status diff_print_blocks(struct diff_layout *layout, bool all,
                                     const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"block", "cases", "speed %", "verdicts"};
  const size_t shown = all ? layout->block_count : layout->changed_blocks;
  double low = NAN;
  double high = NAN;
  if (layout->block_count < 2 || shown < 2) { /* the rows name a single one */
    return STATUS_OK;
  }
  (void)fputc('\n', options->stream);
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
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
                                 change[0] != '\0' ? cell_text(change) : cell_null(),
                                 cell_text(diff_block_words(layout, block))};
    table_add(table, cells, err);
  }
  enum status status = table_close(table, err);
  struct strbuf text;
  strbuf_init(&text, NOTES_MAX);
  strbuf_append(&text, "speed: geometric mean over the cases of a block that both sides have");
  if (shown < layout->block_count) {
    char from[DIFF_WORDS_MAX];
    char to[DIFF_WORDS_MAX];
    const size_t left = layout->block_count - shown;
    strbuf_printf(&text, "; %zu other %s without a change", left,
                  strings_plural(left, "block is", "blocks are"));
    if (isfinite(low)) {
      diff_percent_words(low, from);
      diff_percent_words(high, to);
      strbuf_printf(&text, left > 1 ? " (%s .. %s)" : " (%s)", from, to);
    }
  }
  struct strbuf lines;
  strbuf_init(&lines, NOTES_MAX);
  text_wrap(&lines, text.text, options->width, 0, false);
  strbuf_append_char(&lines, '\n');
  status = THEN(status, stream_write(options->stream, &lines, NULL, err));
  strbuf_fini(&lines);
  strbuf_fini(&text);
  return status;
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

static void diff_case_text(const struct measured *measured, const struct comparison_row *row,
                           struct strbuf *text) {
  const struct measured_case *bench = &measured->cases[row->bench];
  strbuf_clear(text);
  strbuf_append(text, bench->name);
  if (row->hardware != NULL) {
    strbuf_printf(text, " [%s]", row->hardware);
  }
  struct strbuf notes;
  strbuf_init(&notes, NOTES_MAX);
  diff_note_words(&notes, row);
  if (notes.length > 0) {
    strbuf_printf(text, " (%s)", notes.text);
  }
  strbuf_fini(&notes);
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

/* The table of cases while it is written. */
struct diff_cases {
  struct table *table;
  bool keep[COLUMN_COUNT];
  bool all;
  struct strbuf name;
};

static void diff_add_cells(struct diff_cases *cases, enum verdict verdict,
                           const char *const words[COLUMN_COUNT], struct error *err) {
  struct cell cells[COLUMN_COUNT];
  size_t count = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    if (cases->keep[c]) {
      cells[count++] =
          cell_words(words[c], c == COLUMN_VERDICT ? diff_verdict_tone(verdict) : TONE_NONE);
    }
  }
  table_add(cases->table, cells, err);
}

static void diff_add_case(struct diff_cases *cases, const struct measured *measured,
                          const struct comparison_row *row, struct error *err) {
  char text[COLUMN_COUNT][DIFF_WORDS_MAX];
  diff_case_text(measured, row, &cases->name);
  diff_verdict_words(&row->result, text[COLUMN_VERDICT]);
  diff_figure_words(row, SIDE_A, text[COLUMN_A]);
  diff_figure_words(row, SIDE_B, text[COLUMN_B]);
  diff_change_words(row, text[COLUMN_CHANGE]);
  diff_q_words(row->result.q, text[COLUMN_Q]);
  diff_counts_words(row, cases->all, text[COLUMN_COUNTS]);
  const char *const words[COLUMN_COUNT] = {
      text[COLUMN_VERDICT], cases->name.text, text[COLUMN_A],     text[COLUMN_B],
      text[COLUMN_CHANGE],  text[COLUMN_Q],   text[COLUMN_COUNTS]};
  diff_add_cells(cases, row->result.verdict, words, err);
}

/* One line for what became slower unlike the other nodes. */
static void diff_add_part(struct diff_cases *cases, const struct outlier_part *part,
                          struct error *err) {
  struct arena arena = {0};
  char verdict[DIFF_WORDS_MAX];
  char change[DIFF_WORDS_MAX];
  const struct diff_result result = {.verdict = VERDICT_REGRESSED,
                                     .is_provisional = !part->certain};
  diff_verdict_words(&result, verdict);
  diff_percent_words(part->change, change);
  const char *const words[COLUMN_COUNT] = {verdict,
                                           arena_format(&arena, "%s: %zu of %zu cases",
                                                        diff_part_name(&arena, part),
                                                        part->slow_cases, part->cases),
                                           "",
                                           "",
                                           change,
                                           "",
                                           ""};
  diff_add_cells(cases, VERDICT_REGRESSED, words, err);
  arena_fini(&arena);
}

/* One line for the rows of a block and verdict. */
static void diff_add_group(struct diff_cases *cases, struct diff_layout *layout,
                           const struct measured *measured, const struct comparison *comparison,
                           const struct diff_group *group, struct error *err) {
  char verdict[DIFF_WORDS_MAX];
  char q[DIFF_WORDS_MAX];
  const struct diff_result result = {.verdict = group->verdict,
                                     .is_provisional = group->provisional == group->count};
  diff_verdict_words(&result, verdict);
  double greatest = NAN; /* that of the last row holds for all of them */
  for (size_t i = 0; i < group->count; i++) {
    greatest = fmax(greatest, comparison->rows[group->rows[i]].result.q);
  }
  diff_q_words(greatest, q);
  const char *const words[COLUMN_COUNT] = {verdict,
                                           diff_group_words(layout, measured, comparison, group),
                                           "",
                                           "",
                                           diff_group_range(layout, group),
                                           q,
                                           ""};
  diff_add_cells(cases, group->verdict, words, err);
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

static enum status diff_print_cases(const struct measured *measured,
                                    const struct comparison *comparison, struct diff_layout *layout,
                                    bool all, const struct table_options *options, bool *left_out,
                                    struct error *err) {
  const char *columns[COLUMN_COUNT] = {
      "verdict", "case", "A GB/s", "B GB/s", "change %", "q", all ? "n boots GPUs" : "n"};
  /* Names of cases are long: columns that repeat the text above, or are needed least, make room. */
  struct table_options list = *options;
  list.narrow = "q,n boots GPUs,n,A GB/s,B GB/s";
  list.listed_min = CASE_WIDTH_MIN;
  list.left_out = left_out;
  struct diff_cases cases = {.keep = {true, true, true, true, true,
                                      diff_any_tested(comparison, layout),
                                      all || !diff_counts_are_plain(comparison, layout)},
                             .all = all};
  const bool figures = diff_any_figure(layout);
  cases.keep[COLUMN_A] = cases.keep[COLUMN_B] = figures;
  const char *kept[COLUMN_COUNT];
  size_t kept_count = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    if (cases.keep[c]) {
      kept[kept_count++] = columns[c];
    }
  }
  strbuf_init(&cases.name, LINE_MAX);
  cases.table = table_open(&list, kept, kept_count, err);
  for (size_t i = 0; i < comparison->alone_count; i++) {
    diff_add_part(&cases, &comparison->alone->parts[i], err);
  }
  for (size_t g = 0; g < layout->group_count; g++) {
    const struct diff_group *group = &layout->groups[g];
    if (group->folded) {
      diff_add_group(&cases, layout, measured, comparison, group, err);
    }
    for (size_t i = 0; i < group->count && !group->folded; i++) {
      diff_add_case(&cases, measured, &comparison->rows[group->rows[i]], err);
    }
  }
  strbuf_fini(&cases.name);
  const enum status status = table_close(cases.table, err);
  if (left_out != NULL && !cases.keep[COLUMN_Q]) {
    left_out[COLUMN_Q] = true;
  }
  return status;
}

/* What the columns of the table mean; a line each. */
static void diff_put_legend(struct strbuf *text, const struct comparison *comparison,
                            const struct diff_layout *layout, bool explain_q) {
  bool folded = false;
  for (size_t g = 0; g < layout->group_count; g++) {
    folded = folded || layout->groups[g].folded;
  }
  if (comparison->flaky_count > 0) {
    strbuf_printf(
        text, "%zu %s not always ok, but no more often in B than by chance; -v shows %s\n",
        comparison->flaky_count, strings_plural(comparison->flaky_count, "case is", "cases are"),
        strings_plural(comparison->flaky_count, "it", "them"));
  }
  if (folded) {
    strbuf_append(text, "-v shows every case of the lines that stand for several\n");
  }
  if (layout->group_count > 0 && diff_any_on_both(comparison)) {
    strbuf_append(text, DIFF_WORDS_CHANGE "\n");
    if (explain_q) {
      strbuf_append(text, DIFF_WORDS_Q "\n");
    }
    diff_delta_words(text, comparison);
    strbuf_append_char(text, '\n');
    const char *provisional = diff_provisional_words(comparison);
    strbuf_printf(text, "%s%s", provisional, provisional[0] != '\0' ? "\n" : "");
  }
}

static enum status diff_print_answer(const struct measured *measured,
                                     const struct comparison *comparison,
                                     const struct diff_show *show,
                                     const struct table_options *options, struct error *err) {
  struct document document;
  struct strbuf words;
  strbuf_init(&words, NOTES_MAX);
  document_begin(&document, options, err);
  diff_answer_words(&words, measured, comparison, show->names);
  document_put(&document, "", words.text);
  strbuf_fini(&words);
  return document_end(&document);
}

/* The answer first: verdicts, causes, rows; then what limits it, then who was compared. */
static enum status diff_print_page(const struct measured *measured,
                                   const struct comparison *comparison, struct diff_layout *layout,
                                   const struct diff_show *show,
                                   const struct table_options *options, struct error *err) {
  struct strbuf text;
  strbuf_init(&text, 1 << 20);
  bool left_out[COLUMN_COUNT] = {false};
  const bool one_side = comparison->totals[SIDE_B].runs == 0;
  enum status status = STATUS_OK;
  if (!one_side) {
    status = diff_print_answer(measured, comparison, show, options, err);
    diff_put_sentences(&text, layout, true, options);
    status = THEN(status, stream_write(options->stream, &text, NULL, err));
    if (status == STATUS_OK && layout->group_count + comparison->alone_count > 0) {
      (void)fputc('\n', options->stream);
      status = diff_print_cases(measured, comparison, layout, show->all, options, left_out, err);
    }
    strbuf_clear(&text);
    diff_put_legend(&text, comparison, layout, !left_out[COLUMN_Q]);
    text_wrap_lines(&text, options->width);
    status = THEN(status, stream_write(options->stream, &text, NULL, err));
    status = THEN(status, diff_print_blocks(layout, show->all, options, err));
    strbuf_clear(&text);
  }
  diff_put_sentences(&text, layout, false, options);
  diff_put_a_a(&text, show->a_a);
  status = THEN(status, stream_write(options->stream, &text, NULL, err));
  if (!one_side) {
    status = THEN(status, diff_print_facts(comparison, layout, options, err));
  }
  strbuf_fini(&text);
  if (status != STATUS_OK) {
    return status;
  }
  struct document document;
  (void)fputc('\n', options->stream);
  document_begin(&document, options, err);
  for (size_t s = 0; s < (one_side ? 1 : SIDES); s++) {
    diff_print_side(&document, (enum side)s, show->names[s], &comparison->totals[s]);
  }
  return document_end(&document);
}

/* To paste: the answer and the rows. */
static enum status diff_print_digest(const struct measured *measured,
                                     const struct comparison *comparison,
                                     struct diff_layout *layout, const struct diff_show *show,
                                     const struct table_options *options, struct error *err) {
  struct strbuf text;
  strbuf_init(&text, NOTES_MAX);
  strbuf_append(&text, "**");
  diff_answer_words(&text, measured, comparison, show->names);
  strbuf_append(&text, "**\n\n");
  enum status status = stream_write(options->stream, &text, NULL, err);
  strbuf_fini(&text);
  return THEN(status,
              diff_print_cases(measured, comparison, layout, show->all, options, NULL, err));
}

/* For people: as many rows of the table as show->all wants. */
static enum status diff_print_layout(const struct measured *measured,
                                     const struct comparison *comparison,
                                     const struct diff_show *show,
                                     const struct table_options *options, struct error *err) {
  struct diff_layout layout;
  bool shown[verdict_name_count];
  for (size_t v = 0; v < verdict_name_count; v++) {
    shown[v] = show->verdicts[v] && (v != VERDICT_SAME || show->all);
  }
  diff_layout_init(&layout, measured, comparison, shown, show->all);
  const enum status status =
      output_layout_of(options->format) == LAYOUT_PAGE
          ? diff_print_page(measured, comparison, &layout, show, options, err)
          : diff_print_digest(measured, comparison, &layout, show, options, err);
  diff_layout_fini(&layout);
  return status;
}

enum status diff_print(const struct measured *measured, const struct comparison *comparison,
                       const struct diff_show *show, const struct table_options *options,
                       struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
  case LAYOUT_DIGEST:
    return show->answer_only ? diff_print_answer(measured, comparison, show, options, err)
                             : diff_print_layout(measured, comparison, show, options, err);
  case LAYOUT_OBJECT:
    return diff_print_json(measured, comparison, show, options->stream, err);
  case LAYOUT_ROWS:
    break;
  }
  return diff_print_rows(measured, comparison, options, err);
}
