#include "runner/render/page/page.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/history.h"
#include "runner/render/history.h"
#include "runner/render/plot/plot.h"
#include "runner/table/html.h"

enum { SVG_MAX = 1 << 20 };

/* "driver 590.44.01, kernel 6.8.0": what is new in the second of two runs; "" = nothing. */
static const char *page_history_news(struct results *results, struct arena *arena,
                                     const struct history_point *before,
                                     const struct history_point *now) {
  static const struct {
    const char *fact, *word;
  } FACTS[] = {{"driver_version", "driver"}, {"kernel", "kernel"}};
  const char *text = "";
  for (size_t i = 0; i < COUNT_OF(FACTS); i++) {
    const char *old = results_run_fact(results, before->run, FACTS[i].fact);
    const char *value = results_run_fact(results, now->run, FACTS[i].fact);
    if (!strings_equal(old, value)) {
      text = arena_add_word(
          arena, text,
          arena_format(arena, "%s %s", FACTS[i].word, value != NULL ? value : "not known"));
    }
  }
  return text;
}

/* ---- a chart ---- */

static const char *page_history_when(struct arena *arena, const struct results *results,
                                     const struct history_point *point) {
  return arena_strdup(arena, UNITS_UTC(results->runs[point->run].started_at_ns, UNITS_UTC_MINUTES));
}

/* One point per run, in their order, and what is new from one to the next. */
static void page_history_put_chart(FILE *page, struct results *results,
                                   const struct history_series *series, size_t row,
                                   struct arena *arena) {
  const size_t count = series->point_count;
  const char *figure = figure_text(series->figure);
  struct plot_point *points = arena_array(arena, count, sizeof *points);
  struct plot_range *ranges = arena_array(arena, count, sizeof *ranges);
  const char **titles = arena_array(arena, count, sizeof *titles);
  struct plot_mark *marks = arena_array(arena, count, sizeof *marks);
  const struct plot_curve curve = {"", points, count, ranges};
  struct plot plot = {.title = arena_format(arena, "%s over %zu runs", figure, count),
                      .x_name = "runs",
                      .y_name = figure,
                      .curves = &curve,
                      .curve_count = 1,
                      .titles = titles,
                      .marks = marks,
                      .ends = {page_history_when(arena, results, &series->points[0]),
                               page_history_when(arena, results, &series->points[count - 1])},
                      .y_fits = true};
  for (size_t i = 0; i < count; i++) {
    const struct history_point *point = &series->points[i];
    const struct results_run *run = &results->runs[point->run];
    const char *news = i > 0 ? page_history_news(results, arena, point - 1, point) : "";
    points[i] = (struct plot_point){(double)i, point->value};
    ranges[i] = (struct plot_range){point->low, point->high};
    titles[i] = arena_format(arena, "run %lld, %s%s%s", (long long)run->ref.id,
                             page_history_when(arena, results, point), run->tag != NULL ? ", " : "",
                             run->tag != NULL ? run->tag : "");
    if (news[0] != '\0') {
      marks[plot.mark_count++] = (struct plot_mark){news, (double)i - 0.5};
    }
  }
  SCOPED(strbuf_fini) struct strbuf svg = STRBUF(SVG_MAX);
  plot_svg(&plot, PLOT_LINEAR, arena_format(arena, "history-%zu", row), &svg);
  (void)fprintf(page, "<figure class=\"latest\">%s</figure>\n", svg.text);
}

/* ---- cases ---- */

/* Changes of level, below the chart; new drivers stand in it. */
static void page_history_put_marks(FILE *page, const struct results *results,
                                   const struct history_series *series, struct arena *arena) {
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

/* The series of the case on that hardware; NULL = there is none. */
static const struct history_series *page_history_find(const struct page_history_case *changed) {
  for (size_t s = 0; s < changed->history->series_count; s++) {
    const struct history_series *series = &changed->history->series[s];
    const size_t latest = series->points[series->point_count - 1].run;
    if (results_hardware(changed->runs, latest, series->bench) == changed->hardware) {
      return series;
    }
  }
  return NULL;
}

bool page_history(FILE *page, const struct page_history_case *changed, bool first) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct history_series *series = page_history_find(changed);
  if (series == NULL || series->point_count < PAGE_HISTORY_RUNS_MIN) {
    return false;
  }
  html_print(page, first ? "<h3 id=\"history\">%s</h3>\n" : "",
             "History of the cases that changed, over the runs of this hardware");
  html_print(page, "<h4><a href=\"#case-%zu\">%s</a> <small>%s, %zu runs</small></h4>\n",
             changed->row, changed->bench->name, figure_text(series->figure), series->point_count);
  page_history_put_chart(page, changed->runs, series, changed->row, &arena);
  page_history_put_marks(page, changed->runs, series, &arena);
  return true;
}
