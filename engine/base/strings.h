/* strings.h - C strings compared: where one may be missing, and for qsort() and bsearch(). */
#ifndef HAUL_ENGINE_BASE_STRINGS_H
#define HAUL_ENGINE_BASE_STRINGS_H

#include <stdbool.h>
#include <string.h>

/* NULL equals NULL alone. */
static inline bool strings_equal(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Of elements that are pointers to strings. */
static inline int strings_compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif
