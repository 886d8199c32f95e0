#include "runner/render/diff.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "runner/render/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW = 100, CELL_MAX = 64, LINE_MAX = 4096, INDENT = 2 };

/* ---- words and numbers for people ---- */

/* "+3.02 %", two digits after the point below 10 %. */
static void percent_text(double change, char text[CELL_MAX]) {
  const double percent = fabs(change) < 0.00005 ? 0 : 100 * change; /* never "-0.00" */
  (void)snprintf(text, CELL_MAX, fabs(percent) < 9.995 ? "%+.2f" : "%+.1f", percent);
}

/* "-2.87 ± 0.12": the half width of the 95 % interval, the wider half where they differ. */
static struct cell change_cell(const struct comparison_row *row, char text[CELL_MAX]) {
  char change[CELL_MAX];
  if (!isfinite(row->change)) {
    return cell_null();
  }
  percent_text(row->change, change);
  const double half = 100 * fmax(row->change_high - row->change, row->change - row->change_low);
  if (isfinite(half)) {
    (void)snprintf(text, CELL_MAX, half < 9.995 ? "%.20s ± %.2f" : "%.20s ± %.0f", change, half);
  } else {
    (void)snprintf(text, CELL_MAX, "%s", change);
  }
  return cell_text(text);
}

static struct cell q_cell(double q, char text[CELL_MAX]) {
  if (isnan(q)) {
    return cell_null();
  }
  (void)snprintf(text, CELL_MAX, q < 0.0001 ? "<1e-4" : "%.2g", q);
  return cell_text(text);
}

/* Four digits; ns say so, GB/s do not need to. */
static struct cell figure_cell(const struct comparison_row *row, enum side side,
                               char text[CELL_MAX]) {
  const double value = row->sides[side].value;
  if (isnan(value)) {
    return cell_null();
  }
  const char *unit = row->figure == FIGURE_RATE ? "" : " ns";
  const int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  (void)snprintf(text, CELL_MAX, "%.*f%s", digits, value, unit);
  return cell_text(text);
}

static void upper(const char *word, char text[CELL_MAX]) {
  size_t i = 0;
  for (; word[i] != '\0' && i + 1 < CELL_MAX; i++) {
    text[i] = (char)toupper((unsigned char)word[i]);
  }
  text[i] = '\0';
}

/* "5/5", and boots and GPUs behind it when the column is wide: "5/5 1/1 8/8". */
static void counts_text(const struct comparison_row *row, bool all, char text[CELL_MAX]) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  if (all) {
    (void)snprintf(text, CELL_MAX, "%u/%u %u/%u %u/%u", a->processes, b->processes, a->boots,
                   b->boots, a->gpus, b->gpus);
  } else {
    (void)snprintf(text, CELL_MAX, "%u/%u", a->processes, b->processes);
  }
}

static const char *plural(size_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}

void diff_counts(const struct comparison *comparison, char *text, size_t size) {
  static const enum verdict ORDER[] = {VERDICT_REGRESSED,    VERDICT_MISSING,      VERDICT_IMPROVED,
                                       VERDICT_NEW,          VERDICT_INCOMPARABLE, VERDICT_UNCLEAR,
                                       VERDICT_INSUFFICIENT, VERDICT_SAME};
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
    const size_t count = comparison->summary.verdicts[ORDER[i]];
    if (count > 0 && length < size) {
      length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length > 0 ? ", " : "",
                                 count, verdict_text(ORDER[i]));
    }
  }
}

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
  strbuf_printf(text, "\n   %zu %s, %u %s", total->runs, plural(total->runs, "run", "runs"),
                total->processes, plural(total->processes, "process", "processes"));
  if (total->boots > 0) {
    strbuf_printf(text, ", %u %s", total->boots, plural(total->boots, "boot", "boots"));
  }
  strbuf_printf(text, ", %u %s\n", total->gpus, plural(total->gpus, "GPU", "GPUs"));
}

static void put_shift(struct strbuf *text, const struct comparison *comparison) {
  const struct diff_shift *shift = &comparison->summary.shift;
  char change[CELL_MAX];
  char low[CELL_MAX];
  char high[CELL_MAX];
  if (shift->cases == 0) {
    return;
  }
  percent_text(shift->change, change);
  strbuf_printf(text, "\nCommon to all %zu %s: speed %s %%", shift->cases,
                plural(shift->cases, "case", "cases"), change);
  if (isfinite(shift->change_low)) {
    percent_text(shift->change_low, low);
    percent_text(shift->change_high, high);
    strbuf_printf(text, " (95 %%: %s .. %s)", low, high);
    if (shift->change_low <= 0 && shift->change_high >= 0) {
      strbuf_append(text, ", no common shift");
    }
  }
  strbuf_append_char(text, '\n');
}

static void put_null(struct strbuf *text, const struct null_rate *null) {
  if (null == NULL) {
    return;
  }
  if (null->splits == 0) {
    strbuf_append(text, "\nFalse alarms: A has fewer than four processes and cannot be split\n");
    return;
  }
  strbuf_printf(text,
                "\nFalse alarms: A split at random %zu times: %zu %s anything; %zu of %zu cases "
                "(%.2f %%)\n",
                null->splits, null->alarmed,
                plural(null->alarmed, "split reports", "splits report"), null->reported,
                null->judged,
                null->judged > 0 ? 100.0 * (double)null->reported / (double)null->judged : 0.0);
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

/* What a change must be to matter. */
static void put_delta(struct strbuf *text, const struct comparison *comparison) {
  size_t from[delta_source_word_count] = {0};
  size_t noisy = 0;
  const struct comparison_row *asked = NULL;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    from[row->delta_from]++;
    noisy += row->result.margin > row->delta * (1 + 1e-9);
    asked = row->delta_from == DELTA_OPTION ? row : asked;
  }
  strbuf_append(text, "a change matters ");
  if (asked != NULL) {
    strbuf_printf(text, "beyond %.3g %%", 100 * asked->delta);
  } else if (from[DELTA_USUAL] > 0) {
    strbuf_append(text, "beyond 1 % for bandwidth from 1 MiB on, else beyond 3 %");
  }
  if (from[DELTA_SCENARIO] > 0) {
    strbuf_printf(text, "%sas %s says for %zu %s", from[DELTA_USUAL] > 0 ? ", " : "",
                  from[DELTA_SCENARIO] == 1 ? "its scenario" : "their scenario",
                  from[DELTA_SCENARIO], plural(from[DELTA_SCENARIO], "case", "cases"));
  }
  if (noisy > 0) {
    strbuf_printf(text, "; for %zu %s beyond the noise within A, which is more", noisy,
                  plural(noisy, "case", "cases"));
  }
  strbuf_append_char(text, '\n');
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
    char text[COLUMN_COUNT][CELL_MAX];
    if (!is_shown(show, row)) {
      continue;
    }
    upper(verdict_text(row->result.verdict), text[COLUMN_VERDICT]);
    case_text(measured, row, &name);
    counts_text(row, show->all, text[COLUMN_COUNTS]);
    const struct cell all[COLUMN_COUNT] = {
        cell_text(text[COLUMN_VERDICT]),          cell_text(name.text),
        figure_cell(row, SIDE_A, text[COLUMN_A]), figure_cell(row, SIDE_B, text[COLUMN_B]),
        change_cell(row, text[COLUMN_CHANGE]),    q_cell(row->result.q, text[COLUMN_Q]),
        cell_text(text[COLUMN_COUNTS]),
    };
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
  put_null(&text, show->null);
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
                  plural(comparison->row_count, "case", "cases"),
                  counts[0] != '\0' ? counts : "nothing to compare",
                  any_on_both(comparison) ? "" : "; none is on both sides");
    if (shown > 0 && any_on_both(comparison)) {
      strbuf_append(&text, "change: of the figure shown, with its 95 % interval; "
                           "GB/s: more is better, ns: less\n");
      put_delta(&text, comparison);
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
  case row_format_word_count:
    break;
  }
  return print_rows(measured, comparison, rows, err);
}
