/* order.h - comparison functions for qsort() and bsearch(), each said in a line: what elements are
 * ordered by, and where they are equal in that, by what next. */
#pragma once

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
