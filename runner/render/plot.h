/* plot.h - curves drawn with characters, for a terminal: lines in Braille dots, a letter at every
 * measured point, axes with units, and what each letter stands for below.
 *
 * Curves are told apart by their letters; colour only helps. Where the terminal has no UTF-8 the
 * lines are drawn with '.', four or eight times as coarse. No errors: what cannot be placed (a
 * value that is not finite) is left out. */
#ifndef HAUL_RUNNER_RENDER_PLOT_H
#define HAUL_RUNNER_RENDER_PLOT_H

#include "engine/base/enum_names.h"
#include "engine/base/strbuf.h"

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

struct plot_curve {
  const char *name;                /* control characters are escaped; may be empty */
  const struct plot_point *points; /* ascending in x */
  size_t count;
};

struct plot {
  const char *title;  /* may be empty */
  const char *x_name; /* "size" */
  const char *y_name; /* "GB/s"; may be empty */
  bool x_bytes;       /* x is in bytes: its ticks are sizes */
  const struct plot_curve *curves;
  size_t curve_count;
};

struct plot_style {
  enum plot_scale scale;
  unsigned width;  /* columns; PLOT_WIDTH_MIN at least */
  unsigned height; /* lines of the area in which curves are; 0 = PLOT_HEIGHT_DEFAULT */
  bool colour;
  bool unicode; /* the terminal shows UTF-8 */
};

/* Whether a point can be drawn: both numbers are finite. */
bool plot_is_placeable(struct plot_point point);
/* Extremes of what is drawn; false where there is nothing. */
bool plot_extent(const struct plot *plot, struct plot_point *low, struct plot_point *high);

/* Append the plot, lines that end with '\n'. */
void plot_draw(const struct plot *plot, const struct plot_style *style, struct strbuf *text);

#endif
