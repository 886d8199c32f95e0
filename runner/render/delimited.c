/* delimited.c - rows as CSV (RFC 4180) and as a Markdown table. */
#include "runner/render/text.h"
#include "runner/render/writer.h"

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

static enum status csv_begin(struct rows *rows, struct error *err) {
  for (size_t i = 0; i < rows->column_count; i++) {
    if (i > 0) {
      strbuf_append_char(&rows->record, ',');
    }
    csv_text(&rows->record, rows->columns[i], strlen(rows->columns[i]));
  }
  strbuf_append(&rows->record, "\r\n");
  return rows_write_record(rows, err);
}

static enum status csv_row(struct rows *rows, const struct cell *cells, struct error *err) {
  for (size_t i = 0; i < rows->column_count; i++) {
    if (i > 0) {
      strbuf_append_char(&rows->record, ',');
    }
    csv_value(&rows->record, &cells[i]);
  }
  strbuf_append(&rows->record, "\r\n");
  return rows_write_record(rows, err);
}

static enum status csv_end(struct rows *rows, struct error *err) {
  (void)rows, (void)err; /* nothing is open */
  return STATUS_OK;
}

/* The heading waits for the first row (NULL = there is none), whose kinds align the columns. */
static void md_heading(struct rows *rows, const struct cell *first) {
  struct strbuf *record = &rows->record;
  strbuf_append_char(record, '|');
  for (size_t i = 0; i < rows->column_count; i++) {
    strbuf_append_char(record, ' ');
    text_escape(record, rows->columns[i], strlen(rows->columns[i]), ESCAPE_MARKDOWN);
    strbuf_append(record, " |");
  }
  strbuf_append(record, "\n|");
  for (size_t i = 0; i < rows->column_count; i++) {
    bool number = first != NULL && (first[i].kind == CELL_INTEGER || first[i].kind == CELL_REAL);
    strbuf_append(record, number ? " ---: |" : " --- |");
  }
  strbuf_append_char(record, '\n');
}

static enum status md_begin(struct rows *rows, struct error *err) {
  (void)rows, (void)err;
  return STATUS_OK;
}

static enum status md_row(struct rows *rows, const struct cell *cells, struct error *err) {
  if (rows->row_count == 0) {
    md_heading(rows, cells);
  }
  strbuf_append_char(&rows->record, '|');
  for (size_t i = 0; i < rows->column_count; i++) {
    strbuf_append_char(&rows->record, ' ');
    text_cell(&rows->record, &cells[i], ESCAPE_MARKDOWN);
    strbuf_append(&rows->record, " |");
  }
  strbuf_append_char(&rows->record, '\n');
  return rows_write_record(rows, err);
}

static enum status md_end(struct rows *rows, struct error *err) {
  if (rows->row_count > 0) {
    return STATUS_OK;
  }
  if (rows->options.empty != NULL) {
    strbuf_printf(&rows->record, "%s\n", rows->options.empty);
  } else {
    md_heading(rows, NULL);
  }
  return rows_write_record(rows, err);
}

const struct writer CSV_WRITER = {csv_begin, csv_row, csv_end};
const struct writer MD_WRITER = {md_begin, md_row, md_end};
