#include "runner/render/history.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/table/text.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

enum { CELL_MAX = 64, TEXT_MAX = 1 << 20, CHART_WIDTH = 76, LEVELS = 8, ID_SHOWN = 8 };

/* ---- the chart ---- */

/* Column of point i; several points share one where there are more than columns. */
static size_t history_column_of(size_t i, size_t count, size_t width) {
  return count <= width ? i : i * width / count;
}

static void history_put_level(struct strbuf *text, double share, bool utf8) {
  static const char *const BLOCKS[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char *const PLAIN[LEVELS] = {"_", ".", ",", "-", "=", "+", "*", "#"};
  const double level = share * LEVELS;
  const size_t at = level >= LEVELS ? LEVELS - 1 : level > 0 ? (size_t)level : 0;
  strbuf_append(text, (utf8 ? BLOCKS : PLAIN)[at]);
}

/* Points as levels between the least and the most, and marks below them. Changes of less than a
 * hundredth are not blown up to the full height. */
static void history_put_chart(struct strbuf *text, const struct history_series *series,
                              size_t width) {
  const bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < series->point_count; i++) {
    low = fmin(low, series->points[i].value);
    high = fmax(high, series->points[i].value);
  }
  const double range = fmax(high - low, 0.01 * high);
  const double floor = (low + high - range) / 2;
  strbuf_append(text, "  ");
  for (size_t i = 0; i < series->point_count;) {
    const size_t column = history_column_of(i, series->point_count, width);
    double sum = 0;
    size_t count = 0;
    for (; i < series->point_count && history_column_of(i, series->point_count, width) == column;
         i++) {
      sum += series->points[i].value;
      count++;
    }
    history_put_level(text, (sum / (double)count - floor) / range, utf8);
  }
  strbuf_printf(text, "  %.5g .. %.5g %s\n", low, high, figure_text(series->figure));
}

static void history_put_marks(struct strbuf *text, const struct history_series *series,
                              size_t width) {
  char marks[CHART_WIDTH + 1];
  size_t last = 0;
  bool any = false;
  memset(marks, ' ', sizeof marks);
  for (size_t i = 0; i < series->point_count; i++) {
    if (series->points[i].mark != HISTORY_NO_MARK) {
      last = history_column_of(i, series->point_count, width);
      marks[last] = series->points[i].mark == HISTORY_DRIVER ? '|' : '^';
      any = true;
    }
  }
  if (any) {
    strbuf_printf(text, "  %.*s\n", (int)last + 1, marks);
  }
}

void history_mark_words(struct strbuf *text, const struct history_series *series, size_t i) {
  const struct history_point *point = &series->points[i];
  switch (point->mark) {
  case HISTORY_NO_MARK:
  case history_mark_name_count:
    return;
  case HISTORY_DRIVER:
    text_append(text, point->what);
    if (isfinite(point->p)) {
      strbuf_printf(text, " (p %.1g)", point->p);
    }
    return;
  case HISTORY_CHANGE:
    strbuf_append(text, "under the same driver");
    break;
  case HISTORY_LATEST:
    if (i + 1 == series->point_count) {
      strbuf_append(text, "the latest run is off the level before it");
    } else {
      strbuf_printf(text, "the latest %zu runs are off the level before them",
                    series->point_count - i);
    }
    break;
  }
  strbuf_printf(text, " (p %.1g)", point->p);
  if (point->what != NULL) {
    strbuf_append(text, "; changed then: ");
    text_append(text, point->what);
  }
}

static void history_put_explanations(struct strbuf *text, const struct measured *measured,
                                     const struct history_series *series) {
  for (size_t i = 0; i < series->point_count; i++) {
    const struct history_point *point = &series->points[i];
    char when[CELL_MAX];
    if (point->mark == HISTORY_NO_MARK) {
      continue;
    }
    units_format_utc(measured->runs[point->run].started_at_ns, UNITS_UTC_ISO_MINUTES, when,
                     sizeof when);
    strbuf_printf(text, "  %c %s  %+.2f %%  ", point->mark == HISTORY_DRIVER ? '|' : '^', when,
                  100 * point->change);
    history_mark_words(text, series, i);
    strbuf_append_char(text, '\n');
  }
}

/* What the latest run was held against, where it is not marked. */
static void history_put_latest(struct strbuf *text, const struct history_series *series) {
  if (series->points[series->point_count - 1].mark != HISTORY_NO_MARK || series->earlier == 0) {
    return;
  }
  if (isnan(series->least_change)) {
    strbuf_printf(text,
                  "  the latest run has %zu before it on its level; from %d on it is tested\n",
                  series->earlier, HISTORY_EARLIER_MIN);
  } else {
    strbuf_printf(text,
                  "  the latest run is as the %zu before it; a change of %.2g %% would be marked\n",
                  series->earlier, 100 * series->least_change);
  }
}

static enum status history_print_chart(const struct measured *measured,
                                       const struct history_series *series,
                                       const struct table_options *options, bool first, bool all,
                                       struct error *err) {
  struct strbuf text;
  size_t width = options->width > 0 ? options->width : 80;
  width = width > 40 ? width - 38 : 20;
  width = width > CHART_WIDTH ? CHART_WIDTH : width;
  strbuf_init(&text, TEXT_MAX);
  strbuf_append(&text, first ? "" : "\n");
  text_append(&text, measured->cases[series->bench].name);
  if (series->hardware != NULL) {
    strbuf_append(&text, " [");
    text_append(&text, series->hardware);
    strbuf_append(&text, "]");
  }
  if (series->settings != NULL) {
    strbuf_append(&text, ", ");
    text_append(&text, series->settings);
  }
  strbuf_printf(&text, "  (%zu %s)\n", series->point_count,
                strings_plural(series->point_count, "run", "runs"));
  history_put_chart(&text, series, width);
  history_put_marks(&text, series, width);
  history_put_explanations(&text, measured, series);
  if (all) {
    history_put_latest(&text, series);
  }
  const enum status status = stream_write(options->stream, &text, NULL, err);
  strbuf_fini(&text);
  return status;
}

/* ---- rows ---- */

/* The columns of the runs of one series, for people, and their cells. */
#define HISTORY_TABLE_COLUMNS(X)                                                                   \
  X("started_at", cell_text(when))                                                                 \
  X("run", cell_integer(run->ref.id))                                                              \
  X("driver", cell_text(measured->environments[run->environment].driver_version))                  \
  X("tag", cell_text(run->tag))                                                                    \
  X("median", cell_real(point->value))                                                             \
  X("low", cell_real(point->low))                                                                  \
  X("high", cell_real(point->high))                                                                \
  X("n", cell_integer((int64_t)point->processes))                                                  \
  X("change %", isfinite(point->change) ? cell_text(change) : cell_null())                         \
  X("mark",                                                                                        \
    point->mark != HISTORY_NO_MARK ? cell_text(history_mark_text(point->mark)) : cell_null())

static enum status history_print_runs(const struct measured *measured,
                                      const struct history_series *series,
                                      const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {HISTORY_TABLE_COLUMNS(COLUMN_NAME)};
  (void)fputc('\n', options->stream);
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t i = 0; i < series->point_count; i++) {
    const struct history_point *point = &series->points[i];
    const struct measured_run *run = &measured->runs[point->run];
    char when[CELL_MAX];
    char change[CELL_MAX];
    units_format_utc(run->started_at_ns, UNITS_UTC_ISO_MINUTES, when, sizeof when);
    (void)snprintf(change, sizeof change, "%+.2f", 100 * point->change);
    const struct cell cells[] = {HISTORY_TABLE_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

/* The columns of one row per series and run, and their cells. */
#define HISTORY_COLUMNS(X)                                                                         \
  X("case", cell_text(measured->cases[series->bench].name))                                        \
  X("case_key", cell_text(measured->cases[series->bench].key))                                     \
  X("hardware", cell_text(series->hardware))                                                       \
  X("started_at", cell_text(when))                                                                 \
  X("run", cell_integer(run->ref.id))                                                              \
  X("run_uuid", cell_text(run->ref.uuid))                                                          \
  X("tag", cell_text(run->tag))                                                                    \
  X("driver", cell_text(measured->environments[run->environment].driver_version))                  \
  X("unit", cell_text(figure_text(series->figure)))                                                \
  X("median", cell_real(point->value))                                                             \
  X("low", cell_real(point->low))                                                                  \
  X("high", cell_real(point->high))                                                                \
  X("processes", cell_integer((int64_t)point->processes))                                          \
  X("mark",                                                                                        \
    point->mark != HISTORY_NO_MARK ? cell_text(history_mark_text(point->mark)) : cell_null())      \
  X("change_percent", cell_finite(100 * point->change))                                            \
  X("p", cell_finite(point->p))                                                                    \
  X("what", cell_text(point->what))                                                                \
  X("earlier_runs", is_last ? cell_integer((int64_t)series->earlier) : cell_null())                \
  X("least_change_percent", is_last ? cell_finite(100 * series->least_change) : cell_null())

static enum status history_print_rows(const struct measured *measured,
                                      const struct history *history,
                                      const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {HISTORY_COLUMNS(COLUMN_NAME)};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    for (size_t i = 0; i < series->point_count; i++) {
      const struct history_point *point = &series->points[i];
      const struct measured_run *run = &measured->runs[point->run];
      const bool is_last = i + 1 == series->point_count;
      char when[CELL_MAX];
      units_format_utc(run->started_at_ns, UNITS_UTC_ISO_MINUTES, when, sizeof when);
      const struct cell cells[] = {HISTORY_COLUMNS(COLUMN_CELL)};
      table_add(table, cells, err);
    }
  }
  return table_close(table, err);
}

enum status history_print(const struct measured *measured, const struct history *history, bool all,
                          const struct table_options *options, struct error *err) {
  if (output_layout_of(options->format) != LAYOUT_PAGE) {
    return history_print_rows(measured, history, options, err);
  }
  struct table_options lean = *options;
  lean.drop_empty = true;
  enum status status = STATUS_OK;
  for (size_t s = 0; s < history->series_count && status == STATUS_OK; s++) {
    const struct history_series *series = &history->series[s];
    const bool whole = all || history->series_count == 1;
    status = history_print_chart(measured, series, options, s == 0, whole, err);
    if (status == STATUS_OK && whole) {
      status = history_print_runs(measured, series, &lean, err);
    }
  }
  return status;
}
