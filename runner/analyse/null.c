#include "runner/analyse/null.h"

#include <stdlib.h>

static void *new_array(size_t count, size_t size_bytes) {
  void *array = calloc(count > 0 ? count : 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The order of the processes by which a split deals them out: first half, second half. */
static void shuffle(size_t *order, size_t count, uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    order[i] = i;
  }
  for (size_t i = count; i > 1; i--) {
    const size_t j = (size_t)(next(state) % i);
    const size_t other = order[i - 1];
    order[i - 1] = order[j];
    order[j] = other;
  }
}

/* Side a of one case in two halves, in values; a process that the case lacks goes to neither. */
static void split_case(const struct diff_case *whole, const size_t *order, size_t processes,
                       double *values, struct diff_case *split) {
  *split = *whole;
  size_t counts[2] = {0, 0};
  for (size_t half = 0; half < 2; half++) {
    const size_t first = half == 0 ? 0 : processes / 2;
    const size_t last = half == 0 ? processes / 2 : processes;
    for (size_t i = first; i < last; i++) {
      if (order[i] < whole->a.count) {
        values[counts[0] + counts[1]] = whole->a.values[order[i]];
        counts[half]++;
      }
    }
  }
  split->a = (struct diff_side){values, counts[0]};
  split->b = (struct diff_side){values + counts[0], counts[1]};
}

void null_split(const struct diff_case *cases, size_t count, const struct diff_options *options,
                size_t splits, uint64_t seed, struct null_rate *rate) {
  *rate = (struct null_rate){0, 0, 0, 0};
  size_t processes = 0;
  for (size_t i = 0; i < count; i++) {
    processes = cases[i].a.count > processes ? cases[i].a.count : processes;
  }
  if (processes < 4) {
    return;
  }
  size_t *order = new_array(processes, sizeof *order);
  double *values = new_array(count * processes, sizeof *values);
  struct diff_case *halves = new_array(count, sizeof *halves);
  struct diff_result *results = new_array(count, sizeof *results);
  for (rate->splits = 0; rate->splits < splits; rate->splits++) {
    shuffle(order, processes, &seed);
    for (size_t i = 0; i < count; i++) {
      split_case(&cases[i], order, processes, values + i * processes, &halves[i]);
    }
    struct diff_summary summary;
    diff_compare(halves, count, options, results, &summary);
    const size_t reported =
        summary.verdicts[VERDICT_REGRESSED] + summary.verdicts[VERDICT_IMPROVED];
    rate->reported += reported;
    rate->alarmed += reported > 0;
    rate->judged += summary.tests;
  }
  free(order);
  free(values);
  free(halves);
  free(results);
}
