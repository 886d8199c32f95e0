#include "runner/statistics/permutations.h"

#include "runner/statistics/shape.h"
#include "runner/statistics/share_test.h"

#include <math.h>
#include <string.h>

double permutations_least_p(size_t a_count, size_t b_count) {
  return 2 * exp(-share_ln_choose(a_count + b_count, a_count));
}

bool permutations_mixed_modes(const struct process_sample *a, const struct process_sample *b,
                              double margin, double *scratch) {
  const struct process_sample *sides[2] = {a, b};
  const size_t count = a->count + b->count;
  memcpy(scratch, a->values, a->count * sizeof *scratch);
  memcpy(scratch + a->count, b->values, b->count * sizeof *scratch);
  const struct shape shape = shape_find(scratch, count, margin, scratch + count);
  size_t low[2] = {0, 0};
  for (size_t s = 0; s < 2; s++) {
    for (size_t i = 0; i < sides[s]->count; i++) {
      low[s] += sides[s]->values[i] < (shape.low + shape.high) / 2;
    }
  }
  const size_t lows = low[0] + low[1];
  return shape.kind == SHAPE_TWO_MODES && (lows == a->count || lows == b->count) &&
         ((low[0] > 0 && low[0] < a->count) || (low[1] > 0 && low[1] < b->count));
}

struct effect permutations_exchange(const double a[2], const double b[2], size_t other,
                                    const struct variance_prior *prior) {
  const struct sample sides[2] = {sample_summary((const double[]){a[0], b[1 - other]}, 2),
                                  sample_summary((const double[]){a[1], b[other]}, 2)};
  return effect_moderated(&sides[0], &sides[1], prior);
}
