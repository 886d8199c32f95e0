#include "runner/render/history.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/document/document.h"
#include "runner/table/json_shape.h"
#include "runner/table/text.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

/* MARGINS_NAMED: how much slower than the others, in smallest changes that matter, a machine is
 * named. */
enum {
  MARGINS_NAMED = 2,
  CELL_MAX = 64,
  TEXT_MAX = 1 << 20,
  CHART_WIDTH = 76,
  LEVELS = 8,
  MOVED_SHOWN = 8
};

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

/* The least and the most of some values. */
struct history_range {
  double low, high;
};

/* Values as levels between the least and the most, which it returns; NAN = none. Ranges below
 * `least`, and below that share of the most, are not blown up to the full height. */
static struct history_range history_put_levels(struct strbuf *text, const double *values,
                                               size_t count, size_t width, double least,
                                               double share) {
  const bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  struct history_range range = {INFINITY, -INFINITY};
  for (size_t i = 0; i < count; i++) {
    range.low = fmin(range.low, values[i]);
    range.high = fmax(range.high, values[i]);
  }
  const double height = fmax(range.high - range.low, fmax(least, share * range.high));
  const double floor = (range.low + range.high - height) / 2;
  strbuf_append(text, "  ");
  for (size_t i = 0; i < count;) {
    const size_t column = history_column_of(i, count, width);
    double sum = 0;
    size_t used = 0;
    for (; i < count && history_column_of(i, count, width) == column; i++) {
      sum += isnan(values[i]) ? 0 : values[i];
      used += isnan(values[i]) ? 0 : 1;
    }
    if (used > 0) {
      history_put_level(text, (sum / (double)used - floor) / height, utf8);
    } else {
      strbuf_append_char(text, ' ');
    }
  }
  return range;
}

/* Changes of less than a hundredth are not blown up. */
static void history_draw_chart(struct strbuf *text, struct arena *arena,
                               const struct history_series *series, size_t width) {
  double *values = arena_array(arena, series->point_count, sizeof *values);
  for (size_t i = 0; i < series->point_count; i++) {
    values[i] = series->points[i].value;
  }
  const struct history_range range =
      history_put_levels(text, values, series->point_count, width, -INFINITY, 0.01);
  strbuf_printf(text, "  %#.5g .. %#.5g %s\n", range.low, range.high, figure_text(series->figure));
}

static const char *history_mark_sign(enum history_mark mark) {
  return mark == HISTORY_DRIVER ? "|" : mark == HISTORY_DRIFT ? "~" : "^";
}

/* A line of signs below a chart. */
struct history_signs {
  char text[CHART_WIDTH + 1];
  size_t length;
};

static void history_sign(struct history_signs *signs, size_t column, char sign) {
  while (signs->length <= column) {
    signs->text[signs->length++] = ' ';
  }
  signs->text[column] = sign;
}

static void history_put_signs(struct strbuf *text, const struct history_signs *signs) {
  if (signs->length > 0) {
    strbuf_printf(text, "  %.*s\n", (int)signs->length, signs->text);
  }
}

const char *history_mark_words(struct arena *arena, const struct history_series *series, size_t i) {
  const struct history_point *point = &series->points[i];
  const char *text = "";
  switch (point->mark) {
  case HISTORY_NO_MARK:
  case history_mark_name_count:
    return "";
  case HISTORY_DRIVER:
    return isfinite(point->p)
               ? arena_format(arena,
                              point->p <= 0.05 ? "%s (p %.1g)" : "%s (not significant, p %.1g)",
                              point->what, point->p)
               : point->what;
  case HISTORY_CHANGE:
    text = "under the same driver";
    break;
  case HISTORY_DRIFT:
    text = arena_format(arena, "little by little over %zu runs", i + 1 - point->since);
    break;
  case HISTORY_LATEST:
    text = i + 1 == series->point_count
               ? "the latest run differs from the level before it"
               : arena_format(arena, "the latest %zu runs differ from the level before them",
                              series->point_count - i);
    break;
  }
  return arena_format(arena, "%s (p %.1g)%s", text, point->p,
                      arena_around(arena, "; changed then: ", point->what, ""));
}

/* Between which runs a change may have been, where not between two that follow one another. */
static const char *history_when(struct document *document, const struct results *results,
                                const struct history_series *series, size_t i) {
  const struct history_point *point = &series->points[i];
  if (point->since == point->until) {
    return "";
  }
  const size_t before = point->mark == HISTORY_DRIFT ? point->since : point->since - 1;
  return arena_format(
      &document->arena, "%s %s and %s",
      point->mark == HISTORY_DRIFT ? ", between" : ", began between (95 %)",
      UNITS_UTC(results->runs[series->points[before].run].started_at_ns, UNITS_UTC_ISO_MINUTES),
      UNITS_UTC(results->runs[series->points[point->until].run].started_at_ns,
                UNITS_UTC_ISO_MINUTES));
}

/* A smaller change would read as 0.00 %. */
#define HISTORY_SHOWN_MIN 5e-5

/* "-3.16 % in the 6 runs from here on": the change is of all runs up to the next mark. */
static const char *history_change_words(struct arena *arena, const struct history_series *series,
                                        size_t i) {
  const struct history_point *point = &series->points[i];
  size_t runs = 1;
  while (i + runs < series->point_count && series->points[i + runs].mark == HISTORY_NO_MARK) {
    runs++;
  }
  const bool of_level = point->mark == HISTORY_DRIVER || point->mark == HISTORY_CHANGE;
  const char *change = fabs(point->change) < HISTORY_SHOWN_MIN
                           ? "no change"
                           : arena_format(arena, "%+.2f %%", 100 * point->change);
  return of_level && runs > 1 ? arena_format(arena, "%s in the %zu runs from here on", change, runs)
                              : change;
}

static void history_put_marks(struct document *document, const struct results *results,
                              const struct history_series *series) {
  for (size_t i = 0; i < series->point_count; i++) {
    const struct history_point *point = &series->points[i];
    if (point->mark == HISTORY_NO_MARK) {
      continue;
    }
    const struct results_run *run = &results->runs[point->run];
    document_put_behind(document,
                        arena_format(&document->arena, "  %s ", history_mark_sign(point->mark)),
                        "run %lld, %s: %s, %s%s", (long long)run->ref.id,
                        UNITS_UTC(run->started_at_ns, UNITS_UTC_ISO_MINUTES),
                        history_change_words(&document->arena, series, i),
                        history_mark_words(&document->arena, series, i),
                        history_when(document, results, series, i));
  }
}

/* What the latest run was held against, where it is not marked. */
static void history_put_latest(struct document *document, const struct history_series *series) {
  if (series->points[series->point_count - 1].mark != HISTORY_NO_MARK || series->earlier == 0) {
    return;
  }
  document_put_behind(
      document, "  ", "%s",
      isnan(series->least_change)
          ? arena_format(
                &document->arena,
                "the latest run was not tested: %zu earlier %s at this level, and the test "
                "needs %d",
                series->earlier, strings_plural(series->earlier, "run", "runs"),
                HISTORY_EARLIER_MIN)
          : arena_format(
                &document->arena,
                "the latest run does not differ from the %zu before it: a change of %s would "
                "have been marked",
                series->earlier, text_percent(&document->arena, series->least_change, 2)));
}

static size_t history_chart_width(const struct document *document) {
  const size_t width = document->options.width > 0 ? document->options.width : 80;
  const size_t left = width > 40 ? width - 38 : 20;
  return left > CHART_WIDTH ? CHART_WIDTH : left;
}

static void history_put_chart(struct document *document, const struct results *results,
                              const struct history_series *series, bool all) {
  const size_t width = history_chart_width(document);
  document_gap(document);
  document_put(document, "%s%s%s (%zu %s)", results->cases[series->bench].name,
               arena_around(&document->arena, " [", series->hardware, "]"),
               arena_around(&document->arena, ", ", series->settings, ""), series->point_count,
               strings_plural(series->point_count, "run", "runs"));
  SCOPED(strbuf_fini) struct strbuf chart = STRBUF(TEXT_MAX);
  history_draw_chart(&chart, &document->arena, series, width);
  struct history_signs signs = {.length = 0};
  for (size_t i = 0; i < series->point_count; i++) {
    if (series->points[i].mark != HISTORY_NO_MARK) {
      history_sign(&signs, history_column_of(i, series->point_count, width),
                   history_mark_sign(series->points[i].mark)[0]);
    }
  }
  history_put_signs(&chart, &signs);
  document_verbatim(document, chart.text);
  history_put_marks(document, results, series);
  if (all) {
    history_put_latest(document, series);
  }
}

/* ---- rows ---- */

/* The columns of the runs of one series, for people, and their cells. */
#define HISTORY_TABLE_COLUMNS(X)                                                                   \
  X("started_at", text, UNITS_UTC(run->started_at_ns, UNITS_UTC_ISO_MINUTES))                      \
  X("run", integer, run->ref.id)                                                                   \
  X("driver", text, results->environments[run->environment].driver_version)                        \
  X("tag", text, run->tag)                                                                         \
  X("median", real, point->value)                                                                  \
  X("low", real, point->low)                                                                       \
  X("high", real, point->high)                                                                     \
  X("n", integer, (int64_t)point->processes)                                                       \
  X("change %", text, isfinite(point->change) ? change : NULL)                                     \
  X("mark", text, point->mark != HISTORY_NO_MARK ? history_mark_text(point->mark) : NULL)

/* The columns of one row per series and run, and their cells. */
#define HISTORY_COLUMNS(X)                                                                         \
  X("case", text, results->cases[series->bench].name)                                              \
  X("case_key", text, results->cases[series->bench].key)                                           \
  X("hardware", text, series->hardware)                                                            \
  X("started_at", text, UNITS_UTC(run->started_at_ns, UNITS_UTC_SECONDS))                          \
  X("run", integer, run->ref.id)                                                                   \
  X("run_uuid", text, run->ref.uuid)                                                               \
  X("tag", text, run->tag)                                                                         \
  X("driver_version", text, results->environments[run->environment].driver_version)                \
  X("unit", text, figure_text(series->figure))                                                     \
  X("median", real, point->value)                                                                  \
  X("low", real, point->low)                                                                       \
  X("high", real, point->high)                                                                     \
  X("processes", integer, (int64_t)point->processes)                                               \
  X("mark", text, point->mark != HISTORY_NO_MARK ? history_mark_text(point->mark) : NULL)          \
  X("change_percent", finite, 100 * point->change)                                                 \
  X("p", finite, point->p)                                                                         \
  X("what", text, point->what)                                                                     \
  X("since_run", known, marked, results->runs[series->points[point->since].run].ref.id)            \
  X("until_run", known, marked, results->runs[series->points[point->until].run].ref.id)            \
  X("autocorrelation", finite, is_last ? series->autocorrelation : (double)NAN)                    \
  X("earlier_runs", known, is_last, (int64_t)series->earlier)                                      \
  X("least_change_percent", finite, is_last ? 100 * series->least_change : (double)NAN)

JSON_DESCRIBER(history_describe_json, HISTORY_COLUMNS, JSON_COLUMN)

/* The runs of one series, for people. */
static void history_put_runs(struct document *document, const struct results *results,
                             const struct history_series *series) {
  document_gap(document);
  DOCUMENT_COLUMNS(document, HISTORY_TABLE_COLUMNS, .narrow = "low,high,n,tag,driver");
  for (size_t i = 0; i < series->point_count; i++) {
    const struct history_point *point = &series->points[i];
    const struct results_run *run = &results->runs[point->run];
    char change[CELL_MAX];
    (void)snprintf(change, sizeof change, "%+.2f", 100 * point->change);
    DOCUMENT_ROW(document, HISTORY_TABLE_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

static void history_put_rows(struct document *document, const struct results *results,
                             const struct history *history) {
  DOCUMENT_COLUMNS(document, HISTORY_COLUMNS, 0);
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    for (size_t i = 0; i < series->point_count; i++) {
      const struct history_point *point = &series->points[i];
      const struct results_run *run = &results->runs[point->run];
      const bool is_last = i + 1 == series->point_count;
      const bool marked = point->mark != HISTORY_NO_MARK;
      DOCUMENT_ROW(document, HISTORY_COLUMNS(COLUMN_CELL));
    }
  }
  document_table_end(document);
}

/* Whether a mark tells of a change that matters; a new driver may have changed nothing. */
static bool history_point_moves(const struct results *results, const struct history_series *series,
                                const struct history_point *point) {
  const double margin = figure_margin(&results->cases[series->bench], 0, NULL);
  const bool changed = !(point->p > 0.05) && fabs(point->change) >= margin; /* or not tested */
  return point->mark != HISTORY_NO_MARK && (point->mark != HISTORY_DRIVER || changed);
}

static bool history_moves(const struct results *results, const struct history_series *series) {
  return ANY_OF(i, series->point_count, history_point_moves(results, series, &series->points[i]));
}

#define HISTORY_QUIET_COLUMNS(X)                                                                   \
  X("case", text,                                                                                  \
    arena_format(&document->arena, "%s%s%s", results->cases[series->bench].name,                   \
                 arena_around(&document->arena, " [", series->hardware, "]"),                      \
                 arena_around(&document->arena, ", ", series->settings, "")))                      \
  X("runs", integer, (int64_t)series->point_count)                                                 \
  X("lowest", text, arena_format(&document->arena, "%#.5g", low))                                  \
  X("highest", text, arena_format(&document->arena, "%#.5g", high))                                \
  X("unit", text, figure_text(series->figure))

/* A single run says nothing of changes yet. */
static bool history_is_quiet(const struct results *results, const struct history_series *series,
                             bool single) {
  return (series->point_count == 1) == single && !history_moves(results, series);
}

/* A line for each series that did not move, or that has a single run. */
static void history_put_quiet(struct document *document, const struct results *results,
                              const struct history *history, bool single) {
  const size_t count =
      SUM_OF(s, history->series_count, history_is_quiet(results, &history->series[s], single));
  if (count == 0) {
    return;
  }
  document_gap(document);
  if (single) {
    document_put(document, "%zu %s, so far:", count,
                 strings_plural(count, "case has one run", "cases have one run each"));
  } else {
    document_put(document, "%zu %s not change (-v shows each with its runs):", count,
                 strings_plural(count, "case did", "cases did"));
  }
  DOCUMENT_COLUMNS(document, HISTORY_QUIET_COLUMNS, .narrow = "runs,unit");
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    if (!history_is_quiet(results, series, single)) {
      continue;
    }
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < series->point_count; i++) {
      low = fmin(low, series->points[i].value);
      high = fmax(high, series->points[i].value);
    }
    DOCUMENT_ROW(document, HISTORY_QUIET_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

enum status history_print(const struct results *results, const struct history *history, bool all,
                          const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  if (!document_is_for_people(&document)) {
    history_put_rows(&document, results, history);
    return document_end(&document);
  }
  const bool whole = all || history->series_count == 1;
  bool charts = false;
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    if (!whole && !history_moves(results, series)) {
      continue;
    }
    charts = true;
    history_put_chart(&document, results, series, whole);
    if (whole) {
      history_put_runs(&document, results, series);
    }
  }
  if (charts) {
    document_gap(&document);
    document_put(&document, "%s| new driver, ^ new level, ~ drift",
                 whole ? "median, low, high: of the n processes of a run; " : "");
  }
  if (!whole) {
    history_put_quiet(&document, results, history, false);
    history_put_quiet(&document, results, history, true);
  }
  const size_t simulated =
      SUM_OF(r, results->run_count, results_run_is_simulated(results, r) ? 1 : 0);
  if (simulated > 0) {
    document_gap(&document);
    document_put(
        &document, DOCUMENT_SIMULATED "%s",
        simulated < results->run_count
            ? arena_format(&document.arena, " in %zu of %zu runs", simulated, results->run_count)
            : "");
  }
  return document_end(&document);
}

/* ---- many machines ---- */

static const char *history_period(struct document *document, const struct machines *machines,
                                  size_t period) {
  return arena_strdup(
      &document->arena,
      UNITS_UTC(machines->first_ns + (int64_t)period * machines->period_ns, "%Y-%m-%d"));
}

/* A row of levels, with the least and the most of what it shows. */
static void history_put_row(struct strbuf *chart, const double *values, size_t count, size_t width,
                            const char *what) {
  const struct history_range range = history_put_levels(chart, values, count, width, 0.01, 0);
  strbuf_printf(chart, "  %s %+.1f .. %+.1f %%\n", what, text_rounded(100 * range.low, 1),
                text_rounded(100 * range.high, 1));
}

static void history_put_band(struct document *document, const struct machines *machines,
                             const struct machines_block *block) {
  const size_t width = history_chart_width(document);
  const size_t count = machines->period_count;
  double *medians = arena_array(&document->arena, count, sizeof *medians);
  double *lows = arena_array(&document->arena, count, sizeof *lows);
  struct history_signs signs = {.length = 0};
  for (size_t p = 0; p < count; p++) {
    medians[p] = block->bands[p].median;
    lows[p] = block->bands[p].low - block->bands[p].median;
  }
  for (size_t u = 0; u < machines->upgrade_count; u++) {
    history_sign(&signs, history_column_of(machines->upgrades[u].period, count, width), '|');
  }
  document_gap(document);
  document_put(document, "%s (%zu machines, %s to %s)", block->name, machines->node_count,
               history_period(document, machines, 0),
               history_period(document, machines, count - 1));
  SCOPED(strbuf_fini) struct strbuf chart = STRBUF(TEXT_MAX);
  history_put_row(&chart, medians, count, width, "median");
  history_put_row(&chart, lows, count, width, "lowest tenth");
  history_put_signs(&chart, &signs);
  document_verbatim(document, chart.text);
}

/* What the new drivers did to it, and the machines that changed alone. */
static void history_put_band_marks(struct document *document, const struct results *results,
                                   const struct machines *machines, size_t block) {
  struct arena *arena = &document->arena;
  for (size_t u = 0; u < machines->upgrade_count; u++) {
    const struct machines_upgrade *upgrade = &machines->upgrades[u];
    if (machines_upgrade_counts(upgrade, block)) {
      document_put_behind(document, "  | ", "%s: %+.2f %%, driver %s to %s, on %zu machines",
                          history_period(document, machines, upgrade->period),
                          100 * upgrade->changes[block], upgrade->from, upgrade->to,
                          upgrade->node_count);
    }
  }
  for (size_t i = 0; i < machines->step_count; i++) {
    const struct machines_step *step = &machines->steps[i];
    if (step->in[block]) {
      document_put_behind(document, "  ^ ",
                          "%s: %+.2f %%, %s, unlike the other machines, in %zu %s",
                          history_period(document, machines, step->until), 100 * step->change,
                          machines_place(arena, machines, step), step->case_count,
                          strings_plural(step->case_count, "case", "cases"));
    }
  }
  for (size_t n = 0; n < machines->node_count; n++) {
    const struct machines_cell *cell = machines_last_cell(machines, n);
    if (cell != NULL && -cell->level > MARGINS_NAMED * cell->margin && cell->margin > 0 &&
        strcmp(results->cases[cell->bench].block, machines->blocks[block].name) == 0) {
      document_put_behind(document, "  ! ", "%s is %.1f %% slower than the others at last: %s",
                          machines->nodes[n], -100 * cell->level, results->cases[cell->bench].name);
    }
  }
}

/* A series that moved. */
struct history_moved {
  const struct history_series *series;
  size_t changes; /* that matter */
  double largest;
};

ORDER_DEFINE(history_compare_moved, struct history_moved, ORDER(fabs(y->largest), fabs(x->largest)))

#define HISTORY_MOVED_COLUMNS(X)                                                                   \
  X("case that changed", text, results->cases[moved[i].series->bench].name)                        \
  X("machine", text, results->environments[run->environment].node)                                 \
  X("changes", integer, (int64_t)moved[i].changes)                                                 \
  X("largest %", text, arena_format(&document->arena, "%+.2f", 100 * moved[i].largest))

/* Blocks have the mean of their cases, which hides what one of them did. */
static void history_put_moved(struct document *document, const struct results *results,
                              const struct history *history) {
  struct history_moved *moved = arena_array(&document->arena, history->series_count, sizeof *moved);
  size_t count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    struct history_moved *last = &moved[count];
    last->series = &history->series[s];
    for (size_t i = 0; i < last->series->point_count; i++) {
      const struct history_point *point = &last->series->points[i];
      if (history_point_moves(results, last->series, point)) {
        last->changes++;
        last->largest = fabs(point->change) > fabs(last->largest) ? point->change : last->largest;
      }
    }
    count += last->changes > 0;
  }
  if (count == 0) {
    return;
  }
  ORDER_SORT(moved, count, history_compare_moved);
  document_gap(document);
  DOCUMENT_COLUMNS(document, HISTORY_MOVED_COLUMNS, .narrow = "changes,machine");
  for (size_t i = 0; i < count && i < MOVED_SHOWN; i++) {
    const struct results_run *run = &results->runs[moved[i].series->points[0].run];
    DOCUMENT_ROW(document, HISTORY_MOVED_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
  if (count > MOVED_SHOWN) {
    document_put(document, "and %zu more", count - MOVED_SHOWN);
  }
}

enum status history_print_machines(const struct results *results, const struct machines *machines,
                                   const struct history *history,
                                   const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  for (size_t b = 0; b < machines->block_count; b++) {
    history_put_band(&document, machines, &machines->blocks[b]);
    history_put_band_marks(&document, results, machines, b);
  }
  history_put_moved(&document, results, history);
  document_gap(&document);
  document_put(
      &document,
      "Speed in per cent of each case's median. | is a new driver, ^ a machine that changed "
      "alone, ! one that is slower than the others. -v shows each case and machine.");
  return document_end(&document);
}
