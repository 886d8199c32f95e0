#include "runner/render/curves.h"

#include "engine/base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_TEXT_MAX = 64 << 20, NAME_TEXT_MAX = 4096 };

struct column {
  const char *name;
  bool text;  /* some value is no number */
  bool value; /* some value is not NULL */
};

/* A cell that is kept: text, or a number; neither = NULL. */
struct kept {
  const char *text;
  double number; /* NAN where there is none */
};

struct curves {
  struct row_sink sink;
  struct plot_style style;
  FILE *stream;
  const char *empty;
  curves_drawer *drawer; /* NULL = to the stream */
  void *context;         /* of the drawer */
  bool reader_gone;
  struct arena arena; /* of one result */
  struct column *columns;
  size_t column_count;
  struct kept *cells; /* rows x columns */
  size_t row_count, cell_count, cell_capacity;
};

/* Which column is what; -1 = none. */
struct roles {
  int plot, axis, x;
};

/* Curves of one plot while rows are put to them. */
struct gathered {
  const char *name;
  struct plot_point *points;
  size_t count, capacity;
};

static enum status begin(void *context, const char *const *columns, size_t count,
                         struct error *err) {
  struct curves *curves = context;
  (void)err;
  arena_fini(&curves->arena);
  curves->row_count = curves->cell_count = curves->cell_capacity = 0;
  curves->cells = NULL;
  curves->column_count = count;
  curves->columns = arena_array(&curves->arena, count, sizeof *curves->columns);
  for (size_t i = 0; i < count; i++) {
    curves->columns[i].name = arena_strdup(&curves->arena, columns[i]);
  }
  return STATUS_OK;
}

static struct kept keep(struct curves *curves, const struct cell *cell) {
  switch (cell->kind) {
  case CELL_INTEGER:
    return (struct kept){NULL, (double)cell->as.integer};
  case CELL_REAL:
    return (struct kept){NULL, cell->as.real};
  case CELL_TEXT:
    return (struct kept){arena_strndup(&curves->arena, cell->as.text.bytes, cell->as.text.length),
                         NAN};
  case CELL_BLOB:
    return (struct kept){"", NAN};
  case CELL_NULL:
    break;
  }
  return (struct kept){NULL, NAN};
}

static enum status row(void *context, const struct cell *cells, struct error *err) {
  struct curves *curves = context;
  if (curves->row_count++ == CURVES_ROWS_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d rows cannot be drawn", CURVES_ROWS_MAX);
  }
  for (size_t i = 0; i < curves->column_count; i++) {
    const struct kept kept = keep(curves, &cells[i]);
    curves->columns[i].text = curves->columns[i].text || kept.text != NULL;
    curves->columns[i].value = curves->columns[i].value || kept.text != NULL || !isnan(kept.number);
    curves->cells = arena_grow(&curves->arena, curves->cells, curves->cell_count,
                               &curves->cell_capacity, sizeof *curves->cells);
    curves->cells[curves->cell_count++] = kept;
  }
  return STATUS_OK;
}

static const struct kept *cell_of(const struct curves *curves, size_t line, int column) {
  return &curves->cells[line * curves->column_count + (size_t)column];
}

static bool is_number(const struct column *column) {
  return column->value && !column->text;
}

static struct roles find_roles(const struct curves *curves) {
  struct roles roles = {-1, -1, -1};
  for (int i = 0; i < (int)curves->column_count; i++) {
    const struct column *column = &curves->columns[i];
    if (column->text && strcmp(column->name, "plot") == 0) {
      roles.plot = i;
    } else if (column->text && strcmp(column->name, "axis") == 0) {
      roles.axis = i;
    } else if (roles.x < 0 && is_number(column)) {
      roles.x = i;
    }
  }
  return roles;
}

static bool names_a_curve(const struct curves *curves, const struct roles *roles, int column) {
  return column < roles->x && column != roles->plot && column != roles->axis &&
         curves->columns[column].text;
}

static bool has_curve_names(const struct curves *curves, const struct roles *roles) {
  bool has = false;
  for (int i = 0; i < roles->x; i++) {
    has = has || names_a_curve(curves, roles, i);
  }
  return has;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* The unit that a column's name tells; its name where it tells none. */
static const char *unit_of(const char *name) {
  if (strncmp(name, "gbps", 4) == 0 || ends_with(name, "_gbps")) {
    return "GB/s";
  }
  if (strcmp(name, "ns") == 0 || ends_with(name, "_ns") || strncmp(name, "ns_per_", 7) == 0) {
    return "ns";
  }
  if (ends_with(name, "_bytes")) {
    return "bytes";
  }
  return ends_with(name, "_pct") || strncmp(name, "percent", 7) == 0 ? "%" : name;
}

/* "size" of "size_bytes". */
static const char *name_of_x(struct arena *arena, const char *name) {
  const size_t length = strlen(name);
  return ends_with(name, "_bytes") ? arena_strndup(arena, name, length - strlen("_bytes")) : name;
}

static const char *curve_name(struct curves *curves, const struct roles *roles, size_t line) {
  struct strbuf name;
  strbuf_init(&name, NAME_TEXT_MAX);
  for (int i = 0; i < roles->x; i++) {
    const char *text = cell_of(curves, line, i)->text;
    if (names_a_curve(curves, roles, i) && text != NULL && text[0] != '\0') {
      strbuf_printf(&name, "%s%s", name.length > 0 ? " " : "", text);
    }
  }
  const char *kept = arena_strdup(&curves->arena, name.text);
  strbuf_fini(&name);
  return kept;
}

static const char *plot_of(const struct curves *curves, const struct roles *roles, size_t line) {
  const char *text = roles->plot >= 0 ? cell_of(curves, line, roles->plot)->text : NULL;
  return text != NULL ? text : "";
}

static int compare_points(const void *a, const void *b) {
  const struct plot_point *x = a;
  const struct plot_point *y = b;
  return (x->x > y->x) - (x->x < y->x);
}

struct gathering {
  struct gathered *items;
  size_t count, capacity;
};

static void put_point(struct curves *curves, struct gathering *all, const char *name, double x,
                      double y) {
  if (isnan(x) || isnan(y)) {
    return;
  }
  size_t i = 0;
  while (i < all->count && strcmp(all->items[i].name, name) != 0) {
    i++;
  }
  if (i == all->count) {
    all->items =
        arena_grow(&curves->arena, all->items, all->count, &all->capacity, sizeof *all->items);
    all->items[all->count++] = (struct gathered){.name = name};
  }
  struct gathered *curve = &all->items[i];
  curve->points = arena_grow(&curves->arena, curve->points, curve->count, &curve->capacity,
                             sizeof *curve->points);
  curve->points[curve->count++] = (struct plot_point){x, y};
}

/* The first column of numbers after x that has a value in that plot; -1 = none. */
static int find_y(const struct curves *curves, const struct roles *roles, const char *plot) {
  for (int i = roles->x + 1; i < (int)curves->column_count; i++) {
    for (size_t line = 0; is_number(&curves->columns[i]) && line < curves->row_count; line++) {
      if (!isnan(cell_of(curves, line, i)->number) &&
          strcmp(plot_of(curves, roles, line), plot) == 0) {
        return i;
      }
    }
  }
  return -1;
}

/* The curves of one plot; returns what y is called. */
static const char *gather(struct curves *curves, const struct roles *roles, const char *plot,
                          struct gathering *all) {
  const bool named = has_curve_names(curves, roles);
  const int first_y = find_y(curves, roles, plot);
  const char *y_name = first_y >= 0 ? unit_of(curves->columns[first_y].name) : "";
  for (size_t line = 0; first_y >= 0 && line < curves->row_count; line++) {
    if (strcmp(plot_of(curves, roles, line), plot) != 0) {
      continue;
    }
    const double x = cell_of(curves, line, roles->x)->number;
    if (named) {
      put_point(curves, all, curve_name(curves, roles, line), x,
                cell_of(curves, line, first_y)->number);
      continue;
    }
    for (int i = first_y; i < (int)curves->column_count; i++) {
      if (!is_number(&curves->columns[i])) {
        continue;
      }
      const char *name = curves->columns[i].name;
      put_point(curves, all, name, x, cell_of(curves, line, i)->number);
      y_name = strcmp(unit_of(name), y_name) == 0 ? y_name : "";
    }
  }
  return y_name;
}

static void draw(struct curves *curves, const struct roles *roles, size_t line,
                 struct strbuf *text) {
  struct gathering all = {NULL, 0, 0};
  const char *title = plot_of(curves, roles, line);
  const char *axis = roles->axis >= 0 ? cell_of(curves, line, roles->axis)->text : NULL;
  axis = axis != NULL ? axis : curves->columns[roles->x].name;
  struct plot plot = {.title = title,
                      .x_name = name_of_x(&curves->arena, axis),
                      .y_name = gather(curves, roles, title, &all),
                      .x_bytes = ends_with(axis, "_bytes")};
  struct plot_curve *drawn = arena_array(&curves->arena, all.count + 1, sizeof *drawn);
  for (size_t i = 0; i < all.count; i++) {
    qsort(all.items[i].points, all.items[i].count, sizeof *all.items[i].points, compare_points);
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
static size_t find_plots(const struct curves *curves, const struct roles *roles,
                         size_t lines[CURVES_PLOTS_MAX]) {
  size_t count = 0;
  for (size_t line = 0; line < curves->row_count; line++) {
    const char *plot = plot_of(curves, roles, line);
    size_t i = 0;
    while (i < count && strcmp(plot_of(curves, roles, lines[i]), plot) != 0) {
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

static enum status write_out(struct curves *curves, const struct strbuf *text, struct error *err) {
  errno = 0;
  if (fwrite(text->text, 1, text->length, curves->stream) == text->length &&
      fflush(curves->stream) == 0) {
    return STATUS_OK;
  }
  if (errno == EPIPE) {
    curves->reader_gone = true;
    return STATUS_OK;
  }
  return error_set_errno(err, errno, "cannot write the plot");
}

static enum status draw_all(struct curves *curves, struct strbuf *text, struct error *err) {
  const struct roles roles = find_roles(curves);
  size_t lines[CURVES_PLOTS_MAX];
  bool has_y = false;
  for (int i = roles.x + 1; roles.x >= 0 && i < (int)curves->column_count; i++) {
    has_y = has_y || is_number(&curves->columns[i]);
  }
  if (!has_y) {
    return error_set(err, STATUS_USAGE,
                     "a plot needs a column of numbers for x and another one after it for y");
  }
  const size_t count = find_plots(curves, &roles, lines);
  if (count > CURVES_PLOTS_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d plots cannot be drawn",
                     CURVES_PLOTS_MAX);
  }
  for (size_t i = 0; i < count; i++) {
    draw(curves, &roles, lines[i], text);
  }
  return STATUS_OK;
}

static enum status end(void *context, struct error *err) {
  struct curves *curves = context;
  struct strbuf text;
  strbuf_init(&text, CURVES_TEXT_MAX);
  enum status status = STATUS_OK;
  if (curves->row_count > 0) {
    status = draw_all(curves, &text, err);
  } else if (curves->empty != NULL) {
    strbuf_printf(&text, "%s\n", curves->empty);
  }
  if (status == STATUS_OK && curves->stream != NULL) {
    status = write_out(curves, &text, err);
  }
  strbuf_fini(&text);
  arena_fini(&curves->arena);
  curves->cells = NULL;
  return status;
}

static bool enough(void *context) {
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
  curves->sink = (struct row_sink){curves, begin, row, end, enough};
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
  arena_fini(&curves->arena);
  free(curves);
}
