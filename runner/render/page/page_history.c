#include "runner/render/page/page_history.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/history.h"
#include "runner/render/diff_format.h"
#include "runner/render/history.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 190, LEFT = 62, RIGHT = 16, TOP = 34, BOTTOM = 24, TIME_MAX = 32 };
/* Lines for labels above the chart; the most that a letter of them is wide. */
enum { LABEL_LINES = 2, LABEL_LETTER = 7 };

/* One run of a case, on whatever hardware. */
struct moment {
  const struct history_point *point;
  const char *hardware;
};

static int page_history_compare_moments(const void *a, const void *b) {
  const struct moment *x = a;
  const struct moment *y = b;
  return (x->point->run > y->point->run) - (x->point->run < y->point->run);
}

/* "driver 590.44.01, kernel 6.8.0": what is new in the second of two runs; "" = nothing. */
static const char *page_history_news(struct measured *measured, struct arena *arena,
                                     const struct moment *before, const struct moment *now) {
  static const struct {
    const char *fact, *word;
  } FACTS[] = {{"driver_version", "driver"}, {"kernel", "kernel"}};
  const char *text = "";
  for (size_t i = 0; i < sizeof FACTS / sizeof *FACTS; i++) {
    const char *old = measured_run_fact(measured, before->point->run, FACTS[i].fact);
    const char *value = measured_run_fact(measured, now->point->run, FACTS[i].fact);
    if (!strings_equal(old, value)) {
      text = arena_format(arena, "%s%s%s %s", text, text[0] != '\0' ? ", " : "", FACTS[i].word,
                          value != NULL ? value : "not known");
    }
  }
  if (!strings_equal(before->hardware, now->hardware)) {
    text = arena_format(arena, "%s%sother GPU", text, text[0] != '\0' ? ", " : "");
  }
  return text;
}

/* ---- a chart ---- */

struct scale {
  double low, high;
  size_t count;
};

static double scale_x(const struct scale *scale, size_t i) {
  const double room = WIDTH - LEFT - RIGHT;
  return LEFT + room * ((double)i + 0.5) / (double)scale->count;
}

static double scale_y(const struct scale *scale, double value) {
  return TOP + (HEIGHT - TOP - BOTTOM) * (scale->high - value) / (scale->high - scale->low);
}

/* A range below 1 % of the values does not fill the height. */
static struct scale scale_of(const struct moment *moments, size_t count) {
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    low = fmin(low, moments[i].point->low);
    high = fmax(high, moments[i].point->high);
  }
  const double spare = fmax(0.08 * (high - low), fmax(0, 0.01 * high - (high - low)) / 2);
  return (struct scale){low - spare, high + spare, count};
}

static void page_history_put_point(FILE *page, const struct measured *measured,
                                   const struct moment *moment, const struct scale *scale,
                                   size_t i) {
  const struct history_point *point = moment->point;
  const struct measured_run *run = &measured->runs[point->run];
  char when[TIME_MAX];
  units_format_utc(run->started_at_ns, UNITS_UTC_MINUTES, when, sizeof when);
  html_print(page,
             "<path class=\"line\" d=\"M%.1f %.1fV%.1f\"/><circle class=\"points\" cx=\"%.1f\" "
             "cy=\"%.1f\" r=\"3.2\"><title>run %d, %s%s%s: %.5g</title></circle>\n",
             scale_x(scale, i), scale_y(scale, point->low), scale_y(scale, point->high),
             scale_x(scale, i), scale_y(scale, point->value), (int)run->ref.id, when,
             run->tag != NULL ? ", " : "", run->tag, point->value);
}

/* Where the labels of one chart end. */
struct labels {
  double ends[LABEL_LINES];
};

/* A line between two runs, and what is new behind it; where no line above has room for that, it is
 * its title alone. */
static void page_history_put_news(FILE *page, double x, const char *news, struct labels *labels) {
  const bool left = x > 0.6 * WIDTH;
  const double width = LABEL_LETTER * (double)strlen(news);
  const double from = left ? x - 4 - width : x + 4;
  size_t line = 0;
  while (line < LABEL_LINES && from < labels->ends[line]) {
    line++;
  }
  html_print(page, "<path class=\"frame d1\" d=\"M%.1f %dV%d\"><title>%s</title></path>\n", x,
             TOP - 4, HEIGHT - BOTTOM, news);
  if (line < LABEL_LINES) {
    html_print(page, "<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n", left ? "end" : "start",
               left ? x - 4 : x + 4, 11 + 12 * (int)line, news);
    labels->ends[line] = from + width + LABEL_LETTER;
  }
}

static void page_history_put_chart(FILE *page, struct measured *measured,
                                   const struct moment *moments, size_t count, enum figure figure,
                                   struct arena *arena) {
  const struct scale scale = scale_of(moments, count);
  const struct measured_run *first = &measured->runs[moments[0].point->run];
  const struct measured_run *last = &measured->runs[moments[count - 1].point->run];
  char from[TIME_MAX];
  char to[TIME_MAX];
  struct labels labels = {{0}};
  units_format_utc(first->started_at_ns, UNITS_UTC_MINUTES, from, sizeof from);
  units_format_utc(last->started_at_ns, UNITS_UTC_MINUTES, to, sizeof to);
  html_print(page,
             "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart c0\" role=\"img\" "
             "aria-label=\"%s over %zu runs\" viewBox=\"0 0 %d %d\">\n",
             figure_text(figure), count, WIDTH, HEIGHT);
  html_print(page, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
             WIDTH - RIGHT);
  const double ticks[] = {scale.low, (scale.low + scale.high) / 2, scale.high};
  for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
    html_print(
        page,
        "<g class=\"axes\"><path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"end\" x=\"%d\" "
        "y=\"%.1f\">%.4g</text></g>\n",
        LEFT, scale_y(&scale, ticks[i]), WIDTH - RIGHT, LEFT - 6, scale_y(&scale, ticks[i]) + 4,
        ticks[i]);
  }
  for (size_t i = 1; i < count; i++) {
    const char *news = page_history_news(measured, arena, &moments[i - 1], &moments[i]);
    if (news[0] != '\0') {
      page_history_put_news(page, (scale_x(&scale, i - 1) + scale_x(&scale, i)) / 2, news, &labels);
    }
  }
  for (size_t i = 0; i < count; i++) {
    page_history_put_point(page, measured, &moments[i], &scale, i);
  }
  html_print(page,
             "<g class=\"axes\"><text x=\"%d\" y=\"%d\">%s</text><text class=\"end\" x=\"%d\" "
             "y=\"%d\">%s</text></g></svg></figure>\n",
             LEFT, HEIGHT - 6, from, WIDTH - RIGHT, HEIGHT - 6, to);
}

/* ---- cases ---- */

/* All series of one case in one: another GPU in its place is a mark. */
static size_t page_history_moments(const struct history *history, struct arena *arena,
                                   struct moment **moments) {
  size_t count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    count += history->series[s].point_count;
  }
  *moments = arena_array(arena, count, sizeof **moments);
  count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    for (size_t i = 0; i < history->series[s].point_count; i++) {
      (*moments)[count++] =
          (struct moment){&history->series[s].points[i], history->series[s].hardware};
    }
  }
  if (count > 1) {
    qsort(*moments, count, sizeof **moments, page_history_compare_moments);
  }
  return count;
}

/* Changes of level, below the chart; new drivers stand in it. */
static void page_history_put_marks(FILE *page, const struct measured *measured,
                                   const struct history *history, struct arena *arena) {
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    for (size_t i = 0; i < series->point_count; i++) {
      const struct history_point *point = &series->points[i];
      if (point->mark == HISTORY_CHANGE || point->mark == HISTORY_LATEST) {
        char when[TIME_MAX];
        units_format_utc(measured->runs[point->run].started_at_ns, UNITS_UTC_MINUTES, when,
                         sizeof when);
        html_print(page, "<p><b>%s: %+.2f %%</b> %s</p>\n", when, 100 * point->change,
                   history_mark_words(arena, series, i));
      }
    }
  }
}

bool page_history(FILE *page, const struct page_history_case *changed, bool first) {
  struct arena arena = {0};
  struct moment *moments = NULL;
  const size_t count = page_history_moments(changed->history, &arena, &moments);
  const struct measured_case *bench = changed->bench;
  if (count >= PAGE_HISTORY_RUNS_MIN) {
    html_print(page, first ? "<h3 id=\"history\">%s</h3>\n" : "",
               "History of the cases that changed, over the runs of this host");
    html_print(page, "<h4><a href=\"#case-%zu\">%s</a> <small>%s, %zu runs</small></h4>\n",
               changed->row, bench->name, figure_text(bench->figure), count);
    page_history_put_chart(page, changed->runs, moments, count, bench->figure, &arena);
    page_history_put_marks(page, changed->runs, changed->history, &arena);
  }
  arena_fini(&arena);
  return count >= PAGE_HISTORY_RUNS_MIN;
}
