#include "runner/render/plot/curves.h"

#include "engine/base/order.h"
#include "runner/table/result_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_TEXT_MAX = 64 << 20, COLUMNS_MAX = 32, LEVELS_MAX = 4 };

struct curves {
  struct row_sink sink;
  struct plot_style style;
  bool picture;
  FILE *stream;
  const char *empty;
  const struct saved_query *saved; /* NULL = what is drawn follows from the columns */
  curves_drawer *drawer;           /* NULL = to the stream */
  void *context;                   /* of the drawer */
  bool reader_gone;
  struct result_set rows; /* of one result */
};

/* Columns by their numbers; -1 = none. */
struct column_list {
  int at[COLUMNS_MAX];
  size_t count;
};

struct plot_columns {
  int x, axis, low, high, peak;
  int rows; /* only rows that have row_value here */
  const char *row_value;
  struct column_list names, by, ys;
  bool first_y; /* of the ys the one that has values in the plot; else each is a curve */
  const char *unit, *title;
  enum plot_scale scale;
  bool has_scale;
};

/* Curves of one plot while rows are put to them. */
struct curve_point {
  struct plot_point at;
  struct plot_range range;
};

struct curve_points {
  const char *name;
  struct curve_point *points;
  size_t count;
};

struct curve_set {
  struct curve_points *items;
  size_t count;
  struct plot_level levels[LEVELS_MAX];
  size_t level_count;
};

static enum status curves_begin(void *context, const struct column *columns, size_t count,
                                struct error *err) {
  struct curves *curves = context;
  result_set_fini(&curves->rows);
  result_set_init(&curves->rows, CURVES_ROWS_MAX);
  return curves->rows.sink.begin(&curves->rows, columns, count, err);
}

static enum status curves_row(void *context, const struct cell *cells, struct error *err) {
  struct curves *curves = context;
  if (curves->rows.row_count == CURVES_ROWS_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d rows cannot be drawn", CURVES_ROWS_MAX);
  }
  return sink_row(&curves->rows.sink, cells, err);
}

/* ---- columns ---- */

static double curves_number(const struct curves *curves, size_t row, int column) {
  return column >= 0 ? result_set_number_at(&curves->rows, row, (size_t)column) : NAN;
}

/* NULL where the cell is no text. */
static const char *curves_text(const struct curves *curves, size_t row, int column) {
  const struct cell *cell = result_set_cell(&curves->rows, row, (size_t)column);
  return cell->kind == CELL_TEXT ? cell->as.text.bytes : NULL;
}

static const char *curves_column(const struct curves *curves, int column) {
  return curves->rows.columns[column].name;
}

static bool curves_is_text(const struct curves *curves, int column) {
  return curves->rows.facts[column].text;
}

static bool curves_is_number(const struct curves *curves, int column) {
  return curves->rows.facts[column].filled && !curves->rows.facts[column].text;
}

/* The column of that name, which need not end with '\0'; -1 = none. */
static int curves_find(const struct curves *curves, const char *name, size_t length) {
  const struct column *columns = curves->rows.columns;
  const size_t i =
      FIRST_OF(k, curves->rows.column_count,
               strlen(columns[k].name) == length && strncmp(columns[k].name, name, length) == 0);
  return i < curves->rows.column_count ? (int)i : -1;
}

static int curves_find_named(const struct curves *curves, const char *name) {
  return name != NULL ? curves_find(curves, name, strlen(name)) : -1;
}

static void curves_put_column(struct column_list *list, int column) {
  if (column >= 0 && list->count < COLUMNS_MAX) {
    list->at[list->count++] = column;
  }
}

/* "a,b" or "a|b"; NULL = none. */
static struct column_list curves_find_list(const struct curves *curves, const char *names) {
  struct column_list list = {{0}, 0};
  for (const char *at = names; at != NULL && *at != '\0';) {
    const size_t length = strcspn(at, ",|");
    curves_put_column(&list, curves_find(curves, at, length));
    at += length + (at[length] != '\0');
  }
  return list;
}

static bool name_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static bool name_is_peak(const char *name) {
  return strcmp(name, "peak") == 0 || strcmp(name, "peak_gbps") == 0;
}

/* The column that holds one end of the error bars of y; -1 = none. */
static int curves_find_end(struct curves *curves, int y, const char *end) {
  const char *name = arena_format(curves->rows.arena, "%s_%s", curves_column(curves, y), end);
  const int own = curves_find_named(curves, name);
  return own >= 0 ? own : curves_find_named(curves, end);
}

/* ---- what is drawn ---- */

static struct plot_columns curves_columns_of(const struct curves *curves,
                                             const struct saved_plot *plot) {
  const char *value = plot->rows != NULL ? strchr(plot->rows, ':') : NULL;
  struct plot_columns columns = {
      .x = curves_find_named(curves, plot->x),
      .axis = curves_find_named(curves, plot->axis),
      .low = curves_find_named(curves, plot->low),
      .high = curves_find_named(curves, plot->high),
      .peak = curves_find_named(curves, plot->peak),
      .rows = value != NULL ? curves_find(curves, plot->rows, (size_t)(value - plot->rows)) : -1,
      .row_value = value != NULL ? value + 1 : NULL,
      .names = curves_find_list(curves, plot->curve),
      .by = curves_find_list(curves, plot->by),
      .ys = curves_find_list(curves, plot->y),
      .first_y = plot->y != NULL && strchr(plot->y, ',') == NULL,
      .unit = plot->unit,
      .title = curves->saved->title};
  columns.has_scale = plot->scale != NULL && plot_scale_parse(plot->scale, &columns.scale);
  return columns;
}

/* The error bars of the first y: their columns are no curves. */
static void curves_infer_ends(struct curves *curves, struct plot_columns *columns) {
  int first = columns->x + 1;
  while (first < (int)curves->rows.column_count && !curves_is_number(curves, first)) {
    first++;
  }
  if (first < (int)curves->rows.column_count) {
    columns->low = curves_find_end(curves, first, "low");
    columns->high = curves_find_end(curves, first, "high");
    if (columns->low <= first || columns->high <= first) {
      columns->low = columns->high = -1;
    }
  }
}

static struct plot_columns curves_infer_columns(struct curves *curves) {
  struct plot_columns columns = {
      .x = -1, .axis = -1, .low = -1, .high = -1, .peak = -1, .rows = -1};
  const int count = (int)curves->rows.column_count;
  const int plot = curves_find_named(curves, "plot");
  const int axis = curves_find_named(curves, "axis");
  for (int i = 0; i < count && columns.x < 0; i++) {
    if (!curves_is_text(curves, i)) {
      columns.x = curves_is_number(curves, i) ? i : -1;
    } else if (i != plot && i != axis) {
      curves_put_column(&columns.names, i);
    }
  }
  if (columns.x < 0) {
    return columns;
  }
  columns.axis = axis >= 0 && curves_is_text(curves, axis) ? axis : -1;
  if (plot >= 0 && curves_is_text(curves, plot)) {
    curves_put_column(&columns.by, plot);
  }
  curves_infer_ends(curves, &columns);
  for (int i = columns.x + 1; i < count; i++) {
    if (name_is_peak(curves_column(curves, i))) {
      columns.peak = i;
    } else if (curves_is_number(curves, i) && i != columns.low && i != columns.high) {
      curves_put_column(&columns.ys, i);
    }
  }
  columns.first_y = columns.names.count > 0;
  return columns;
}

/* ---- names ---- */

/* The unit that a column's name tells; its name where it tells none. */
static const char *name_unit(const char *name) {
  if (strncmp(name, "gbps", 4) == 0 || name_ends_with(name, "_gbps")) {
    return "GB/s";
  }
  if (strcmp(name, "ns") == 0 || name_ends_with(name, "_ns") || strncmp(name, "ns_per_", 7) == 0) {
    return "ns";
  }
  if (name_ends_with(name, "_bytes")) {
    return "bytes";
  }
  return name_ends_with(name, "_percent") || strncmp(name, "percent", 7) == 0 ? "%" : name;
}

/* "size" of "size_bytes". */
static const char *name_of_x(struct arena *arena, const char *name) {
  const size_t length = strlen(name);
  return name_ends_with(name, "_bytes") ? arena_strndup(arena, name, length - strlen("_bytes"))
                                        : name;
}

/* What stands under the axis: "load, GB/s" of "load_gbps". */
static const char *name_of_axis(struct arena *arena, const char *name) {
  static const char *const ENDS[] = {"_gbps", "_ns"};
  for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
    if (name_ends_with(name, ENDS[i])) {
      return arena_format(arena, "%.*s, %s", (int)(strlen(name) - strlen(ENDS[i])), name,
                          name_unit(name));
    }
  }
  return name_of_x(arena, name);
}

/* "stride 4KiB" of a number in stride_bytes, "threads 256", a text as it is; "" for NULL. */
static const char *curves_value(struct curves *curves, size_t line, int column) {
  const char *text = curves_text(curves, line, column);
  const double number = curves_number(curves, line, column);
  if (text != NULL || isnan(number)) {
    return text != NULL ? text : "";
  }
  const char *name = curves_column(curves, column);
  char value[UNITS_TEXT_MAX];
  if (name_ends_with(name, "_bytes") && number >= 1 && number < 0x1p62) {
    units_format_size((uint64_t)number, value);
  } else {
    (void)snprintf(value, sizeof value, "%.6g", number);
  }
  return arena_format(curves->rows.arena, "%s %s", name_of_x(curves->rows.arena, name), value);
}

/* The values of those columns in that row, `between` them. */
static const char *curves_join(struct curves *curves, const struct column_list *columns,
                               size_t line, const char *between) {
  const char *joined = "";
  for (size_t i = 0; i < columns->count; i++) {
    joined =
        arena_join(curves->rows.arena, joined, between, curves_value(curves, line, columns->at[i]));
  }
  return joined;
}

/* Whether the row is to be drawn at all. */
static bool curves_has_row(const struct curves *curves, const struct plot_columns *columns,
                           size_t line) {
  const char *text = columns->rows >= 0 ? curves_text(curves, line, columns->rows) : NULL;
  return columns->row_value == NULL || (text != NULL && strcmp(text, columns->row_value) == 0);
}

/* Of the columns by which plots are told apart. */
static bool curves_same_cell(const struct curves *curves, int column, size_t a, size_t b) {
  const char *x = curves_text(curves, a, column);
  const char *y = curves_text(curves, b, column);
  if (x != NULL || y != NULL) {
    return x != NULL && y != NULL && strcmp(x, y) == 0;
  }
  const double m = curves_number(curves, a, column);
  const double n = curves_number(curves, b, column);
  return (isnan(m) && isnan(n)) || !(m < n || m > n || isnan(m) || isnan(n));
}

static bool curves_same_plot(const struct curves *curves, const struct plot_columns *columns,
                             size_t a, size_t b) {
  return ALL_OF(i, columns->by.count, curves_same_cell(curves, columns->by.at[i], a, b));
}

/* ---- points ---- */

ORDER_DEFINE(plot_compare_points, struct curve_point, ORDER(x->at.x, y->at.x))

static void curves_put_point(struct curves *curves, struct curve_set *all, const char *name,
                             struct curve_point point) {
  if (isnan(point.at.x) || isnan(point.at.y)) {
    return;
  }
  const size_t i = FIRST_OF(k, all->count, strcmp(all->items[k].name, name) == 0);
  if (i == all->count) {
    *ARENA_ADD(curves->rows.arena, all->items, all->count) = (struct curve_points){.name = name};
  }
  struct curve_points *curve = &all->items[i];
  *ARENA_ADD(curves->rows.arena, curve->points, curve->count) = point;
}

/* Different peaks of the points, as far as there is room. */
static void curves_put_level(struct curve_set *all, double y) {
  const bool known = ANY_OF(i, all->level_count, fabs(all->levels[i].y - y) <= 1e-9 * fabs(y));
  if (!known && isfinite(y) && y > 0 && all->level_count < LEVELS_MAX) {
    all->levels[all->level_count++] = (struct plot_level){"", y};
  }
}

/* The first of the ys that has a value in that plot; -1 = none. */
static int curves_find_y(const struct curves *curves, const struct plot_columns *columns,
                         size_t first) {
  for (size_t i = 0; i < columns->ys.count; i++) {
    if (ANY_OF(line, curves->rows.row_count,
               curves_has_row(curves, columns, line) &&
                   curves_same_plot(curves, columns, line, first) &&
                   !isnan(curves_number(curves, line, columns->ys.at[i])))) {
      return columns->ys.at[i];
    }
  }
  return -1;
}

static struct curve_point curves_point(const struct curves *curves,
                                       const struct plot_columns *columns, size_t line, int y) {
  return (struct curve_point){
      {curves_number(curves, line, columns->x), curves_number(curves, line, y)},
      {curves_number(curves, line, columns->low), curves_number(curves, line, columns->high)}};
}

/* The curves of the plot that row `first` belongs to; returns the name of y. */
static const char *curves_gather(struct curves *curves, const struct plot_columns *columns,
                                 size_t first, struct curve_set *all) {
  const int y = curves_find_y(curves, columns, first);
  const char *y_name = y >= 0 ? name_unit(curves_column(curves, y)) : "";
  for (size_t line = 0; y >= 0 && line < curves->rows.row_count; line++) {
    if (!curves_has_row(curves, columns, line) || !curves_same_plot(curves, columns, line, first)) {
      continue;
    }
    const char *name = curves_join(curves, &columns->names, line, " ");
    if (!isnan(curves_number(curves, line, y))) {
      curves_put_level(all, curves_number(curves, line, columns->peak));
    }
    if (columns->first_y) {
      curves_put_point(curves, all, name, curves_point(curves, columns, line, y));
      continue;
    }
    for (size_t i = 0; i < columns->ys.count; i++) {
      const char *column = curves_column(curves, columns->ys.at[i]);
      struct curve_point point = curves_point(curves, columns, line, columns->ys.at[i]);
      if (i > 0) {
        point.range = (struct plot_range){0, 0};
      }
      curves_put_point(curves, all,
                       name[0] != '\0' ? arena_format(curves->rows.arena, "%s %s", name, column)
                                       : column,
                       point);
      y_name = strcmp(name_unit(column), y_name) == 0 ? y_name : "";
    }
  }
  return columns->unit != NULL ? columns->unit : y_name;
}

static struct plot_curve curves_finish(struct arena *arena, const struct curve_points *set) {
  struct plot_point *points = arena_array(arena, set->count, sizeof *points);
  struct plot_range *ranges = arena_array(arena, set->count, sizeof *ranges);
  ORDER_SORT(set->points, set->count, plot_compare_points);
  for (size_t i = 0; i < set->count; i++) {
    points[i] = set->points[i].at;
    ranges[i] = set->points[i].range;
  }
  return (struct plot_curve){set->name, points, set->count, ranges};
}

static void curves_name_levels(struct arena *arena, struct curve_set *all, const char *unit) {
  for (size_t i = 0; i < all->level_count; i++) {
    all->levels[i].name = arena_format(arena, "theoretical peak %.4g %s", all->levels[i].y, unit);
  }
}

/* ---- plots ---- */

struct drawing_to {
  struct strbuf *text;
  struct plot_picture *picture; /* NULL = for a terminal */
  size_t drawn;
};

static void curves_draw_plot(struct curves *curves, const struct plot_columns *columns,
                             const struct plot *plot, struct drawing_to *to) {
  const enum plot_scale fitting = columns->has_scale ? columns->scale : plot_svg_scale(plot);
  to->drawn++;
  if (curves->drawer != NULL) {
    curves->drawer(curves->context, plot, fitting);
  } else if (to->picture != NULL) {
    plot_picture_add(to->picture, plot, curves->style.scale_given ? curves->style.scale : fitting);
  } else {
    struct plot_style style = curves->style;
    if (!curves->style.scale_given && columns->has_scale) {
      style.scale = columns->scale;
    }
    strbuf_append(to->text, to->text->length > 0 ? "\n" : "");
    plot_draw(plot, &style, to->text);
  }
}

static void curves_draw(struct curves *curves, const struct plot_columns *columns, size_t line,
                        struct drawing_to *to) {
  struct curve_set all = {.items = NULL};
  struct arena *arena = curves->rows.arena;
  const char *by = curves_join(curves, &columns->by, line, ", ");
  const char *axis = columns->axis >= 0 ? curves_text(curves, line, columns->axis) : NULL;
  axis = axis != NULL ? axis : curves_column(curves, columns->x);
  /* A picture is looked at away from the command that made it. */
  const size_t title = columns->title != NULL ? strcspn(columns->title, ".") : 0;
  const bool whole = (curves->picture || curves->drawer != NULL) && title > 0;
  struct plot plot = {.title = whole ? arena_format(arena, "%.*s%s%s", (int)title, columns->title,
                                                    by[0] != '\0' ? ": " : "", by)
                                     : by,
                      .x_name = name_of_axis(arena, axis),
                      .y_name = curves_gather(curves, columns, line, &all),
                      .x_bytes = name_ends_with(axis, "_bytes")};
  if (all.count == 0) {
    return;
  }
  struct plot_curve *drawn = arena_array(arena, all.count, sizeof *drawn);
  for (size_t i = 0; i < all.count; i++) {
    drawn[i] = curves_finish(arena, &all.items[i]);
  }
  curves_name_levels(arena, &all, plot.y_name);
  plot.curves = drawn;
  plot.curve_count = all.count;
  plot.levels = all.levels;
  plot.level_count = all.level_count;
  curves_draw_plot(curves, columns, &plot, to);
}

/* The first row of every plot into lines; their number, or more than CURVES_PLOTS_MAX. */
static size_t curves_find_plots(const struct curves *curves, const struct plot_columns *columns,
                                size_t lines[CURVES_PLOTS_MAX]) {
  size_t count = 0;
  for (size_t line = 0; line < curves->rows.row_count; line++) {
    if (!curves_has_row(curves, columns, line)) {
      continue;
    }
    const size_t i = FIRST_OF(k, count, curves_same_plot(curves, columns, lines[k], line));
    if (i == CURVES_PLOTS_MAX) {
      return CURVES_PLOTS_MAX + 1;
    }
    if (i == count) {
      lines[count++] = line;
    }
  }
  return count;
}

static enum status curves_draw_columns(struct curves *curves, const struct plot_columns *columns,
                                       struct drawing_to *to, struct error *err) {
  size_t lines[CURVES_PLOTS_MAX];
  const size_t count = curves_find_plots(curves, columns, lines);
  if (count > CURVES_PLOTS_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d plots cannot be drawn",
                     CURVES_PLOTS_MAX);
  }
  for (size_t i = 0; i < count; i++) {
    curves_draw(curves, columns, lines[i], to);
  }
  return STATUS_OK;
}

/* Why there is nothing: what the first row remarks, if it does. */
static const char *curves_why_not(struct curves *curves) {
  const int remark = curves_find_named(curves, "remark");
  const char *text = remark >= 0 ? curves_text(curves, 0, remark) : NULL;
  return arena_format(curves->rows.arena, "nothing to draw: no row of %zu has a number%s%s\n",
                      curves->rows.row_count, text != NULL ? "; the first: " : "",
                      text != NULL ? text : "");
}

static enum status curves_draw_all(struct curves *curves, struct drawing_to *to,
                                   struct error *err) {
  enum status status = STATUS_OK;
  if (curves->saved != NULL) {
    for (size_t i = 0; i < curves->saved->plot_count && status == STATUS_OK; i++) {
      const struct plot_columns columns = curves_columns_of(curves, &curves->saved->plots[i]);
      status = curves_draw_columns(curves, &columns, to, err);
    }
    return status;
  }
  const struct plot_columns columns = curves_infer_columns(curves);
  if (columns.x < 0 || columns.ys.count == 0) {
    return error_set(err, STATUS_USAGE,
                     "a plot needs a column of numbers for x and another one after it for y");
  }
  return curves_draw_columns(curves, &columns, to, err);
}

static enum status curves_print(struct curves *curves, struct strbuf *text, struct error *err) {
  struct plot_picture picture;
  struct drawing_to to = {.text = text, .picture = curves->picture ? &picture : NULL};
  if (curves->picture && curves->rows.row_count > 0) {
    plot_picture_begin(&picture, text);
  }
  enum status status = curves->rows.row_count > 0 ? curves_draw_all(curves, &to, err) : STATUS_OK;
  const char *why = curves->rows.row_count > 0 ? curves_why_not(curves)
                    : curves->empty != NULL
                        ? arena_format(curves->rows.arena, "%s\n", curves->empty)
                        : "";
  if (status == STATUS_OK && to.drawn > 0 && curves->picture) {
    plot_picture_end(&picture);
  } else if (status == STATUS_OK && to.drawn == 0 && curves->picture) {
    /* What is not there is no picture of something. */
    status = error_set(err, STATUS_NOT_FOUND, "%.*s", (int)strcspn(why, "\n"), why);
  } else if (status == STATUS_OK && to.drawn == 0) {
    strbuf_append(text, why);
  }
  return status;
}

static enum status curves_end(void *context, struct error *err) {
  struct curves *curves = context;
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(CURVES_TEXT_MAX);
  enum status status = curves_print(curves, &text, err);
  if (status == STATUS_OK && curves->stream != NULL) {
    status = stream_print(curves->stream, &text, &curves->reader_gone, err);
  }
  result_set_fini(&curves->rows);
  return status;
}

static bool curves_has_enough(void *context) {
  const struct curves *curves = context;
  return curves->reader_gone;
}

struct curves *curves_new(FILE *stream, const struct plot_style *style, const char *empty) {
  struct curves *curves = memory_new(1, sizeof *curves);
  curves->stream = stream;
  curves->style = *style;
  curves->empty = empty;
  curves->sink = (struct row_sink){curves, curves_begin, curves_row, curves_end, curves_has_enough};
  return curves;
}

void curves_draw_as(struct curves *curves, const struct saved_query *saved) {
  curves->saved = saved;
}

void curves_as_picture(struct curves *curves) {
  curves->picture = true;
}

struct curves *curves_new_drawn_by(curves_drawer *drawer, void *context) {
  const struct plot_style none = {.scale = PLOT_LOG};
  struct curves *curves = curves_new(NULL, &none, NULL);
  curves->drawer = drawer;
  curves->context = context;
  return curves;
}

const struct row_sink *curves_sink(struct curves *curves) {
  return &curves->sink;
}

void curves_free(struct curves *curves) {
  if (curves == NULL) {
    return;
  }
  result_set_fini(&curves->rows);
  free(curves);
}
