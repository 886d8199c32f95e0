#include "runner/analyse/definition.h"

#include <stdbool.h>
#include <string.h>

/* The key and the value around a byte of canonical JSON: no spaces, and no text with quotes. */
struct member {
  const char *key, *value;
  size_t key_length, value_length;
};

static bool member_at(const char *text, size_t at, struct member *member) {
  size_t start = at;
  while (start > 0 && strchr(",{[", text[start - 1]) == NULL) {
    start--;
  }
  const size_t length = strcspn(text + start, ",}]{[");
  const char *colon = memchr(text + start, ':', length);
  if (text[start] != '"' || colon == NULL || colon[-1] != '"') {
    return false;
  }
  member->key = text + start + 1;
  member->key_length = (size_t)(colon - 1 - member->key);
  member->value = colon + 1;
  member->value_length = length - (size_t)(member->value - (text + start));
  return member->value_length > 0;
}

const char *definition_difference(struct arena *arena, const char *a, const char *b) {
  size_t at = 0;
  while (a[at] != '\0' && a[at] == b[at]) {
    at++;
  }
  struct member x;
  struct member y;
  if (member_at(a, at, &x) && member_at(b, at, &y) && x.key_length == y.key_length &&
      memcmp(x.key, y.key, x.key_length) == 0 &&
      (x.value_length != y.value_length || memcmp(x.value, y.value, x.value_length) != 0)) {
    return arena_format(arena, "%.*s %.*s became %.*s", (int)x.key_length, x.key,
                        (int)x.value_length, x.value, (int)y.value_length, y.value);
  }
  return "it is defined otherwise";
}
