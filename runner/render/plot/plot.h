/* plot.h - curves: as characters for a terminal, as SVG for a page, and the axes of both. No
 * errors: a value that is not finite is left out. */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"

#include <stdbool.h>
#include <stddef.h>

/* Both axes logarithmic, x alone, or none. An axis with a value that is not positive is linear. */
#define PLOT_SCALE_LIST(X)                                                                         \
  X(PLOT_LOG, "log")                                                                               \
  X(PLOT_SEMILOG, "semilog")                                                                       \
  X(PLOT_LINEAR, "linear")
ENUM_NAMES_DECLARE(plot_scale, PLOT_SCALE_LIST)

/* Curves that are drawn: a letter each. More are only counted. */
enum { PLOT_CURVES_MAX = 52, PLOT_WIDTH_MIN = 40, PLOT_HEIGHT_DEFAULT = 20 };

struct plot_point {
  double x, y;
};

/* What an error bar spans; none where low is not below high. */
struct plot_range {
  double low, high;
};

struct plot_curve {
  const char *name;                /* control characters are escaped; may be empty */
  const struct plot_point *points; /* ascending in x */
  size_t count;
  const struct plot_range *ranges; /* of each point; NULL = none */
};

/* A line across the plot, such as a theoretical peak. */
struct plot_level {
  const char *name;
  double y;
};

/* A line down the plot, and what it says: "driver 590.44.01". */
struct plot_mark {
  const char *name;
  double x;
};

struct plot {
  const char *title;  /* may be empty */
  const char *x_name; /* "size" */
  const char *y_name; /* "GB/s"; may be empty */
  bool x_bytes;       /* x is in bytes: its ticks are sizes */
  const struct plot_curve *curves;
  size_t curve_count;
  const struct plot_level *levels;
  size_t level_count;
  const char *const *titles;     /* of each point of every curve, in place of name and x */
  const struct plot_mark *marks; /* in SVG alone; ascending */
  size_t mark_count;
  const char *ends[2]; /* what the ends of x are called, in place of its numbers; NULL = those */
  bool y_fits;         /* y spans the values, at least 1 % of them, not round numbers */
};

struct plot_style {
  enum plot_scale scale;
  bool scale_given; /* else a query may want another */
  unsigned width;   /* columns; PLOT_WIDTH_MIN at least */
  unsigned height;  /* lines of the area of the curves; 0 = PLOT_HEIGHT_DEFAULT */
  bool colour;
  bool unicode; /* the terminal shows UTF-8 */
};

/* Whether a point can be drawn: both numbers are finite. */
bool plot_is_placeable(struct plot_point point);
/* The error bar of a point; false where it has none. */
bool plot_range_of(const struct plot_curve *curve, size_t point, struct plot_range *range);
/* Extremes of all placeable points, their error bars and the levels; false where there is no
 * point. */
bool plot_extent(const struct plot *plot, struct plot_point *low, struct plot_point *high);

/* ---- as characters (plot.c) ----
 *
 * Lines in Braille dots, a letter at every measured point, axes with units, and a legend of the
 * letters below. Curves are told apart by their letters; colour only helps. Where the terminal has
 * no UTF-8 the lines are drawn with '.', four or eight times as coarse. */

/* Append the plot, lines that end with '\n'. */
void plot_draw(const struct plot *plot, const struct plot_style *style, struct strbuf *text);

/* ---- as SVG (plot_svg.c) ----
 *
 * Curves are told apart by colour (classes c0 to c7 of the page's style), from the ninth on by
 * dashes as well, and each is named at its end. Every point has a title with its values, and the
 * element a title and a description for screen readers. Without any point it is a line of text. */

enum { PLOT_SVG_COLOURS = 8 };

/* The scale that shows most: x logarithmic where its values are nearer to equal factors than to
 * equal steps, y as well where it spans more than a factor of twenty. */
enum plot_scale plot_svg_scale(const struct plot *plot);

/* A picture of its own: one drawing below the other. plot_picture_begin() to an empty text, then
 * plots, then plot_picture_end(), which puts the size in. Colours do not depend on a page. */
struct plot_picture {
  struct strbuf *text;
  double height; /* so far */
  size_t count;  /* of plots */
};
void plot_picture_begin(struct plot_picture *picture, struct strbuf *text);
void plot_picture_add(struct plot_picture *picture, const struct plot *plot, enum plot_scale scale);
void plot_picture_end(struct plot_picture *picture);

/* Append the element. id: letters, digits and '-', once in a page. */
void plot_svg(const struct plot *plot, enum plot_scale scale, const char *id, struct strbuf *text);

/* ---- axes (plot_axis.c) ---- */

enum { AXIS_TICKS_MAX = 64 };

struct axis_tick {
  double at; /* 0..1 */
  char text[UNITS_TEXT_MAX];
};

struct plot_axis {
  bool logarithmic;
  bool bytes; /* ticks at powers of two, written as sizes */
  double low, high;
  struct axis_tick ticks[AXIS_TICKS_MAX]; /* ascending */
  size_t tick_count;
};

/* An axis for values from lowest to highest, both finite; logarithmic only where both are positive.
 * rounded: it begins and ends at round numbers, and a linear one includes 0. wanted: ticks that
 * have room; there may be fewer. */
void axis_init(struct plot_axis *axis, double lowest, double highest, bool logarithmic, bool bytes,
               bool rounded, size_t wanted);
/* 0..1, beyond it for values beyond the axis. */
double axis_place(const struct plot_axis *axis, double value);
