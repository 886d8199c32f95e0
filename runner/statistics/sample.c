#include "runner/statistics/sample.h"

#include "engine/base/arena.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

double *sample_values_new(size_t count) {
  double *values = memory_new(count + 1, sizeof *values);
  return values;
}

/* Of differences to the first value, and then to the mean: exact for values that are far from zero
 * and close together. */
struct sample sample_summary(const double *values, size_t count) {
  struct sample sample = {.count = count};
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i] - values[0];
  }
  sample.mean = count > 0 ? values[0] + sum / (double)count : 0;
  for (size_t i = 0; i < count; i++) {
    squares += (values[i] - sample.mean) * (values[i] - sample.mean);
  }
  sample.variance = count > 1 ? squares / (double)(count - 1) : 0;
  return sample;
}

/* So few are sorted by insertion. */
enum { FEW = 24 };

static void sample_sort_few(double *values, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const double value = values[i];
    size_t at = i;
    for (; at > 0 && values[at - 1] > value; at--) {
      values[at] = values[at - 1];
    }
    values[at] = value;
  }
}

static void sample_swap(double *x, double *y) {
  const double value = *x;
  *x = *y;
  *y = value;
}

/* Moves the value that belongs there to the top of a heap of count. */
static void sample_sift(double *values, size_t top, size_t count) {
  for (size_t child = 2 * top + 1; child < count; child = 2 * top + 1) {
    child += child + 1 < count && values[child + 1] > values[child];
    if (!(values[child] > values[top])) {
      return;
    }
    sample_swap(&values[child], &values[top]);
    top = child;
  }
}

static void sample_sort_heap(double *values, size_t count) {
  for (size_t top = count / 2; top-- > 0;) {
    sample_sift(values, top, count);
  }
  for (size_t last = count; last-- > 1;) {
    sample_swap(&values[0], &values[last]);
    sample_sift(values, 0, last);
  }
}

/* Hoare's partition, by the middle of three: no value before the place that is returned is larger
 * than one from there on. count > FEW. */
static size_t sample_partition(double *values, size_t count) {
  double *middle = &values[count / 2];
  double *last = &values[count - 1];
  if (*middle < values[0]) {
    sample_swap(middle, &values[0]);
  }
  if (*last < *middle) {
    sample_swap(last, middle);
    if (*middle < values[0]) {
      sample_swap(middle, &values[0]);
    }
  }
  const double pivot = *middle;
  size_t i = 0;
  size_t j = count - 1;
  for (;;) {
    while (values[i] < pivot) {
      i++;
    }
    while (values[j] > pivot) {
      j--;
    }
    if (i >= j) {
      return i;
    }
    sample_swap(&values[i++], &values[j--]);
  }
}

/* Quicksort; what it does not halve often enough is sorted as a heap (Musser 1997, "Introspective
 * sorting and selection algorithms", Software: Practice and Experience 27). Parts without one of
 * the places `from` to `to` are left as they are. */
static void sample_sort_quick(double *values, size_t count, unsigned depth, size_t from,
                              size_t to) {
  while (count > FEW) {
    if (depth-- == 0) {
      sample_sort_heap(values, count);
      return;
    }
    const size_t right = sample_partition(values, count);
    if (to >= right) {
      sample_sort_quick(values + right, count - right, depth, from > right ? from - right : 0,
                        to - right);
    }
    if (from >= right) {
      return;
    }
    count = right;
  }
  sample_sort_few(values, count);
}

static unsigned sample_sort_depth(size_t count) {
  unsigned depth = 0;
  for (size_t n = count; n > 0; n /= 2) {
    depth += 2;
  }
  return depth;
}

void sample_sort(double *values, size_t count) {
  sample_sort_quick(values, count, sample_sort_depth(count), 0, SIZE_MAX);
}

static double sample_middle(const double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double sample_median_in_place(double *values, size_t count) {
  sample_sort(values, count);
  return sample_middle(values, count);
}

double sample_median_select(double *values, size_t count) {
  if (count > 0) {
    sample_sort_quick(values, count, sample_sort_depth(count), (count - 1) / 2, count / 2);
  }
  return sample_middle(values, count);
}

double sample_median(const double *values, size_t count) {
  SCOPED(memory_free) double *copy = sample_values_new(count);
  memcpy(copy, values, count * sizeof *copy);
  return sample_median_select(copy, count);
}
