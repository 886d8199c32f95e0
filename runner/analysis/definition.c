#include "runner/analysis/definition.h"

#include "engine/base/strings.h"

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

/* ---- what tells several apart ---- */

/* other may be NULL. */
static const char *definition_add_values(struct arena *arena, const char *list, const char *key,
                                         const json_t *own, const json_t *other) {
  if (json_equal(own, other)) {
    return list;
  }
  if (json_is_object(own)) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)own, name, value) {
      list = definition_add_values(arena, list, name, value, json_object_get(other, name));
    }
    return list;
  }
  if (json_is_array(own)) {
    for (size_t i = 0; i < json_array_size(own); i++) {
      list =
          definition_add_values(arena, list, key, json_array_get(own, i), json_array_get(other, i));
    }
    return list;
  }
  SCOPED(memory_free) char *value = json_dumps(own, JSON_ENCODE_ANY);
  const char *word = value != NULL && key != NULL ? arena_format(arena, "%s %s", key, value) : NULL;
  return word == NULL || strings_has_word(list, word) ? list : arena_add_word(arena, list, word);
}

const char *definition_add_own_values(struct arena *arena, const char *list, const char *own,
                                      const char *other) {
  json_t *x = json_loads(own, 0, NULL);
  json_t *y = json_loads(other, 0, NULL);
  if (x != NULL && y != NULL) {
    list = definition_add_values(arena, list, NULL, x, y);
  }
  json_decref(x);
  json_decref(y);
  return list;
}

/* ---- peers ---- */

enum { PLACES_MAX = 256 };

/* GPUs or NUMA nodes in the order in which a definition names them. */
struct places {
  json_int_t numbers[PLACES_MAX];
  size_t count;
};

static json_int_t definition_place_rank(struct places *places, json_int_t number) {
  for (size_t i = 0; i < places->count; i++) {
    if (places->numbers[i] == number) {
      return (json_int_t)i;
    }
  }
  if (places->count == PLACES_MAX) {
    return number;
  }
  places->numbers[places->count] = number;
  return (json_int_t)places->count++;
}

/* Gives each place the number of its first appearance: who is the same as whom stays. */
static void definition_rank_places(json_t *value, struct places *gpus, struct places *nodes) {
  static const char *const NUMBERS[] = {"index", "gpu"};
  const char *place = json_string_value(json_object_get(value, "place"));
  for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
    json_t *number = json_object_get(value, NUMBERS[i]);
    if (json_is_integer(number)) {
      struct places *places = place != NULL && strcmp(place, "numa") == 0 ? nodes : gpus;
      (void)json_integer_set(number, definition_place_rank(places, json_integer_value(number)));
    }
  }
  const char *name = NULL;
  json_t *member = NULL;
  json_object_foreach(value, name, member) {
    definition_rank_places(member, gpus, nodes);
  }
  for (size_t i = 0; i < json_array_size(value); i++) {
    definition_rank_places(json_array_get(value, i), gpus, nodes);
  }
}

uint64_t definition_hash_without_places(const char *definition) {
  json_t *root = json_loads(definition, 0, NULL);
  definition_rank_places(root, &(struct places){0}, &(struct places){0});
  SCOPED(memory_free) char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
  const char *hashed = text != NULL ? text : definition;
  const uint64_t hash = XXH64(hashed, strlen(hashed), 0);
  json_decref(root);
  return hash;
}
