#include "runner/render/plot/plot.h"

#include "engine/base/arena.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(plot_scale, PLOT_SCALE_LIST)

/* A character holds 2 x 4 dots (Unicode, "Braille Patterns", U+2800). */
enum { DOTS_X = 2, DOTS_Y = 4, COLOURS = 6, TICK_ROOM = 9, LINES_A_TICK = 4, COLOUR_LEVEL = 7 };

struct cell_drawn {
  unsigned char dots;
  unsigned char colour; /* of the curve drawn last, from 1; 0 = nothing is drawn */
  char letter;          /* '\0' = none */
  bool bar;             /* an error bar goes through */
};

struct canvas {
  unsigned width, height; /* characters */
  struct cell_drawn *cells;
};

static struct cell_drawn *plot_cell_at(const struct canvas *canvas, long x_dots, long y_dots) {
  const long x = x_dots / DOTS_X;
  const long y = y_dots / DOTS_Y;
  if (x_dots < 0 || y_dots < 0 || x >= (long)canvas->width || y >= (long)canvas->height) {
    return NULL;
  }
  return &canvas->cells[(size_t)y * canvas->width + (size_t)x];
}

static void plot_set_dot(const struct canvas *canvas, long x, long y, unsigned char colour) {
  static const unsigned char BITS[DOTS_Y][DOTS_X] = {
      {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  struct cell_drawn *cell = plot_cell_at(canvas, x, y);
  if (cell != NULL) {
    cell->dots |= BITS[y % DOTS_Y][x % DOTS_X];
    cell->colour = colour;
  }
}

static void plot_draw_line(const struct canvas *canvas, double x0, double y0, double x1, double y1,
                           unsigned char colour) {
  const long steps = lround(fmax(1, ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)))));
  for (long i = 0; i <= steps; i++) {
    const double part = (double)i / (double)steps;
    plot_set_dot(canvas, lround(x0 + (x1 - x0) * part), lround(y0 + (y1 - y0) * part), colour);
  }
}

struct area {
  struct plot_axis x, y;
  struct canvas canvas;
};

bool plot_is_placeable(struct plot_point point) {
  return isfinite(point.x) && isfinite(point.y);
}

/* In dots from the upper left corner. */
static struct plot_point plot_dots_of(const struct area *area, struct plot_point point) {
  const double across = area->canvas.width * DOTS_X - 1;
  const double down = area->canvas.height * DOTS_Y - 1;
  return (struct plot_point){axis_place(&area->x, point.x) * across,
                             (1 - axis_place(&area->y, point.y)) * down};
}

bool plot_range_of(const struct plot_curve *curve, size_t point, struct plot_range *range) {
  *range = curve->ranges != NULL ? curve->ranges[point] : (struct plot_range){0, 0};
  return isfinite(range->low) && isfinite(range->high) && range->low < range->high;
}

/* Within the line that the letter is on there is nothing to see of it. */
static void plot_draw_bar(const struct area *area, double x, struct plot_range range,
                          unsigned char colour) {
  const struct plot_point low = plot_dots_of(area, (struct plot_point){x, range.low});
  const struct plot_point high = plot_dots_of(area, (struct plot_point){x, range.high});
  for (long y = lround(high.y) / DOTS_Y; y <= lround(low.y) / DOTS_Y; y++) {
    struct cell_drawn *cell = plot_cell_at(&area->canvas, lround(low.x), y * DOTS_Y);
    if (cell != NULL && cell->letter == '\0') {
      cell->bar = true;
      cell->colour = colour;
    }
  }
}

/* The cell of a point; NULL = it has none. */
static struct cell_drawn *plot_cell_of(const struct area *area, struct plot_point point) {
  if (!plot_is_placeable(point)) {
    return NULL;
  }
  const struct plot_point at = plot_dots_of(area, point);
  return plot_cell_at(&area->canvas, lround(at.x), lround(at.y));
}

static void plot_draw_curve(const struct area *area, const struct plot_curve *curve, size_t index) {
  const unsigned char colour = (unsigned char)(1 + index % COLOURS);
  const struct plot_point *last = NULL;
  for (size_t i = 0; i < curve->count; i++) {
    if (!plot_is_placeable(curve->points[i])) {
      continue;
    }
    if (last != NULL) {
      const struct plot_point from = plot_dots_of(area, *last);
      const struct plot_point to = plot_dots_of(area, curve->points[i]);
      plot_draw_line(&area->canvas, from.x, from.y, to.x, to.y, colour);
    }
    last = &curve->points[i];
  }
  for (size_t i = 0; i < curve->count; i++) {
    if (!plot_is_placeable(curve->points[i])) {
      continue;
    }
    struct cell_drawn *cell = plot_cell_of(area, curve->points[i]);
    if (cell != NULL) {
      cell->letter = text_letter(index);
      cell->colour = colour;
    }
    struct plot_range range;
    if (plot_range_of(curve, i, &range)) {
      plot_draw_bar(area, curve->points[i].x, range, colour);
    }
  }
}

static size_t plot_count_letter(const struct canvas *canvas, char letter) {
  return SUM_OF(i, (size_t)canvas->width * canvas->height, canvas->cells[i].letter == letter);
}

/* A curve behind others gets one of the points that it shares with a curve that has more. */
static void plot_uncover_curve(const struct area *area, const struct plot_curve *curve,
                               size_t index) {
  for (size_t i = 0; i < curve->count && plot_count_letter(&area->canvas, text_letter(index)) == 0;
       i++) {
    struct cell_drawn *cell = plot_cell_of(area, curve->points[i]);
    if (cell != NULL && plot_count_letter(&area->canvas, cell->letter) > 1) {
      cell->letter = text_letter(index);
      cell->colour = (unsigned char)(1 + index % COLOURS);
    }
  }
}

/* A line of single dots: curves are denser. */
static void plot_draw_level(const struct area *area, double y) {
  const struct plot_point at = plot_dots_of(area, (struct plot_point){area->x.low, y});
  for (unsigned x = 0; x < area->canvas.width; x++) {
    struct cell_drawn *cell = plot_cell_at(&area->canvas, (long)x * DOTS_X, lround(at.y));
    if (cell != NULL && cell->dots == 0) {
      plot_set_dot(&area->canvas, (long)x * DOTS_X, lround(at.y), COLOUR_LEVEL);
    }
  }
}

struct extent {
  struct plot_point *low, *high;
  bool any;
};

static void plot_extend(struct extent *extent, struct plot_point point) {
  struct plot_point *low = extent->low;
  struct plot_point *high = extent->high;
  *low = extent->any ? (struct plot_point){fmin(low->x, point.x), fmin(low->y, point.y)} : point;
  *high = extent->any ? (struct plot_point){fmax(high->x, point.x), fmax(high->y, point.y)} : point;
  extent->any = true;
}

bool plot_extent(const struct plot *plot, struct plot_point *low, struct plot_point *high) {
  struct extent extent = {low, high, false};
  for (size_t c = 0; c < plot->curve_count && c < PLOT_CURVES_MAX; c++) {
    for (size_t i = 0; i < plot->curves[c].count; i++) {
      const struct plot_point point = plot->curves[c].points[i];
      struct plot_range range;
      if (!plot_is_placeable(point)) {
        continue;
      }
      plot_extend(&extent, point);
      if (plot_range_of(&plot->curves[c], i, &range)) {
        plot_extend(&extent, (struct plot_point){point.x, range.low});
        plot_extend(&extent, (struct plot_point){point.x, range.high});
      }
    }
  }
  for (size_t i = 0; extent.any && i < plot->level_count; i++) {
    plot_extend(&extent, (struct plot_point){low->x, plot->levels[i].y});
  }
  return extent.any;
}

/* ---- as text ---- */

struct pen {
  struct strbuf *text;
  const struct plot_style *style;
  unsigned margin; /* characters left of the axis */
};

static void plot_put_spaces(struct strbuf *text, size_t count) {
  strbuf_printf(text, "%*s", (int)count, "");
}

static void plot_put_coloured(const struct pen *pen, unsigned char colour, const char *text) {
  if (pen->style->colour && colour > 0) {
    strbuf_printf(pen->text, "\033[3%um%s\033[0m", (unsigned)colour, text);
  } else {
    strbuf_append(pen->text, text);
  }
}

static void plot_put_cell(const struct pen *pen, const struct cell_drawn *cell) {
  char text[4] = " ";
  if (cell->letter != '\0') {
    text[0] = cell->letter;
  } else if (cell->bar) {
    (void)snprintf(text, sizeof text, "%s", pen->style->unicode ? "│" : ":");
  } else if (cell->dots != 0 && pen->style->unicode) {
    /* U+2800 and the dots, in UTF-8. */
    text[0] = (char)0xe2;
    text[1] = (char)(0xa0 | cell->dots >> 6);
    text[2] = (char)(0x80 | (cell->dots & 0x3f));
    text[3] = '\0';
  } else if (cell->dots != 0) {
    text[0] = '.';
  }
  plot_put_coloured(pen, cell->colour, text);
}

/* The line of a tick of the vertical axis. */
static unsigned plot_line_of(const struct area *area, const struct axis_tick *tick) {
  const double down = (1 - tick->at) * (area->canvas.height * DOTS_Y - 1);
  return (unsigned)(lround(down) / DOTS_Y);
}

static void plot_put_area(const struct pen *pen, const struct area *area) {
  for (unsigned line = 0; line < area->canvas.height; line++) {
    const size_t tick =
        FIRST_OF(i, area->y.tick_count, plot_line_of(area, &area->y.ticks[i]) == line);
    const char *label = tick < area->y.tick_count ? area->y.ticks[tick].text : "";
    const char *bar =
        pen->style->unicode ? (label[0] != '\0' ? "┤" : "│") : (label[0] != '\0' ? "+" : "|");
    strbuf_printf(pen->text, "%*s %s", (int)pen->margin - 2, label, bar);
    unsigned used = 0; /* no blanks at the end of a line */
    for (unsigned x = 0; x < area->canvas.width; x++) {
      const struct cell_drawn *cell = &area->canvas.cells[line * area->canvas.width + x];
      used = cell->colour > 0 ? x + 1 : used;
    }
    for (unsigned x = 0; x < used; x++) {
      plot_put_cell(pen, &area->canvas.cells[line * area->canvas.width + x]);
    }
    strbuf_append_char(pen->text, '\n');
  }
}

static unsigned plot_column_of(const struct area *area, const struct axis_tick *tick) {
  return (unsigned)(lround(tick->at * (area->canvas.width * DOTS_X - 1)) / DOTS_X);
}

/* The line of the axis, its ticks below, and its name at the end of a line of its own. */
static void plot_put_x_axis(const struct pen *pen, const struct area *area, const char *name) {
  const unsigned width = area->canvas.width;
  const bool unicode = pen->style->unicode;
  plot_put_spaces(pen->text, pen->margin - 1);
  strbuf_append(pen->text, unicode ? "└" : "+");
  for (unsigned x = 0; x < width; x++) {
    const bool tick = ANY_OF(i, area->x.tick_count, plot_column_of(area, &area->x.ticks[i]) == x);
    strbuf_append(pen->text, unicode ? (tick ? "┬" : "─") : (tick ? "+" : "-"));
  }
  strbuf_append_char(pen->text, '\n');
  size_t at = 0; /* the column that comes next, from the start of the line */
  for (size_t i = 0; i < area->x.tick_count; i++) {
    const size_t length = strlen(area->x.ticks[i].text);
    const size_t middle = pen->margin + plot_column_of(area, &area->x.ticks[i]);
    const size_t most = pen->margin + width > length ? pen->margin + width - length : 0;
    size_t start = middle >= length / 2 ? middle - length / 2 : 0;
    start = start > most ? most : start;
    if (i > 0 && start < at + 1) {
      continue; /* no room */
    }
    plot_put_spaces(pen->text, start > at ? start - at : 0);
    strbuf_append(pen->text, area->x.ticks[i].text);
    at = (start > at ? start : at) + length;
  }
  strbuf_append_char(pen->text, '\n');
  const size_t length = strlen(name);
  plot_put_spaces(pen->text, pen->margin + width > length ? pen->margin + width - length : 0);
  strbuf_printf(pen->text, "%s\n", name);
}

static void plot_put_legend(const struct pen *pen, const struct plot *plot,
                            const struct canvas *canvas) {
  for (size_t i = 0; i < plot->curve_count && i < PLOT_CURVES_MAX; i++) {
    if (plot->curves[i].name[0] == '\0') {
      continue;
    }
    const char letter[2] = {text_letter(i), '\0'};
    plot_put_spaces(pen->text, 2);
    plot_put_coloured(pen, (unsigned char)(1 + i % COLOURS), letter);
    plot_put_spaces(pen->text, 2);
    text_put(pen->text, plot->curves[i].name);
    strbuf_append(pen->text, plot_count_letter(canvas, letter[0]) > 0 ? "" : " (behind others)");
    strbuf_append_char(pen->text, '\n');
  }
  for (size_t i = 0; i < plot->level_count; i++) {
    plot_put_spaces(pen->text, 2);
    plot_put_coloured(pen, COLOUR_LEVEL, pen->style->unicode ? "\xe2\xa0\x81" : ".");
    plot_put_spaces(pen->text, 2);
    text_put(pen->text, plot->levels[i].name);
    strbuf_append_char(pen->text, '\n');
  }
  if (plot->curve_count > PLOT_CURVES_MAX) {
    strbuf_printf(pen->text, "  and %zu more that are not drawn\n",
                  plot->curve_count - PLOT_CURVES_MAX);
  }
}

static unsigned plot_margin_of(const struct plot_axis *y) {
  size_t longest = 0;
  for (size_t i = 0; i < y->tick_count; i++) {
    const size_t length = strlen(y->ticks[i].text);
    longest = length > longest ? length : longest;
  }
  return (unsigned)longest + 3; /* a blank before, a blank after, the axis */
}

static void plot_put_head(const struct pen *pen, const struct plot *plot) {
  if (plot->title[0] != '\0') {
    strbuf_append(pen->text, pen->style->colour ? "\033[1m" : "");
    text_put(pen->text, plot->title);
    strbuf_append(pen->text, pen->style->colour ? "\033[0m\n" : "\n");
  }
  if (plot->y_name[0] != '\0') {
    const size_t length = strlen(plot->y_name);
    plot_put_spaces(pen->text, pen->margin > length + 2 ? pen->margin - length - 2 : 0);
    text_put(pen->text, plot->y_name);
    strbuf_append_char(pen->text, '\n');
  }
}

void plot_draw(const struct plot *plot, const struct plot_style *style, struct strbuf *text) {
  struct plot_point low = {0, 0};
  struct plot_point high = {0, 0};
  struct pen pen = {.text = text, .style = style, .margin = 2};
  if (!plot_extent(plot, &low, &high)) {
    plot_put_head(&pen, plot);
    strbuf_append(text, "nothing to draw\n");
    return;
  }
  struct area area;
  const unsigned width = style->width > PLOT_WIDTH_MIN ? style->width : PLOT_WIDTH_MIN;
  area.canvas.height = style->height > 0 ? style->height : PLOT_HEIGHT_DEFAULT;
  axis_init(&area.y, low.y, high.y, style->scale == PLOT_LOG, false, true,
            area.canvas.height / LINES_A_TICK);
  pen.margin = plot_margin_of(&area.y);
  area.canvas.width = width > pen.margin + 10 ? width - pen.margin : 10;
  axis_init(&area.x, low.x, high.x, style->scale != PLOT_LINEAR, plot->x_bytes, false,
            area.canvas.width / TICK_ROOM);
  area.canvas.cells =
      memory_new((size_t)area.canvas.width * area.canvas.height, sizeof *area.canvas.cells);
  for (size_t i = 0; i < plot->curve_count && i < PLOT_CURVES_MAX; i++) {
    plot_draw_curve(&area, &plot->curves[i], i);
  }
  for (size_t i = 0; i < plot->curve_count && i < PLOT_CURVES_MAX; i++) {
    plot_uncover_curve(&area, &plot->curves[i], i);
  }
  for (size_t i = 0; i < plot->level_count; i++) {
    plot_draw_level(&area, plot->levels[i].y);
  }
  plot_put_head(&pen, plot);
  plot_put_area(&pen, &area);
  plot_put_x_axis(&pen, &area, plot->x_name);
  plot_put_legend(&pen, plot, &area.canvas);
  free(area.canvas.cells);
}
