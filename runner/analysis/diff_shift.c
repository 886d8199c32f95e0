#include "runner/analysis/diff_internal.h"

#include "engine/base/arena.h"
#include "runner/statistics/t_test.h"

#include <math.h>

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
  return shift;
}
