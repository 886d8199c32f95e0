#include "runner/statistics/noise.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"
#include "runner/statistics/sample.h"
#include "runner/statistics/shape.h"

#include <math.h>
#include <stdlib.h>

ENUM_NAMES_DEFINE(noise, NOISE_LIST)

#define MARGIN         0.002 /* of logarithms */
#define MAD_TO_SD      1.4826
#define NORMAL_LEVEL   2.5758 /* one-sided, one in 200 */
#define DIPS_SHARE_MAX (1.0 / 3)
#define MODE_SHARE_MIN 0.2
enum { DIPS_MIN = 2, SWITCHES_MIN = 3 };

/* The trials while they are looked at. */
struct noise_work {
  const struct noise_trial *trials;
  size_t count;
  double *values; /* logarithms, in their order */
  double *scratch;
  bool *dip;
  double *rest; /* the values that are no dips */
  size_t rest_count;
};

/* Two of so many normal values are above it once in 200 samples. */
static double noise_dip_limit(size_t count) {
  return 4 + 60 / (double)count;
}

/* Marks the dips, and gathers the rest. */
static void noise_split_dips(struct noise_work *work) {
  const double median = sample_median(work->values, work->count);
  size_t below = 0;
  for (size_t i = 0; i < work->count; i++) {
    if (work->values[i] < median) {
      work->scratch[below++] = median - work->values[i];
    }
  }
  const double spread = below > 0 ? MAD_TO_SD * sample_median_in_place(work->scratch, below) : 0;
  const double limit = median + fmax(MARGIN, spread * noise_dip_limit(work->count));
  size_t dips = 0;
  for (size_t i = 0; i < work->count; i++) {
    work->dip[i] = work->values[i] > limit;
    dips += work->dip[i];
  }
  const bool few = dips >= DIPS_MIN && (double)dips <= (double)work->count * DIPS_SHARE_MAX;
  work->rest_count = 0;
  for (size_t i = 0; i < work->count; i++) {
    work->dip[i] = work->dip[i] && few;
    if (!work->dip[i]) {
      work->rest[work->rest_count++] = work->values[i];
    }
  }
}

/* Median length of what is slow without a trial between that is not. */
static double noise_dip_duration(const struct noise_work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->count; i++) {
    const bool begins = work->dip[i] && (i == 0 || !work->dip[i - 1]);
    if (begins) {
      size_t last = i;
      while (last + 1 < work->count && work->dip[last + 1]) {
        last++;
      }
      work->scratch[count++] = work->trials[last].end - work->trials[i].start;
    }
  }
  return sample_median_in_place(work->scratch, count);
}

static double noise_dip_size(const struct noise_work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->count; i++) {
    if (work->dip[i]) {
      work->scratch[count++] = work->values[i];
    }
  }
  return sample_median_in_place(work->scratch, count) - sample_median(work->rest, work->rest_count);
}

/* Both levels are visited again and again. */
static bool noise_has_two_modes(const struct noise_work *work, double *size) {
  const struct shape shape = shape_find(work->rest, work->rest_count, MARGIN, work->scratch);
  const double least = MODE_SHARE_MIN * (double)work->rest_count;
  if (shape.kind != SHAPE_TWO_MODES || (double)shape.low_count < least ||
      (double)shape.high_count < least) {
    return false;
  }
  const double middle = (shape.low + shape.high) / 2;
  size_t switches = 0;
  for (size_t i = 1; i < work->rest_count; i++) {
    switches += (work->rest[i] > middle) != (work->rest[i - 1] > middle);
  }
  *size = shape.high - shape.low;
  return switches >= SWITCHES_MIN;
}

struct ranked {
  double value;
  size_t at;
};

ORDER_DEFINE(noise_compare_values, struct ranked, ORDER(x->value, y->value))

/* Mid-ranks of the values, into scratch. */
static void noise_rank(const struct noise_work *work) {
  const size_t count = work->rest_count;
  SCOPED(memory_free) struct ranked *ranked = memory_new(count, sizeof *ranked);
  for (size_t i = 0; i < count; i++) {
    ranked[i] = (struct ranked){work->rest[i], i};
  }
  ORDER_SORT(ranked, count, noise_compare_values);
  for (size_t i = 0; i < count;) {
    size_t next = i;
    while (next < count && ranked[next].value <= ranked[i].value) {
      next++;
    }
    for (size_t k = i; k < next; k++) {
      work->scratch[ranked[k].at] = (double)(i + next - 1) / 2;
    }
    i = next;
  }
}

/* Bartels' ratio is 2 on average where the order means nothing, and less where neighbours agree. */
static bool noise_neighbours_agree(const struct noise_work *work) {
  const double n = (double)work->rest_count;
  double squares = 0;
  double steps = 0;
  noise_rank(work);
  for (size_t i = 0; i < work->rest_count; i++) {
    const double deviation = work->scratch[i] - (n - 1) / 2;
    squares += deviation * deviation;
    if (i > 0) {
      const double step = work->scratch[i] - work->scratch[i - 1];
      steps += step * step;
    }
  }
  const double variance =
      4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1));
  return squares > 0 && steps / squares < 2 - NORMAL_LEVEL * sqrt(variance);
}

/* From the lowest to the highest third. */
static double noise_drift_size(const struct noise_work *work) {
  const size_t third = work->rest_count / 3;
  const double first = sample_median(work->rest, third);
  const double middle = sample_median(work->rest + third, work->rest_count - 2 * third);
  const double last = sample_median(work->rest + work->rest_count - third, third);
  const double size = fmax(first, fmax(middle, last)) - fmin(first, fmin(middle, last));
  return last < first ? -size : size;
}

static struct noise_found noise_find_in(struct noise_work *work) {
  double size = 0;
  noise_split_dips(work);
  const bool dips = work->rest_count < work->count;
  if (!dips && noise_has_two_modes(work, &size)) {
    return (struct noise_found){.kind = NOISE_TWO_MODES, .size = expm1(size)};
  }
  if (work->rest_count >= NOISE_TRIALS_MIN && noise_neighbours_agree(work)) {
    size = noise_drift_size(work);
    if (fabs(size) > MARGIN) {
      return (struct noise_found){.kind = NOISE_DRIFT, .size = copysign(expm1(fabs(size)), size)};
    }
  }
  if (dips) {
    return (struct noise_found){.kind = NOISE_DIPS,
                                .size = expm1(noise_dip_size(work)),
                                .duration = noise_dip_duration(work)};
  }
  return (struct noise_found){.kind = NOISE_WHITE};
}

struct noise_found noise_find(const struct noise_trial *trials, size_t count) {
  if (count < NOISE_TRIALS_MIN) {
    return (struct noise_found){.kind = NOISE_UNKNOWN};
  }
  struct noise_work work = {.trials = trials,
                            .count = count,
                            .values = sample_values_new(count),
                            .scratch = sample_values_new(count),
                            .rest = sample_values_new(count),
                            .dip = memory_new(count, sizeof *work.dip)};
  for (size_t i = 0; i < count; i++) {
    work.values[i] = log(trials[i].value);
  }
  const struct noise_found found = noise_find_in(&work);
  free(work.dip);
  free(work.rest);
  free(work.scratch);
  free(work.values);
  return found;
}
