/* plot_axis.h - an axis of a plot: where values lie, and where its ticks are. No errors. */
#ifndef HAUL_RUNNER_RENDER_PLOT_AXIS_H
#define HAUL_RUNNER_RENDER_PLOT_AXIS_H

#include "engine/base/units.h"

#include <stdbool.h>
#include <stddef.h>

enum { AXIS_TICKS_MAX = 64 };

struct axis_tick {
  double at; /* 0..1 */
  char text[UNITS_TEXT_MAX];
};

struct axis {
  bool logarithmic;
  bool bytes; /* ticks at powers of two, written as sizes */
  double low, high;
  struct axis_tick ticks[AXIS_TICKS_MAX]; /* ascending */
  size_t tick_count;
};

/* An axis for values from lowest to highest, both finite; logarithmic only where both are positive.
 * rounded: it begins and ends at round numbers, and a linear one includes 0. wanted: ticks that
 * have room; there may be fewer. */
void axis_init(struct axis *axis, double lowest, double highest, bool logarithmic, bool bytes,
               bool rounded, size_t wanted);
/* 0..1, beyond it for values beyond the axis. */
double axis_place(const struct axis *axis, double value);

#endif
