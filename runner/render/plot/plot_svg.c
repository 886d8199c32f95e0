#include "engine/base/strings.h"
#include "runner/render/plot/plot.h"

#include "engine/base/arena.h"
#include "engine/base/embed.h"
#include "engine/base/order.h"
#include "runner/render/result/matrix.h"
#include "runner/table/html.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In units of the drawing: pixels at its full width. */
enum {
  WIDTH = 800,
  LEFT = 62,
  TOP = 26,
  BOTTOM = 46,
  HEIGHT_LEAST = 250, /* of the area of the curves */
  LABEL_HEIGHT = 15,
  LABEL_GAP = 22,   /* from the area to the labels */
  LABEL_CHARS = 41, /* longer names are cut; the whole is in the legend's title */
  X_TICK_ROOM = 62,
  Y_TICK_ROOM = 30,
  POINTS_MAX = 4000, /* with more, points are not marked */
  XS_MAX = 1 << 16,
  BAR_LEAST = 3,     /* a shorter error bar is within its point */
  TITLE_HEIGHT = 30, /* of a plot in a picture */
  TITLE_LINE = 19,   /* of the title's second line and further ones */
  TITLE_CHARS = 80,
  MARGIN = 12,     /* around a picture */
  MARK_CHARS = 20, /* of the last mark, for which there is room behind the area */
};
static const double CHAR_WIDTH = 7.2; /* of the labels' font, about */

/* ---- scale ---- */

ORDER_DEFINE(svg_compare_numbers, double, ORDER(*x, *y))

/* Every different x, ascending; the caller frees. */
static double *svg_different_xs(const struct plot *plot, size_t *count) {
  double *xs = memory_new(XS_MAX, sizeof *xs);
  size_t all = 0;
  for (size_t c = 0; c < plot->curve_count && c < PLOT_CURVES_MAX; c++) {
    for (size_t i = 0; i < plot->curves[c].count && all < XS_MAX; i++) {
      if (plot_is_placeable(plot->curves[c].points[i])) {
        xs[all++] = plot->curves[c].points[i].x;
      }
    }
  }
  ORDER_SORT(xs, all, svg_compare_numbers);
  *count = 0;
  for (size_t i = 0; i < all; i++) {
    if (*count == 0 || xs[i] > xs[*count - 1]) {
      xs[(*count)++] = xs[i];
    }
  }
  return xs;
}

/* How much the greatest of the gaps is wider than the least. */
static double svg_unevenness(const double *xs, size_t count, bool logarithmic) {
  double least = INFINITY;
  double greatest = 0;
  for (size_t i = 1; i < count; i++) {
    const double gap = logarithmic ? log(xs[i] / xs[i - 1]) : xs[i] - xs[i - 1];
    least = fmin(least, gap);
    greatest = fmax(greatest, gap);
  }
  return greatest / least;
}

static bool svg_is_geometric(const struct plot *plot) {
  size_t count = 0;
  SCOPED(memory_free) double *xs = svg_different_xs(plot, &count);
  bool geometric = count > 0 && xs[0] > 0;
  if (geometric && count > 2) {
    geometric = svg_unevenness(xs, count, true) < svg_unevenness(xs, count, false);
  } else if (geometric) {
    geometric = plot->x_bytes;
  }
  return geometric;
}

enum plot_scale plot_svg_scale(const struct plot *plot) {
  struct plot_point low = {0, 0};
  struct plot_point high = {0, 0};
  if (!plot_extent(plot, &low, &high) || !svg_is_geometric(plot)) {
    return PLOT_LINEAR;
  }
  return low.y > 0 && high.y > 20 * low.y ? PLOT_LOG : PLOT_SEMILOG;
}

/* ---- drawing ---- */

struct curve_label {
  const char *name;
  size_t curve;
  struct plot_point end; /* of its curve, in units of the drawing */
  double y;              /* where it is written */
};

struct drawing {
  struct strbuf *text;
  const struct plot *plot;
  const char *id;
  struct plot_axis x, y;
  double width, height; /* of the area */
  size_t curve_count;   /* that are drawn */
  struct curve_label *labels;
  size_t label_count;
  double offset; /* of the drawing in a picture; 0 in a page */
  bool pictured;
};

static struct plot_point svg_place(const struct drawing *drawing, struct plot_point point) {
  return (struct plot_point){LEFT + axis_place(&drawing->x, point.x) * drawing->width,
                             TOP + (1 - axis_place(&drawing->y, point.y)) * drawing->height};
}

static void svg_x_words(const struct plot *plot, double x, char text[UNITS_TEXT_MAX]) {
  if (plot->x_bytes && x >= 1 && x < 0x1p62 && x == floor(x)) {
    units_format_size((uint64_t)x, text);
  } else {
    (void)snprintf(text, UNITS_TEXT_MAX, "%.6g", x);
  }
}

/* ---- labels ---- */

ORDER_DEFINE(svg_compare_labels, struct curve_label,
             ORDER(x->end.y, y->end.y) ?: ORDER(x->curve, y->curve))

/* At the ends of their curves, but none over another. */
static void svg_spread_labels(struct drawing *drawing) {
  struct curve_label *labels = drawing->labels;
  const size_t count = drawing->label_count;
  double free_from = TOP;
  ORDER_SORT(labels, count, svg_compare_labels);
  for (size_t i = 0; i < count; i++) {
    labels[i].y = fmax(labels[i].end.y, free_from);
    free_from = labels[i].y + LABEL_HEIGHT;
  }
  double free_to = TOP + drawing->height;
  for (size_t i = count; i-- > 0;) {
    labels[i].y = fmin(labels[i].y, free_to);
    free_to = labels[i].y - LABEL_HEIGHT;
  }
}

static void svg_find_labels(struct drawing *drawing) {
  for (size_t c = 0; c < drawing->curve_count; c++) {
    const struct plot_curve *curve = &drawing->plot->curves[c];
    const struct plot_point *last = NULL;
    for (size_t i = 0; i < curve->count; i++) {
      last = plot_is_placeable(curve->points[i]) ? &curve->points[i] : last;
    }
    if (last != NULL && curve->name[0] != '\0') {
      drawing->labels[drawing->label_count++] =
          (struct curve_label){curve->name, c, svg_place(drawing, *last), 0};
    }
  }
  svg_spread_labels(drawing);
}

static void svg_put_labels(const struct drawing *drawing) {
  struct strbuf *text = drawing->text;
  const double x = LEFT + drawing->width + LABEL_GAP;
  for (size_t i = 0; i < drawing->label_count; i++) {
    const struct curve_label *label = &drawing->labels[i];
    html_put(text,
             "<path class=\"leader c%zu\" d=\"M%.1f %.1fL%.1f %.1f\"/>"
             "<text class=\"label c%zu\" x=\"%.1f\" y=\"%.1f\">",
             label->curve % PLOT_SVG_COLOURS, label->end.x + 3, label->end.y, x - 4, label->y,
             label->curve % PLOT_SVG_COLOURS, x, label->y + 4);
    html_put_cut(text, label->name, LABEL_CHARS);
    strbuf_append(text, "</text>\n");
  }
}

/* ---- axes ---- */

static void svg_put_axes(const struct drawing *drawing) {
  struct strbuf *text = drawing->text;
  const double bottom = TOP + drawing->height;
  double free_from = 0;
  strbuf_append(text, "<g class=\"axes\">");
  for (size_t i = 0; i < drawing->y.tick_count; i++) {
    const double y = bottom - drawing->y.ticks[i].at * drawing->height;
    strbuf_printf(text,
                  "<path class=\"grid\" d=\"M%d %.1fH%.1f\"/>"
                  "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>",
                  LEFT, y, LEFT + drawing->width, LEFT - 8, y + 4, drawing->y.ticks[i].text);
  }
  for (size_t i = 0; i < drawing->x.tick_count; i++) {
    const char *label = drawing->x.ticks[i].text;
    const double x = LEFT + drawing->x.ticks[i].at * drawing->width;
    const double half = CHAR_WIDTH * (double)strlen(label) / 2;
    strbuf_printf(text, "<path class=\"grid\" d=\"M%.1f %dV%.1f\"/>", x, TOP, bottom + 4);
    const bool is_last = drawing->plot->ends[0] != NULL && i > 0; /* would be cut at the edge */
    if (x - half >= free_from) {
      strbuf_printf(text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                    is_last ? "end" : "middle", x, bottom + 18, label);
      free_from = x + half + CHAR_WIDTH;
    }
  }
  html_put(text,
           "<path class=\"frame\" d=\"M%d %dV%.1fH%.1f\"/><text class=\"name\" x=\"%d\" "
           "y=\"%d\">%s</text><text class=\"name end\" x=\"%.1f\" y=\"%.1f\">%s</text></g>\n",
           LEFT, TOP, bottom, LEFT + drawing->width, LEFT, TOP - 10, drawing->plot->y_name,
           LEFT + drawing->width, bottom + 36, drawing->plot->x_name);
}

/* ---- curves ---- */

static void svg_put_line(const struct drawing *drawing, size_t index) {
  const struct plot_curve *curve = &drawing->plot->curves[index];
  char letter = 'M';
  strbuf_printf(drawing->text, "<path class=\"line c%zu d%zu\" d=\"", index % PLOT_SVG_COLOURS,
                index / PLOT_SVG_COLOURS % 4);
  for (size_t i = 0; i < curve->count; i++) {
    if (!plot_is_placeable(curve->points[i])) {
      continue;
    }
    const struct plot_point at = svg_place(drawing, curve->points[i]);
    strbuf_printf(drawing->text, "%c%.1f %.1f", letter, at.x, at.y);
    letter = 'L';
  }
  strbuf_append(drawing->text, "\"/>\n");
}

/* A bar has ends as wide as a point. */
static void svg_put_bars(const struct drawing *drawing, size_t index) {
  const struct plot_curve *curve = &drawing->plot->curves[index];
  strbuf_printf(drawing->text, "<path class=\"bar c%zu\" d=\"", index % PLOT_SVG_COLOURS);
  for (size_t i = 0; i < curve->count; i++) {
    struct plot_range range;
    if (!plot_is_placeable(curve->points[i]) || !plot_range_of(curve, i, &range)) {
      continue;
    }
    const double x = curve->points[i].x;
    const struct plot_point low = svg_place(drawing, (struct plot_point){x, range.low});
    const struct plot_point high = svg_place(drawing, (struct plot_point){x, range.high});
    if (low.y - high.y >= BAR_LEAST) {
      strbuf_printf(drawing->text, "M%.1f %.1fV%.1fm-3 0h6M%.1f %.1fh6", low.x, low.y, high.y,
                    low.x - 3, low.y);
    }
  }
  strbuf_append(drawing->text, "\"/>\n");
}

static bool svg_has_bars(const struct plot_curve *curve) {
  struct plot_range range;
  return ANY_OF(i, curve->count, plot_range_of(curve, i, &range));
}

static void svg_put_levels(const struct drawing *drawing) {
  for (size_t i = 0; i < drawing->plot->level_count; i++) {
    const struct plot_level *level = &drawing->plot->levels[i];
    const struct plot_point at = svg_place(drawing, (struct plot_point){drawing->x.low, level->y});
    html_put(drawing->text,
             "<path class=\"level\" d=\"M%d %.1fH%.1f\"/><text class=\"level\" x=\"%d\" "
             "y=\"%.1f\">%s</text>\n",
             LEFT, at.y, LEFT + drawing->width, LEFT + 6,
             at.y < TOP + LABEL_HEIGHT ? at.y + 12 : at.y - 4, level->name);
  }
}

/* Its name stands above what is behind it; where that is too short, it is the line's title alone.
 */
static void svg_put_marks(const struct drawing *drawing) {
  const double name = LEFT + CHAR_WIDTH * (double)(text_width(drawing->plot->y_name) + 1);
  const struct plot_mark *marks = drawing->plot->marks;
  const size_t count = drawing->plot->mark_count;
  for (size_t i = 0; i < count; i++) {
    const double x = LEFT + axis_place(&drawing->x, marks[i].x) * drawing->width;
    const double end =
        i + 1 < count ? LEFT + axis_place(&drawing->x, marks[i + 1].x) * drawing->width : WIDTH;
    html_put(drawing->text,
             "<path class=\"frame d1\" d=\"M%.1f %dV%.1f\"><title>%s</title></path>\n", x, TOP - 4,
             TOP + drawing->height, marks[i].name);
    if (x + 4 + CHAR_WIDTH * (double)text_width(marks[i].name) <= end) {
      html_put(drawing->text, "<text class=\"start\" x=\"%.1f\" y=\"%d\">%s</text>\n", x + 4,
               x + 4 < name ? 23 : 11, marks[i].name);
    }
  }
}

static void svg_put_points(const struct drawing *drawing, size_t index) {
  const struct plot_curve *curve = &drawing->plot->curves[index];
  strbuf_printf(drawing->text, "<g class=\"points c%zu\">", index % PLOT_SVG_COLOURS);
  for (size_t i = 0; i < curve->count; i++) {
    char x[UNITS_TEXT_MAX];
    char y[MATRIX_NUMBER_MAX];
    if (!plot_is_placeable(curve->points[i])) {
      continue;
    }
    const struct plot_point at = svg_place(drawing, curve->points[i]);
    svg_x_words(drawing->plot, curve->points[i].x, x);
    matrix_number(curve->points[i].y, y);
    char span[2 * MATRIX_NUMBER_MAX + 16] = "";
    struct plot_range range;
    if (plot_range_of(curve, i, &range)) {
      char ends[2][MATRIX_NUMBER_MAX];
      matrix_number(range.low, ends[0]);
      matrix_number(range.high, ends[1]);
      (void)snprintf(span, sizeof span, " (%s to %s)", ends[0], ends[1]);
    }
    const char *title = drawing->plot->titles != NULL ? drawing->plot->titles[i] : curve->name;
    const bool both = drawing->plot->titles == NULL && curve->name[0] != '\0';
    html_put(drawing->text,
             "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"><title>%s%s%s: %s %s%s</title></circle>",
             at.x, at.y, title, both ? ", " : "", drawing->plot->titles == NULL ? x : "", y,
             drawing->plot->y_name, span);
  }
  strbuf_append(drawing->text, "</g>\n");
}

/* ---- the whole ---- */

static void svg_put_description(const struct drawing *drawing, struct plot_point low,
                                struct plot_point high) {
  struct strbuf *text = drawing->text;
  const struct plot *plot = drawing->plot;
  char numbers[2][MATRIX_NUMBER_MAX];
  char xs[2][UNITS_TEXT_MAX];
  svg_x_words(plot, low.x, xs[0]);
  svg_x_words(plot, high.x, xs[1]);
  matrix_number(low.y, numbers[0]);
  matrix_number(high.y, numbers[1]);
  html_put(text,
           "<title id=\"%s-title\">%s: %s over %s</title>\n<desc id=\"%s-text\">%zu %s from %s "
           "to %s, values from %s to %s %s; axes are %s.</desc>\n",
           drawing->id, plot->title, plot->y_name, plot->x_name, drawing->id, drawing->curve_count,
           strings_plural(drawing->curve_count, "curve", "curves"), xs[0], xs[1], numbers[0],
           numbers[1], plot->y_name,
           drawing->x.logarithmic && drawing->y.logarithmic ? "logarithmic"
           : drawing->x.logarithmic                         ? "logarithmic and linear"
                                                            : "linear");
}

/* How much room names need at the right. */
static double svg_labels_width(const struct plot *plot, size_t curve_count) {
  size_t longest = 0;
  for (size_t i = 0; i < curve_count; i++) {
    const size_t length = text_width(plot->curves[i].name);
    longest = length > longest ? length : longest;
  }
  longest = longest > LABEL_CHARS ? LABEL_CHARS : longest;
  if (longest == 0 && plot->mark_count > 0) {
    const size_t mark = text_width(plot->marks[plot->mark_count - 1].name);
    return CHAR_WIDTH * (double)(mark < MARK_CHARS ? mark : MARK_CHARS);
  }
  return longest == 0 ? 16 : LABEL_GAP + 6 + CHAR_WIDTH * (double)longest;
}

static void svg_draw(struct drawing *drawing, struct plot_point low, struct plot_point high) {
  struct strbuf *text = drawing->text;
  const struct plot *plot = drawing->plot;
  size_t points = 0;
  const double height = TOP + drawing->height + BOTTOM;
  strbuf_append(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" ");
  if (drawing->pictured) {
    strbuf_printf(text, "x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" ", MARGIN,
                  drawing->offset, WIDTH, height);
  }
  strbuf_printf(text, "viewBox=\"0 0 %d %.0f\" aria-labelledby=\"%s-title %s-text\">\n", WIDTH,
                height, drawing->id, drawing->id);
  svg_put_description(drawing, low, high);
  svg_put_axes(drawing);
  svg_put_levels(drawing);
  svg_put_marks(drawing);
  for (size_t i = 0; i < drawing->curve_count; i++) {
    svg_put_line(drawing, i);
    points += plot->curves[i].count;
  }
  for (size_t i = 0; i < drawing->curve_count && points <= POINTS_MAX; i++) {
    if (svg_has_bars(&plot->curves[i])) {
      svg_put_bars(drawing, i);
    }
  }
  for (size_t i = 0; i < drawing->curve_count && points <= POINTS_MAX; i++) {
    svg_put_points(drawing, i);
  }
  svg_put_labels(drawing);
  strbuf_append(text, "</svg>\n");
}

/* Lays out and draws; false where there is nothing to draw. */
static bool svg_lay_out(struct drawing *drawing, enum plot_scale scale) {
  const struct plot *plot = drawing->plot;
  struct plot_point low = {0, 0};
  struct plot_point high = {0, 0};
  SCOPED(arena_fini) struct arena arena = {0};
  if (!plot_extent(plot, &low, &high)) {
    return false;
  }
  drawing->curve_count = plot->curve_count < PLOT_CURVES_MAX ? plot->curve_count : PLOT_CURVES_MAX;
  drawing->width = WIDTH - LEFT - svg_labels_width(plot, drawing->curve_count);
  drawing->height = fmax(HEIGHT_LEAST, (double)(LABEL_HEIGHT * drawing->curve_count));
  drawing->labels = arena_array(&arena, drawing->curve_count, sizeof *drawing->labels);
  if (plot->y_fits) {
    const double spare = fmax(0.08 * (high.y - low.y), (0.01 * high.y - (high.y - low.y)) / 2);
    low.y -= spare;
    high.y += spare;
  }
  axis_init(&drawing->y, low.y, high.y, scale == PLOT_LOG, false, !plot->y_fits,
            (size_t)drawing->height / Y_TICK_ROOM);
  axis_init(&drawing->x, low.x, high.x, scale != PLOT_LINEAR, plot->x_bytes, false,
            (size_t)drawing->width / X_TICK_ROOM);
  if (plot->ends[0] != NULL) {
    drawing->x.tick_count = 2;
    for (size_t i = 0; i < 2; i++) {
      drawing->x.ticks[i].at = (double)i;
      (void)snprintf(drawing->x.ticks[i].text, UNITS_TEXT_MAX, "%s", plot->ends[i]);
    }
  }
  svg_find_labels(drawing);
  svg_draw(drawing, low, high);
  return true;
}

void plot_svg(const struct plot *plot, enum plot_scale scale, const char *id, struct strbuf *text) {
  struct drawing drawing = {.text = text, .plot = plot, .id = id};
  if (!svg_lay_out(&drawing, scale)) {
    strbuf_append(text, "<p class=\"note\">nothing to draw</p>\n");
  } else if (plot->curve_count > drawing.curve_count) {
    strbuf_printf(text, "<p class=\"note\">%zu more curves are not drawn</p>\n",
                  plot->curve_count - drawing.curve_count);
  }
}

/* ---- a picture ---- */

extern const struct embedded_file picture_style[];

/* As long for every height. */
#define PICTURE_SIZE "width=\"%4d\" height=\"%7.0f\" viewBox=\"0 0 %4d %7.0f\""

static void svg_put_size(const struct plot_picture *picture, struct strbuf *text) {
  const double height = picture->height + MARGIN;
  strbuf_printf(text, PICTURE_SIZE, WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height);
}

void plot_picture_begin(struct plot_picture *picture, struct strbuf *text) {
  *picture = (struct plot_picture){.text = text, .height = MARGIN};
  strbuf_append(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
  svg_put_size(picture, text);
  strbuf_append(text, ">\n<style>\n");
  strbuf_append_n(text, (const char *)picture_style[0].data,
                  (size_t)(picture_style[0].end - picture_style[0].data));
  strbuf_append(text, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

/* In lines as long as the picture is wide; the height at which the plot begins. */
static double svg_put_title(const struct plot_picture *picture, const char *title) {
  double height = picture->height;
  SCOPED(strbuf_fini) struct strbuf lines = STRBUF(strlen(title) * 2 + 64);
  text_wrap(&lines, title, TITLE_CHARS, 0, false);
  for (char *rest = NULL, *line = strtok_r(lines.text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    height += height > picture->height ? TITLE_LINE : TITLE_HEIGHT;
    html_put(picture->text, "<text class=\"title\" x=\"%d\" y=\"%.0f\">%s</text>\n", MARGIN + LEFT,
             height - 10.0, line);
  }
  return height;
}

void plot_picture_add(struct plot_picture *picture, const struct plot *plot,
                      enum plot_scale scale) {
  char id[24];
  (void)snprintf(id, sizeof id, "chart%zu", ++picture->count);
  struct drawing drawing = {.text = picture->text, .plot = plot, .id = id, .pictured = true};
  drawing.offset = svg_put_title(picture, plot->title);
  if (svg_lay_out(&drawing, scale)) {
    picture->height = drawing.offset + TOP + drawing.height + BOTTOM;
  } else {
    html_put(picture->text, "<text x=\"%d\" y=\"%.0f\">nothing to draw</text>\n", MARGIN + LEFT,
             drawing.offset + TITLE_HEIGHT);
    picture->height = drawing.offset + 2 * TITLE_HEIGHT;
  }
}

void plot_picture_end(struct plot_picture *picture) {
  strbuf_append(picture->text, "</svg>\n");
  SCOPED(strbuf_fini) struct strbuf size = STRBUF(sizeof PICTURE_SIZE + 64);
  svg_put_size(picture, &size);
  char *place = strstr(picture->text->text, "width=");
  if (place != NULL) {
    memcpy(place, size.text, size.length);
  }
}
