#include "runner/render/diff.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "runner/render/diff_words.h"
#include "runner/render/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW = 100, LINE_MAX = 4096, INDENT = 2 };

/* ---- the part above the table ---- */

static void put(struct strbuf *text, const char *untrusted) {
  text_escape(text, untrusted, strlen(untrusted), ESCAPE_TERMINAL);
}

static void put_side(struct strbuf *text, char letter, const char *name,
                     const struct comparison_total *total) {
  strbuf_printf(text, "%c  ", letter);
  put(text, name);
  strbuf_append(text, "  driver ");
  put(text, total->drivers);
  strbuf_append(text, "  host ");
  put(text, total->hosts);
  strbuf_printf(text, "\n   %zu %s, %u %s", total->runs, diff_plural(total->runs, "run", "runs"),
                total->processes, diff_plural(total->processes, "process", "processes"));
  if (total->boots > 0) {
    strbuf_printf(text, ", %u %s", total->boots, diff_plural(total->boots, "boot", "boots"));
  }
  strbuf_printf(text, ", %u %s\n", total->gpus, diff_plural(total->gpus, "GPU", "GPUs"));
}

static void put_shift(struct strbuf *text, const struct comparison *comparison) {
  if (comparison->summary.shift.pairs > 0) {
    strbuf_append_char(text, '\n');
    diff_shift_words(text, comparison);
    strbuf_append_char(text, '\n');
  }
}

static void put_a_a(struct strbuf *text, const struct a_a_result *a_a) {
  if (a_a == NULL) {
    return;
  }
  if (a_a->splits == 0) {
    strbuf_append(text, "\nA/A test: A has fewer than four processes and cannot be split\n");
    return;
  }
  strbuf_printf(text,
                "\nA/A test: A split at random %zu times: %zu %s false positives; %zu of %zu cases "
                "(%.2f %%)\n",
                a_a->splits, a_a->splits_reporting,
                diff_plural(a_a->splits_reporting, "split reports", "splits report"),
                a_a->false_positives, a_a->judged,
                a_a->judged > 0 ? 100.0 * (double)a_a->false_positives / (double)a_a->judged : 0.0);
}

static void put_notes(struct strbuf *text, const struct comparison *comparison, bool one_side) {
  if (comparison->simulated) {
    strbuf_printf(text, "\nSIMULATED: a fake driver answered%s\n",
                  one_side ? "" : " on both sides");
  }
  if (comparison->other_machine) {
    strbuf_append(text, "\nOther hardware: cases are compared between different GPUs or hosts; a "
                        "change may be theirs\n");
  }
}

static enum status write_text(const struct strbuf *text, FILE *stream, struct error *err) {
  errno = 0;
  if (fwrite(text->text, 1, text->length, stream) < text->length && errno != EPIPE) {
    return error_set_errno(err, errno, "cannot write the result");
  }
  return STATUS_OK;
}

/* What differs in the environments, as a table of its own. */
static enum status print_facts(const struct comparison *comparison,
                               const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"  differs", "A", "B"};
  if (comparison->fact_count == 0) {
    const bool failed = fputs("\nThe environments do not differ.\n", options->stream) == EOF;
    return failed && errno != EPIPE ? error_set_errno(err, errno, "cannot write the result")
                                    : STATUS_OK;
  }
  struct rows *rows = rows_new(options);
  const struct row_sink *sink = rows_sink(rows);
  (void)fputc('\n', options->stream);
  enum status status = sink->begin(sink->context, COLUMNS, 3, err);
  for (size_t i = 0; i < comparison->fact_count && status == STATUS_OK; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    char name[128];
    if (fact->gpu >= 0) {
      (void)snprintf(name, sizeof name, "  gpu%d %s", fact->gpu, fact->name);
    } else {
      (void)snprintf(name, sizeof name, "  %s%s", fact->gpu == -2 ? "every gpu: " : "", fact->name);
    }
    const struct cell cells[] = {
        cell_text(name),
        cell_text(fact->values[SIDE_A] != NULL ? fact->values[SIDE_A] : "(no answer)"),
        cell_text(fact->values[SIDE_B] != NULL ? fact->values[SIDE_B] : "(no answer)")};
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

/* ---- the table ---- */

static bool is_shown(const struct diff_show *show, const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  return show->verdicts[verdict] && (verdict != VERDICT_SAME || show->all);
}

/* Whether all shown rows have the processes of the sides: then the column says nothing new. */
static bool counts_are_plain(const struct comparison *comparison, const struct diff_show *show) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    for (size_t s = 0; s < SIDES; s++) {
      if (is_shown(show, row) && row->sides[s].processes > 0 &&
          row->sides[s].processes != comparison->totals[s].processes) {
        return false;
      }
    }
  }
  return true;
}

static void case_text(const struct measured *measured, const struct comparison_row *row,
                      struct strbuf *text) {
  const struct measured_case *bench = &measured->cases[row->bench];
  strbuf_clear(text);
  strbuf_append(text, bench->name);
  if (row->hardware != NULL) {
    strbuf_printf(text, " [%s]", row->hardware);
  }
  if (row->reason != NULL) {
    strbuf_printf(text, " (%s)", row->reason);
  }
}

enum column {
  COLUMN_VERDICT,
  COLUMN_CASE,
  COLUMN_A,
  COLUMN_B,
  COLUMN_CHANGE,
  COLUMN_Q,
  COLUMN_COUNTS,
  COLUMN_COUNT
};

static enum status print_cases(const struct measured *measured, const struct comparison *comparison,
                               const struct diff_show *show, const struct rows_options *options,
                               struct error *err) {
  const bool wide = options->width == 0 || options->width >= NARROW;
  const bool counts = show->all || !counts_are_plain(comparison, show);
  const char *columns[COLUMN_COUNT] = {
      "verdict", "case", "A GB/s", "B GB/s", "change %", "q", show->all ? "n, boots, GPUs" : "n"};
  /* Names of cases are long: what is said above, or needed least, makes room. */
  const bool keep[COLUMN_COUNT] = {true, true, true, true, true, wide, counts};
  const char *kept[COLUMN_COUNT];
  size_t kept_count = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    if (keep[c]) {
      kept[kept_count++] = columns[c];
    }
  }
  struct rows *rows = rows_new(options);
  const struct row_sink *sink = rows_sink(rows);
  struct strbuf name;
  strbuf_init(&name, LINE_MAX);
  enum status status = sink->begin(sink->context, kept, kept_count, err);
  for (size_t i = 0; i < comparison->row_count && status == STATUS_OK; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    char text[COLUMN_COUNT][DIFF_WORDS_MAX];
    if (!is_shown(show, row)) {
      continue;
    }
    case_text(measured, row, &name);
    diff_verdict_words(row->result.verdict, text[COLUMN_VERDICT]);
    diff_figure_words(row, SIDE_A, text[COLUMN_A]);
    diff_figure_words(row, SIDE_B, text[COLUMN_B]);
    diff_change_words(row, text[COLUMN_CHANGE]);
    diff_q_words(row->result.q, text[COLUMN_Q]);
    diff_counts_words(row, show->all, text[COLUMN_COUNTS]);
    struct cell all[COLUMN_COUNT];
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      const char *word = c == COLUMN_CASE ? name.text : text[c];
      all[c] = word[0] != '\0' ? cell_text(word) : cell_null();
    }
    struct cell cells[COLUMN_COUNT];
    size_t count = 0;
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      if (keep[c]) {
        cells[count++] = all[c];
      }
    }
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  strbuf_fini(&name);
  rows_free(rows);
  return status;
}

static size_t count_shown(const struct comparison *comparison, const struct diff_show *show) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    count += is_shown(show, &comparison->rows[i]);
  }
  return count;
}

static bool any_on_both(const struct comparison *comparison) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    if (isfinite(comparison->rows[i].result.change)) {
      return true;
    }
  }
  return false;
}

static enum status print_table(const struct measured *measured, const struct comparison *comparison,
                               const struct diff_show *show, const struct rows_options *options,
                               struct error *err) {
  struct strbuf text;
  strbuf_init(&text, 1 << 20);
  const bool one_side = comparison->totals[SIDE_B].runs == 0;
  for (size_t s = 0; s < (one_side ? 1 : SIDES); s++) {
    put_side(&text, s == SIDE_A ? 'A' : 'B', show->names[s], &comparison->totals[s]);
  }
  put_notes(&text, comparison, one_side);
  put_shift(&text, comparison);
  put_a_a(&text, show->a_a);
  enum status status = write_text(&text, options->stream, err);
  if (one_side) {
    strbuf_fini(&text);
    return status;
  }
  if (status == STATUS_OK) {
    status = print_facts(comparison, options, err);
  }
  const size_t shown = count_shown(comparison, show);
  if (status == STATUS_OK && shown > 0) {
    (void)fputc('\n', options->stream);
    status = print_cases(measured, comparison, show, options, err);
  }
  if (status == STATUS_OK) {
    char counts[256];
    strbuf_clear(&text);
    diff_counts(comparison, counts, sizeof counts);
    strbuf_printf(&text, "\n%zu %s: %s%s\n", comparison->row_count,
                  diff_plural(comparison->row_count, "case", "cases"),
                  counts[0] != '\0' ? counts : "nothing to compare",
                  any_on_both(comparison) ? "" : "; none is on both sides");
    if (shown > 0 && any_on_both(comparison)) {
      strbuf_append(&text, "change: of the figure shown, with its 95 % interval; "
                           "GB/s: more is better, ns: less\n");
      diff_delta_words(&text, comparison);
      strbuf_append_char(&text, '\n');
    }
    status = write_text(&text, options->stream, err);
  }
  strbuf_fini(&text);
  return status;
}

/* ---- one row a case ---- */

static struct cell real_cell(double value) {
  return isfinite(value) ? cell_real(value) : cell_null();
}

static struct cell count_cell(unsigned value) {
  return cell_integer((int64_t)value);
}

static enum status print_rows(const struct measured *measured, const struct comparison *comparison,
                              const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"verdict",
                                        "case",
                                        "case_key",
                                        "block",
                                        "method",
                                        "path",
                                        "axes",
                                        "size_bytes",
                                        "unit",
                                        "a",
                                        "b",
                                        "change_percent",
                                        "low_percent",
                                        "high_percent",
                                        "p",
                                        "q",
                                        "test",
                                        "margin_percent",
                                        "sd_percent",
                                        "processes_a",
                                        "processes_b",
                                        "boots_a",
                                        "boots_b",
                                        "gpus_a",
                                        "gpus_b",
                                        "processes_needed",
                                        "hardware",
                                        "reason",
                                        "delta_percent",
                                        "delta_from"};
  struct rows *rows = rows_new(options);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < comparison->row_count && status == STATUS_OK; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct measured_case *bench = &measured->cases[row->bench];
    const struct comparison_side *a = &row->sides[SIDE_A];
    const struct comparison_side *b = &row->sides[SIDE_B];
    const struct diff_result *result = &row->result;
    const struct cell cells[] = {
        cell_text(verdict_text(result->verdict)),
        cell_text(bench->name),
        cell_text(bench->key),
        cell_text(bench->block),
        cell_text(bench->method),
        cell_text(bench->path),
        cell_text(bench->axes),
        cell_integer((int64_t)bench->size_bytes),
        cell_text(figure_text(row->figure)),
        real_cell(a->value),
        real_cell(b->value),
        real_cell(100 * row->change),
        real_cell(100 * row->change_low),
        real_cell(100 * row->change_high),
        real_cell(result->p),
        real_cell(result->q),
        cell_text(diff_test_text(result->test)),
        real_cell(100 * result->margin),
        real_cell(100 * result->sd),
        count_cell(a->processes),
        count_cell(b->processes),
        count_cell(a->boots),
        count_cell(b->boots),
        count_cell(a->gpus),
        count_cell(b->gpus),
        result->processes_needed > 0 ? count_cell(result->processes_needed) : cell_null(),
        cell_text(row->hardware),
        cell_text(row->reason),
        real_cell(100 * row->delta),
        cell_text(delta_source_text(row->delta_from)),
    };
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

enum status diff_print(const struct measured *measured, const struct comparison *comparison,
                       const struct diff_show *show, const struct rows_options *rows,
                       struct error *err) {
  switch (rows->format) {
  case ROW_TABLE:
    return print_table(measured, comparison, show, rows, err);
  case ROW_MD:
    return print_cases(measured, comparison, show, rows, err);
  case ROW_JSON:
  case ROW_JSONL:
  case ROW_CSV:
  case row_format_name_count:
    break;
  }
  return print_rows(measured, comparison, rows, err);
}
