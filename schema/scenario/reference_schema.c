#include "schema/scenario/reference.h"

#include "schema/scenario/field.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A size or duration in quotes. */
#define SIZE_PATTERN     "^[0-9]+(\\.[0-9]+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)?$"
#define DURATION_PATTERN "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min)$"
#define GRID_PATTERN     "^(full|per_sm\\*[1-9][0-9]{0,3})$"
#define NAME_PATTERN     "^[A-Za-z0-9._-]+$"
#define VERSION_PATTERN  "^(>=|<=|==|!=|>|<)?[0-9]+(\\.[0-9]+)*$"

/* Whole numbers as such: 1, not 1.0. */
static json_t *number(const struct field *field, double value) {
  return field->type == FIELD_NUMBER ? json_real(value) : json_integer((json_int_t)value);
}

static json_t *limited(const struct field *field, const char *type) {
  json_t *limits =
      json_pack("{s:s, s:o, s:o}", "type", type, "minimum", number(field, field->minimum),
                "maximum", number(field, field->maximum));
  if (field->exclusive) {
    (void)json_object_set_new(limits, "exclusiveMinimum", json_true());
    (void)json_object_set_new(limits, "exclusiveMaximum", json_true());
  }
  return limits;
}

static json_t *pattern(const char *text) {
  return json_pack("{s:s, s:s}", "type", "string", "pattern", text);
}

static json_t *array_of(json_t *items, int least) {
  return json_pack("{s:s, s:o, s:i}", "type", "array", "items", items, "minItems", least);
}

static json_t *words(const char *const *list) {
  json_t *values = json_array();
  for (size_t i = 0; list[i] != NULL; i++) {
    (void)json_array_append_new(values, json_string(list[i]));
  }
  return json_pack("{s:o}", "enum", values);
}

/* Every form that one value can have. */
static json_t *alternatives(const struct field *field) {
  json_t *forms = json_array();
  switch (field->type) {
  case FIELD_TEXT:
    (void)json_array_append_new(forms, json_pack("{s:s}", "type", "string"));
    break;
  case FIELD_NAME:
    (void)json_array_append_new(forms, pattern(NAME_PATTERN));
    break;
  case FIELD_VERSION:
    (void)json_array_append_new(forms, pattern(VERSION_PATTERN));
    break;
  case FIELD_TEXTS:
    (void)json_array_append_new(forms, array_of(json_pack("{s:s}", "type", "string"), 0));
    break;
  case FIELD_ZIP:
    (void)json_array_append_new(forms,
                                array_of(array_of(json_pack("{s:s}", "type", "string"), 2), 0));
    break;
  case FIELD_WORD:
    (void)json_array_append_new(forms, words(field->words));
    break;
  case FIELD_FLAG:
    (void)json_array_append_new(forms, json_pack("{s:s}", "type", "boolean"));
    break;
  case FIELD_COUNT:
  case FIELD_INTEGER:
    (void)json_array_append_new(forms, limited(field, "integer"));
    break;
  case FIELD_GRID:
    (void)json_array_append_new(forms, pattern(GRID_PATTERN));
    (void)json_array_append_new(forms, limited(field, "integer"));
    break;
  case FIELD_NUMBER:
    (void)json_array_append_new(forms, limited(field, "number"));
    break;
  case FIELD_SIZE:
    (void)json_array_append_new(forms, pattern(SIZE_PATTERN));
    (void)json_array_append_new(forms, limited(field, "integer"));
    break;
  case FIELD_DURATION:
    (void)json_array_append_new(forms, pattern(DURATION_PATTERN));
    break;
  case FIELD_GPUS:
  case FIELD_NODES:
    (void)json_array_append_new(forms, limited(field, "integer"));
    (void)json_array_append_new(forms, array_of(limited(field, "integer"), 1));
    (void)json_array_append_new(forms, pattern(field->type == FIELD_GPUS
                                                   ? "^(\\*|[0-9]+-[0-9]+)$"
                                                   : "^(\\*|local|remote|[0-9]+-[0-9]+)$"));
    break;
  }
  if (field->zero_word != NULL) {
    const char *const zero[] = {field->zero_word, NULL};
    (void)json_array_append_new(forms, words(zero));
  }
  return forms;
}

/* One form as it is, several as anyOf. Takes the array. */
static json_t *any_of(json_t *forms) {
  if (json_array_size(forms) > 1) {
    return json_pack("{s:o}", "anyOf", forms);
  }
  json_t *form = json_incref(json_array_get(forms, 0));
  json_decref(forms);
  return form;
}

static json_t *range(const struct field *field, const char *step_key, json_t *step) {
  return json_pack("{s:s, s:[s,s,s], s:b, s:{s:o, s:o, s:o}}", "type", "object", "required", "from",
                   "to", step_key, "additionalProperties", 0, "properties", "from",
                   any_of(alternatives(field)), "to", any_of(alternatives(field)), step_key, step);
}

static json_t *default_value(const struct field *field) {
  const char *text = field->default_text;
  if (field->type == FIELD_FLAG) {
    return json_boolean(strcmp(text, "true") == 0);
  }
  if (strspn(text, "0123456789.") == strlen(text) && text[0] != '\0') {
    return number(field, strtod(text, NULL));
  }
  return json_string(text);
}

static json_t *describe(const struct field *field) {
  json_t *forms = alternatives(field);
  if (field->axis) {
    (void)json_array_append_new(forms, array_of(any_of(alternatives(field)), 1));
  }
  if (field->axis && field_is_numeric(field)) {
    json_t *factor =
        json_pack("{s:s, s:i, s:b}", "type", "number", "minimum", 1, "exclusiveMinimum", 1);
    (void)json_array_append_new(forms, range(field, "factor", factor));
    (void)json_array_append_new(forms, range(field, "step", any_of(alternatives(field))));
  }
  json_t *schema = any_of(forms);
  (void)json_object_set_new(schema, "description", json_string(field->help));
  if (field->default_text != NULL) {
    (void)json_object_set_new(schema, "default", default_value(field));
  }
  return schema;
}

static bool is_shared(const struct field *field) {
  return (field->sections & (field->sections - 1)) != 0;
}

static json_t *new_object(const char *description) {
  json_t *object =
      json_pack("{s:s, s:b, s:{}}", "type", "object", "additionalProperties", 0, "properties");
  if (description != NULL) {
    (void)json_object_set_new(object, "description", json_string(description));
  }
  return object;
}

/* Put a field below its section, in the object of its group where it has one. */
static void place_field(json_t *section, const struct field *field, json_t *schema) {
  json_t *properties = json_object_get(section, "properties");
  const char *dot = strchr(field->name, '.');
  if (dot == NULL) {
    (void)json_object_set_new(properties, field->name, schema);
    return;
  }
  char group_name[64] = "";
  memcpy(group_name, field->name, (size_t)(dot - field->name));
  json_t *group = json_object_get(properties, group_name);
  if (group == NULL) {
    group = new_object(NULL);
    (void)json_object_set_new(properties, group_name, group);
  }
  (void)json_object_set_new(json_object_get(group, "properties"), dot + 1, schema);
}

/* Two sections may have keys of one name that differ: "load.name" beside "transfer.name". */
static json_t *definition_name(const struct field *field) {
  unsigned first = 0;
  while ((field->sections & (1U << first)) == 0) {
    first++;
  }
  return json_sprintf("%s.%s", sections[first].key != NULL ? sections[first].key : "scenario",
                      field->name);
}

static json_t *reference_to(const struct field *field) {
  json_t *name = definition_name(field);
  json_t *reference =
      json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", json_string_value(name)));
  json_decref(name);
  return reference;
}

static json_t *describe_section(enum section section) {
  json_t *object = new_object(sections[section].help);
  json_t *required = json_array();
  for (size_t i = 0; i < field_count; i++) {
    const struct field *field = &fields[i];
    if ((field->sections & (1U << section)) == 0) {
      continue;
    }
    json_t *schema = is_shared(field) ? reference_to(field) : describe(field);
    place_field(object, field, schema);
    if ((field->required & (1U << section)) != 0) {
      (void)json_array_append_new(required, json_string(field->name));
    }
  }
  for (unsigned i = SECTION_ROOT + 1; i < section_count; i++) {
    if (sections[i].parent == section) {
      json_t *below = describe_section((enum section)i);
      (void)json_object_set_new(json_object_get(object, "properties"), sections[i].key,
                                sections[i].repeated ? array_of(below, 1) : below);
    }
  }
  if (json_array_size(required) > 0) {
    (void)json_object_set(object, "required", required);
  }
  json_decref(required);
  return object;
}

enum status reference_write_schema(FILE *stream, struct error *err) {
  json_t *schema = json_pack("{s:s, s:s}", "$schema", "http://json-schema.org/draft-04/schema#",
                             "title", "haul scenario");
  json_t *root = describe_section(SECTION_ROOT);
  (void)json_object_update(schema, root);
  json_decref(root);
  json_t *definitions = json_object();
  for (size_t i = 0; i < field_count; i++) {
    if (is_shared(&fields[i])) {
      json_t *name = definition_name(&fields[i]);
      (void)json_object_set_new(definitions, json_string_value(name), describe(&fields[i]));
      json_decref(name);
    }
  }
  (void)json_object_set_new(schema, "definitions", definitions);
  const int failed = json_dumpf(schema, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  json_decref(schema);
  if (failed != 0 || fputc('\n', stream) == EOF) {
    return error_set(err, STATUS_IO, "cannot write the JSON Schema");
  }
  return STATUS_OK;
}
