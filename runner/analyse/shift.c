#include "runner/analyse/shift.h"

#include "runner/analyse/effect.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>

static void *new_array(size_t count, size_t size_bytes) {
  void *array = reallocarray(NULL, count > 0 ? count : 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

/* A case that has every process, and the middle between its sides. */
struct whole_case {
  size_t index;
  double middle;
};

static bool is_comparable(const struct diff_case *c) {
  return c->incomparable == NULL && c->a.count > 0 && c->b.count > 0;
}

/* Median over the cases of a process's distance from the middle of its case. */
static double process_level(const struct diff_case *cases, const struct whole_case *whole,
                            size_t whole_count, bool side_b, size_t process, double *scratch) {
  for (size_t i = 0; i < whole_count; i++) {
    const struct diff_case *c = &cases[whole[i].index];
    scratch[i] = (side_b ? c->b : c->a).values[process] - whole[i].middle;
  }
  return samples_median_in_place(scratch, whole_count);
}

static struct sample side_levels(const struct diff_case *cases, const struct whole_case *whole,
                                 size_t whole_count, bool side_b, size_t processes,
                                 double *scratch) {
  double *levels = new_array(processes, sizeof *levels);
  for (size_t p = 0; p < processes; p++) {
    levels[p] = process_level(cases, whole, whole_count, side_b, p, scratch);
  }
  const struct sample sample = samples_summary(levels, processes);
  free(levels);
  return sample;
}

void shift_estimate(const struct diff_case *cases, size_t count, struct diff_shift *shift) {
  *shift = (struct diff_shift){0, NAN, NAN, NAN};
  double *scratch = new_array(count, sizeof *scratch);
  struct whole_case *whole = new_array(count, sizeof *whole);
  size_t most_a = 0;
  size_t most_b = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_comparable(&cases[i])) {
      scratch[shift->cases++] = samples_summary(cases[i].a.values, cases[i].a.count).mean -
                                samples_summary(cases[i].b.values, cases[i].b.count).mean;
      most_a = cases[i].a.count > most_a ? cases[i].a.count : most_a;
      most_b = cases[i].b.count > most_b ? cases[i].b.count : most_b;
    }
  }
  if (shift->cases > 0) {
    shift->change = expm1(samples_median_in_place(scratch, shift->cases));
  }
  size_t whole_count = 0;
  for (size_t i = 0; i < count; i++) {
    const struct diff_case *c = &cases[i];
    if (is_comparable(c) && c->a.count == most_a && c->b.count == most_b) {
      const double a = samples_summary(c->a.values, c->a.count).mean;
      const double b = samples_summary(c->b.values, c->b.count).mean;
      whole[whole_count++] = (struct whole_case){i, (a + b) / 2};
    }
  }
  if (2 * whole_count > shift->cases && most_a > 1 && most_b > 1) {
    const struct sample a = side_levels(cases, whole, whole_count, false, most_a, scratch);
    const struct sample b = side_levels(cases, whole, whole_count, true, most_b, scratch);
    const struct effect effect = effect_welch(&a, &b);
    const struct interval interval = effect_interval(&effect, 0.95);
    shift->change = expm1(effect.difference);
    shift->change_low = expm1(interval.low);
    shift->change_high = expm1(interval.high);
  }
  free(whole);
  free(scratch);
}
