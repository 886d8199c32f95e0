#include "runner/render/diff.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "runner/table/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

enum { NARROW = 100, LINE_MAX = 4096, INDENT = 2, NOTES_MAX = 1 << 16 };

/* ---- words and numbers ---- */

/* Of 0.0302 "+3.02": per cent, two digits after the point below 10 %. */
static void diff_percent_words(double change, char text[DIFF_WORDS_MAX]) {
  const double percent = fabs(change) < 0.00005 ? 0 : 100 * change; /* never "-0.00" */
  (void)snprintf(text, DIFF_WORDS_MAX, fabs(percent) < 9.995 ? "%+.2f" : "%+.1f", percent);
}

void diff_change_words(const struct comparison_row *row, char text[DIFF_WORDS_MAX]) {
  char change[DIFF_WORDS_MAX];
  text[0] = '\0';
  if (!isfinite(row->change)) {
    return;
  }
  diff_percent_words(row->change, change);
  const double half = 100 * fmax(row->change_high - row->change, row->change - row->change_low);
  if (isfinite(half)) {
    (void)snprintf(text, DIFF_WORDS_MAX, half < 9.995 ? "%.20s ± %.2f" : "%.20s ± %.0f", change,
                   half);
  } else {
    (void)snprintf(text, DIFF_WORDS_MAX, "%s", change);
  }
}

void diff_q_words(double q, char text[DIFF_WORDS_MAX]) {
  text[0] = '\0';
  if (!isnan(q)) {
    (void)snprintf(text, DIFF_WORDS_MAX, q < 0.0001 ? "<1e-4" : "%.2g", q);
  }
}

void diff_figure_words(const struct comparison_row *row, enum side side,
                       char text[DIFF_WORDS_MAX]) {
  const double value = row->sides[side].value;
  text[0] = '\0';
  if (isnan(value)) {
    return;
  }
  const char *unit = row->figure == FIGURE_RATE ? "" : " ns";
  const int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  (void)snprintf(text, DIFF_WORDS_MAX, "%.*f%s", digits, value, unit);
}

void diff_verdict_words(const struct diff_result *result, char text[DIFF_WORDS_MAX]) {
  const char *word = verdict_text(result->verdict);
  size_t i = 0;
  for (; word[i] != '\0' && i + 2 < DIFF_WORDS_MAX; i++) {
    text[i] = (char)toupper((unsigned char)word[i]);
  }
  if (result->is_provisional) {
    text[i++] = '?';
  }
  text[i] = '\0';
}

const char *diff_provisional_words(const struct comparison *comparison) {
  const size_t *provisional = comparison->summary.provisional;
  return provisional[VERDICT_REGRESSED] + provisional[VERDICT_IMPROVED] > 0
             ? "?: provisional, as a side has fewer than 4 processes"
             : "";
}

void diff_rank_words(struct strbuf *text, const struct comparison *comparison) {
  const struct diff_summary *summary = &comparison->summary;
  if (summary->rank_too_few > 0) {
    strbuf_printf(
        text,
        "Ranks: of %zu cases, one that alone changed can be reported with %u processes per "
        "side or more; %zu %s fewer",
        summary->tests, summary->rank_processes_least, summary->rank_too_few,
        diff_plural(summary->rank_too_few, "case has", "cases have"));
  }
}

void diff_counts_words(const struct comparison_row *row, bool all, char text[DIFF_WORDS_MAX]) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  if (all) {
    (void)snprintf(text, DIFF_WORDS_MAX, "%u/%u %u/%u %u/%u", a->processes, b->processes, a->boots,
                   b->boots, a->gpus, b->gpus);
  } else {
    (void)snprintf(text, DIFF_WORDS_MAX, "%u/%u", a->processes, b->processes);
  }
}

/* "; " before all notes but the first. */
static void diff_begin_note(struct strbuf *text, size_t begin) {
  strbuf_append(text, text->length > begin ? "; " : "");
}

/* "B: 3 of 5 processes corrupt, 1 crashed" */
static void diff_put_not_ok(struct strbuf *text, const struct comparison_side *side, char letter) {
  const unsigned tried = side->processes + side->not_ok;
  bool first = true;
  for (unsigned s = 0; s < case_status_name_count; s++) {
    if (side->by_status[s] > 0) {
      if (first) {
        strbuf_printf(text, "%c: %u of %u %s ", letter, side->by_status[s], tried,
                      diff_plural(tried, "process", "processes"));
      } else {
        strbuf_printf(text, ", %u ", side->by_status[s]);
      }
      strbuf_append(text, case_status_text((enum case_status)s));
      first = false;
    }
  }
}

void diff_note_words(struct strbuf *text, const struct comparison_row *row) {
  const struct diff_result *result = &row->result;
  const size_t begin = text->length;
  for (size_t s = 0; s < SIDES; s++) {
    if (row->sides[s].not_ok > 0) {
      diff_begin_note(text, begin);
      diff_put_not_ok(text, &row->sides[s], s == SIDE_A ? 'A' : 'B');
    }
  }
  if (row->reason != NULL) {
    diff_begin_note(text, begin);
    strbuf_append(text, row->reason);
  }
  if (result->is_noisy) {
    diff_begin_note(text, begin);
    strbuf_printf(text, "%smargin %.2g %%", result->verdict == VERDICT_UNCLEAR ? "too noisy: " : "",
                  100 * result->margin);
  }
}

const char *diff_plural(size_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}

void diff_counts(const struct comparison *comparison, char *text, size_t size) {
  static const enum verdict ORDER[] = {VERDICT_BROKEN,   VERDICT_REGRESSED,    VERDICT_MISSING,
                                       VERDICT_IMPROVED, VERDICT_NEW,          VERDICT_INCOMPARABLE,
                                       VERDICT_UNCLEAR,  VERDICT_INSUFFICIENT, VERDICT_SAME};
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
    const size_t count = comparison->summary.verdicts[ORDER[i]];
    if (count > 0 && length < size) {
      length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length > 0 ? ", " : "",
                                 count, verdict_text(ORDER[i]));
    }
    const size_t provisional = comparison->summary.provisional[ORDER[i]];
    if (provisional > 0 && length < size) {
      length += (size_t)snprintf(text + length, size - length, " (%zu provisional)", provisional);
    }
  }
}

void diff_shift_words(struct strbuf *text, const struct comparison *comparison) {
  const struct shift *shift = &comparison->summary.shift;
  char change[DIFF_WORDS_MAX];
  char low[DIFF_WORDS_MAX];
  char high[DIFF_WORDS_MAX];
  if (shift->pairs == 0) {
    return;
  }
  diff_percent_words(shift->change, change);
  strbuf_printf(text,
                comparison->summary.shift_is_common ? "Common to nearly all %zu cases: speed %s %%"
                                                    : "Middle case of %zu: speed %s %%",
                shift->pairs, change);
  if (isfinite(shift->change_low)) {
    diff_percent_words(shift->change_low, low);
    diff_percent_words(shift->change_high, high);
    strbuf_printf(text, " (95 %%: %s .. %s)", low, high);
    if (shift->change_low <= 0 && shift->change_high >= 0) {
      strbuf_append(text, ", no common shift");
    } else if (!comparison->summary.shift_is_common) {
      strbuf_printf(text, "; %.0f %% of the cases agree with it",
                    floor(100 * comparison->summary.shift_share));
    }
  }
}

void diff_delta_words(struct strbuf *text, const struct comparison *comparison) {
  size_t from[delta_source_name_count] = {0};
  size_t noisy = 0;
  const struct comparison_row *asked = NULL;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    from[row->delta_from]++;
    noisy += row->result.is_noisy;
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
                  from[DELTA_SCENARIO], diff_plural(from[DELTA_SCENARIO], "case", "cases"));
  }
  if (noisy > 0) {
    strbuf_printf(text,
                  "; %zu %s noisier than that, where only a change beyond the noise (their margin) "
                  "is reported",
                  noisy, diff_plural(noisy, "case is", "cases are"));
  }
}

void diff_fact_cells(const struct fact_difference *fact, const char *indent, const char *every,
                     char name[DIFF_FACT_MAX], struct cell cells[1 + SIDES]) {
  if (fact->gpu >= 0) {
    (void)snprintf(name, DIFF_FACT_MAX, "%sgpu%d %s", indent, fact->gpu, fact->name);
  } else {
    (void)snprintf(name, DIFF_FACT_MAX, "%s%s%s", indent, fact->gpu == -2 ? every : "", fact->name);
  }
  cells[0] = cell_text(name);
  for (size_t s = 0; s < SIDES; s++) {
    cells[1 + s] = cell_text(fact->values[s] != NULL ? fact->values[s] : "(no answer)");
  }
}

/* ---- the part above the table ---- */

static void diff_put_side(struct strbuf *text, char letter, const char *name,
                          const struct comparison_total *total) {
  strbuf_printf(text, "%c  ", letter);
  text_append(text, name);
  strbuf_append(text, "  driver ");
  text_append(text, total->drivers);
  strbuf_append(text, "  host ");
  text_append(text, total->hosts);
  strbuf_printf(text, "\n   %zu %s, %u %s", total->runs, diff_plural(total->runs, "run", "runs"),
                total->processes, diff_plural(total->processes, "process", "processes"));
  if (total->boots > 0) {
    strbuf_printf(text, ", %u %s", total->boots, diff_plural(total->boots, "boot", "boots"));
  }
  strbuf_printf(text, ", %u %s\n", total->gpus, diff_plural(total->gpus, "GPU", "GPUs"));
}

static void diff_put_rank(struct strbuf *text, const struct comparison *comparison) {
  if (comparison->summary.rank_too_few > 0) {
    strbuf_append_char(text, '\n');
    diff_rank_words(text, comparison);
    strbuf_append_char(text, '\n');
  }
}

static void diff_put_shift(struct strbuf *text, const struct comparison *comparison) {
  if (comparison->summary.shift.pairs > 0) {
    strbuf_append_char(text, '\n');
    diff_shift_words(text, comparison);
    strbuf_append_char(text, '\n');
  }
}

static void diff_put_a_a(struct strbuf *text, const struct a_a_result *a_a) {
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

static void diff_put_notes(struct strbuf *text, const struct comparison *comparison,
                           bool one_side) {
  if (comparison->simulated) {
    strbuf_printf(text, "\nSIMULATED: a fake driver answered%s\n",
                  one_side ? "" : " on both sides");
  }
  if (comparison->other_machine) {
    strbuf_append(text, "\nOther hardware: cases are compared between different GPUs or hosts; a "
                        "change may be theirs\n");
  }
  if (comparison->confounded != NULL) {
    strbuf_append_char(text, '\n');
    text_append(text, comparison->confounded);
    strbuf_append_char(text, '\n');
  }
}

/* What differs in the environments, as a table of its own. */
static enum status diff_print_facts(const struct comparison *comparison,
                                    const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"  differs", "A", "B"};
  if (comparison->fact_count == 0) {
    errno = 0;
    const bool failed = fputs("\nThe environments do not differ.\n", options->stream) == EOF;
    return stream_check(failed, NULL, err);
  }
  (void)fputc('\n', options->stream);
  struct table *table = table_open(options, COLUMNS, 3, err);
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    char name[DIFF_FACT_MAX];
    struct cell cells[1 + SIDES];
    diff_fact_cells(fact, "  ", "every gpu: ", name, cells);
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

/* ---- the table ---- */

static bool diff_is_shown(const struct diff_show *show, const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  return show->verdicts[verdict] && (verdict != VERDICT_SAME || show->all);
}

/* Whether all shown rows have the processes of the sides, which stand above: then they need no
 * column. */
static bool diff_counts_are_plain(const struct comparison *comparison,
                                  const struct diff_show *show) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    for (size_t s = 0; s < SIDES; s++) {
      if (diff_is_shown(show, row) && row->sides[s].processes > 0 &&
          row->sides[s].processes != comparison->totals[s].processes) {
        return false;
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

static enum status diff_print_cases(const struct measured *measured,
                                    const struct comparison *comparison,
                                    const struct diff_show *show,
                                    const struct table_options *options, struct error *err) {
  const bool wide = options->width == 0 || options->width >= NARROW;
  const bool counts = show->all || !diff_counts_are_plain(comparison, show);
  const char *columns[COLUMN_COUNT] = {
      "verdict", "case", "A GB/s", "B GB/s", "change %", "q", show->all ? "n, boots, GPUs" : "n"};
  /* Names of cases are long: columns that repeat the text above, or are needed least, make room. */
  const bool keep[COLUMN_COUNT] = {true, true, true, true, true, wide, counts};
  const char *kept[COLUMN_COUNT];
  size_t kept_count = 0;
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    if (keep[c]) {
      kept[kept_count++] = columns[c];
    }
  }
  struct strbuf name;
  strbuf_init(&name, LINE_MAX);
  struct table *table = table_open(options, kept, kept_count, err);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    char text[COLUMN_COUNT][DIFF_WORDS_MAX];
    if (!diff_is_shown(show, row)) {
      continue;
    }
    diff_case_text(measured, row, &name);
    diff_verdict_words(&row->result, text[COLUMN_VERDICT]);
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
    table_add(table, cells, err);
  }
  strbuf_fini(&name);
  return table_close(table, err);
}

static size_t diff_count_shown(const struct comparison *comparison, const struct diff_show *show) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    count += diff_is_shown(show, &comparison->rows[i]);
  }
  return count;
}

static bool diff_any_on_both(const struct comparison *comparison) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    if (isfinite(comparison->rows[i].result.change)) {
      return true;
    }
  }
  return false;
}

static enum status diff_print_page(const struct measured *measured,
                                   const struct comparison *comparison,
                                   const struct diff_show *show,
                                   const struct table_options *options, struct error *err) {
  struct strbuf text;
  strbuf_init(&text, 1 << 20);
  const bool one_side = comparison->totals[SIDE_B].runs == 0;
  for (size_t s = 0; s < (one_side ? 1 : SIDES); s++) {
    diff_put_side(&text, s == SIDE_A ? 'A' : 'B', show->names[s], &comparison->totals[s]);
  }
  diff_put_notes(&text, comparison, one_side);
  diff_put_shift(&text, comparison);
  diff_put_rank(&text, comparison);
  diff_put_a_a(&text, show->a_a);
  enum status status = stream_write(options->stream, &text, NULL, err);
  if (one_side) {
    strbuf_fini(&text);
    return status;
  }
  if (status == STATUS_OK) {
    status = diff_print_facts(comparison, options, err);
  }
  const size_t shown = diff_count_shown(comparison, show);
  if (status == STATUS_OK && shown > 0) {
    (void)fputc('\n', options->stream);
    status = diff_print_cases(measured, comparison, show, options, err);
  }
  if (status == STATUS_OK) {
    char counts[256];
    strbuf_clear(&text);
    diff_counts(comparison, counts, sizeof counts);
    strbuf_printf(&text, "\n%zu %s", comparison->row_count,
                  diff_plural(comparison->row_count, "case", "cases"));
    if (comparison->judged_count > comparison->row_count) {
      strbuf_printf(&text, " of %zu judged together", comparison->judged_count);
    }
    strbuf_printf(&text, ": %s%s\n", counts[0] != '\0' ? counts : "nothing to compare",
                  diff_any_on_both(comparison) ? "" : "; none is on both sides");
    if (shown > 0 && diff_any_on_both(comparison)) {
      strbuf_append(&text, "change: of the figure shown, with its 95 % interval; "
                           "GB/s: more is better, ns: less\n");
      diff_delta_words(&text, comparison);
      strbuf_append_char(&text, '\n');
      const char *provisional = diff_provisional_words(comparison);
      strbuf_printf(&text, "%s%s", provisional, provisional[0] != '\0' ? "\n" : "");
    }
    status = stream_write(options->stream, &text, NULL, err);
  }
  strbuf_fini(&text);
  return status;
}

/* ---- one row per case ---- */

static struct cell diff_count_cell(unsigned value) {
  return cell_integer((int64_t)value);
}

/* The columns of one row per case, and their cells. */
#define DIFF_COLUMNS(X)                                                                            \
  X("verdict", cell_text(verdict_text(result->verdict)))                                           \
  X("case", cell_text(bench->name))                                                                \
  X("case_key", cell_text(bench->key))                                                             \
  X("block", cell_text(bench->block))                                                              \
  X("method", cell_text(bench->method))                                                            \
  X("path", cell_text(bench->path))                                                                \
  X("axes", cell_text(bench->axes))                                                                \
  X("size_bytes", cell_integer((int64_t)bench->size_bytes))                                        \
  X("unit", cell_text(figure_text(row->figure)))                                                   \
  X("a", cell_finite(a->value))                                                                    \
  X("b", cell_finite(b->value))                                                                    \
  X("change_percent", cell_finite(100 * row->change))                                              \
  X("low_percent", cell_finite(100 * row->change_low))                                             \
  X("high_percent", cell_finite(100 * row->change_high))                                           \
  X("p", cell_finite(result->p))                                                                   \
  X("q", cell_finite(result->q))                                                                   \
  X("test", cell_text(diff_test_text(result->test)))                                               \
  X("margin_percent", cell_finite(100 * result->margin))                                           \
  X("sd_percent", cell_finite(100 * result->sd))                                                   \
  X("processes_a", diff_count_cell(a->processes))                                                  \
  X("processes_b", diff_count_cell(b->processes))                                                  \
  X("boots_a", diff_count_cell(a->boots))                                                          \
  X("boots_b", diff_count_cell(b->boots))                                                          \
  X("gpus_a", diff_count_cell(a->gpus))                                                            \
  X("gpus_b", diff_count_cell(b->gpus))                                                            \
  X("processes_needed",                                                                            \
    result->processes_needed > 0 ? diff_count_cell(result->processes_needed) : cell_null())        \
  X("hardware", cell_text(row->hardware))                                                          \
  X("reason", cell_text(row->reason))                                                              \
  X("delta_percent", cell_finite(100 * row->delta))                                                \
  X("delta_from", cell_text(delta_source_text(row->delta_from)))                                   \
  X("not_ok_a", cell_integer(row->sides[SIDE_A].not_ok))                                           \
  X("not_ok_b", cell_integer(row->sides[SIDE_B].not_ok))                                           \
  X("provisional", cell_integer(row->result.is_provisional))

static enum status diff_print_rows(const struct measured *measured,
                                   const struct comparison *comparison,
                                   const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {DIFF_COLUMNS(COLUMN_NAME)};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct measured_case *bench = &measured->cases[row->bench];
    const struct comparison_side *a = &row->sides[SIDE_A];
    const struct comparison_side *b = &row->sides[SIDE_B];
    const struct diff_result *result = &row->result;
    const struct cell cells[] = {DIFF_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

enum status diff_print(const struct measured *measured, const struct comparison *comparison,
                       const struct diff_show *show, const struct table_options *options,
                       struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
    return diff_print_page(measured, comparison, show, options, err);
  case LAYOUT_DIGEST:
    return diff_print_cases(measured, comparison, show, options, err);
  case LAYOUT_OBJECT:
    return diff_print_json(measured, comparison, show, options->stream, err);
  case LAYOUT_ROWS:
    break;
  }
  return diff_print_rows(measured, comparison, options, err);
}
