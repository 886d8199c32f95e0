#include "schema/scenario/reference.h"

#include "engine/base/strings.h"
#include "schema/scenario/block.h"
#include "schema/scenario/field.h"
#include "schema/scenario/kind.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What is the same is written once. A form of value that many keys have is named in "definitions";
 * a key of several tables is described in the first of them and referred to from the others.
 *
 * Taplo, which serves most editors of TOML, ignores what stands beside a "$ref" and hides the
 * description of a key that has "allOf". A key with a shared form is therefore written
 *     { "anyOf": [{ "$ref": FORM }], "description": ..., "default": ... }
 * "minimum", "maximum" and "items" stand beside "anyOf": they concern numbers and arrays only. An
 * element of a list obeys the schema that the list itself obeys. The limits of a range's two ends
 * are left to `haul validate`. */

#define FORMS            "#/definitions/"
#define NUMBER_PATTERN   "^[0-9]+(\\.[0-9]+)?"
#define SIZE_PATTERN     NUMBER_PATTERN "(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)?$"
#define DURATION_PATTERN NUMBER_PATTERN "(ns|us|ms|s|min|h)$"
#define QUANTITY_PATTERN NUMBER_PATTERN "(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB|ns|us|ms|s|min|h)?$"
#define GRID_PATTERN     "^(full|per_sm\\*[1-9][0-9]{0,3})$"
#define PLACES_PATTERN   "^(\\*|[0-9]+-[0-9]+)$"
#define UUID_PATTERN     "^[Gg][Pp][Uu]-[0-9A-Fa-f-]{1,36}$"
#define NAME_PATTERN     "^[A-Za-z0-9._-]+$"
#define VERSION_PATTERN  "^(>=|<=|==|!=|>|<)?[0-9]+(\\.[0-9]+)*$"

enum { POINTER_MAX = 256, FORM_NAME_MAX = 64 };

static json_t *schema_reference(const char *pointer) {
  return json_pack("{s:s}", "$ref", pointer);
}

static json_t *schema_pattern(const char *pattern) {
  return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

static json_t *schema_word(const char *word) {
  return json_pack("{s:[s]}", "enum", word);
}

static json_t *schema_quantity(const char *number_type, const char *pattern) {
  return json_pack("{s:[s,s], s:s}", "type", number_type, "string", "pattern", pattern);
}

static json_t *schema_array_of(json_t *items, int least) {
  return json_pack("{s:s, s:o, s:i}", "type", "array", "items", items, "minItems", least);
}

static json_t *schema_words(const char *const *words) {
  json_t *values = json_array();
  for (size_t i = 0; words[i] != NULL; i++) {
    (void)json_array_append_new(values, json_string(words[i]));
  }
  return json_pack("{s:o}", "enum", values);
}

/* An array, or { from, to, factor } or { from, to, step }: three of the four keys, two of them
 * required. */
static json_t *schema_list_or_range(void) {
  json_t *end = schema_reference(FORMS "quantity");
  json_t *factor =
      json_pack("{s:s, s:i, s:b}", "type", "number", "minimum", 1, "exclusiveMinimum", 1);
  return json_pack("{s:[s,s], s:i, s:b, s:[s,s], s:i, s:i, s:{s:O, s:O, s:o, s:o}}", "type",
                   "array", "object", "minItems", 1, "additionalProperties", 0, "required", "from",
                   "to", "minProperties", 3, "maxProperties", 3, "properties", "from", end, "to",
                   end, "factor", factor, "step", end);
}

static bool schema_has_same_form(const struct field *a, const struct field *b) {
  return a->type == b->type && field_is_axis(a) == field_is_axis(b) && a->words == b->words &&
         strings_equal(a->zero_word, b->zero_word);
}

/* The name in "definitions" of the field's form; false: the field shows its form itself, being the
 * only one that has it or needing no more than a line or two for it. */
static bool schema_name_form(const struct field *field, char name[FORM_NAME_MAX]) {
  static const char *const numeric[] = {
      [FIELD_COUNT] = "counts", [FIELD_INTEGER] = "counts",     [FIELD_NUMBER] = "numbers",
      [FIELD_SIZE] = "sizes",   [FIELD_DURATION] = "durations", [FIELD_GRID] = "grids"};
  const struct field *first = NULL;
  size_t users = 0;
  for (size_t i = 0; i < field_count(); i++) {
    if (schema_has_same_form(field, field_at(i))) {
      first = first == NULL ? field_at(i) : first;
      users++;
    }
  }
  if (field->type == FIELD_GPUS || field->type == FIELD_NODES) {
    (void)snprintf(name, FORM_NAME_MAX, "%s", field->type == FIELD_GPUS ? "gpus" : "nodes");
    return true;
  }
  if (field_is_axis(field) && field_is_numeric(field)) {
    (void)snprintf(name, FORM_NAME_MAX, "%s%s%s", numeric[field->type],
                   field->zero_word == NULL ? "" : "_or_",
                   field->zero_word == NULL ? "" : field->zero_word);
    return users > 1 || field->zero_word == NULL;
  }
  if (field_is_axis(field) && users > 1) {
    const char *dot = strrchr(first->name, '.');
    (void)snprintf(name, FORM_NAME_MAX, "%s", dot == NULL ? first->name : dot + 1);
    return true;
  }
  return false;
}

/* Numbers with limits have them in the field, not in the form. */
static bool schema_has_limits(const struct field *field) {
  return field_is_numeric(field) && field->type != FIELD_DURATION;
}

static json_t *schema_describe_form(const struct field *field, json_t *definitions);

static void schema_append_form(json_t *forms, json_t *form) {
  (void)json_array_append_new(forms, form);
}

/* "auto" or as without it. */
static void schema_append_forms_with_zero(json_t *forms, const struct field *field,
                                          json_t *definitions) {
  struct field without = *field;
  if (field->type == FIELD_GRID) {
    without.type = FIELD_COUNT;
    schema_append_form(forms, schema_pattern(GRID_PATTERN));
  } else {
    without.zero_word = NULL;
    schema_append_form(forms, schema_word(field->zero_word));
  }
  json_t *others = schema_describe_form(&without, definitions);
  (void)json_array_extend(forms, json_object_get(others, "anyOf"));
  json_decref(others);
}

/* A value of a key other than a selector. */
static json_t *schema_describe_value(const struct field *field) {
  static const struct {
    const char *type;
    const char *pattern;
  } simple[] = {
      [FIELD_TEXT] = {"string", NULL},
      [FIELD_NAME] = {"string", NAME_PATTERN},
      [FIELD_VERSION] = {"string", VERSION_PATTERN},
      [FIELD_FLAG] = {"boolean", NULL},
      [FIELD_COUNT] = {"integer", NULL},
      [FIELD_INTEGER] = {"integer", NULL},
      [FIELD_NUMBER] = {"number", NULL},
      [FIELD_DURATION] = {"string", DURATION_PATTERN},
  };
  if (field->type == FIELD_WORD) {
    return schema_words(field->words);
  }
  if (field->type == FIELD_SIZE) {
    return schema_quantity("integer", SIZE_PATTERN);
  }
  if (field->type == FIELD_CPU) {
    return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "integer", schema_words(field->words));
  }
  if (field->type == FIELD_TEXTS || field->type == FIELD_ZIP) {
    json_t *text = json_pack("{s:s}", "type", "string");
    return json_pack("{s:s, s:o}", "type", "array", "items",
                     field->type == FIELD_ZIP ? schema_array_of(text, 2) : text);
  }
  return json_pack("{s:s, s:s*}", "type", simple[field->type].type, "pattern",
                   simple[field->type].pattern);
}

/* Every form that a value of the field may have, limits apart. */
static json_t *schema_list_forms(const struct field *field, json_t *definitions) {
  json_t *forms = json_array();
  if (field_is_axis(field) && field->zero_word != NULL) {
    schema_append_forms_with_zero(forms, field, definitions);
    return forms;
  }
  schema_append_form(forms, schema_describe_value(field));
  if (field->zero_word != NULL) {
    schema_append_form(forms, schema_word(field->zero_word));
  }
  if (field->most_word != NULL) {
    schema_append_form(forms, schema_word(field->most_word));
  }
  if (field_is_axis(field)) {
    const char *sweep = field_is_numeric(field) ? FORMS "list_or_range" : FORMS "list";
    schema_append_form(forms, schema_reference(sweep));
  }
  return forms;
}

/* One form as it is, several as anyOf. */
static json_t *schema_any_of(const struct field *field, json_t *definitions) {
  json_t *forms = schema_list_forms(field, definitions);
  if (json_array_size(forms) > 1) {
    return json_pack("{s:o}", "anyOf", forms);
  }
  json_t *form = json_incref(json_array_get(forms, 0));
  json_decref(forms);
  return form;
}

/* The form itself, or an object that refers to it. */
static json_t *schema_describe_form(const struct field *field, json_t *definitions) {
  char name[FORM_NAME_MAX];
  if (!schema_name_form(field, name)) {
    return schema_any_of(field, definitions);
  }
  char pointer[POINTER_MAX];
  (void)snprintf(pointer, sizeof pointer, FORMS "%s", name);
  if (json_object_get(definitions, name) == NULL) {
    json_t *form = schema_any_of(field, definitions);
    if (field_is_axis(field) && !schema_has_limits(field)) {
      (void)json_object_set_new(form, "items", schema_reference(pointer));
    }
    (void)json_object_set_new(definitions, name, form);
  }
  return json_pack("{s:[o]}", "anyOf", schema_reference(pointer));
}

/* Whole numbers as such: 1, not 1.0. */
static json_t *schema_number(const struct field *field, double value) {
  return field->type == FIELD_NUMBER ? json_real(value) : json_integer((json_int_t)value);
}

static json_t *schema_default(const struct field *field) {
  const char *text = field->default_text;
  if (field->type == FIELD_FLAG) {
    return json_boolean(strcmp(text, "true") == 0);
  }
  if (strspn(text, "0123456789.") == strlen(text) && text[0] != '\0') {
    return schema_number(field, strtod(text, NULL));
  }
  return json_string(text);
}

static json_t *schema_describe_field(const struct field *field, const char *pointer,
                                     json_t *definitions) {
  json_t *schema = schema_describe_form(field, definitions);
  if (schema_has_limits(field)) {
    (void)json_object_set_new(schema, "minimum", schema_number(field, field->minimum));
    (void)json_object_set_new(schema, "maximum", schema_number(field, field->maximum));
  }
  if (field->exclusive) {
    (void)json_object_set_new(schema, "exclusiveMinimum", json_true());
    (void)json_object_set_new(schema, "exclusiveMaximum", json_true());
  }
  char name[FORM_NAME_MAX];
  if (field_is_axis(field) && (schema_has_limits(field) || !schema_name_form(field, name))) {
    (void)json_object_set_new(schema, "items", schema_reference(pointer));
  }
  (void)json_object_set_new(schema, "description", json_string(field->help));
  if (field->default_text != NULL) {
    (void)json_object_set_new(schema, "default", schema_default(field));
  }
  return schema;
}

/* The first field of which the schema is the same; it may be the field itself. */
static const struct field *schema_find_equal(const struct field *field) {
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *other = field_at(i);
    if (schema_has_same_form(other, field) && strings_equal(other->help, field->help) &&
        strings_equal(other->default_text, field->default_text) &&
        !(other->minimum < field->minimum) && !(other->minimum > field->minimum) &&
        !(other->maximum < field->maximum) && !(other->maximum > field->maximum)) {
      return other;
    }
  }
  return field;
}

static enum section schema_first_section(const struct field *field) {
  unsigned first = 0;
  while ((field->sections & (1U << first)) == 0) {
    first++;
  }
  return (enum section)first;
}

/* Where the tables of the section are described: "#/properties/transfer/items". */
static void schema_point_to_section(enum section section, char pointer[POINTER_MAX]) {
  if (section == SECTION_ROOT) {
    (void)snprintf(pointer, POINTER_MAX, "#");
    return;
  }
  schema_point_to_section(section_row(section)->parent, pointer);
  const size_t length = strlen(pointer);
  (void)snprintf(pointer + length, POINTER_MAX - length, "/properties/%s%s",
                 section_row(section)->key, section_row(section)->repeated ? "/items" : "");
}

/* Where a key or group of the section is described: "from", "from.memory". */
static void schema_point_to_key(enum section section, const char *name, char pointer[POINTER_MAX]) {
  schema_point_to_section(section, pointer);
  while (*name != '\0') {
    const size_t length = strlen(pointer);
    const size_t part = strcspn(name, ".");
    (void)snprintf(pointer + length, POINTER_MAX - length, "/properties/%.*s", (int)part, name);
    name += part + (name[part] == '.' ? 1 : 0);
  }
}

static json_t *schema_new_object(const char *description) {
  json_t *object =
      json_pack("{s:s, s:b, s:{}}", "type", "object", "additionalProperties", 0, "properties");
  if (description != NULL) {
    (void)json_object_set_new(object, "description", json_string(description));
  }
  return object;
}

/* Whether the fields of the group ("from.") are the same in both sections. */
static bool schema_is_same_group(const char *group, size_t length, enum section a, enum section b) {
  for (size_t i = 0; i < field_count(); i++) {
    const bool in_a = (field_at(i)->sections & (1U << a)) != 0;
    const bool in_b = (field_at(i)->sections & (1U << b)) != 0;
    if (strncmp(field_at(i)->name, group, length) == 0 && in_a != in_b) {
      return false;
    }
  }
  return true;
}

/* Put a field below its section, in the object of its group where it has one. */
static void schema_place_field(json_t *object, enum section section, const struct field *field,
                               json_t *definitions) {
  const struct field *equal = schema_find_equal(field);
  const enum section home = schema_first_section(equal);
  const bool is_home = equal == field && home == section;
  const char *dot = strchr(field->name, '.');
  json_t *properties = json_object_get(object, "properties");
  char pointer[POINTER_MAX];
  char group[FORM_NAME_MAX] = "";
  if (dot != NULL) {
    (void)snprintf(group, sizeof group, "%.*s", (int)(dot - field->name), field->name);
    if (equal == field && !is_home &&
        schema_is_same_group(field->name, strlen(group) + 1, section, home)) {
      schema_point_to_key(home, group, pointer);
      (void)json_object_set_new(properties, group, schema_reference(pointer));
      return;
    }
    if (json_object_get(properties, group) == NULL) {
      (void)json_object_set_new(properties, group, schema_new_object(NULL));
    }
    properties = json_object_get(json_object_get(properties, group), "properties");
  }
  schema_point_to_key(home, equal->name, pointer);
  (void)json_object_set_new(properties, dot == NULL ? field->name : dot + 1,
                            is_home ? schema_describe_field(field, pointer, definitions)
                                    : schema_reference(pointer));
}

/* Sets of keys of which one must be there. */
static json_t *schema_any_required(const char *const *sets) {
  json_t *any = json_array();
  for (; *sets != NULL; sets++) {
    json_t *keys = json_array();
    for (const char *at = *sets; *at != '\0'; at += strspn(at, " ")) {
      const size_t length = strcspn(at, " ");
      (void)json_array_append_new(keys, json_stringn(at, length));
      at += length;
    }
    (void)json_array_append_new(any, json_pack("{s:o}", "required", keys));
  }
  return any;
}

static json_t *schema_describe_section(enum section section, json_t *definitions) {
  json_t *object = schema_new_object(section_row(section)->help);
  json_t *required = json_array();
  for (size_t i = 0; i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << section)) != 0) {
      schema_place_field(object, section, field_at(i), definitions);
    }
    if (field_at(i)->required && (field_at(i)->sections & (1U << section)) != 0) {
      (void)json_array_append_new(required, json_string(field_at(i)->name));
    }
  }
  for (unsigned i = SECTION_ROOT + 1; i < section_count; i++) {
    if (section_row(i)->parent == section) {
      json_t *below = schema_describe_section((enum section)i, definitions);
      (void)json_object_set_new(json_object_get(object, "properties"), section_row(i)->key,
                                section_row(i)->repeated ? schema_array_of(below, 1) : below);
    }
  }
  if (json_array_size(required) > 0) {
    (void)json_object_set(object, "required", required);
  }
  json_decref(required);
  const unsigned kind = (unsigned)section - SECTION_KIND;
  if (kind < case_kind_name_count && kinds[kind]->needs != NULL) {
    (void)json_object_set_new(object, "anyOf", schema_any_required(kinds[kind]->needs));
  }
  return object;
}

enum status reference_write_schema(FILE *stream, struct error *err) {
  json_t *schema = json_pack("{s:s, s:s}", "$schema", "http://json-schema.org/draft-04/schema#",
                             "title", "haul scenario");
  json_t *definitions = json_pack(
      "{s:{s:s, s:i}, s:o, s:o, s:{s:s, s:i, s:i}, s:{s:[o, o, o]}, s:{s:[o, o], s:{s:[o, o]}}, "
      "s:{s:[o, {s:[s, s]}], s:o}}",
      "list", "type", "array", "minItems", 1, "list_or_range", schema_list_or_range(), "quantity",
      schema_quantity("number", QUANTITY_PATTERN), "index", "type", "integer", "minimum", 0,
      "maximum", FIELD_INDEX_MAX, "places", "anyOf", schema_reference(FORMS "index"),
      schema_reference(FORMS "list"), schema_pattern(PLACES_PATTERN), "gpus", "anyOf",
      schema_reference(FORMS "places"), schema_pattern(UUID_PATTERN), "items", "anyOf",
      schema_reference(FORMS "index"), schema_pattern(UUID_PATTERN), "nodes", "anyOf",
      schema_reference(FORMS "places"), "enum", "local", "remote", "items",
      schema_reference(FORMS "index"));
  json_t *root = schema_describe_section(SECTION_ROOT, definitions);
  (void)json_object_update(schema, root);
  json_decref(root);
  (void)json_object_set_new(schema, "definitions", definitions);
  errno = 0;
  const bool failed = json_dumpf(schema, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0 ||
                      fputc('\n', stream) == EOF || fflush(stream) != 0;
  const int cause = errno;
  json_decref(schema);
  if (failed && cause != EPIPE) { /* a reader that has read enough is no error */
    return error_set_errno(err, cause, "cannot write the JSON Schema");
  }
  return STATUS_OK;
}
