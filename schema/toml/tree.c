#include "schema/toml/toml.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(toml_kind, TOML_KIND_LIST)

const struct toml_node *toml_get(const struct toml_node *table, const char *key) {
  if (table == NULL || table->kind != TOML_TABLE) {
    return NULL;
  }
  for (size_t i = 0; i < table->child_count; i++) {
    if (strcmp(table->children[i].key, key) == 0) {
      return &table->children[i];
    }
  }
  return NULL;
}

void toml_write_text(struct strbuf *buffer, const char *text) {
  strbuf_append_char(buffer, '"');
  for (const char *p = text; *p != '\0'; p++) {
    const unsigned char c = (unsigned char)*p;
    if (c == '"' || c == '\\') {
      strbuf_append_char(buffer, '\\');
      strbuf_append_char(buffer, *p);
    } else if (c < 0x20 || c == 0x7f) {
      strbuf_printf(buffer, "\\u%04X", c);
    } else {
      strbuf_append_char(buffer, *p);
    }
  }
  strbuf_append_char(buffer, '"');
}

static bool toml_is_bare_key(const char *key) {
  return *key != '\0' && key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_-")] == '\0';
}

void toml_write_key(struct strbuf *buffer, const char *key) {
  if (toml_is_bare_key(key)) {
    strbuf_append(buffer, key);
  } else {
    toml_write_text(buffer, key);
  }
}

/* The shortest text that reads back as the same number, with the fraction that TOML wants. */
static void toml_write_number(struct strbuf *buffer, double number) {
  if (isnan(number) || isinf(number)) {
    strbuf_append(buffer, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
    return;
  }
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, number);
    if (!(strtod(text, NULL) < number) && !(strtod(text, NULL) > number)) {
      break;
    }
  }
  strbuf_append(buffer, text);
  if (strpbrk(text, ".e") == NULL) {
    strbuf_append(buffer, ".0");
  }
}

static void toml_write_table(struct strbuf *buffer, const struct toml_node *table) {
  strbuf_append(buffer, "{ ");
  for (size_t i = 0; i < table->child_count; i++) {
    strbuf_append(buffer, i == 0 ? "" : ", ");
    toml_write_key(buffer, table->children[i].key);
    strbuf_append(buffer, " = ");
    toml_write_value(buffer, &table->children[i]);
  }
  strbuf_append(buffer, table->child_count == 0 ? "}" : " }");
}

static void toml_write_array(struct strbuf *buffer, const struct toml_node *array) {
  strbuf_append_char(buffer, '[');
  for (size_t i = 0; i < array->child_count; i++) {
    strbuf_append(buffer, i == 0 ? "" : ", ");
    toml_write_value(buffer, &array->children[i]);
  }
  strbuf_append_char(buffer, ']');
}

void toml_write_value(struct strbuf *buffer, const struct toml_node *node) {
  switch (node->kind) {
  case TOML_TABLE:
    toml_write_table(buffer, node);
    break;
  case TOML_ARRAY:
    toml_write_array(buffer, node);
    break;
  case TOML_TEXT:
    toml_write_text(buffer, node->text);
    break;
  case TOML_INTEGER:
    strbuf_printf(buffer, "%" PRId64, node->integer);
    break;
  case TOML_NUMBER:
    toml_write_number(buffer, node->number);
    break;
  case TOML_BOOLEAN:
    strbuf_append(buffer, node->boolean ? "true" : "false");
    break;
  case TOML_TIME:
    strbuf_append(buffer, node->text);
    break;
  case toml_kind_name_count:
    break;
  }
}
