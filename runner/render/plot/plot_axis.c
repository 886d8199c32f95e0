#include "runner/render/plot/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

/* Rounding of steps that are added up or taken logarithms of must not lose the last tick. */
static const double SLACK = 1e-9;

double axis_place(const struct plot_axis *axis, double value) {
  return axis->logarithmic ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
                           : (value - axis->low) / (axis->high - axis->low);
}

static void axis_add_tick(struct plot_axis *axis, double value) {
  const double at = axis_place(axis, value);
  if (axis->tick_count == AXIS_TICKS_MAX || at < -SLACK || at > 1 + SLACK) {
    return;
  }
  struct axis_tick *tick = &axis->ticks[axis->tick_count++];
  tick->at = at;
  if (axis->bytes && value >= 1 && value < 0x1p62) {
    units_format_size((uint64_t)(value + 0.5), tick->text);
  } else {
    (void)snprintf(tick->text, sizeof tick->text, "%.8g", value);
  }
}

/* The largest of 1, 2 and 5 times a power of ten that is not above the value. */
static double axis_round_down(double value) {
  const double power = pow(10, floor(log10(value) + SLACK));
  const double digit = value / power * (1 + SLACK);
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

static double axis_round_up(double value) {
  const double below = axis_round_down(value);
  if (below >= value * (1 - SLACK)) {
    return below;
  }
  const double power = pow(10, floor(log10(below) + SLACK));
  return below / power > 3 ? 10 * power : below / power > 1.5 ? 5 * power : 2 * power;
}

/* Powers of two with as many doublings between them as leave room; the last is at the end, with
 * more of them before it if need be. */
static void axis_double_up(struct plot_axis *axis, size_t wanted) {
  const double first = ceil(log2(axis->low) - SLACK);
  const double last = floor(log2(axis->high) + SLACK);
  const double step = fmax(1, ceil((last - log2(axis->low)) / (double)wanted - SLACK));
  for (int i = 0; i < AXIS_TICKS_MAX && first + i * step <= last; i++) {
    const bool is_last = i > 0 && first + (i + 1) * step > last;
    axis_add_tick(axis, exp2(is_last ? last : first + i * step));
  }
}

/* Powers of ten, with 2 and 5 between them where there is room. */
static void axis_decades_up(struct plot_axis *axis, size_t wanted) {
  static const double DIGITS[] = {1, 2, 5};
  const double first = floor(log10(axis->low) + SLACK);
  const double last = log10(axis->high) + SLACK;
  const double decades = last - log10(axis->low);
  const double step = fmax(1, ceil(decades / (double)wanted - SLACK));
  const size_t digits = 3 * decades <= (double)wanted ? 3 : 1;
  for (int i = 0; i < AXIS_TICKS_MAX && first + i * step <= last; i++) {
    for (size_t digit = 0; digit < digits; digit++) {
      axis_add_tick(axis, DIGITS[digit] * pow(10, first + i * step));
    }
  }
}

static double axis_linear_step(const struct plot_axis *axis, size_t wanted) {
  const double least = (axis->high - axis->low) / (double)wanted;
  return axis->bytes ? exp2(ceil(log2(least) - SLACK)) : axis_round_up(least);
}

static void axis_steps_up(struct plot_axis *axis, double step) {
  const double first = ceil(axis->low / step - SLACK);
  for (int i = 0; i < AXIS_TICKS_MAX && (first + i) * step <= axis->high + step * SLACK; i++) {
    axis_add_tick(axis, (first + i) * step + 0.0); /* never -0 */
  }
}

void axis_init(struct plot_axis *axis, double lowest, double highest, bool logarithmic, bool bytes,
               bool rounded, size_t wanted) {
  *axis = (struct plot_axis){
      .logarithmic = logarithmic && lowest > 0, .bytes = bytes, .low = lowest, .high = highest};
  wanted = wanted < 2 ? 2 : wanted;
  if (axis->logarithmic) {
    axis->low = rounded ? axis_round_down(lowest) : lowest;
    axis->high = rounded ? axis_round_up(highest) : highest;
    if (axis->high <= axis->low * (1 + SLACK)) {
      axis->low /= 2;
      axis->high *= 2;
    }
    if (bytes) {
      axis_double_up(axis, wanted);
    } else {
      axis_decades_up(axis, wanted);
    }
    return;
  }
  if (rounded) {
    axis->low = fmin(lowest, 0);
    axis->high = fmax(highest, 0);
  }
  if (axis->high <= axis->low) {
    const double room = fmax(1, fabs(axis->high) / 2);
    axis->low -= room;
    axis->high += room;
  }
  const double step = axis_linear_step(axis, wanted);
  if (rounded) {
    axis->low = floor(axis->low / step + SLACK) * step;
    axis->high = ceil(axis->high / step - SLACK) * step;
  }
  axis_steps_up(axis, step);
}
