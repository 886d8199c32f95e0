#include "schema/scenario/value.h"

#include "engine/base/units.h"
#include "schema/scenario/nearest.h"
#include "schema/scenario/setting.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool value_is_name(const char *text) {
  const size_t length = strlen(text);
  return length > 0 && length < SCENARIO_NAME_MAX &&
         strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             length;
}

static bool value_is_version(const char *text) {
  static const char *const operators[] = {">=", "<=", "==", "!=", ">", "<"};
  for (size_t i = 0; i < COUNT_OF(operators); i++) {
    if (strncmp(text, operators[i], strlen(operators[i])) == 0) {
      text += strlen(operators[i]);
      break;
    }
  }
  const size_t length = strlen(text);
  return length > 0 && length < 32 && strspn(text, "0123456789.") == length && text[0] != '.' &&
         text[length - 1] != '.' && strstr(text, "..") == NULL;
}

static bool value_word_index(const char *const *words, const char *text, unsigned *word) {
  for (unsigned i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], text) == 0) {
      *word = i;
      return true;
    }
  }
  return false;
}

static bool value_fits(const struct field *field, const union value *value) {
  if (field->type == FIELD_NUMBER) {
    return value->number >= field->minimum && value->number <= field->maximum &&
           !(field->exclusive &&
             (value->number == field->minimum || value->number == field->maximum));
  }
  /* As integers: 2^53 + 1 is no double. */
  return value->integer >= (uint64_t)field->minimum && value->integer <= (uint64_t)field->maximum &&
         (!field->power_of_two || (value->integer & (value->integer - 1)) == 0);
}

static bool value_parse_whole(const char *text, uint64_t *value) {
  const size_t length = strlen(text);
  if (length == 0 || length > 18 || strspn(text, "0123456789") != length) {
    return false;
  }
  *value = strtoull(text, NULL, 10);
  return true;
}

/* "per_sm*4" and "full" */
static bool value_parse_grid(const char *text, uint64_t *value) {
  enum { PER_SM_MAX = 9999 };
  static const char per_sm[] = "per_sm*";
  const size_t prefix = sizeof per_sm - 1;
  uint64_t count = 0;
  if (strcmp(text, "full") == 0) {
    *value = VALUE_GRID_FULL;
    return true;
  }
  if (strncmp(text, per_sm, prefix) != 0 || !value_parse_whole(text + prefix, &count) ||
      count == 0 || count > PER_SM_MAX) {
    return false;
  }
  *value = VALUE_GRID_PER_SM | count;
  return true;
}

/* Parses text for a numeric field, without checking limits. */
static bool value_parse_numeric(const struct field *field, const char *text, union value *value) {
  char *end = NULL;
  if (field->type == FIELD_SIZE) {
    return units_parse_size(text, &value->integer);
  }
  if (field->type == FIELD_DURATION) {
    return units_parse_duration(text, &value->integer);
  }
  if (field->type == FIELD_NUMBER) {
    value->number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value->number);
  }
  return field_is_numeric(field) && value_parse_whole(text, &value->integer);
}

bool value_from_text(const struct field *field, const char *text, union value *value) {
  if (field->type == FIELD_TEXT || field->type == FIELD_NAME || field->type == FIELD_VERSION) {
    value->text = text;
    return field->type == FIELD_TEXT ||
           (field->type == FIELD_NAME ? value_is_name(text) : value_is_version(text));
  }
  if (field->type == FIELD_WORD) {
    return value_word_index(field->words, text, &value->word);
  }
  if (field->type == FIELD_CPU) {
    unsigned word = 0;
    const bool is_word = value_word_index(field->words, text, &word);
    value->integer = VALUE_CPU_WORD | word;
    return is_word || (value_parse_whole(text, &value->integer) && value_fits(field, value));
  }
  if (field->type == FIELD_FLAG) {
    value->flag = strcmp(text, "true") == 0;
    return value->flag || strcmp(text, "false") == 0;
  }
  if (field->type == FIELD_GRID && value_parse_grid(text, &value->integer)) {
    return true;
  }
  if (field->zero_word != NULL && strcmp(text, field->zero_word) == 0) {
    value->integer = 0;
    return true;
  }
  if (field->most_word != NULL && strcmp(text, field->most_word) == 0) {
    value->integer = UINT64_MAX;
    return true;
  }
  return value_parse_numeric(field, text, value) && value_fits(field, value);
}

void value_complain(struct reader *reader, const struct field *field, const struct toml_node *node,
                    const char *suggestion, const char *what) {
  char expected[FIELD_EXPECTED_MAX];
  field_expected(field, expected);
  diagnostics_add(reader->diagnostics, reader->source, node->span, expected, suggestion, "%s: %s",
                  field->name, what);
}

/* Suggestions for "200 ms" and "64KB": without spaces, with the most similar unit. */
static const char *value_suggest_quantity(struct reader *reader, const struct field *field,
                                          const char *text) {
  static const char *const size_units[] = {"KiB", "MiB", "GiB", "TiB", "kB",
                                           "MB",  "GB",  "TB",  "B",   NULL};
  static const char *const duration_units[] = {"ns", "us", "ms", "s", "min", "h", NULL};
  char tight[UNITS_TEXT_MAX] = "";
  size_t length = 0;
  for (const char *p = text; *p != '\0' && length < sizeof tight - 1; p++) {
    if (!isspace((unsigned char)*p)) {
      tight[length++] = *p;
    }
  }
  union value value;
  if (value_parse_numeric(field, tight, &value)) {
    return value_fits(field, &value) ? arena_strdup(reader->arena, tight) : NULL;
  }
  const size_t digits = strspn(tight, "0123456789.");
  const bool is_size = field->type == FIELD_SIZE;
  if (is_size && digits > 0 && tight[digits] != '\0' && strchr("kKmMgGtT", tight[digits]) != NULL &&
      tight[digits + 1] == '\0') { /* "1M" is read as 1 MB by some and as 1 MiB by others */
    const int letter = toupper((unsigned char)tight[digits]);
    return arena_format(reader->arena, "%.*s%ciB\" (powers of 1024) or \"%.*s%cB", (int)digits,
                        tight, letter, (int)digits, tight, letter == 'K' ? 'k' : letter);
  }
  const char *unit =
      digits == 0 ? NULL : nearest_word(tight + digits, is_size ? size_units : duration_units);
  /* "1PiB" is not meant as 1 KiB. */
  const bool is_other = is_size && unit != NULL &&
                        toupper((unsigned char)tight[digits]) != toupper((unsigned char)unit[0]);
  if (unit == NULL || is_other || nearest_distance(tight + digits, unit, 3) >= strlen(unit)) {
    return NULL;
  }
  return arena_format(reader->arena, "%.*s%s", (int)digits, tight, unit);
}

/* "0.5%" of a number: as a fraction. NULL = it is none. */
static const char *value_describe_percent(struct reader *reader, const struct field *field,
                                          const char *text) {
  char *end = NULL;
  const double percent = strtod(text, &end);
  const union value value = {.number = percent / 100};
  end += strspn(end, " ");
  if (field->type != FIELD_NUMBER || end == text || strcmp(end, "%") != 0 ||
      !value_fits(field, &value)) {
    return NULL;
  }
  return arena_format(reader->arena, "\"%s\" is written as a fraction: %.6g is %.6g %%", text,
                      value.number, percent);
}

/* "64KiB, 2MiB": values that are right each, as an array. NULL = they are not. */
static const char *value_describe_list(struct reader *reader, const struct field *field,
                                       const char *text) {
  static const char SET[] = "--set ";
  const char *path = reader->source->path;
  const bool is_set = path != NULL && strncmp(path, SET, sizeof SET - 1) == 0;
  const char *list = "";
  if (!field_is_axis(field) || strchr(text, ',') == NULL) {
    return NULL;
  }
  for (const char *rest = text; rest != NULL;) {
    rest += strspn(rest, " ");
    const size_t length = strcspn(rest, ",");
    const char *part = arena_strndup(reader->arena, rest, strcspn(rest, ", "));
    const char *quote = part[strspn(part, "0123456789.")] == '\0' ? "" : "\"";
    union value value;
    if (!value_from_text(field, part, &value)) {
      return NULL;
    }
    list = arena_format(reader->arena, "%s%s%s%s%s", list, list[0] != '\0' ? "," : "", quote, part,
                        quote);
    rest = rest[length] == ',' ? rest + length + 1 : NULL;
  }
  return is_set
             ? arena_format(reader->arena, "\"%s\": several values are an array: --set '%.*s=[%s]'",
                            text, (int)strcspn(path + sizeof SET - 1, "="), path + sizeof SET - 1,
                            list)
             : arena_format(reader->arena, "\"%s\": several values are an array: [%s]", text, list);
}

static bool value_read_text(struct reader *reader, const struct field *field,
                            const struct toml_node *node, union value *value) {
  if (value_from_text(field, node->text, value)) {
    if (field->type == FIELD_TEXT || field->type == FIELD_NAME || field->type == FIELD_VERSION) {
      value->text = arena_strdup(reader->arena, node->text);
    }
    return true;
  }
  const char *suggestion = NULL;
  const char *list = value_describe_list(reader, field, node->text);
  const char *percent = value_describe_percent(reader, field, node->text);
  const char *hint = field->words != NULL ? nearest_hint(node->text) : NULL;
  const char *what = percent != NULL ? percent
                     : list != NULL  ? list
                     : hint != NULL
                         ? arena_format(reader->arena, "\"%s\": %s", node->text, hint)
                         : arena_format(reader->arena, "invalid value \"%s\"", node->text);
  union value beyond;
  if (list != NULL || percent != NULL) {
    suggestion = NULL;
  } else if (field->words != NULL) {
    suggestion = nearest_word(node->text, field->words);
  } else if (field->zero_word != NULL && nearest_distance(node->text, field->zero_word, 2) < 2) {
    suggestion = field->zero_word;
  } else if (field_is_numeric(field) && value_parse_numeric(field, node->text, &beyond)) {
    what = arena_format(reader->arena, "%s is out of range", node->text);
  } else if (field->type == FIELD_SIZE || field->type == FIELD_DURATION) {
    suggestion = value_suggest_quantity(reader, field, node->text);
  }
  value_complain(reader, field, node, suggestion, what);
  return false;
}

static bool value_read_number(struct reader *reader, const struct field *field,
                              const struct toml_node *node, union value *value) {
  bool kind_fits = false;
  if (field->type == FIELD_NUMBER) {
    kind_fits = true;
    value->number = node->kind == TOML_INTEGER ? (double)node->integer : node->number;
  } else if (node->kind == TOML_INTEGER && field->type != FIELD_DURATION &&
             (field_is_numeric(field) || field->type == FIELD_CPU)) {
    kind_fits = node->integer >= 0;
    value->integer = (uint64_t)node->integer;
  }
  if (kind_fits && value_fits(field, value)) {
    return true;
  }
  const char *what = "a number is not allowed here";
  if (field->type == FIELD_SIZE && node->kind == TOML_NUMBER) {
    what = arena_format(reader->arena, "%g is not a whole number of bytes", node->number);
  } else if (field->type == FIELD_DURATION && node->kind == TOML_INTEGER) {
    what = arena_format(reader->arena, "%" PRId64 " lacks a unit", node->integer);
  } else if (field_is_numeric(field) && field->minimum == field->maximum &&
             node->kind == TOML_INTEGER) {
    what = arena_format(reader->arena,
                        "%" PRId64
                        " is not supported by this version of haul; a newer one may read it",
                        node->integer);
  } else if ((field_is_numeric(field) || field->type == FIELD_CPU) && node->kind == TOML_INTEGER) {
    what = arena_format(reader->arena, "%" PRId64 " is out of range", node->integer);
  } else if (field->type == FIELD_NUMBER) {
    what = arena_format(reader->arena, "%g is out of range", node->number);
  }
  value_complain(reader, field, node, NULL, what);
  return false;
}

bool value_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                union value *value) {
  const bool wants_text =
      field->type != FIELD_FLAG && (!field_is_numeric(field) || field->zero_word != NULL ||
                                    field->type == FIELD_SIZE || field->type == FIELD_DURATION);
  switch (node->kind) {
  case TOML_TEXT:
    if (!wants_text && value_from_text(field, node->text, value)) {
      value_complain(reader, field, node, NULL,
                     arena_format(reader->arena, "write %s without quotes", node->text));
      return false;
    }
    if (wants_text || value_describe_percent(reader, field, node->text) != NULL ||
        value_describe_list(reader, field, node->text) != NULL) {
      return value_read_text(reader, field, node, value);
    }
    break;
  case TOML_INTEGER:
  case TOML_NUMBER:
    return value_read_number(reader, field, node, value);
  case TOML_BOOLEAN:
    if (field->type == FIELD_FLAG) {
      value->flag = node->boolean;
      return true;
    }
    break;
  case TOML_TABLE:
  case TOML_ARRAY:
  case TOML_TIME:
  case toml_kind_name_count:
    break;
  }
  value_complain(reader, field, node, NULL,
                 arena_format(reader->arena, "%s is not allowed here", toml_kind_text(node->kind)));
  return false;
}

static bool values_read_axis(struct reader *reader, const struct field *field,
                             const struct toml_node *node, struct values *values) {
  if (!field_is_axis(field) || node->child_count == 0) {
    value_complain(reader, field, node, NULL,
                   node->child_count == 0 ? "the array is empty" : "only one value is allowed");
    return false;
  }
  if (node->child_count > SCENARIO_SETTINGS_MAX) {
    value_complain(reader, field, node, NULL, "too many values");
    return false;
  }
  union value *items = arena_array(reader->arena, node->child_count, sizeof *items);
  bool good = true;
  for (size_t i = 0; i < node->child_count; i++) {
    good = value_read(reader, field, &node->children[i], &items[i]) && good;
  }
  *values = (struct values){items, good ? node->child_count : 0};
  return good;
}

bool values_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                 struct values *values) {
  *values = (struct values){NULL, 0};
  union value *one = arena_alloc(reader->arena, sizeof *one);
  if (field->type == FIELD_GPUS || field->type == FIELD_NODES) {
    if (!selector_read(reader, field, node, &one->selector)) {
      return false;
    }
  } else if (node->kind == TOML_ARRAY) {
    return values_read_axis(reader, field, node, values);
  } else if (node->kind == TOML_TABLE && field_is_axis(field) && field_is_numeric(field)) {
    return range_read(reader, field, node, values);
  } else if (!value_read(reader, field, node, one)) {
    return false;
  }
  *values = (struct values){one, 1};
  return true;
}

struct toml_span value_span(const struct toml_node *node, size_t i) {
  return node->kind == TOML_ARRAY && i < node->child_count ? node->children[i].span : node->span;
}

_Static_assert(sizeof(enum method) == sizeof(unsigned), "words are stored as unsigned");

/* Storing typed values in settings, and converting them to text. */

static void value_store_grid(uint64_t integer, void *memory) {
  struct grid_setting *grid = memory;
  grid->count = (uint32_t)integer;
  grid->kind = (integer & VALUE_GRID_PER_SM) != 0 ? GRID_PER_SM
               : (integer & VALUE_GRID_FULL) != 0 ? GRID_FULL
               : integer != 0                     ? GRID_BLOCKS
                                                  : GRID_AUTO;
}

static void value_store_cpu(uint64_t integer, struct flow_cpu *cpu) {
  const bool is_word = (integer & VALUE_CPU_WORD) != 0;
  cpu->choice = is_word ? (enum cpu_choice)(uint32_t)integer : CPU_NODE;
  cpu->node = is_word ? -1 : (int32_t)integer;
}

void value_store(const struct field *field, const union value *value, void *owner) {
  void *memory = (char *)owner + field->offset;
  static const size_t stored_bytes[] = {
      [FIELD_TEXT] = sizeof value->text,     [FIELD_NAME] = sizeof value->text,
      [FIELD_VERSION] = sizeof value->text,  [FIELD_WORD] = sizeof value->word,
      [FIELD_FLAG] = sizeof value->flag,     [FIELD_INTEGER] = sizeof value->integer,
      [FIELD_SIZE] = sizeof value->integer,  [FIELD_DURATION] = sizeof value->integer,
      [FIELD_NUMBER] = sizeof value->number, [FIELD_NODES] = 0,
  };
  const uint32_t count = (uint32_t)value->integer;
  if (field->type == FIELD_COUNT) {
    memcpy(memory, &count, sizeof count);
  } else if (field->type == FIELD_GRID) {
    value_store_grid(value->integer, memory);
  } else if (field->type == FIELD_CPU) {
    value_store_cpu(value->integer, memory);
  } else if (field->type == FIELD_GPUS || field->type == FIELD_NODES) {
    struct endpoint_setting *endpoint = memory;
    endpoint->place = field->type == FIELD_GPUS ? PLACE_GPU : PLACE_NUMA;
    endpoint->selector = value->selector;
  } else {
    memcpy(memory, value, stored_bytes[field->type]);
  }
}

const char *value_text(struct arena *arena, const struct field *field, const union value *value) {
  char text[UNITS_TEXT_MAX];
  if (field->type == FIELD_TEXT || field->type == FIELD_NAME || field->type == FIELD_VERSION) {
    return value->text;
  }
  if (field->type == FIELD_WORD) {
    return field->words[value->word];
  }
  if (field->type == FIELD_FLAG) {
    return value->flag ? "true" : "false";
  }
  if (field->type == FIELD_CPU) {
    return (value->integer & VALUE_CPU_WORD) != 0 ? field->words[(uint32_t)value->integer]
                                                  : arena_format(arena, "%" PRIu64, value->integer);
  }
  if (!field_is_numeric(field)) {
    return "";
  }
  if (value->integer == 0 && field->zero_word != NULL) { /* all bits of the number 0 are 0, too */
    return field->zero_word;
  }
  if (field->type == FIELD_NUMBER) {
    return arena_format(arena, "%.15g", value->number);
  }
  if (field->type == FIELD_GRID && value->integer == VALUE_GRID_FULL) {
    return "full";
  }
  if (field->type == FIELD_GRID && (value->integer & VALUE_GRID_PER_SM) != 0) {
    return arena_format(arena, "per_sm*%" PRIu32, (uint32_t)value->integer);
  }
  if (field->type != FIELD_SIZE && field->type != FIELD_DURATION) {
    return arena_format(arena, "%" PRIu64, value->integer);
  }
  (field->type == FIELD_SIZE ? units_format_size : units_format_duration)(value->integer, text);
  return arena_strdup(arena, text);
}
