#include "runner/statistics/dependence.h"

#include "engine/base/arena.h"
#include "runner/statistics/sample.h"

#include <math.h>

/* Each case is held against so many others, evenly spaced: all pairs of thousands would take
 * minutes and tell no more. */
enum { PARTNERS_MAX = 64 };

static void deviations_add(struct deviations *deviations, const struct process_sample *side,
                           uint32_t offset, double *squares) {
  if (side == NULL || side->count < 2) {
    return;
  }
  const double mean = sample_summary(side->values, side->count).mean;
  for (size_t i = 0; i < side->count; i++) {
    const double deviation = side->values[i] - mean;
    deviations->values[deviations->count] = deviation;
    deviations->numbers[deviations->count++] = offset + process_sample_process(side, i);
    *squares += deviation * deviation;
  }
  deviations->df += (double)side->count - 1;
}

void deviations_set(struct deviations *deviations, const struct process_sample *a,
                    const struct process_sample *b, uint32_t b_offset) {
  double squares = 0;
  deviations->count = 0;
  deviations->df = 0;
  deviations_add(deviations, a, 0, &squares);
  deviations_add(deviations, b, b_offset, &squares);
  const double scale = squares > 0 ? 1 / sqrt(squares) : 0;
  for (size_t i = 0; i < deviations->count; i++) {
    deviations->values[i] *= scale;
  }
}

double dependence_estimate(const struct deviations *cases, size_t count, size_t numbers_end) {
  SCOPED(memory_free) double *spread_out = sample_values_new(numbers_end);
  double squares = 0;
  double by_chance = 0;
  size_t pairs = 0;
  const size_t others = count > 0 ? count - 1 : 0;
  const size_t partners = others < PARTNERS_MAX ? others : PARTNERS_MAX;
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].count; v++) {
      spread_out[cases[i].numbers[v]] = cases[i].values[v];
    }
    for (size_t k = 0; k < partners; k++) {
      const struct deviations *other = &cases[(i + 1 + k * others / partners) % count];
      const double correlation =
          TOTAL_OF(v, other->count, spread_out[other->numbers[v]] * other->values[v]);
      squares += correlation * correlation;
      by_chance += 1 / fmax(fmax(cases[i].df, other->df), 1);
      pairs++;
    }
    for (size_t v = 0; v < cases[i].count; v++) {
      spread_out[cases[i].numbers[v]] = 0;
    }
  }
  if (pairs == 0) {
    return 0;
  }
  const double chance = by_chance / (double)pairs;
  return chance < 1 ? fmax(0, fmin(1, (squares / (double)pairs - chance) / (1 - chance))) : 1;
}
