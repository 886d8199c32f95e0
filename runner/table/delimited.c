/* delimited.c - rows as CSV (RFC 4180), as CSV for spreadsheets, and as a Markdown table. */
#include "runner/table/table_internal.h"
#include "runner/table/text.h"

#include <string.h>

/* prefix: written before the text; may be "". */
static void csv_text(struct strbuf *buffer, const char *prefix, const char *bytes, size_t length) {
  bool quote = length == 0; /* "" is the empty text, an empty field is NULL */
  for (size_t i = 0; i < length && !quote; i++) {
    const char c = bytes[i];
    quote = c == '"' || c == ',' || c == '\r' || c == '\n' || c == '\0';
  }
  if (!quote) {
    strbuf_append(buffer, prefix);
    strbuf_append_n(buffer, bytes, length);
    return;
  }
  strbuf_append_char(buffer, '"');
  strbuf_append(buffer, prefix);
  for (size_t i = 0; i < length; i++) {
    if (bytes[i] == '"') {
      strbuf_append_char(buffer, '"');
    }
    strbuf_append_char(buffer, bytes[i]);
  }
  strbuf_append_char(buffer, '"');
}

static void csv_cell(struct strbuf *buffer, const struct cell *cell) {
  if (cell->kind == CELL_TEXT) {
    csv_text(buffer, "", cell->as.text.bytes, cell->as.text.length);
  } else {
    text_cell_exact(buffer, cell);
  }
}

/* A text that a spreadsheet would take for a formula is kept from it by an apostrophe
 * (https://owasp.org/www-community/attacks/CSV_Injection). Numbers are numbers, negative ones too.
 */
static void csv_safe_cell(struct strbuf *buffer, const struct cell *cell) {
  const bool text = cell->kind == CELL_TEXT && cell->as.text.length > 0;
  const bool formula =
      text && cell->as.text.bytes[0] != '\0' && strchr("=+-@\t\r", cell->as.text.bytes[0]) != NULL;
  if (formula) {
    csv_text(buffer, "'", cell->as.text.bytes, cell->as.text.length);
  } else {
    csv_cell(buffer, cell);
  }
}

static void markdown_cell(struct strbuf *buffer, const struct cell *cell) {
  text_cell(buffer, cell, ESCAPE_MARKDOWN);
}

/* How a format writes a line: before the cells, between them, behind them, and a cell. */
struct delimited {
  const char *begin, *between, *end;
  void (*put)(struct strbuf *buffer, const struct cell *cell);
};
static const struct delimited CSV = {"", ",", "\r\n", csv_cell};
static const struct delimited CSV_SAFE = {"", ",", "\r\n", csv_safe_cell};
static const struct delimited MARKDOWN = {"| ", " | ", " |\n", markdown_cell};

/* One line; the heading's cells are the names of the columns. */
static void delimited_line(struct table *table, const struct cell *cells,
                           const struct delimited *how) {
  strbuf_append(&table->record, how->begin);
  for (size_t i = 0; i < table->column_count; i++) {
    const struct cell name = cell_text(table->columns[i].name);
    strbuf_append(&table->record, i > 0 ? how->between : "");
    how->put(&table->record, cells != NULL ? &cells[i] : &name);
  }
  strbuf_append(&table->record, how->end);
}

static enum status csv_row(struct table *table, const struct cell *cells, struct error *err) {
  delimited_line(table, cells, table->options.format == OUTPUT_CSV_SAFE ? &CSV_SAFE : &CSV);
  return table_print_record(table, err);
}

static enum status csv_begin(struct table *table, struct error *err) {
  return csv_row(table, NULL, err);
}

/* The heading waits for the first row (NULL = there is none), whose kinds align the columns. */
static void markdown_heading(struct table *table, const struct cell *first) {
  delimited_line(table, NULL, &MARKDOWN);
  strbuf_append_char(&table->record, '|');
  for (size_t i = 0; i < table->column_count; i++) {
    const bool number =
        first != NULL && (first[i].kind == CELL_INTEGER || first[i].kind == CELL_REAL);
    strbuf_append(&table->record, number ? " ---: |" : " --- |");
  }
  strbuf_append_char(&table->record, '\n');
}

static enum status markdown_row(struct table *table, const struct cell *cells, struct error *err) {
  if (table->row_count == 0) {
    markdown_heading(table, cells);
  }
  delimited_line(table, cells, &MARKDOWN);
  return table_print_record(table, err);
}

static enum status markdown_end(struct table *table, struct error *err) {
  if (table->row_count == 0 && table->options.empty != NULL) {
    strbuf_printf(&table->record, "%s\n", table->options.empty);
  } else if (table->row_count == 0) {
    markdown_heading(table, NULL);
  }
  return table_print_record(table, err);
}

const struct table_writer CSV_WRITER = {.begin = csv_begin, .row = csv_row};
const struct table_writer MARKDOWN_WRITER = {.row = markdown_row, .end = markdown_end};
