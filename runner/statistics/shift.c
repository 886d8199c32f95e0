#include "runner/statistics/shift.h"

#include "engine/base/arena.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Between a process's value and the middle of its pair. */
struct distance {
  uint32_t process, run;
  double value;
};

static int shift_compare_distances(const void *a, const void *b) {
  const struct distance *x = a;
  const struct distance *y = b;
  if (x->run != y->run) {
    return x->run < y->run ? -1 : 1;
  }
  return (x->process > y->process) - (x->process < y->process);
}

static const struct process_sample *shift_side(const struct shift_pair *pair, bool b) {
  return b ? &pair->b : &pair->a;
}

/* All distances of one side, process by process, those of one run adjacent. */
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
          (struct distance){process_sample_process(side, v), process_sample_run(side, v),
                            side->values[v] - middles[i]};
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

/* The processes of one side, each by its median distance. */
static struct process_sample shift_side_levels(const struct shift_pair *pairs, size_t count,
                                               const double *middles, bool b, struct arena *arena) {
  size_t distance_count = 0;
  const struct distance *distances =
      shift_distances(pairs, count, middles, b, arena, &distance_count);
  double *levels = arena_array(arena, distance_count, sizeof *levels);
  double *scratch = arena_array(arena, distance_count, sizeof *scratch);
  uint32_t *runs = arena_array(arena, distance_count, sizeof *runs);
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
      runs[used] = distances[first].run;
      levels[used++] = sample_median_in_place(scratch, last - first);
    }
  }
  return (struct process_sample){.values = levels, .count = used, .runs = runs};
}

/* Their mean and variance, of runs where by_run says so. */
static struct sample shift_summary(const struct process_sample *levels, bool by_run,
                                   struct arena *arena) {
  if (!by_run) {
    return sample_summary(levels->values, levels->count);
  }
  double *values = arena_array(arena, levels->count, sizeof *values);
  uint32_t *numbers = arena_array(arena, levels->count, sizeof *numbers);
  const struct process_sample runs = process_sample_by_run(levels, values, numbers);
  return sample_summary(runs.values, runs.count);
}

/* The difference of two sides; df 0 = without an interval. */
static struct effect shift_effect(const struct shift_pair *pairs, size_t count,
                                  const double *middles) {
  struct arena arena = {0};
  const struct process_sample levels[2] = {shift_side_levels(pairs, count, middles, false, &arena),
                                           shift_side_levels(pairs, count, middles, true, &arena)};
  const bool by_run =
      process_sample_count_runs(&levels[0]) > 1 || process_sample_count_runs(&levels[1]) > 1;
  const struct sample a = shift_summary(&levels[0], by_run, &arena);
  const struct sample b = shift_summary(&levels[1], by_run, &arena);
  struct effect effect = {0};
  if (a.count > 1 && b.count > 1) {
    effect = effect_welch(&a, &b);
  } else if (by_run && a.count > 0 && b.count > 0) {
    const double df = (double)(a.count + b.count) - 2;
    effect = effect_moderated(&a, &b, &(struct variance_prior){.pooled_df = df});
  }
  arena_fini(&arena);
  return effect;
}

struct shift shift_estimate(const struct shift_pair *pairs, size_t count) {
  if (count == 0) {
    return (struct shift){0, NAN, NAN, NAN};
  }
  double *changes = sample_values_new(count);
  double *middles = sample_values_new(count);
  for (size_t i = 0; i < count; i++) {
    const double a = process_sample_mean(&pairs[i].a);
    const double b = process_sample_mean(&pairs[i].b);
    changes[i] = a - b;
    middles[i] = (a + b) / 2;
  }
  struct shift shift = {count, expm1(sample_median_in_place(changes, count)), NAN, NAN};
  const struct effect effect = shift_effect(pairs, count, middles);
  if (effect.df > 0) {
    const struct interval interval = effect_interval(&effect, 0.95);
    shift.change = expm1(effect.difference);
    shift.change_low = expm1(interval.low);
    shift.change_high = expm1(interval.high);
  }
  free(middles);
  free(changes);
  return shift;
}
