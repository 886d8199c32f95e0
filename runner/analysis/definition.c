#include "runner/analysis/definition.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- the difference of two ---- */

/* Where two definitions first differ, in the order of a's members. */
struct difference {
  const char *key; /* nearest member of an object; NULL = none */
  const json_t *a, *b;
};

/* False: there is no difference. Members that only one has are a difference of the objects. */
static bool definition_find_difference(const json_t *a, const json_t *b, const char *key,
                                       struct difference *difference) {
  if (json_equal(a, b)) {
    return false;
  }
  *difference = (struct difference){key, a, b};
  if (json_is_object(a) && json_is_object(b)) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)a, name, value) {
      const json_t *other = json_object_get(b, name);
      if (other == NULL || definition_find_difference(value, other, name, difference)) {
        return true;
      }
    }
  } else if (json_is_array(a) && json_is_array(b)) {
    for (size_t i = 0; i < json_array_size(a) && i < json_array_size(b); i++) {
      if (definition_find_difference(json_array_get(a, i), json_array_get(b, i), key, difference)) {
        return true;
      }
    }
  }
  return true;
}

const char *definition_difference(struct arena *arena, const char *a, const char *b) {
  const char *text = "it is defined otherwise";
  struct difference difference = {0};
  json_t *x = json_loads(a, 0, NULL);
  json_t *y = json_loads(b, 0, NULL);
  if (x != NULL && y != NULL && definition_find_difference(x, y, NULL, &difference) &&
      difference.key != NULL && !json_is_object(difference.a) && !json_is_array(difference.a) &&
      !json_is_object(difference.b) && !json_is_array(difference.b)) {
    char *before = json_dumps(difference.a, JSON_ENCODE_ANY);
    char *after = json_dumps(difference.b, JSON_ENCODE_ANY);
    if (before != NULL && after != NULL) {
      text = arena_format(arena, "%s %s became %s", difference.key, before, after);
    }
    free(before);
    free(after);
  }
  json_decref(x);
  json_decref(y);
  return text;
}

/* ---- peers ---- */

static void definition_remove_places(json_t *value) {
  static const char *const NUMBERS[] = {"index", "gpu"};
  const char *name = NULL;
  json_t *member = NULL;
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS && json_is_object(value); i++) {
    if (json_is_integer(json_object_get(value, NUMBERS[i]))) {
      (void)json_object_del(value, NUMBERS[i]);
    }
  }
  json_object_foreach(value, name, member) {
    definition_remove_places(member);
  }
  for (size_t i = 0; i < json_array_size(value); i++) {
    definition_remove_places(json_array_get(value, i));
  }
}

uint64_t definition_hash_without_places(const char *definition) {
  json_t *root = json_loads(definition, 0, NULL);
  definition_remove_places(root);
  char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
  const char *hashed = text != NULL ? text : definition;
  const uint64_t hash = XXH64(hashed, strlen(hashed), 0);
  free(text);
  json_decref(root);
  return hash;
}
