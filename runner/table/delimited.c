/* delimited.c - rows as CSV (RFC 4180) and as a Markdown table. */
#include "runner/table/text.h"
#include "runner/table/writer.h"

#include <inttypes.h>
#include <string.h>

static void csv_text(struct strbuf *buffer, const char *bytes, size_t length) {
  bool quote = length == 0; /* "" is the empty text, an empty field is NULL */
  for (size_t i = 0; i < length && !quote; i++) {
    quote = strchr("\",\r\n", bytes[i]) != NULL; /* NUL counts: strchr finds the terminator */
  }
  if (!quote) {
    strbuf_append_n(buffer, bytes, length);
    return;
  }
  strbuf_append_char(buffer, '"');
  for (size_t i = 0; i < length; i++) {
    if (bytes[i] == '"') {
      strbuf_append_char(buffer, '"');
    }
    strbuf_append_char(buffer, bytes[i]);
  }
  strbuf_append_char(buffer, '"');
}

static void csv_value(struct strbuf *buffer, const struct cell *cell) {
  char number[NUMBER_TEXT_MAX];
  switch (cell->kind) {
  case CELL_NULL:
    break;
  case CELL_INTEGER:
    strbuf_printf(buffer, "%" PRId64, cell->as.integer);
    break;
  case CELL_REAL:
    text_real_exact(cell->as.real, number);
    strbuf_append(buffer, number);
    break;
  case CELL_TEXT:
    csv_text(buffer, cell->as.text.bytes, cell->as.text.length);
    break;
  case CELL_BLOB:
    text_hex(buffer, cell->as.text.bytes, cell->as.text.length);
    break;
  }
}

static enum status csv_begin(struct table *table, struct error *err) {
  for (size_t i = 0; i < table->column_count; i++) {
    if (i > 0) {
      strbuf_append_char(&table->record, ',');
    }
    csv_text(&table->record, table->columns[i].name, strlen(table->columns[i].name));
  }
  strbuf_append(&table->record, "\r\n");
  return table_write_record(table, err);
}

static enum status csv_row(struct table *table, const struct cell *cells, struct error *err) {
  for (size_t i = 0; i < table->column_count; i++) {
    if (i > 0) {
      strbuf_append_char(&table->record, ',');
    }
    csv_value(&table->record, &cells[i]);
  }
  strbuf_append(&table->record, "\r\n");
  return table_write_record(table, err);
}

/* The heading waits for the first row (NULL = there is none), whose kinds align the columns. */
static void markdown_heading(struct table *table, const struct cell *first) {
  struct strbuf *record = &table->record;
  strbuf_append_char(record, '|');
  for (size_t i = 0; i < table->column_count; i++) {
    strbuf_append_char(record, ' ');
    text_escape(record, table->columns[i].name, strlen(table->columns[i].name), ESCAPE_MARKDOWN);
    strbuf_append(record, " |");
  }
  strbuf_append(record, "\n|");
  for (size_t i = 0; i < table->column_count; i++) {
    const bool number =
        first != NULL && (first[i].kind == CELL_INTEGER || first[i].kind == CELL_REAL);
    strbuf_append(record, number ? " ---: |" : " --- |");
  }
  strbuf_append_char(record, '\n');
}

static enum status markdown_row(struct table *table, const struct cell *cells, struct error *err) {
  if (table->row_count == 0) {
    markdown_heading(table, cells);
  }
  strbuf_append_char(&table->record, '|');
  for (size_t i = 0; i < table->column_count; i++) {
    strbuf_append_char(&table->record, ' ');
    text_cell(&table->record, &cells[i], ESCAPE_MARKDOWN);
    strbuf_append(&table->record, " |");
  }
  strbuf_append_char(&table->record, '\n');
  return table_write_record(table, err);
}

static enum status markdown_end(struct table *table, struct error *err) {
  if (table->row_count > 0) {
    return STATUS_OK;
  }
  if (table->options.empty != NULL) {
    strbuf_printf(&table->record, "%s\n", table->options.empty);
  } else {
    markdown_heading(table, NULL);
  }
  return table_write_record(table, err);
}

const struct table_writer CSV_WRITER = {.begin = csv_begin, .row = csv_row};
const struct table_writer MARKDOWN_WRITER = {.row = markdown_row, .end = markdown_end};
