#include "runner/analysis/diff_odd.h"

#include "engine/base/arena.h"
#include "runner/statistics/odd_values.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side, while it is looked at. */
struct odd_side {
  struct process_sample *units;
  size_t *order; /* indices, those of the odd ones last */
  size_t odd;
};

static bool odd_has(const struct odd_side *side, size_t index) {
  bool found = false;
  for (size_t k = side->units->count - side->odd; k < side->units->count; k++) {
    found = found || side->order[k] == index;
  }
  return found;
}

/* Whether some units are odd, not too many, and each of them also among all. */
static bool odd_find(struct odd_side sides[2], struct arena *arena) {
  const size_t a_count = sides[0].units->count;
  const size_t count = a_count + sides[1].units->count;
  double *values = arena_array(arena, count, sizeof *values);
  size_t *order = arena_array(arena, count, sizeof *order);
  size_t used = 0;
  for (size_t s = 0; s < 2; s++) {
    const struct process_sample *units = sides[s].units;
    sides[s].order = arena_array(arena, units->count, sizeof *order);
    sides[s].odd = odd_values_find(units->values, units->count, sides[s].order);
    for (size_t i = 0; i < units->count; i++) {
      values[used++] = units->values[i];
    }
  }
  const size_t found = sides[0].odd + sides[1].odd;
  if (found == 0 || found > count / DIFF_ODD_SHARE) {
    return false;
  }
  const size_t among_all = odd_values_find(values, count, order);
  size_t agreed = 0;
  for (size_t i = count - among_all; i < count; i++) {
    const bool is_b = order[i] >= a_count;
    agreed += odd_has(&sides[is_b], order[i] - (is_b ? a_count : 0));
  }
  return agreed == found;
}

/* Those that are not odd; returns by how much the mean of all is larger than theirs. */
static double odd_leave_out(const struct odd_side *side, double *values, uint32_t *numbers) {
  struct process_sample *units = side->units;
  const double whole = sample_summary(units->values, units->count).mean;
  const size_t count = units->count - side->odd;
  for (size_t i = 0; i < count; i++) {
    values[i] = units->values[side->order[i]];
    numbers[i] = process_sample_process(units, side->order[i]);
  }
  units->values = values;
  units->processes = numbers;
  units->count = count;
  return whole - sample_summary(values, count).mean;
}

bool diff_odd_drop(struct process_sample *a, struct process_sample *b, double *values,
                   uint32_t *numbers, struct diff_odd *odd, double *unlike) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct odd_side sides[2] = {{.units = a}, {.units = b}};
  if (a->count + b->count < DIFF_ODD_SHARE || !odd_find(sides, &arena)) {
    return false;
  }
  odd->shifts[0] = odd_leave_out(&sides[0], values, numbers);
  odd->shifts[1] = odd_leave_out(&sides[1], values + a->count, numbers + a->count);
  odd->counts[0] = sides[0].odd;
  odd->counts[1] = sides[1].odd;
  const bool one_sided = sides[0].odd > sides[1].odd + 1 || sides[1].odd > sides[0].odd + 1;
  *unlike = one_sided ? odd->shifts[0] - odd->shifts[1] : 0;
  return true;
}

double diff_odd_cut(double *differences, size_t count, double spread_min) {
  double *scratch = sample_values_new(count);
  memcpy(scratch, differences, count * sizeof *scratch);
  const double middle = sample_median_in_place(scratch, count);
  for (size_t i = 0; i < count; i++) {
    scratch[i] = differences[i] - middle;
  }
  const double most = DIFF_NODE_SPREADS * fmax(robust_spread(scratch, count), spread_min);
  size_t cut = 0;
  double whole = 0;
  for (size_t i = 0; i < count; i++) {
    const double away = differences[i] - middle;
    const double step = fmin(fmax(away, -most), most);
    cut += step != away;
    whole += (away - step) / (double)count;
    differences[i] = middle + step;
  }
  free(scratch);
  return cut > 1 ? whole : 0;
}
