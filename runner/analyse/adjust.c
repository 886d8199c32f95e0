#include "runner/analyse/adjust.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
  double p;
  size_t index;
};

static int compare_ranked(const void *a, const void *b) {
  const struct ranked *x = a;
  const struct ranked *y = b;
  if (x->p != y->p) {
    return x->p < y->p ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

size_t adjust_false_discovery(const double *p, size_t count, double *q) {
  if (count == 0) {
    return 0;
  }
  struct ranked *ranked = reallocarray(NULL, count, sizeof *ranked);
  if (ranked == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  size_t tests = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(p[i])) {
      ranked[tests++] = (struct ranked){p[i], i};
    } else {
      q[i] = NAN;
    }
  }
  qsort(ranked, tests, sizeof *ranked, compare_ranked);
  double least = 1;
  for (size_t i = tests; i-- > 0;) {
    const double raised = ranked[i].p * (double)tests / (double)(i + 1);
    least = raised < least ? raised : least;
    q[ranked[i].index] = least;
  }
  free(ranked);
  return tests;
}
