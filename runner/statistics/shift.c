#include "runner/statistics/shift.h"

#include "engine/base/arena.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Between a process's value and the middle of its pair. */
struct distance {
  uint32_t process;
  double value;
};

static int shift_compare_distances(const void *a, const void *b) {
  const struct distance *x = a;
  const struct distance *y = b;
  return (x->process > y->process) - (x->process < y->process);
}

static const struct process_sample *shift_side(const struct shift_pair *pair, bool b) {
  return b ? &pair->b : &pair->a;
}

/* All distances of one side, process by process. */
static struct distance *shift_distances(const struct shift_pair *pairs, size_t count,
                                        const double *middles, bool b, struct arena *arena,
                                        size_t *distance_count) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    used += shift_side(&pairs[i], b)->count;
  }
  struct distance *distances = arena_array(arena, used, sizeof *distances);
  *distance_count = used;
  used = 0;
  for (size_t i = 0; i < count; i++) {
    const struct process_sample *side = shift_side(&pairs[i], b);
    for (size_t v = 0; v < side->count; v++) {
      distances[used++] =
          (struct distance){process_sample_process(side, v), side->values[v] - middles[i]};
    }
  }
  qsort(distances, used, sizeof *distances, shift_compare_distances);
  return distances;
}

static size_t shift_process_end(const struct distance *distances, size_t first, size_t count) {
  size_t last = first + 1;
  while (last < count && distances[last].process == distances[first].process) {
    last++;
  }
  return last;
}

/* Mean and variance of one side's processes, each by its median distance. */
static struct sample shift_side_sample(const struct shift_pair *pairs, size_t count,
                                       const double *middles, bool b) {
  struct arena arena = {0};
  size_t distance_count = 0;
  const struct distance *distances =
      shift_distances(pairs, count, middles, b, &arena, &distance_count);
  double *levels = arena_array(&arena, distance_count, sizeof *levels);
  double *scratch = arena_array(&arena, distance_count, sizeof *scratch);
  size_t most = 0;
  size_t used = 0;
  for (size_t first = 0, last = 0; first < distance_count; first = last) {
    last = shift_process_end(distances, first, distance_count);
    most = last - first > most ? last - first : most;
  }
  for (size_t first = 0, last = 0; first < distance_count; first = last) {
    last = shift_process_end(distances, first, distance_count);
    for (size_t i = first; i < last; i++) {
      scratch[i - first] = distances[i].value;
    }
    if (2 * (last - first) >= most) {
      levels[used++] = sample_median_in_place(scratch, last - first);
    }
  }
  const struct sample sample = sample_summary(levels, used);
  arena_fini(&arena);
  return sample;
}

struct shift shift_estimate(const struct shift_pair *pairs, size_t count) {
  if (count == 0) {
    return (struct shift){0, NAN, NAN, NAN};
  }
  double *changes = sample_values_new(count);
  double *middles = sample_values_new(count);
  for (size_t i = 0; i < count; i++) {
    const double a = sample_summary(pairs[i].a.values, pairs[i].a.count).mean;
    const double b = sample_summary(pairs[i].b.values, pairs[i].b.count).mean;
    changes[i] = a - b;
    middles[i] = (a + b) / 2;
  }
  struct shift shift = {count, expm1(sample_median_in_place(changes, count)), NAN, NAN};
  const struct sample a = shift_side_sample(pairs, count, middles, false);
  const struct sample b = shift_side_sample(pairs, count, middles, true);
  if (a.count > 1 && b.count > 1) {
    const struct effect effect = effect_welch(&a, &b);
    const struct interval interval = effect_interval(&effect, 0.95);
    shift.change = expm1(effect.difference);
    shift.change_low = expm1(interval.low);
    shift.change_high = expm1(interval.high);
  }
  free(middles);
  free(changes);
  return shift;
}
