#include "runner/render/curves.h"

#include "runner/table/result_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_TEXT_MAX = 64 << 20 };

struct curves {
  struct row_sink sink;
  struct plot_style style;
  FILE *stream;
  const char *empty;
  curves_drawer *drawer; /* NULL = to the stream */
  void *context;         /* of the drawer */
  bool reader_gone;
  struct result_set rows; /* of one result */
};

/* The columns that are not curves; -1 = none. */
struct roles {
  int plot, axis, x;
};

/* Curves of one plot while rows are put to them. */
struct gathered {
  const char *name;
  struct plot_point *points;
  size_t count, capacity;
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

static double curves_number(const struct curves *curves, size_t row, int column) {
  return result_set_number_at(&curves->rows, row, (size_t)column);
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

static struct roles curves_find_roles(const struct curves *curves) {
  struct roles roles = {-1, -1, -1};
  for (int i = 0; i < (int)curves->rows.column_count; i++) {
    const char *name = curves_column(curves, i);
    if (curves_is_text(curves, i) && strcmp(name, "plot") == 0) {
      roles.plot = i;
    } else if (curves_is_text(curves, i) && strcmp(name, "axis") == 0) {
      roles.axis = i;
    } else if (roles.x < 0 && curves_is_number(curves, i)) {
      roles.x = i;
    }
  }
  return roles;
}

static bool curves_names_a_curve(const struct curves *curves, const struct roles *roles,
                                 int column) {
  return column < roles->x && column != roles->plot && column != roles->axis &&
         curves_is_text(curves, column);
}

static bool curves_have_names(const struct curves *curves, const struct roles *roles) {
  int i = 0;
  while (i < roles->x && !curves_names_a_curve(curves, roles, i)) {
    i++;
  }
  return i < roles->x;
}

static bool name_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

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
  return name_ends_with(name, "_pct") || strncmp(name, "percent", 7) == 0 ? "%" : name;
}

/* "size" of "size_bytes". */
static const char *name_of_x(struct arena *arena, const char *name) {
  const size_t length = strlen(name);
  return name_ends_with(name, "_bytes") ? arena_strndup(arena, name, length - strlen("_bytes"))
                                        : name;
}

static const char *curves_name_of(struct curves *curves, const struct roles *roles, size_t line) {
  const char *name = "";
  for (int i = 0; i < roles->x; i++) {
    const char *text = curves_text(curves, line, i);
    if (curves_names_a_curve(curves, roles, i) && text != NULL && text[0] != '\0') {
      name = arena_format(curves->rows.arena, "%s%s%s", name, name[0] != '\0' ? " " : "", text);
    }
  }
  return name;
}

static const char *curves_plot_of(const struct curves *curves, const struct roles *roles,
                                  size_t line) {
  const char *text = roles->plot >= 0 ? curves_text(curves, line, roles->plot) : NULL;
  return text != NULL ? text : "";
}

static int plot_compare_points(const void *a, const void *b) {
  const struct plot_point *x = a;
  const struct plot_point *y = b;
  return (x->x > y->x) - (x->x < y->x);
}

struct gathering {
  struct gathered *items;
  size_t count, capacity;
};

static void curves_put_point(struct curves *curves, struct gathering *all, const char *name,
                             double x, double y) {
  if (isnan(x) || isnan(y)) {
    return;
  }
  size_t i = 0;
  while (i < all->count && strcmp(all->items[i].name, name) != 0) {
    i++;
  }
  if (i == all->count) {
    all->items =
        arena_grow(curves->rows.arena, all->items, all->count, &all->capacity, sizeof *all->items);
    all->items[all->count++] = (struct gathered){.name = name};
  }
  struct gathered *curve = &all->items[i];
  curve->points = arena_grow(curves->rows.arena, curve->points, curve->count, &curve->capacity,
                             sizeof *curve->points);
  curve->points[curve->count++] = (struct plot_point){x, y};
}

/* The first column of numbers after x that has a value in that plot; -1 = none. */
static int curves_find_y(const struct curves *curves, const struct roles *roles, const char *plot) {
  for (int i = roles->x + 1; i < (int)curves->rows.column_count; i++) {
    for (size_t line = 0; curves_is_number(curves, i) && line < curves->rows.row_count; line++) {
      if (!isnan(curves_number(curves, line, i)) &&
          strcmp(curves_plot_of(curves, roles, line), plot) == 0) {
        return i;
      }
    }
  }
  return -1;
}

/* The curves of one plot; returns the name of y. */
static const char *curves_gather(struct curves *curves, const struct roles *roles, const char *plot,
                                 struct gathering *all) {
  const bool named = curves_have_names(curves, roles);
  const int first_y = curves_find_y(curves, roles, plot);
  const char *y_name = first_y >= 0 ? name_unit(curves_column(curves, first_y)) : "";
  for (size_t line = 0; first_y >= 0 && line < curves->rows.row_count; line++) {
    if (strcmp(curves_plot_of(curves, roles, line), plot) != 0) {
      continue;
    }
    const double x = curves_number(curves, line, roles->x);
    if (named) {
      curves_put_point(curves, all, curves_name_of(curves, roles, line), x,
                       curves_number(curves, line, first_y));
      continue;
    }
    for (int i = first_y; i < (int)curves->rows.column_count; i++) {
      if (!curves_is_number(curves, i)) {
        continue;
      }
      const char *name = curves_column(curves, i);
      curves_put_point(curves, all, name, x, curves_number(curves, line, i));
      y_name = strcmp(name_unit(name), y_name) == 0 ? y_name : "";
    }
  }
  return y_name;
}

static void curves_draw(struct curves *curves, const struct roles *roles, size_t line,
                        struct strbuf *text) {
  struct gathering all = {NULL, 0, 0};
  const char *title = curves_plot_of(curves, roles, line);
  const char *axis = roles->axis >= 0 ? curves_text(curves, line, roles->axis) : NULL;
  axis = axis != NULL ? axis : curves_column(curves, roles->x);
  struct plot plot = {.title = title,
                      .x_name = name_of_x(curves->rows.arena, axis),
                      .y_name = curves_gather(curves, roles, title, &all),
                      .x_bytes = name_ends_with(axis, "_bytes")};
  struct plot_curve *drawn = arena_array(curves->rows.arena, all.count + 1, sizeof *drawn);
  for (size_t i = 0; i < all.count; i++) {
    qsort(all.items[i].points, all.items[i].count, sizeof *all.items[i].points,
          plot_compare_points);
    drawn[i] = (struct plot_curve){all.items[i].name, all.items[i].points, all.items[i].count};
  }
  plot.curves = drawn;
  plot.curve_count = all.count;
  if (curves->drawer != NULL) {
    curves->drawer(curves->context, &plot);
    return;
  }
  strbuf_append(text, text->length > 0 ? "\n" : "");
  plot_draw(&plot, &curves->style, text);
}

/* The first row of every plot into lines; their number, or more than CURVES_PLOTS_MAX. */
static size_t curves_find_plots(const struct curves *curves, const struct roles *roles,
                                size_t lines[CURVES_PLOTS_MAX]) {
  size_t count = 0;
  for (size_t line = 0; line < curves->rows.row_count; line++) {
    const char *plot = curves_plot_of(curves, roles, line);
    size_t i = 0;
    while (i < count && strcmp(curves_plot_of(curves, roles, lines[i]), plot) != 0) {
      i++;
    }
    if (i == CURVES_PLOTS_MAX) {
      return CURVES_PLOTS_MAX + 1;
    }
    if (i == count) {
      lines[count++] = line;
    }
  }
  return count;
}

static enum status curves_draw_all(struct curves *curves, struct strbuf *text, struct error *err) {
  const struct roles roles = curves_find_roles(curves);
  size_t lines[CURVES_PLOTS_MAX];
  bool has_y = false;
  for (int i = roles.x + 1; roles.x >= 0 && i < (int)curves->rows.column_count; i++) {
    has_y = has_y || curves_is_number(curves, i);
  }
  if (!has_y) {
    return error_set(err, STATUS_USAGE,
                     "a plot needs a column of numbers for x and another one after it for y");
  }
  const size_t count = curves_find_plots(curves, &roles, lines);
  if (count > CURVES_PLOTS_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d plots cannot be drawn",
                     CURVES_PLOTS_MAX);
  }
  for (size_t i = 0; i < count; i++) {
    curves_draw(curves, &roles, lines[i], text);
  }
  return STATUS_OK;
}

static enum status curves_end(void *context, struct error *err) {
  struct curves *curves = context;
  struct strbuf text;
  strbuf_init(&text, CURVES_TEXT_MAX);
  enum status status = STATUS_OK;
  if (curves->rows.row_count > 0) {
    status = curves_draw_all(curves, &text, err);
  } else if (curves->empty != NULL) {
    strbuf_printf(&text, "%s\n", curves->empty);
  }
  if (status == STATUS_OK && curves->stream != NULL) {
    status = stream_write(curves->stream, &text, &curves->reader_gone, err);
  }
  strbuf_fini(&text);
  result_set_fini(&curves->rows);
  return status;
}

static bool curves_has_enough(void *context) {
  const struct curves *curves = context;
  return curves->reader_gone;
}

struct curves *curves_new(FILE *stream, const struct plot_style *style, const char *empty) {
  struct curves *curves = calloc(1, sizeof *curves);
  if (curves == NULL) {
    abort();
  }
  curves->stream = stream;
  curves->style = *style;
  curves->empty = empty;
  curves->sink = (struct row_sink){curves, curves_begin, curves_row, curves_end, curves_has_enough};
  return curves;
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
