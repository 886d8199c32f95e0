#include "runner/analyse/shift.h"

#include "runner/analyse/effect.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *new_array(size_t count, size_t size_bytes) {
  void *array = reallocarray(NULL, count > 0 ? count : 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

static bool is_comparable(const struct diff_case *c) {
  return c->incomparable == NULL && c->a.count > 0 && c->b.count > 0;
}

static const struct diff_side *side_of(const struct diff_case *c, bool b) {
  return b ? &c->b : &c->a;
}

/* What the processes of one side differ by from the middles of their cases, process by process. */
struct distances {
  size_t process_count;
  size_t *starts; /* process_count + 1: of its distances */
  double *values;
};

static void count_distances(const struct diff_case *cases, size_t count, bool b,
                            struct distances *distances) {
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct diff_side *side = side_of(&cases[i], b);
    for (size_t v = 0; v < side->count; v++) {
      const size_t process = diff_process(side, v) + (size_t)1;
      most = process > most ? process : most;
    }
  }
  distances->process_count = most;
  distances->starts = new_array(most + 2, sizeof *distances->starts);
  memset(distances->starts, 0, (most + 2) * sizeof *distances->starts);
  for (size_t i = 0; i < count; i++) {
    const struct diff_side *side = side_of(&cases[i], b);
    for (size_t v = 0; v < side->count && is_comparable(&cases[i]); v++) {
      distances->starts[diff_process(side, v) + 2]++;
    }
  }
  for (size_t p = 2; p < most + 2; p++) {
    distances->starts[p] += distances->starts[p - 1];
  }
  distances->values = new_array(distances->starts[most + 1], sizeof(double));
}

/* starts[p + 1] is where process p goes on, until all are placed: then it is where it ends. */
static void find_distances(const struct diff_case *cases, size_t count, const double *middles,
                           bool b, struct distances *distances) {
  count_distances(cases, count, b, distances);
  for (size_t i = 0; i < count; i++) {
    const struct diff_side *side = side_of(&cases[i], b);
    for (size_t v = 0; v < side->count && is_comparable(&cases[i]); v++) {
      size_t *at = &distances->starts[diff_process(side, v) + 1];
      distances->values[(*at)++] = side->values[v] - middles[i];
    }
  }
}

static struct sample side_levels(const struct diff_case *cases, size_t count, const double *middles,
                                 bool b) {
  struct distances distances;
  find_distances(cases, count, middles, b, &distances);
  double *levels = new_array(distances.process_count, sizeof *levels);
  size_t most = 0;
  size_t used = 0;
  for (size_t p = 0; p < distances.process_count; p++) {
    const size_t own = distances.starts[p + 1] - distances.starts[p];
    most = own > most ? own : most;
  }
  for (size_t p = 0; p < distances.process_count; p++) {
    const size_t own = distances.starts[p + 1] - distances.starts[p];
    if (own > 0 && 2 * own >= most) {
      levels[used++] = samples_median_in_place(distances.values + distances.starts[p], own);
    }
  }
  const struct sample sample = samples_summary(levels, used);
  free(levels);
  free(distances.values);
  free(distances.starts);
  return sample;
}

void shift_estimate(const struct diff_case *cases, size_t count, struct diff_shift *shift) {
  *shift = (struct diff_shift){0, NAN, NAN, NAN};
  double *changes = new_array(count, sizeof *changes);
  double *middles = new_array(count, sizeof *middles);
  for (size_t i = 0; i < count; i++) {
    if (is_comparable(&cases[i])) {
      const double a = samples_summary(cases[i].a.values, cases[i].a.count).mean;
      const double b = samples_summary(cases[i].b.values, cases[i].b.count).mean;
      changes[shift->cases++] = a - b;
      middles[i] = (a + b) / 2;
    }
  }
  if (shift->cases > 0) {
    shift->change = expm1(samples_median_in_place(changes, shift->cases));
    const struct sample a = side_levels(cases, count, middles, false);
    const struct sample b = side_levels(cases, count, middles, true);
    if (a.count > 1 && b.count > 1) {
      const struct effect effect = effect_welch(&a, &b);
      const struct interval interval = effect_interval(&effect, 0.95);
      shift->change = expm1(effect.difference);
      shift->change_low = expm1(interval.low);
      shift->change_high = expm1(interval.high);
    }
  }
  free(middles);
  free(changes);
}
