/* json.c - rows as JSON objects, each value encoded by jansson. */
#include "runner/render/text.h"
#include "runner/render/writer.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static int append_bytes(const char *bytes, size_t size, void *context) {
  strbuf_append_n(context, bytes, size);
  return 0;
}

/* Takes over the reference. */
static void append_json(struct strbuf *buffer, json_t *value, size_t flags) {
  if (value == NULL ||
      json_dump_callback(value, append_bytes, buffer, flags | JSON_ENCODE_ANY) != 0) {
    abort(); /* only for want of memory: every value is encodable */
  }
  json_decref(value);
}

static void append_text(struct rows *rows, const char *bytes, size_t length) {
  strbuf_clear(&rows->scratch);
  text_repair(&rows->scratch, bytes, length);
  append_json(&rows->record, json_stringn_nocheck(rows->scratch.text, rows->scratch.length), 0);
}

static void append_value(struct rows *rows, const struct cell *cell) {
  switch (cell->kind) {
  case CELL_NULL:
    append_json(&rows->record, json_null(), 0);
    break;
  case CELL_INTEGER:
    append_json(&rows->record, json_integer(cell->as.integer), 0);
    break;
  case CELL_REAL:
    if (isfinite(cell->as.real)) {
      append_json(&rows->record, json_real(cell->as.real),
                  JSON_REAL_PRECISION((size_t)text_real_digits(cell->as.real)));
    } else {
      append_json(&rows->record, json_null(), 0); /* JSON has no infinity */
    }
    break;
  case CELL_TEXT:
    append_text(rows, cell->as.text.bytes, cell->as.text.length);
    break;
  case CELL_BLOB:
    strbuf_append_char(&rows->record, '"');
    text_hex(&rows->record, cell->as.text.bytes, cell->as.text.length);
    strbuf_append_char(&rows->record, '"');
    break;
  }
}

static void append_object(struct rows *rows, const struct cell *cells) {
  strbuf_append_char(&rows->record, '{');
  for (size_t i = 0; i < rows->column_count; i++) {
    if (i > 0) {
      strbuf_append_char(&rows->record, ',');
    }
    append_text(rows, rows->columns[i], strlen(rows->columns[i]));
    strbuf_append_char(&rows->record, ':');
    append_value(rows, &cells[i]);
  }
  strbuf_append_char(&rows->record, '}');
}

static enum status json_begin(struct rows *rows, struct error *err) {
  strbuf_append_char(&rows->record, '[');
  return rows_write_record(rows, err);
}

static enum status json_row(struct rows *rows, const struct cell *cells, struct error *err) {
  strbuf_append(&rows->record, rows->row_count > 0 ? ",\n" : "\n");
  append_object(rows, cells);
  return rows_write_record(rows, err);
}

static enum status json_end(struct rows *rows, struct error *err) {
  strbuf_append(&rows->record, rows->row_count > 0 ? "\n]\n" : "]\n");
  return rows_write_record(rows, err);
}

static enum status jsonl_begin(struct rows *rows, struct error *err) {
  (void)rows, (void)err; /* no heading */
  return STATUS_OK;
}

static enum status jsonl_row(struct rows *rows, const struct cell *cells, struct error *err) {
  append_object(rows, cells);
  strbuf_append_char(&rows->record, '\n');
  return rows_write_record(rows, err);
}

static enum status jsonl_end(struct rows *rows, struct error *err) {
  (void)rows, (void)err; /* nothing is open */
  return STATUS_OK;
}

const struct writer JSON_WRITER = {json_begin, json_row, json_end};
const struct writer JSONL_WRITER = {jsonl_begin, jsonl_row, jsonl_end};
