/* json_shape.h - describes JSON for `haul schema VERB`, from the lists that write it.
 *
 * The members of an object are one list, X(key, type, ...), where the rest is what a value of that
 * type takes. LIST(JSON_PUT) writes them to a struct json_out `json`, LIST(JSON_DESCRIBE) describes
 * them to a struct json_shape `shape`:
 *
 *   text       a string or null                       value
 *   integer    a whole number                         value
 *   known      a whole number or null                 whether it is known, value
 *   real       a number or null                       value
 *   boolean    true or false                          value
 *   decided    true, false or null                    whether it is known, value
 *   object     an object                              its writer, arguments
 *   option     an object or null                      its writer, whether it is there, arguments
 *   array      an array of objects                    their writer, i, how many, arguments
 *   numbers    an object of whole numbers             i, first, end, key, value
 *   map        an object with a member for each thing, named after it: the writer of one's members,
 *              statement that writes all
 *   list       an array of objects: the writer of one's members, statement that writes all
 *
 * JSON_OBJECT() makes the writer of an object's members, and what describes them, from its list.
 * Columns of rows (cell.h) are such a list as well. No errors but want of memory (then it aborts).
 */
#pragma once

#include "runner/table/json.h"

struct json_t;

/* The object that is being described; of its members, all are always there. */
struct json_shape {
  struct json_t *properties, *required;
};
typedef void json_describer(struct json_shape *shape);
/* One of that name, for a list; with: JSON_DESCRIBE or JSON_COLUMN. */
#define JSON_DESCRIBER(name, LIST, with)                                                           \
  void name(struct json_shape *shape) {                                                            \
    LIST(with)                                                                                     \
  }
#define JSON_DESCRIBER_STATIC(name, LIST, with) static JSON_DESCRIBER(name, LIST, with)
/* A function name(json, arguments) that writes the members of an object; what follows are its
 * parameters. */
#define JSON_OBJECT(name, LIST, ...)                                                               \
  static JSON_DESCRIBER(name##_shape, LIST, JSON_DESCRIBE) static void name(struct json_out *json, \
                                                                            __VA_ARGS__) {         \
    LIST(JSON_PUT)                                                                                 \
  }

void json_shape_init(struct json_shape *shape);
/* {"type": "object", ...}; the caller takes the reference over, and the shape is no more. */
struct json_t *json_shape_take(struct json_shape *shape);
/* A member whose schema the caller gives, reference and all. */
void json_shape_add(struct json_shape *shape, const char *key, struct json_t *schema);

/* A member that is of one of these types. */
enum json_types {
  SHAPE_TEXT = 1,
  SHAPE_INTEGER = 2,
  SHAPE_NUMBER = 4,
  SHAPE_BOOLEAN = 8,
  SHAPE_NULL = 16,
};
void json_shape_value(struct json_shape *shape, const char *key, unsigned types);
/* An array of whole numbers or null. */
void json_shape_knowns(struct json_shape *shape, const char *key);
void json_shape_object(struct json_shape *shape, const char *key, json_describer *describe);
void json_shape_option(struct json_shape *shape, const char *key, json_describer *describe);
void json_shape_array(struct json_shape *shape, const char *key, json_describer *describe);
/* An object whose keys are names of things, each with an object of the same shape. */
void json_shape_map(struct json_shape *shape, const char *key, json_describer *describe);

/* ---- for lists ---- */

#define JSON_PUT(key, type, ...)            JSON_PUT_##type(key, __VA_ARGS__)
#define JSON_PUT_text(key, value)           json_out_text(json, key, value);
#define JSON_PUT_integer(key, value)        json_out_integer(json, key, (int64_t)(value));
#define JSON_PUT_real(key, value)           json_out_real(json, key, value);
#define JSON_PUT_finite(key, value)         json_out_real(json, key, value);
#define JSON_PUT_boolean(key, value)        json_out_boolean(json, key, value);
#define JSON_PUT_known(key, known, value)   JSON_PUT_if(key, known, JSON_PUT_integer(key, value))
#define JSON_PUT_decided(key, known, value) JSON_PUT_if(key, known, JSON_PUT_boolean(key, value))
#define JSON_PUT_object(key, write, ...)    JSON_PUT_nested(key, '{', write(json, __VA_ARGS__);)
#define JSON_PUT_option(key, write, have, ...)                                                     \
  JSON_PUT_if(key, have, JSON_PUT_object(key, write, __VA_ARGS__))
#define JSON_PUT_array(key, write, i, count, ...)                                                  \
  JSON_PUT_nested(key, '[',                                                                        \
                  for (size_t i = 0; i < (count); i++){JSON_PUT_object(NULL, write, __VA_ARGS__)})
#define JSON_PUT_numbers(key, i, first, end, name, value)                                          \
  JSON_PUT_nested(                                                                                 \
      key, '{',                                                                                    \
      for (unsigned i = (first); i < (unsigned)(end); i++){JSON_PUT_integer(name, value)})
#define JSON_PUT_map(key, write, statement)  JSON_PUT_nested(key, '{', statement;)
#define JSON_PUT_list(key, write, statement) JSON_PUT_nested(key, '[', statement;)
#define JSON_PUT_if(key, condition, statement)                                                     \
  if (condition) {                                                                                 \
    statement                                                                                      \
  } else {                                                                                         \
    json_out_null(json, key);                                                                      \
  }
#define JSON_PUT_nested(key, bracket, statement)                                                   \
  json_out_open(json, key, bracket);                                                               \
  statement json_out_close(json);

#define JSON_DESCRIBE(key, type, ...)         JSON_DESCRIBE_##type(key, __VA_ARGS__)
#define JSON_DESCRIBE_text(key, ...)          json_shape_value(shape, key, SHAPE_TEXT | SHAPE_NULL);
#define JSON_DESCRIBE_words(key, ...)         JSON_DESCRIBE_text(key)
#define JSON_DESCRIBE_integer(key, ...)       json_shape_value(shape, key, SHAPE_INTEGER);
#define JSON_DESCRIBE_known(key, ...)         json_shape_value(shape, key, SHAPE_INTEGER | SHAPE_NULL);
#define JSON_DESCRIBE_real(key, ...)          json_shape_value(shape, key, SHAPE_NUMBER | SHAPE_NULL);
#define JSON_DESCRIBE_finite(key, ...)        JSON_DESCRIBE_real(key)
#define JSON_DESCRIBE_boolean(key, ...)       json_shape_value(shape, key, SHAPE_BOOLEAN);
#define JSON_DESCRIBE_decided(key, ...)       json_shape_value(shape, key, SHAPE_BOOLEAN | SHAPE_NULL);
#define JSON_DESCRIBE_object(key, write, ...) json_shape_object(shape, key, write##_shape);
#define JSON_DESCRIBE_option(key, write, ...) json_shape_option(shape, key, write##_shape);
#define JSON_DESCRIBE_array(key, write, ...)  json_shape_array(shape, key, write##_shape);
#define JSON_DESCRIBE_list(key, write, ...)   json_shape_array(shape, key, write##_shape);
#define JSON_DESCRIBE_map(key, write, ...)    json_shape_map(shape, key, write##_shape);
#define JSON_DESCRIBE_numbers(key, i, first, end, name, value)                                     \
  {                                                                                                \
    struct json_shape inner;                                                                       \
    json_shape_init(&inner);                                                                       \
    for (unsigned i = (first); i < (unsigned)(end); i++) {                                         \
      json_shape_value(&inner, name, SHAPE_INTEGER);                                               \
    }                                                                                              \
    json_shape_add(shape, key, json_shape_take(&inner));                                           \
  }
#define JSON_COLUMN JSON_DESCRIBE
