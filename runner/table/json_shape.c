/* json_shape.c - JSON Schema, built member by member. */
#include "runner/table/json_shape.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *shape_built(json_t *value) {
  if (value == NULL) {
    abort(); /* out of memory */
  }
  return value;
}

void json_shape_init(struct json_shape *shape) {
  *shape = (struct json_shape){shape_built(json_object()), shape_built(json_array())};
}

json_t *json_shape_take(struct json_shape *shape) {
  return shape_built(json_pack("{s:s, s:o, s:o}", "type", "object", "properties", shape->properties,
                               "required", shape->required));
}

void json_shape_add(struct json_shape *shape, const char *key, json_t *schema) {
  if (json_object_set_new(shape->properties, key, schema) != 0 ||
      json_array_append_new(shape->required, json_string(key)) != 0) {
    abort();
  }
}

void json_shape_value(struct json_shape *shape, const char *key, unsigned types) {
  static const char *const NAMES[] = {"string", "integer", "number", "boolean", "null"};
  json_t *names = shape_built(json_array());
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    if ((types >> i & 1) != 0 && json_array_append_new(names, json_string(NAMES[i])) != 0) {
      abort();
    }
  }
  json_t *type = json_array_size(names) == 1 ? json_array_get(names, 0) : names;
  json_shape_add(shape, key, shape_built(json_pack("{s:O}", "type", type)));
  json_decref(names);
}

void json_shape_knowns(struct json_shape *shape, const char *key) {
  json_shape_add(shape, key,
                 shape_built(json_pack("{s:s, s:{s:[s, s]}}", "type", "array", "items", "type",
                                       "integer", "null")));
}

static json_t *shape_described(json_describer *describe) {
  struct json_shape inner;
  json_shape_init(&inner);
  describe(&inner);
  return json_shape_take(&inner);
}

void json_shape_object(struct json_shape *shape, const char *key, json_describer *describe) {
  json_shape_add(shape, key, shape_described(describe));
}

void json_shape_option(struct json_shape *shape, const char *key, json_describer *describe) {
  json_t *object = shape_described(describe);
  json_object_set_new(object, "type", shape_built(json_pack("[s, s]", "object", "null")));
  json_shape_add(shape, key, object);
}

void json_shape_array(struct json_shape *shape, const char *key, json_describer *describe) {
  json_shape_add(
      shape, key,
      shape_built(json_pack("{s:s, s:o}", "type", "array", "items", shape_described(describe))));
}

void json_shape_map(struct json_shape *shape, const char *key, json_describer *describe) {
  json_shape_add(shape, key,
                 shape_built(json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                                       shape_described(describe))));
}
