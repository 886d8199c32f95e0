/* macros.h - what every file may write shorter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many elements an array has. */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Before a local variable: what releases it at the end of its scope, however that is left.
 *   SCOPED(arena_fini) struct arena arena = {0}; */
#define SCOPED(release) __attribute__((cleanup(release)))

/* Of i from 0 to count - 1 the first for which the condition holds; count = there is none. */
#define FIRST_OF(i, count, condition)                                                              \
  __extension__({                                                                                  \
    size_t i = 0;                                                                                  \
    while (i < (count) && !(condition)) {                                                          \
      i++;                                                                                         \
    }                                                                                              \
    i;                                                                                             \
  })
/* Whether it holds for one of them, and for all. */
#define ANY_OF(i, count, condition)                                                                \
  __extension__({                                                                                  \
    bool i##_any = false;                                                                          \
    for (size_t i = 0; i < (count) && !i##_any; i++) {                                             \
      i##_any = (condition);                                                                       \
    }                                                                                              \
    i##_any;                                                                                       \
  })
#define ALL_OF(i, count, condition) !ANY_OF(i, count, !(condition))
/* The sum of the values; of conditions, for how many they hold. */
#define SUM_OF(i, count, value) SUM_AS(size_t, i, count, value)
/* That of real numbers. */
#define TOTAL_OF(i, count, value) SUM_AS(double, i, count, value)
#define SUM_AS(type, i, count, value)                                                              \
  __extension__({                                                                                  \
    type i##_sum = 0;                                                                              \
    for (size_t i = 0; i < (count); i++) {                                                         \
      i##_sum += (value);                                                                          \
    }                                                                                              \
    i##_sum;                                                                                       \
  })
