#include "runner/analysis/definition.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

/* ---- a value ---- */

/* As a scenario has it: "200us" of min_trial_ns; name: "min_trial". key: NULL = there is none. */
static const char *definition_value_text(struct arena *arena, const char *key, const json_t *value,
                                         const char **name) {
  static const struct {
    const char *suffix;
    const char *(*format)(uint64_t value, char text[UNITS_TEXT_MAX]);
  } UNITS[] = {{"_ns", units_format_duration}, {"_bytes", units_format_size}};
  const size_t length = key != NULL ? strlen(key) : 0;
  for (size_t i = 0; i < COUNT_OF(UNITS); i++) {
    const size_t end = strlen(UNITS[i].suffix);
    if (json_is_integer(value) && json_integer_value(value) >= 0 && length > end &&
        strcmp(key + length - end, UNITS[i].suffix) == 0) {
      *name = arena_strndup(arena, key, length - end);
      return arena_strdup(arena, UNITS[i].format((uint64_t)json_integer_value(value), UNITS_TEXT));
    }
  }
  SCOPED(memory_free) char *text = json_dumps(value, JSON_ENCODE_ANY);
  *name = key;
  return text != NULL ? arena_strdup(arena, text) : "?";
}

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
    const char *name = NULL;
    const char *before = definition_value_text(arena, difference.key, difference.a, &name);
    const char *after = definition_value_text(arena, difference.key, difference.b, &name);
    text = arena_format(arena, "%s %s became %s", name, before, after);
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
  const char *name = NULL;
  const char *value = definition_value_text(arena, key, own, &name);
  const char *word = name != NULL ? arena_format(arena, "%s %s", name, value) : "";
  return word[0] == '\0' || strings_has_word(list, word) ? list : arena_add_word(arena, list, word);
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
