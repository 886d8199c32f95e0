#include "runner/statistics/shift.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <stdbool.h>

/* The level of a process: the median distance between its values and the middles of their pairs. */
struct level {
  uint32_t run, process;
  double value;
};

ORDER_DEFINE(shift_compare_levels, struct level,
             ORDER(x->run, y->run) ?: ORDER(x->process, y->process))

static const struct process_sample *shift_side(const struct shift_pair *pair, bool b) {
  return b ? &pair->b : &pair->a;
}

/* The distances of one side, process by process. */
struct distances {
  double *values;
  size_t *starts; /* of each process, by number; one more: the end */
  uint32_t *runs; /* of each process */
  size_t process_count;
};

/* Counts, then places: processes have small numbers, and there may be a million values. */
static struct distances shift_distances(const struct shift_pair *pairs, size_t count,
                                        const double *middles, bool b, struct arena *arena) {
  struct distances d = {0};
  for (size_t i = 0; i < count; i++) {
    const struct process_sample *side = shift_side(&pairs[i], b);
    for (size_t v = 0; v < side->count; v++) {
      const size_t process = process_sample_process(side, v);
      d.process_count = process >= d.process_count ? process + 1 : d.process_count;
    }
  }
  d.starts = arena_array(arena, d.process_count + 2, sizeof *d.starts);
  d.runs = arena_array(arena, d.process_count, sizeof *d.runs);
  size_t *next = d.starts + 1; /* ends where the next one starts, once all are placed */
  for (size_t i = 0; i < count; i++) {
    const struct process_sample *side = shift_side(&pairs[i], b);
    for (size_t v = 0; v < side->count; v++) {
      next[process_sample_process(side, v) + 1]++;
      d.runs[process_sample_process(side, v)] = process_sample_run(side, v);
    }
  }
  for (size_t p = 0; p < d.process_count; p++) {
    next[p + 1] += next[p];
  }
  d.values = arena_array(arena, next[d.process_count], sizeof *d.values);
  for (size_t i = 0; i < count; i++) {
    const struct process_sample *side = shift_side(&pairs[i], b);
    for (size_t v = 0; v < side->count; v++) {
      d.values[next[process_sample_process(side, v)]++] = side->values[v] - middles[i];
    }
  }
  return d;
}

/* The processes of one side, each by its median distance, those of one run adjacent. */
static struct process_sample shift_side_levels(const struct shift_pair *pairs, size_t count,
                                               const double *middles, bool b, struct arena *arena) {
  const struct distances d = shift_distances(pairs, count, middles, b, arena);
  struct level *levels = arena_array(arena, d.process_count, sizeof *levels);
  size_t most = 0;
  size_t used = 0;
  for (size_t p = 0; p < d.process_count; p++) {
    const size_t own = d.starts[p + 1] - d.starts[p];
    most = own > most ? own : most;
  }
  for (size_t p = 0; p < d.process_count; p++) {
    const size_t own = d.starts[p + 1] - d.starts[p];
    if (own > 0 && 2 * own >= most) {
      levels[used++] = (struct level){d.runs[p], (uint32_t)p,
                                      sample_median_in_place(d.values + d.starts[p], own)};
    }
  }
  ORDER_SORT(levels, used, shift_compare_levels);
  double *values = arena_array(arena, used, sizeof *values);
  uint32_t *runs = arena_array(arena, used, sizeof *runs);
  for (size_t i = 0; i < used; i++) {
    values[i] = levels[i].value;
    runs[i] = levels[i].run;
  }
  return (struct process_sample){.values = values, .count = used, .runs = runs};
}

/* Mean and variance of their runs. */
static struct sample shift_summary(const struct process_sample *levels, struct arena *arena) {
  double *values = arena_array(arena, levels->count, sizeof *values);
  uint32_t *numbers = arena_array(arena, levels->count, sizeof *numbers);
  const struct process_sample runs = process_sample_by_run(levels, values, numbers);
  return sample_summary(runs.values, runs.count);
}

/* The difference of two sides; df 0 = without an interval. */
static struct effect shift_effect(const struct shift_pair *pairs, size_t count,
                                  const double *middles) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct process_sample levels[2] = {shift_side_levels(pairs, count, middles, false, &arena),
                                           shift_side_levels(pairs, count, middles, true, &arena)};
  const struct sample a = shift_summary(&levels[0], &arena);
  const struct sample b = shift_summary(&levels[1], &arena);
  struct effect effect = {0};
  if (a.count > 1 && b.count > 1) {
    effect = effect_welch(&a, &b);
  } else if (a.count > 0 && b.count > 0 && a.count + b.count > 2) {
    const double df = (double)(a.count + b.count) - 2;
    effect = effect_moderated(&a, &b, &(struct variance_prior){.pooled_df = df});
  }
  return effect;
}

struct shift shift_estimate(const struct shift_pair *pairs, size_t count) {
  if (count == 0) {
    return (struct shift){0, NAN, NAN, NAN};
  }
  SCOPED(memory_free) double *changes = sample_values_new(count);
  SCOPED(memory_free) double *middles = sample_values_new(count);
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
  return shift;
}
