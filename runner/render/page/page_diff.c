#include "engine/base/strings.h"
#include "runner/render/page/page.h"

#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/table/html.h"

#include <math.h>

enum { INTERVAL_WIDTH = 130, INTERVAL_HEIGHT = 16 };

/* How a verdict is coloured. */
static const char *page_verdict_class(enum verdict verdict) {
  static const char *const CLASSES[] = {
      [TONE_NONE] = "plain", [TONE_BAD] = "bad", [TONE_WARN] = "warn", [TONE_GOOD] = "good"};
  return CLASSES[diff_verdict_tone(verdict)];
}

/* ---- cases ---- */

/* Per cent on either side that the intervals shown fit in: those of decided cases, if any; wider
 * ones are cut. */
static double page_interval_scale(const struct comparison *comparison, const size_t *rows,
                                  size_t count) {
  const struct comparison_row *all = comparison->rows;
  const bool decided = ANY_OF(i, count,
                              !verdict_is_undecided(all[rows[i]].result.verdict) &&
                                  isfinite(all[rows[i]].change_low));
  double most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &all[rows[i]];
    if (decided && verdict_is_undecided(row->result.verdict)) {
      continue;
    }
    const double ends[] = {row->change, row->change_low, row->change_high, 2 * row->delta};
    for (size_t e = 0; e < COUNT_OF(ends); e++) {
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
  if (row->change_high > scale || row->change_low < -scale) { /* cut there */
    const bool right = row->change_high > scale;
    const double tip = right ? INTERVAL_WIDTH - 1 : 1;
    (void)fprintf(
        page, "<path class=\"range\" fill=\"none\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>",
        right ? tip - 4 : tip + 4, middle - 3, tip, middle, right ? tip - 4 : tip + 4, middle + 3);
  }
  (void)fprintf(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/></svg></td>",
                page_interval_x(row->change, scale), middle);
}

/* The cases of a comparison while they are written. */
struct page_cases {
  FILE *page;
  const struct comparison *comparison;
  struct diff_layout *layout;
  const struct page_maps *maps;
};

/* units: the numbers have theirs. */
static void page_put_case(const struct page_cases *cases, size_t index, double scale, bool units) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct comparison_row *row = &cases->comparison->rows[index];
  const char *name = cases->comparison->results->cases[row->bench].name;
  const char *notes = diff_note_words(&arena, row);
  FILE *page = cases->page;
  html_print(
      page, "<tr id=\"case-%zu\"><td><span class=\"badge %s\">%s</span></td><th scope=\"row\">",
      index, page_verdict_class(row->result.verdict), diff_verdict_words(&arena, &row->result));
  if (page_maps_have(cases->maps, index)) {
    html_print(page, "<a href=\"#cell-%zu\">%s</a>", index, name);
  } else {
    html_print(page, "%s", name);
  }
  const char *place = diff_place_words(row);
  html_print(page, place != NULL ? " <small>%s</small>" : "", place);
  html_print(page, notes[0] != '\0' ? "<br/><small>%s</small>" : "", notes);
  (void)fputs("</th>", page);
  for (enum side s = SIDE_A; s <= SIDE_B; s++) {
    html_print(page, "<td class=\"n\">%s</td>", diff_figure_words(&arena, row, s, units));
  }
  html_print(page, "<td class=\"n\">%s</td>", diff_change_words(&arena, row));
  page_put_interval(page, row, scale);
  html_print(page, "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
             diff_q_words(&arena, row->result.verdict, row->result.q),
             diff_counts_words(&arena, row, false));
}

static void page_put_table(const struct page_cases *cases, const size_t *rows, size_t count,
                           const char *caption) {
  const double scale = page_interval_scale(cases->comparison, rows, count);
  const char *unit = NULL;
  for (size_t i = 0; i < count; i++) {
    unit = diff_common_unit(unit, &cases->comparison->rows[rows[i]]);
  }
  const bool units = unit == NULL || unit[0] == '\0';
  html_print(cases->page,
             "<div class=\"wide\"><table class=\"diff\">" HTML_TABLE_CAPTION
             "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
             "<th scope=\"col\" class=\"n\">A%s%s</th><th scope=\"col\" class=\"n\">B%s%s</th>"
             "<th scope=\"col\" class=\"n\">change %%</th>"
             "<th scope=\"col\">change, axis \xc2\xb1%.3g %%</th><th scope=\"col\" class=\"n\">q"
             "</th><th scope=\"col\" class=\"n\">n</th>" HTML_TABLE_ROWS,
             caption, units ? "" : " ", units ? "" : unit, units ? "" : " ", units ? "" : unit,
             100 * scale);
  for (size_t i = 0; i < count; i++) {
    page_put_case(cases, rows[i], scale, units);
  }
  (void)fputs(HTML_TABLE_END, cases->page);
}

/* A line for the rows of one block and verdict, which it unfolds. */
static void page_put_group(const struct page_cases *cases, const struct diff_group *group,
                           size_t room) {
  const size_t shown = group->count < room ? group->count : room;
  const size_t left_out = group->count - shown;
  html_print(cases->page,
             "<details class=\"group\"><summary><span class=\"badge %s\">%s%s</span> %s "
             "<b>%s%s</b></summary>\n",
             page_verdict_class(group->verdict), verdict_text(group->verdict),
             group->provisional == group->count ? "?" : "", diff_group_title(cases->layout, group),
             diff_group_range(cases->layout, group), isfinite(group->low) ? " %" : "");
  page_put_table(cases, group->rows, shown, group->block[0] != '\0' ? group->block : "Cases");
  if (left_out > 0) {
    html_print(cases->page,
               "<p class=\"note\">%zu more %s not shown: <code>haul diff A B -v</code></p>\n",
               left_out, strings_plural(left_out, "case is", "cases are"));
  }
  (void)fputs("</details>\n", cases->page);
}

/* Groups in the order of the layout; those that are not folded share a table. */
static void page_put_groups(const struct page_cases *cases, bool same) {
  const struct diff_layout *layout = cases->layout;
  size_t rows[PAGE_DIFF_CASES_MAX];
  size_t room = PAGE_DIFF_CASES_MAX;
  size_t count = 0;
  for (size_t g = 0; g <= layout->group_count; g++) {
    const struct diff_group *group = g < layout->group_count ? &layout->groups[g] : NULL;
    if (group != NULL && (group->verdict == VERDICT_SAME) != same) {
      continue;
    }
    if (count > 0 && (group == NULL || group->folded)) {
      page_put_table(cases, rows, count, "Cases");
      count = 0;
    }
    if (group != NULL && group->folded) {
      page_put_group(cases, group, room);
      room -= group->count < room ? group->count : room;
    }
    for (size_t i = 0; group != NULL && !group->folded && i < group->count && room > 0; i++) {
      rows[count++] = group->rows[i];
      room--;
    }
  }
}

/* What a table of a terminal has, with the intervals drawn, and maps of places. */
static bool page_put_cases(struct diff_view *view) {
  FILE *page = view->document->options.stream;
  const struct comparison *comparison = view->comparison;
  const size_t same = comparison->summary.verdicts[VERDICT_SAME];
  struct page_maps *maps = page_maps_new(comparison);
  struct page_cases cases = {
      .page = page, .comparison = comparison, .layout = &view->layout, .maps = maps};
  (void)fputs("<h3>Cases, strongest evidence first</h3>\n", page);
  page_put_groups(&cases, false);
  if (same > 0) {
    html_print(page, "<details><summary>%zu %s the same on both sides</summary>\n", same,
               strings_plural(same, "case is", "cases are"));
    page_put_groups(&cases, true);
    (void)fputs("</details>\n", page);
  }
  html_print(page,
             "<p class=\"note\"><span class=\"band\">Grey band: changes below the threshold. "
             "</span>An arrow: the interval goes on beyond the axis. n: %s.</p>\n",
             diff_counts_legend(&view->document->arena, &view->layout, true));
  view->context = maps;
  return ANY_OF(i, comparison->row_count,
                diff_has_q(comparison->rows[i].result.verdict, comparison->rows[i].result.q));
}

/* Below what the columns mean: the maps, then the heading of the rest. */
static void page_put_below(struct diff_view *view) {
  FILE *page = view->document->options.stream;
  if (view->context == NULL) {
    return; /* no cases */
  }
  page_maps_put(page, view->context);
  page_maps_free(view->context);
  view->context = NULL;
  (void)fputs("<h3>Limits, differences and sides</h3>\n", page);
}

void page_diff(FILE *page, const struct comparison *comparison, const char *const names[SIDES]) {
  struct page_results parts;
  struct diff_show show = {.names = {names[SIDE_A], names[SIDE_B]}};
  for (size_t v = 0; v < verdict_name_count; v++) {
    show.verdicts[v] = true;
  }
  page_results_init(&parts, page, "comparison");
  struct diff_view view = {.document = &parts.document,
                           .comparison = comparison,
                           .show = &show,
                           .put_cases = page_put_cases,
                           .put_below = page_put_below};
  diff_view_init(&view);
  (void)fputs("<section id=\"comparison\">\n<h2>What changed</h2>\n", page);
  page_put_simulated(page, comparison->simulated);
  diff_put(&view);
  diff_layout_fini(&view.layout);
  page_results_fini(&parts);
}

void page_diff_end(FILE *page) {
  (void)fputs("</section>\n", page);
}
