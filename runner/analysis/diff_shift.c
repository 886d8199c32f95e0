#include "runner/analysis/diff_internal.h"

#include "engine/base/arena.h"
#include "runner/statistics/t_test.h"

#include <math.h>

#define SHIFT_NORMAL 1.96 /* of 95 % */

static void shift_widen(const struct diff_case *cases, size_t count, struct shift *shift) {
  double variance = 0;
  double df = INFINITY;
  size_t known = 0;
  size_t both = 0;
  for (size_t i = 0; i < count; i++) {
    both += diff_has_both_sides(&cases[i]);
    if (diff_has_both_sides(&cases[i]) && cases[i].run_df > 0) {
      variance += cases[i].run_variance;
      df = fmin(df, cases[i].run_df);
      known++;
    }
  }
  if (known > 0 && known == both) {
    const struct effect effect = {log1p(shift->change), sqrt(2 * variance / (double)known), df};
    const struct interval interval = effect_interval(&effect, 0.95);
    shift->change_low = expm1(interval.low);
    shift->change_high = expm1(interval.high);
  }
}

/* Of a median of cases that are each somewhere else between two steps of a clock. */
static void shift_add_rounding(const struct diff_case *cases, size_t count, struct shift *shift) {
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    squares += cases[i].rounding * cases[i].rounding; /* 0 without both sides */
  }
  if (!(squares > 0 && shift->change_low < shift->change_high)) {
    return;
  }
  const double half = SHIFT_NORMAL * sqrt(M_PI / 2 * squares) / (double)shift->pairs;
  const double middle = log1p(shift->change);
  shift->change_low = expm1(middle - hypot(middle - log1p(shift->change_low), half));
  shift->change_high = expm1(middle + hypot(log1p(shift->change_high) - middle, half));
}

struct shift diff_shift(const struct diff_case *cases, size_t count) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct shift_pair *pairs = arena_array(&arena, count, sizeof *pairs);
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (diff_has_both_sides(&cases[i])) {
      pairs[used++] = (struct shift_pair){cases[i].a, cases[i].b};
    }
  }
  struct shift shift = shift_estimate(pairs, used);
  shift_widen(cases, count, &shift);
  shift_add_rounding(cases, count, &shift);
  return shift;
}
