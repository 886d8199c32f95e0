/* json.c - values as JSON, and rows as an array of objects (of a verb as "rows" of an object) or as
 * one object per line. */
#include "runner/table/json.h"

#include "runner/table/table_internal.h"
#include "runner/table/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSON_SCHEMA_VERSION "1"

/* ---- values ---- */

static int json_put_bytes(const char *bytes, size_t size, void *context) {
  strbuf_append_n(context, bytes, size);
  return 0;
}

/* Takes over the reference. */
static void json_put_value(struct strbuf *text, json_t *value, size_t flags) {
  if (value == NULL ||
      json_dump_callback(value, json_put_bytes, text, flags | JSON_ENCODE_ANY) != 0) {
    abort(); /* only for want of memory: every value is encodable */
  }
  json_decref(value);
}

static void json_put_text(struct strbuf *text, const char *bytes, size_t length) {
  if (ALL_OF(i, length,
             bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '"' && bytes[i] != '\\')) {
    strbuf_append_char(text, '"');
    strbuf_append_n(text, bytes, length);
    strbuf_append_char(text, '"');
    return;
  }
  SCOPED(strbuf_fini) struct strbuf repaired = STRBUF(RECORD_MAX);
  SCOPED(strbuf_fini) struct strbuf value = STRBUF(RECORD_MAX);
  text_repair(&repaired, bytes, length);
  json_put_value(&value, json_stringn_nocheck(repaired.text, repaired.length), 0);
  /* The library leaves DEL, C1 and marks of direction as they are; a terminal would obey them. */
  text_escape(text, value.text, value.length, ESCAPE_TERMINAL);
}

static void json_put_real(struct strbuf *text, double value) {
  if (isfinite(value)) {
    char number[NUMBER_TEXT_MAX];
    text_real_exact(value, number);
    strbuf_append(text, number);
    strbuf_append(text, strpbrk(number, ".e") == NULL ? ".0" : ""); /* no integer */
  } else {
    strbuf_append(text, "null"); /* JSON has no infinity */
  }
}

static void json_out_line(struct json_out *json) {
  if (json->indent > 0) {
    strbuf_printf(json->text, "\n%*s", (int)(json->indent * json->depth), "");
  }
}

/* The comma, line and key before a value. */
static void json_out_value(struct json_out *json, const char *key) {
  strbuf_append(json->text, json->filled ? "," : "");
  if (json->depth > 0) {
    json_out_line(json);
  }
  strbuf_append(json->text, json->breaks ? "\n" : "");
  if (key != NULL) {
    json_put_text(json->text, key, strlen(key));
    strbuf_append(json->text, json->indent > 0 ? ": " : ":");
  }
  json->filled = true;
  json->breaks = false;
}

void json_out_open(struct json_out *json, const char *key, char bracket) {
  json_out_value(json, key);
  strbuf_append_char(json->text, bracket);
  if (json->depth == JSON_OUT_DEPTH_MAX) {
    abort();
  }
  json->close[json->depth++] = bracket == '{' ? '}' : ']';
  json->filled = false;
}

void json_out_close(struct json_out *json) {
  json->depth--;
  if (json->filled) {
    json_out_line(json);
  }
  strbuf_append_char(json->text, json->close[json->depth]);
  json->filled = true;
  json->breaks = false;
}

void json_out_raw(struct json_out *json, const char *key, const char *value) {
  json_out_value(json, key);
  strbuf_append(json->text, value);
}

void json_out_null(struct json_out *json, const char *key) {
  json_out_raw(json, key, "null");
}

void json_out_boolean(struct json_out *json, const char *key, bool value) {
  json_out_raw(json, key, value ? "true" : "false");
}

void json_out_integer(struct json_out *json, const char *key, int64_t value) {
  json_out_value(json, key);
  strbuf_printf(json->text, "%" PRId64, value);
}

void json_out_real(struct json_out *json, const char *key, double value) {
  json_out_value(json, key);
  json_put_real(json->text, value);
}

void json_out_text(struct json_out *json, const char *key, const char *value) {
  if (value == NULL) {
    json_out_null(json, key);
    return;
  }
  json_out_value(json, key);
  json_put_text(json->text, value, strlen(value));
}

void json_out_schema_name(struct strbuf *text, const char *name) {
  strbuf_printf(text, "haul.%s/" JSON_SCHEMA_VERSION, name);
}

void json_out_schema(struct json_out *json, const char *name) {
  json_out_value(json, "schema");
  strbuf_append_char(json->text, '"');
  json_out_schema_name(json->text, name);
  strbuf_append_char(json->text, '"');
}

struct json_out json_out_begin(struct strbuf *text, const char *schema, unsigned indent) {
  struct json_out json = {.text = text, .indent = indent};
  json_out_open(&json, NULL, '{');
  json_out_schema(&json, schema);
  return json;
}

enum status json_out_end(struct json_out *json, FILE *stream, struct error *err) {
  json_out_close(json);
  strbuf_append_char(json->text, '\n');
  return stream_print(stream, json->text, NULL, err);
}

void json_out_break(struct json_out *json) {
  json->breaks = true;
}

/* ---- rows ---- */

/* Whether the text is JSON, which a long one may have lost its end of. */
static bool json_out_parsed(struct json_out *json, const char *key, const struct cell *cell) {
  json_t *value = cell->kind == CELL_TEXT
                      ? json_loadb(cell->as.text.bytes, cell->as.text.length, 0, NULL)
                      : NULL;
  if (value != NULL) {
    json_out_value(json, key);
    json_put_value(json->text, value, JSON_COMPACT);
  }
  return value != NULL;
}

static void json_out_cell(struct json_out *json, const char *key, const struct cell *cell) {
  json_out_value(json, key);
  const char *quote = cell->kind == CELL_BLOB ? "\"" : "";
  if (cell->kind == CELL_NULL) {
    strbuf_append(json->text, "null");
  } else if (cell->kind == CELL_REAL) {
    json_put_real(json->text, cell->as.real);
  } else if (cell->kind == CELL_TEXT) {
    json_put_text(json->text, cell->as.text.bytes, cell->as.text.length);
  } else {
    strbuf_append(json->text, quote);
    text_cell_exact(json->text, cell);
    strbuf_append(json->text, quote);
  }
}

static void json_put_row(struct table *table, const struct cell *cells) {
  struct json_out json = {.text = &table->record};
  json_out_open(&json, NULL, '{');
  for (size_t i = 0; i < table->column_count; i++) {
    const char *name = table->columns[i].name;
    if (!table->columns[i].is_json || !json_out_parsed(&json, name, &cells[i])) {
      json_out_cell(&json, name, &cells[i]);
    }
  }
  json_out_close(&json);
}

/* table->state: not NULL while an array is open. */
static enum status json_array_begin(struct table *table, struct error *err) {
  table->state = table;
  if (table->options.schema != NULL) {
    struct json_out json = json_out_begin(&table->record, table->options.schema, 0);
    json_out_open(&json, "rows", '[');
  } else {
    strbuf_append_char(&table->record, '[');
  }
  return table_print_record(table, err);
}

static enum status json_array_row(struct table *table, const struct cell *cells,
                                  struct error *err) {
  strbuf_append(&table->record, table->row_count > 0 ? ",\n" : "\n");
  json_put_row(table, cells);
  return table_print_record(table, err);
}

static enum status json_array_end(struct table *table, struct error *err) {
  table->state = NULL;
  strbuf_append(&table->record, table->row_count > 0 ? "\n]" : "]");
  strbuf_append(&table->record, table->options.schema != NULL ? "}\n" : "\n");
  return table_print_record(table, err);
}

/* The message on the failure begins on a line of its own. */
static void json_array_drop(struct table *table) {
  if (table->state != NULL && !table->reader_gone) {
    (void)fputc('\n', table->options.stream);
    (void)fflush(table->options.stream);
  }
  table->state = NULL;
}

static enum status json_lines_row(struct table *table, const struct cell *cells,
                                  struct error *err) {
  json_put_row(table, cells);
  strbuf_append_char(&table->record, '\n');
  return table_print_record(table, err);
}

const struct table_writer JSON_WRITER = {.begin = json_array_begin,
                                         .row = json_array_row,
                                         .end = json_array_end,
                                         .drop = json_array_drop};
const struct table_writer JSONL_WRITER = {.row = json_lines_row};
