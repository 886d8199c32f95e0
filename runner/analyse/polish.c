#include "runner/analyse/polish.h"

#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS_MAX = 60 };
/* Steps below this change nothing that anybody would see. */
static const double SETTLED = 1e-9;

static double *new_numbers(size_t count) {
  double *numbers = calloc(count + 1, sizeof *numbers);
  if (numbers == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return numbers;
}

bool polish_is_safe(const struct polish_cell *cells, size_t count, size_t effect_count) {
  for (size_t e = 0; e < effect_count; e++) {
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
      own += cells[i].a == e || cells[i].b == e;
    }
    if (own < POLISH_CELLS_MIN) {
      return false;
    }
  }
  return effect_count > 0;
}

/* The middle of an effect's residuals. */
static double middle_of(const struct polish_cell *cells, size_t count, size_t e, double *scratch) {
  size_t own = 0;
  for (size_t i = 0; i < count; i++) {
    if (cells[i].a == e || cells[i].b == e) {
      scratch[own++] = cells[i].residual;
    }
  }
  return samples_median_in_place(scratch, own);
}

/* Moves the middles of all effects of a kind into them, and their own middle into the level.
 * `times`: how often a cell has the kind; effects that share cells go half the way, or the first
 * ones would take what belongs to the others. Returns the longest way. */
static double settle_kind(struct polish_cell *cells, size_t count, size_t first, size_t last,
                          double times, double *effects, double *level, double *scratch) {
  double most = 0;
  double *steps = new_numbers(last);
  for (size_t e = first; e < last; e++) {
    steps[e] = middle_of(cells, count, e, scratch) / times;
    effects[e] += steps[e];
    most = fmax(most, fabs(steps[e]));
  }
  for (size_t i = 0; i < count; i++) {
    const bool a = cells[i].a >= first && cells[i].a < last;
    const bool b = cells[i].b >= first && cells[i].b < last;
    cells[i].residual -= (a ? steps[cells[i].a] : 0) + (b ? steps[cells[i].b] : 0);
  }
  memcpy(scratch, effects + first, (last - first) * sizeof *scratch);
  const double middle = samples_median_in_place(scratch, last - first);
  for (size_t e = first; e < last; e++) {
    effects[e] -= middle;
  }
  *level += times * middle;
  free(steps);
  return most;
}

void polish_fit(struct polish_cell *cells, size_t count, size_t effect_count, size_t second,
                double *effects, double *level) {
  double *scratch = new_numbers(count > effect_count ? count : effect_count);
  for (size_t i = 0; i < count; i++) {
    scratch[i] = cells[i].value;
  }
  *level = samples_median_in_place(scratch, count);
  memset(effects, 0, effect_count * sizeof *effects);
  for (size_t i = 0; i < count; i++) {
    cells[i].residual = cells[i].value - *level;
  }
  const bool symmetric = second == effect_count;
  double step = INFINITY;
  for (int sweep = 0; sweep < SWEEPS_MAX && step > SETTLED; sweep++) {
    step = settle_kind(cells, count, 0, second, symmetric ? 2 : 1, effects, level, scratch);
    if (!symmetric) {
      step =
          fmax(step, settle_kind(cells, count, second, effect_count, 1, effects, level, scratch));
    }
  }
  free(scratch);
}

size_t polish_parameters(size_t effect_count, size_t second) {
  return second == effect_count ? effect_count : effect_count - 1;
}
