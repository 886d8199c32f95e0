/* order.h - comparison functions for qsort() and bsearch(), each in a line that names what elements
 * are ordered by: first, and next if they are equal in that. Groups and quantiles of sorted
 * elements. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* -1, 0 or 1: a is less than b, equals it, or is greater. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* A comparison function of that name for elements x and y of that type:
 *   ORDER_DEFINE(points_compare, struct point, ORDER(x->run, y->run) ?: strcmp(x->name, y->name))
 */
#define ORDER_DEFINE(name, type, order)                                                            \
  static int name(const void *x_element, const void *y_element) {                                  \
    const type *x = x_element;                                                                     \
    const type *y = y_element;                                                                     \
    return order;                                                                                  \
  }

/* Sorts an array, which may be NULL where it has no element. */
static inline void order_sort(void *items, size_t count, size_t size_bytes,
                              int (*order)(const void *, const void *)) {
  if (count > 1) {
    qsort(items, count, size_bytes, order);
  }
}
#define ORDER_SORT(items, count, compare) order_sort((items), (count), sizeof *(items), (compare))

/* Goes over a sorted array group by group, the elements first to end - 1: `same` tells whether
 * element `end` belongs to the group that begins at `first`.
 *   FOR_EACH_GROUP(first, end, count, points[end].run == points[first].run) { ... } */
#define FOR_EACH_GROUP(first, end, count, same)                                                    \
  for (size_t first = 0, end = 0; first < (count) && __extension__({                               \
                                    for (end = first + 1; end < (count) && (same); end++) {        \
                                    }                                                              \
                                    true;                                                          \
                                  });                                                              \
       first = end)

/* Sorts values. None may be NAN. */
static inline int order_compare_values(const void *x, const void *y) {
  return ORDER(*(const double *)x, *(const double *)y);
}
static inline void order_sort_values(double *values, size_t count) {
  ORDER_SORT(values, count, order_compare_values);
}

/* Quantile p (0 to 1) of ascending values by linear interpolation at rank p * (count - 1): type 7
 * of Hyndman and Fan, Sample quantiles in statistical packages, 1996. 0 for count = 0. */
static inline double sorted_quantile(const double *sorted, size_t count, double p) {
  if (count == 0) {
    return 0;
  }
  const double rank = p * (double)(count - 1);
  const size_t below = (size_t)rank;
  if (below + 1 >= count) {
    return sorted[count - 1];
  }
  return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}
