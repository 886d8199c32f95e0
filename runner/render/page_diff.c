#include "runner/render/page.h"

#include "runner/render/diff.h"
#include "runner/table/html.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, INTERVAL_WIDTH = 180, INTERVAL_HEIGHT = 16 };

/* How a verdict is coloured. */
static const char *page_verdict_class(enum verdict verdict) {
  switch (diff_verdict_tone(verdict)) {
  case TONE_BAD:
    return "bad";
  case TONE_GOOD:
    return "good";
  case TONE_WARN:
    return "warn";
  default:
    return "plain";
  }
}

/* ---- sides ---- */

static void page_put_sides(FILE *page, const struct comparison *comparison,
                           const char *const names[SIDES]) {
  static const struct column columns[] = {
      {"side", ALIGN_LEFT, true, false},    {"runs named", ALIGN_LEFT, false, false},
      {"driver", ALIGN_LEFT, false, false}, {"host", ALIGN_LEFT, false, false},
      {"runs", ALIGN_RIGHT, false, false},  {"processes", ALIGN_RIGHT, false, false},
      {"boots", ALIGN_RIGHT, false, false}, {"GPUs", ALIGN_RIGHT, false, false}};
  struct result_set sides;
  result_set_init(&sides, SIDES);
  struct error err;
  const struct row_sink *sink = &sides.sink;
  (void)sink->begin(sink->context, columns, sizeof columns / sizeof *columns, &err);
  for (size_t s = 0; s < SIDES; s++) {
    const struct comparison_total *total = &comparison->totals[s];
    const struct cell cells[] = {
        cell_text(s == SIDE_A ? "A, before" : "B, after"),
        cell_text(names[s]),
        cell_text(total->drivers),
        cell_text(total->hosts),
        cell_integer((int64_t)total->runs),
        cell_integer(total->processes),
        total->boots > 0 ? cell_integer(total->boots) : cell_text("not known"),
        cell_integer(total->gpus),
    };
    (void)sink_row(sink, cells, &err);
  }
  html_table(page, &sides, &(struct html_table_options){.caption = "The two sides"});
  result_set_fini(&sides);
}

static void page_put_verdicts(FILE *page, const struct comparison *comparison) {
  (void)fprintf(page, "<p>%zu %s: ", comparison->row_count,
                diff_plural(comparison->row_count, "case", "cases"));
  for (unsigned v = 0; v < verdict_name_count; v++) {
    const size_t count = comparison->summary.verdicts[v];
    if (count > 0) {
      html_print(page, "<span class=\"badge %s\">%zu %s</span> ",
                 page_verdict_class((enum verdict)v), count, verdict_text((enum verdict)v));
    }
  }
  (void)fputs("</p>\n", page);
}

static void page_put_diff_notes(FILE *page, const struct comparison *comparison) {
  if (comparison->simulated) {
    (void)fputs("<p class=\"box\" role=\"note\"><b>Simulated.</b> A fake driver answered on both "
                "sides: this says nothing of hardware.</p>\n",
                page);
  }
  if (comparison->other_machine) {
    (void)fputs("<p class=\"box\" role=\"note\"><b>Other hardware.</b> Cases are compared between "
                "different GPUs or hosts; a change may be theirs.</p>\n",
                page);
  }
  if (comparison->judged != NULL) {
    html_print(page, "<p>%s.</p>\n", comparison->judged);
  }
  if (comparison->confounded != NULL) {
    html_print(page, "<p class=\"box\" role=\"note\">%s.</p>\n", comparison->confounded);
  }
  if (comparison->looks > 1) {
    html_print(page,
               "<p class=\"box\" role=\"note\">Measured until decided: judged up to %u times, so "
               "that each verdict is held to 1/%u of the error rates.</p>\n",
               comparison->looks, comparison->looks);
  }
}

/* The sentences about all cases together. */
static void page_put_diff_sentences(FILE *page, const struct comparison *comparison) {
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  diff_shift_words(&text, comparison);
  if (text.length > 0) {
    html_print(page, "<p>%s</p>", text.text);
  }
  strbuf_clear(&text);
  diff_rank_words(&text, comparison);
  if (text.length > 0) {
    html_print(page, "<p>%s</p>", text.text);
  }
  strbuf_clear(&text);
  if (comparison->units_needed > 0) {
    const size_t count = comparison->undecided;
    strbuf_printf(&text, "%zu %s undecided with so few %s; %u per side would decide.", count,
                  count == 1 ? "case is" : "cases are",
                  comparison->unit == DIFF_UNIT_RUN ? "runs" : "processes",
                  comparison->units_needed);
    html_print(page, "<p>%s</p>", text.text);
  }
  strbuf_fini(&text);
}

/* ---- cases ---- */

/* Per cent on either side that all intervals shown fit in. */
static double page_interval_scale(const struct comparison *comparison, const size_t *rows,
                                  size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &comparison->rows[rows[i]];
    const double ends[] = {row->change, row->change_low, row->change_high, 2 * row->delta};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
      most = isfinite(ends[e]) ? fmax(most, fabs(ends[e])) : most;
    }
  }
  return most > 0 ? most * 1.05 : 1;
}

static double page_interval_x(double change, double scale) {
  return (double)INTERVAL_WIDTH / 2 * (1 + change / scale);
}

/* The change with its interval, over the band of changes too small to matter; its numbers are in
 * the next cell. */
static void page_put_interval(FILE *page, const struct comparison_row *row, double scale) {
  if (!isfinite(row->change)) {
    (void)fputs("<td></td>", page);
    return;
  }
  const double delta = row->delta;
  const double middle = (double)INTERVAL_HEIGHT / 2;
  (void)fprintf(page,
                "<td><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"interval %s\" "
                "aria-hidden=\"true\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">"
                "<rect class=\"margin\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>"
                "<path class=\"zero\" d=\"M%.1f 0V%d\"/>",
                page_verdict_class(row->result.verdict), INTERVAL_WIDTH, INTERVAL_HEIGHT,
                INTERVAL_WIDTH, INTERVAL_HEIGHT, page_interval_x(-delta, scale),
                page_interval_x(delta, scale) - page_interval_x(-delta, scale), INTERVAL_HEIGHT,
                page_interval_x(0, scale), INTERVAL_HEIGHT);
  if (isfinite(row->change_low) && isfinite(row->change_high)) {
    (void)fprintf(page, "<path class=\"range\" d=\"M%.1f %.1fH%.1f\"/>",
                  page_interval_x(row->change_low, scale), middle,
                  page_interval_x(row->change_high, scale));
  }
  (void)fprintf(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/></svg></td>",
                page_interval_x(row->change, scale), middle);
}

static void page_put_case(FILE *page, const struct measured *measured,
                          const struct comparison_row *row, double scale) {
  char verdict[DIFF_WORDS_MAX], a[DIFF_WORDS_MAX], b[DIFF_WORDS_MAX], change[DIFF_WORDS_MAX],
      q[DIFF_WORDS_MAX], counts[DIFF_WORDS_MAX];
  struct strbuf notes;
  strbuf_init(&notes, TEXT_MAX);
  diff_verdict_words(&row->result, verdict);
  diff_note_words(&notes, row);
  diff_figure_words(row, SIDE_A, a);
  diff_figure_words(row, SIDE_B, b);
  diff_change_words(row, change);
  diff_q_words(row->result.q, q);
  diff_counts_words(row, false, counts);
  html_print(page, "<tr><td><span class=\"badge %s\">%s</span></td><th scope=\"row\">%s",
             page_verdict_class(row->result.verdict), verdict, measured->cases[row->bench].name);
  if (row->hardware != NULL) {
    html_print(page, " <small>%s</small>", row->hardware);
  }
  if (notes.length > 0) {
    html_print(page, "<br/><small>%s</small>", notes.text);
  }
  html_print(page, "</th><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>", a,
             b, change);
  page_put_interval(page, row, scale);
  html_print(page, "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", q, counts);
  strbuf_fini(&notes);
}

static void page_put_cases(FILE *page, const struct measured *measured,
                           const struct comparison *comparison, const size_t *rows, size_t count,
                           const char *caption) {
  const double scale = page_interval_scale(comparison, rows, count);
  html_print(page,
             HTML_TABLE_BEGIN
             "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
             "<th scope=\"col\" class=\"n\">A GB/s</th><th scope=\"col\" class=\"n\">B GB/s</th>"
             "<th scope=\"col\" class=\"n\">change %%</th>"
             "<th scope=\"col\">\xe2\x88\x92%.2g to +%.2g %%</th><th scope=\"col\" class=\"n\">q"
             "</th><th scope=\"col\" class=\"n\">n</th>" HTML_TABLE_ROWS,
             caption, 100 * scale, 100 * scale);
  for (size_t i = 0; i < count; i++) {
    page_put_case(page, measured, &comparison->rows[rows[i]], scale);
  }
  (void)fputs(HTML_TABLE_END, page);
}

/* The rows that are SAME, or all others, in the order of the comparison; the first that have room.
 */
static size_t page_pick_cases(const struct comparison *comparison, bool same, size_t *rows,
                              size_t *all) {
  size_t count = 0;
  *all = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    if ((comparison->rows[i].result.verdict == VERDICT_SAME) != same) {
      continue;
    }
    if (count < PAGE_DIFF_CASES_MAX) {
      rows[count++] = i;
    }
    (*all)++;
  }
  return count;
}

static void page_put_left_out(FILE *page, size_t left_out) {
  if (left_out > 0) {
    (void)fprintf(page,
                  "<p class=\"note\">%zu more %s not shown: <code>haul diff A B -v</code></p>\n",
                  left_out, left_out == 1 ? "case is" : "cases are");
  }
}

static void page_put_all_cases(FILE *page, const struct measured *measured,
                               const struct comparison *comparison) {
  size_t rows[PAGE_DIFF_CASES_MAX];
  size_t all = 0;
  size_t count = page_pick_cases(comparison, false, rows, &all);
  struct strbuf text;
  if (count > 0) {
    page_put_cases(page, measured, comparison, rows, count, "Cases that are not the same");
    page_put_left_out(page, all - count);
  }
  count = page_pick_cases(comparison, true, rows, &all);
  if (count > 0) {
    (void)fprintf(page, "<details><summary>%zu %s the same on both sides</summary>\n", all,
                  diff_plural(all, "case is", "cases are"));
    page_put_cases(page, measured, comparison, rows, count, "Cases that are the same");
    page_put_left_out(page, all - count);
    (void)fputs("</details>\n", page);
  }
  strbuf_init(&text, TEXT_MAX);
  strbuf_append(&text, "Change: of the figure shown, with its 95 % interval; GB/s: more is better, "
                       "ns: less. The grey band is what is too small to matter: ");
  diff_delta_words(&text, comparison);
  strbuf_append(&text,
                ". q: the share of false discoveries among all that is reported from this row "
                "up. n: processes of A and B. ");
  strbuf_append(&text, diff_provisional_words(comparison));
  html_print(page, "<p class=\"note\">%s</p>\n", text.text);
  strbuf_fini(&text);
}

/* ---- environments ---- */

static void page_put_differences(FILE *page, const struct comparison *comparison) {
  (void)fputs("<h3>What differs in the environments</h3>\n", page);
  if (comparison->fact_count == 0) {
    (void)fputs("<p>Nothing that was recorded.</p>\n", page);
    return;
  }
  static const struct column columns[] = {{"fact", ALIGN_LEFT, true, false},
                                          {"A", ALIGN_LEFT, false, false},
                                          {"B", ALIGN_LEFT, false, false}};
  struct result_set facts;
  result_set_init(&facts, SIZE_MAX);
  struct error err;
  const struct row_sink *sink = &facts.sink;
  (void)sink->begin(sink->context, columns, sizeof columns / sizeof *columns, &err);
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    char name[DIFF_FACT_MAX];
    struct cell cells[1 + SIDES];
    diff_fact_cells(fact, "", "every GPU: ", name, cells);
    (void)sink_row(sink, cells, &err);
  }
  html_table(page, &facts, &(struct html_table_options){.caption = "Facts that differ"});
  result_set_fini(&facts);
}

void page_diff(FILE *page, const struct measured *measured, const struct comparison *comparison,
               const char *const names[SIDES]) {
  (void)fputs("<section id=\"comparison\">\n<h2>What changed from A to B</h2>\n", page);
  page_put_diff_notes(page, comparison);
  page_put_verdicts(page, comparison);
  page_put_diff_sentences(page, comparison);
  page_put_sides(page, comparison, names);
  (void)fputs("<h3>Cases, strongest evidence first</h3>\n", page);
  page_put_all_cases(page, measured, comparison);
  page_put_differences(page, comparison);
  (void)fputs("</section>\n", page);
}
