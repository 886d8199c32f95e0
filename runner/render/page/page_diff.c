#include "engine/base/strings.h"
#include "runner/render/page/page.h"

#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/render/page/page_maps.h"
#include "runner/table/html.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, INTERVAL_WIDTH = 130, INTERVAL_HEIGHT = 16 };

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

/* ---- cases ---- */

static bool page_is_decided(const struct comparison_row *row) {
  return row->result.verdict != VERDICT_UNCLEAR && row->result.verdict != VERDICT_INSUFFICIENT;
}

/* Per cent on either side that the intervals shown fit in: those of decided cases, if any; wider
 * ones are cut. */
static double page_interval_scale(const struct comparison *comparison, const size_t *rows,
                                  size_t count) {
  double most = 0;
  bool decided = false;
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &comparison->rows[rows[i]];
    decided = decided || (page_is_decided(row) && isfinite(row->change_low));
  }
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &comparison->rows[rows[i]];
    if (decided && !page_is_decided(row)) {
      continue;
    }
    const double ends[] = {row->change, row->change_low, row->change_high, 2 * row->delta};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
      most = isfinite(ends[e]) ? fmax(most, fabs(ends[e])) : most;
    }
  }
  return most > 0 ? most * 1.05 : 1;
}

static double page_interval_x(double change, double scale) {
  return (double)INTERVAL_WIDTH / 2 * (1 + fmax(-1, fmin(1, change / scale)));
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
                          const struct comparison *comparison, size_t index,
                          const struct page_maps *maps, double scale) {
  const struct comparison_row *row = &comparison->rows[index];
  SCOPED(strbuf_fini) struct strbuf notes = STRBUF(TEXT_MAX);
  diff_note_words(&notes, row);
  const char *a = diff_figure_words(row, SIDE_A, DIFF_TEXT);
  const char *b = diff_figure_words(row, SIDE_B, DIFF_TEXT);
  const char *change = diff_change_words(row, DIFF_TEXT);
  const char *q = diff_q_words(row->result.q, DIFF_TEXT);
  const char *counts = diff_counts_words(row, false, DIFF_TEXT);
  html_print(
      page, "<tr id=\"case-%zu\"><td><span class=\"badge %s\">%s</span></td><th scope=\"row\">",
      index, page_verdict_class(row->result.verdict), diff_verdict_words(&row->result, DIFF_TEXT));
  if (page_maps_have(maps, index)) {
    html_print(page, "<a href=\"#cell-%zu\">%s</a>", index, measured->cases[row->bench].name);
  } else {
    html_print(page, "%s", measured->cases[row->bench].name);
  }
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
}

static void page_put_cases(FILE *page, const struct measured *measured,
                           const struct comparison *comparison, const struct page_maps *maps,
                           const size_t *rows, size_t count, const char *caption) {
  const double scale = page_interval_scale(comparison, rows, count);
  html_print(page,
             "<div class=\"wide\"><table class=\"diff\">" HTML_TABLE_CAPTION
             "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
             "<th scope=\"col\" class=\"n\">A GB/s</th><th scope=\"col\" class=\"n\">B GB/s</th>"
             "<th scope=\"col\" class=\"n\">change %%</th>"
             "<th scope=\"col\">\xe2\x88\x92%.3g to +%.3g %%</th><th scope=\"col\" class=\"n\">q"
             "</th><th scope=\"col\" class=\"n\">n</th>" HTML_TABLE_ROWS,
             caption, 100 * scale, 100 * scale);
  for (size_t i = 0; i < count; i++) {
    page_put_case(page, measured, comparison, rows[i], maps, scale);
  }
  (void)fputs(HTML_TABLE_END, page);
}

static void page_put_left_out(FILE *page, size_t left_out) {
  if (left_out > 0) {
    (void)fprintf(page,
                  "<p class=\"note\">%zu more %s not shown: <code>haul diff A B -v</code></p>\n",
                  left_out, strings_plural(left_out, "case is", "cases are"));
  }
}

/* A line for the rows of one block and verdict, which it unfolds. */
static void page_put_group(FILE *page, const struct measured *measured,
                           const struct comparison *comparison, const struct page_maps *maps,
                           struct diff_layout *layout, const struct diff_group *group,
                           size_t room) {
  const size_t shown = group->count < room ? group->count : room;
  html_print(page,
             "<details class=\"group\"><summary><span class=\"badge %s\">%s%s</span> %s "
             "<b>%s%s</b></summary>\n",
             page_verdict_class(group->verdict), verdict_text(group->verdict),
             group->verdict != VERDICT_SAME && group->provisional == group->count ? "?" : "",
             diff_group_title(layout, group), diff_group_range(layout, group),
             isfinite(group->low) ? " %" : "");
  page_put_cases(page, measured, comparison, maps, group->rows, shown,
                 group->block[0] != '\0' ? group->block : "Cases");
  page_put_left_out(page, group->count - shown);
  (void)fputs("</details>\n", page);
}

/* Groups in the order of the layout; those that are not folded share a table. *room: rows that may
 * follow. */
static void page_put_groups(FILE *page, const struct measured *measured,
                            const struct comparison *comparison, const struct page_maps *maps,
                            struct diff_layout *layout, bool same, size_t *room) {
  size_t rows[PAGE_DIFF_CASES_MAX];
  size_t count = 0;
  for (size_t g = 0; g <= layout->group_count; g++) {
    const struct diff_group *group = g < layout->group_count ? &layout->groups[g] : NULL;
    if (group != NULL && (group->verdict == VERDICT_SAME) != same) {
      continue;
    }
    if (count > 0 && (group == NULL || group->folded)) {
      page_put_cases(page, measured, comparison, maps, rows, count, "Cases");
      count = 0;
    }
    if (group != NULL && group->folded) {
      page_put_group(page, measured, comparison, maps, layout, group, *room);
      *room -= group->count < *room ? group->count : *room;
    }
    for (size_t i = 0; group != NULL && !group->folded && i<group->count && * room> 0; i++) {
      rows[count++] = group->rows[i];
      --*room;
    }
  }
}

/* What a table of a terminal has, with the intervals drawn, and maps of places. */
static bool page_say_cases(struct diff_view *view) {
  FILE *page = view->document->options.stream;
  const struct comparison *comparison = view->comparison;
  const size_t same = comparison->summary.verdicts[VERDICT_SAME];
  struct page_maps *maps = page_maps_new(view->measured, comparison);
  size_t room = PAGE_DIFF_CASES_MAX;
  (void)fputs("<h3>Cases, strongest evidence first</h3>\n", page);
  page_put_groups(page, view->measured, comparison, maps, &view->layout, false, &room);
  if (same > 0) {
    room = PAGE_DIFF_CASES_MAX;
    html_print(page, "<details><summary>%zu %s the same on both sides</summary>\n", same,
               strings_plural(same, "case is", "cases are"));
    page_put_groups(page, view->measured, comparison, maps, &view->layout, true, &room);
    (void)fputs("</details>\n", page);
  }
  html_print(page,
             "<p class=\"note\"><span class=\"band\">Grey band: changes below the threshold. "
             "</span>n: %s.</p>\n",
             comparison->judged == NULL
                 ? "processes of A and B"
                 : "number of processes of A and B, or of runs or nodes where a word says so");
  page_maps_put(page, maps);
  page_maps_free(maps);
  (void)fputs("<h3>Limits, differences and sides</h3>\n", page);
  return true;
}

void page_diff(FILE *page, const struct measured *measured, const struct comparison *comparison,
               const char *const names[SIDES]) {
  struct page_results parts;
  struct diff_show show = {.names = {names[SIDE_A], names[SIDE_B]}};
  for (size_t v = 0; v < verdict_name_count; v++) {
    show.verdicts[v] = true;
  }
  page_results_init(&parts, page, "comparison");
  struct diff_view view = {.document = &parts.document,
                           .measured = measured,
                           .comparison = comparison,
                           .show = &show,
                           .say_cases = page_say_cases};
  diff_view_init(&view);
  (void)fputs("<section id=\"comparison\">\n<h2>What changed</h2>\n", page);
  diff_say(&view);
  diff_layout_fini(&view.layout);
  page_results_fini(&parts);
}

void page_diff_end(FILE *page) {
  (void)fputs("</section>\n", page);
}
