#include "runner/analyse/changes.h"

#include "runner/analyse/samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ranked {
  double value, rank;
  size_t at;
};

static int by_value(const void *a, const void *b) {
  const struct ranked *x = a;
  const struct ranked *y = b;
  if (x->value != y->value) {
    return x->value < y->value ? -1 : 1;
  }
  return (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b) {
  const struct ranked *x = a;
  const struct ranked *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

/* Ranks from 1; equal values share their mean. In the order of time. */
static void rank_values(const double *values, size_t count, struct ranked *ranked) {
  for (size_t i = 0; i < count; i++) {
    ranked[i] = (struct ranked){values[i], 0, i};
  }
  qsort(ranked, count, sizeof *ranked, by_value);
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count && ranked[last].value == ranked[first].value) {
      last++;
    }
    for (size_t i = first; i < last; i++) {
      ranked[i].rank = (double)(first + last + 1) / 2;
    }
    first = last;
  }
  qsort(ranked, count, sizeof *ranked, by_place);
}

/* Of the values from first on; starts are places in all values. */
struct part {
  size_t first, count;
};

/* The best place to split; false = none is good enough. */
static bool split(const double *values, struct part part, const size_t *starts, size_t start_count,
                  double margin, double alpha, struct ranked *scratch, struct change *change) {
  const double n = (double)part.count;
  rank_values(values + part.first, part.count, scratch);
  double sum = 0; /* of the ranks before t */
  double best = 0;
  size_t t = 0;
  for (size_t s = 0; s < start_count; s++) {
    if (starts[s] <= part.first || starts[s] >= part.first + part.count) {
      continue;
    }
    for (; t < starts[s] - part.first; t++) {
      sum += scratch[t].rank;
    }
    const double u = fabs(2 * sum - (double)t * (n + 1));
    if (u > best) {
      best = u;
      change->at = starts[s];
    }
  }
  change->p = 2 * exp(-6 * best * best / (n * n * n + n * n));
  if (best == 0 || change->p >= alpha) {
    return false;
  }
  const size_t before = change->at - part.first;
  const double step = samples_median(values + change->at, part.count - before) -
                      samples_median(values + part.first, before);
  return fabs(step) >= log1p(margin);
}

static int by_time(const void *a, const void *b) {
  const struct change *x = a;
  const struct change *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

size_t changes_find(const double *values, size_t count, const size_t *starts, size_t start_count,
                    double margin, double alpha, struct change *changes) {
  size_t found = 0;
  size_t waiting = 1;
  struct ranked *scratch = calloc(count + 1, sizeof *scratch);
  struct part *parts = calloc(start_count + 2, sizeof *parts);
  if (scratch == NULL || parts == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  parts[0] = (struct part){0, count};
  while (waiting > 0) {
    const struct part part = parts[--waiting];
    struct change change = {part.first, 1};
    if (found < start_count &&
        split(values, part, starts, start_count, margin, alpha, scratch, &change)) {
      changes[found++] = change;
      parts[waiting++] = (struct part){part.first, change.at - part.first};
      parts[waiting++] = (struct part){change.at, part.first + part.count - change.at};
    }
  }
  free(scratch);
  free(parts);
  qsort(changes, found, sizeof *changes, by_time);
  return found;
}
