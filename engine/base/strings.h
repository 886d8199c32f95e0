/* strings.h - C strings compared: where one may be missing, and for qsort() and bsearch(); words
 * chosen by a number. */
#pragma once

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

/* Whether a word is in a list of words with ", " between. */
static inline bool strings_has_word(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at++) {
    if ((at == list || (at > list + 1 && at[-1] == ' ' && at[-2] == ',')) &&
        (at[length] == ',' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

/* The next word of such a list; NULL = it was the last. */
static inline const char *strings_next_word(const char *list) {
  const char *comma = strstr(list, ", ");
  return comma != NULL ? comma + 2 : NULL;
}

/* "1 case", "2 cases", "0 cases" */
static inline const char *strings_plural(size_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}
