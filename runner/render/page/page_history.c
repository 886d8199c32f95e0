#include "runner/render/page/page.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/history.h"
#include "runner/render/history.h"
#include "runner/render/plot/plot.h"
#include "runner/table/html.h"

enum { SVG_MAX = 1 << 20 };

/* One run of a case, on whatever hardware. */
struct moment {
  const struct history_point *point;
  const char *hardware;
};

ORDER_DEFINE(page_history_compare_moments, struct moment, ORDER(x->point->run, y->point->run))

/* "driver 590.44.01, kernel 6.8.0": what is new in the second of two runs; "" = nothing. */
static const char *page_history_news(struct results *results, struct arena *arena,
                                     const struct moment *before, const struct moment *now) {
  static const struct {
    const char *fact, *word;
  } FACTS[] = {{"driver_version", "driver"}, {"kernel", "kernel"}};
  const char *text = "";
  for (size_t i = 0; i < COUNT_OF(FACTS); i++) {
    const char *old = results_run_fact(results, before->point->run, FACTS[i].fact);
    const char *value = results_run_fact(results, now->point->run, FACTS[i].fact);
    if (!strings_equal(old, value)) {
      text = arena_add_word(
          arena, text,
          arena_format(arena, "%s %s", FACTS[i].word, value != NULL ? value : "not known"));
    }
  }
  if (!strings_equal(before->hardware, now->hardware)) {
    text = arena_add_word(arena, text, "other GPU");
  }
  return text;
}

/* ---- a chart ---- */

static const char *page_history_when(struct arena *arena, const struct results *results,
                                     const struct moment *moment) {
  return arena_strdup(
      arena, UNITS_UTC(results->runs[moment->point->run].started_at_ns, UNITS_UTC_MINUTES));
}

/* One point per run, in their order, and what is new from one to the next. */
static void page_history_put_chart(FILE *page, struct results *results,
                                   const struct moment *moments, size_t count, enum figure figure,
                                   size_t row, struct arena *arena) {
  struct plot_point *points = arena_array(arena, count, sizeof *points);
  struct plot_range *ranges = arena_array(arena, count, sizeof *ranges);
  const char **titles = arena_array(arena, count, sizeof *titles);
  struct plot_mark *marks = arena_array(arena, count, sizeof *marks);
  const struct plot_curve curve = {"", points, count, ranges};
  struct plot plot = {.title = arena_format(arena, "%s over %zu runs", figure_text(figure), count),
                      .x_name = "runs",
                      .y_name = figure_text(figure),
                      .curves = &curve,
                      .curve_count = 1,
                      .titles = titles,
                      .marks = marks,
                      .ends = {page_history_when(arena, results, &moments[0]),
                               page_history_when(arena, results, &moments[count - 1])},
                      .y_fits = true};
  for (size_t i = 0; i < count; i++) {
    const struct history_point *point = moments[i].point;
    const struct results_run *run = &results->runs[point->run];
    const char *news = i > 0 ? page_history_news(results, arena, &moments[i - 1], &moments[i]) : "";
    points[i] = (struct plot_point){(double)i, point->value};
    ranges[i] = (struct plot_range){point->low, point->high};
    titles[i] = arena_format(arena, "run %lld, %s%s%s", (long long)run->ref.id,
                             page_history_when(arena, results, &moments[i]),
                             run->tag != NULL ? ", " : "", run->tag != NULL ? run->tag : "");
    if (news[0] != '\0') {
      marks[plot.mark_count++] = (struct plot_mark){news, (double)i - 0.5};
    }
  }
  SCOPED(strbuf_fini) struct strbuf svg = STRBUF(SVG_MAX);
  plot_svg(&plot, PLOT_LINEAR, arena_format(arena, "history-%zu", row), &svg);
  (void)fprintf(page, "<figure class=\"latest\">%s</figure>\n", svg.text);
}

/* ---- cases ---- */

/* All series of one case in one: another GPU in its place is a mark. */
static size_t page_history_moments(const struct history *history, struct arena *arena,
                                   struct moment **moments) {
  size_t count = SUM_OF(s, history->series_count, history->series[s].point_count);
  *moments = arena_array(arena, count, sizeof **moments);
  count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    for (size_t i = 0; i < history->series[s].point_count; i++) {
      (*moments)[count++] =
          (struct moment){&history->series[s].points[i], history->series[s].hardware};
    }
  }
  ORDER_SORT(*moments, count, page_history_compare_moments);
  return count;
}

/* Changes of level, below the chart; new drivers stand in it. */
static void page_history_put_marks(FILE *page, const struct results *results,
                                   const struct history *history, struct arena *arena) {
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    for (size_t i = 0; i < series->point_count; i++) {
      const struct history_point *point = &series->points[i];
      if (point->mark == HISTORY_CHANGE || point->mark == HISTORY_DRIFT ||
          point->mark == HISTORY_LATEST) {
        html_print(page, "<p><b>%s: %+.2f %%</b> %s</p>\n",
                   UNITS_UTC(results->runs[point->run].started_at_ns, UNITS_UTC_MINUTES),
                   100 * point->change, history_mark_words(arena, series, i));
      }
    }
  }
}

bool page_history(FILE *page, const struct page_history_case *changed, bool first) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct moment *moments = NULL;
  const size_t count = page_history_moments(changed->history, &arena, &moments);
  const struct results_case *bench = changed->bench;
  if (count >= PAGE_HISTORY_RUNS_MIN) {
    html_print(page, first ? "<h3 id=\"history\">%s</h3>\n" : "",
               "History of the cases that changed, over the runs of this host");
    html_print(page, "<h4><a href=\"#case-%zu\">%s</a> <small>%s, %zu runs</small></h4>\n",
               changed->row, bench->name, figure_text(bench->figure), count);
    page_history_put_chart(page, changed->runs, moments, count, bench->figure, changed->row,
                           &arena);
    page_history_put_marks(page, changed->runs, changed->history, &arena);
  }
  return count >= PAGE_HISTORY_RUNS_MIN;
}
