/* table.c - rows as a table for people, by libsmartcols. A table that cannot fit the terminal, even
 * with its texts wrapped, is turned: one line a value, a blank line between the rows. */
#include "runner/render/text.h"
#include "runner/render/writer.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPED_WIDTH_MIN = 12, SEPARATOR_WIDTH = 2 };

static void must(bool done) {
  if (!done) {
    abort(); /* libsmartcols fails only for want of memory */
  }
}

static size_t width_of(const char *text) {
  size_t width = 0;
  for (; *text != '\0'; text++) {
    width += (*text & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
  }
  return width;
}

void table_drop(struct rows *rows) {
  if (rows->table != NULL) {
    scols_unref_table(rows->table);
  }
  rows->table = NULL;
  rows->chunk_rows = 0;
}

static struct libscols_table *table_make(const struct rows *rows) {
  struct libscols_table *table = scols_new_table();
  must(table != NULL);
  must(scols_table_set_stream(table, rows->options.stream) == 0);
  must(scols_table_set_column_separator(table, "  ") == 0);
  if (rows->options.width > 0) {
    must(scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS) == 0);
    must(scols_table_set_termwidth(table, rows->options.width) == 0);
  } else {
    must(scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0);
  }
  if (rows->options.colour) {
    must(scols_table_enable_colors(table, 1) == 0);
  }
  return table;
}

static void table_start_chunk(struct rows *rows) {
  rows->table = table_make(rows);
  rows->chunk_rows = 0;
  for (size_t i = 0; i < rows->column_count; i++) {
    strbuf_clear(&rows->scratch);
    text_escape(&rows->scratch, rows->columns[i], strlen(rows->columns[i]), ESCAPE_TERMINAL);
    struct libscols_column *column = scols_table_new_column(rows->table, rows->scratch.text, 0, 0);
    must(column != NULL);
    if (rows->options.colour) {
      must(scols_cell_set_color(scols_column_get_header(column), "bold") == 0);
    }
    rows->numeric[i] = true;
    rows->filled[i] = false;
    rows->widths[i] = width_of(rows->scratch.text);
  }
}

/* Sum of the narrowest widths: numbers are never cut, texts may be wrapped. */
static size_t narrowest(const struct rows *rows, bool drop_empty) {
  size_t total = 0;
  for (size_t i = 0; i < rows->column_count; i++) {
    if (drop_empty && !rows->filled[i]) {
      continue;
    }
    bool shrinks = !rows->numeric[i] && rows->widths[i] > WRAPPED_WIDTH_MIN;
    total += (shrinks ? WRAPPED_WIDTH_MIN : rows->widths[i]) + (total > 0 ? SEPARATOR_WIDTH : 0);
  }
  return total;
}

static const char *table_text(const struct rows *rows, size_t line, size_t column) {
  struct libscols_line *row = scols_table_get_line(rows->table, line);
  const char *text = scols_cell_get_data(scols_line_get_cell(row, column));
  return text != NULL ? text : "";
}

static int print_turned(const struct rows *rows) {
  int failed = 0;
  for (size_t line = 0; line < rows->chunk_rows && failed == 0; line++) {
    struct libscols_table *turned = table_make(rows);
    must(scols_table_enable_noheadings(turned, 1) == 0);
    must(scols_table_new_column(turned, "column", 0, 0) != NULL);
    must(scols_table_new_column(turned, "value", 0, SCOLS_FL_WRAP) != NULL);
    for (size_t i = 0; i < rows->column_count; i++) {
      if (rows->options.drop_empty && !rows->filled[i]) {
        continue;
      }
      struct libscols_line *value = scols_table_new_line(turned, NULL);
      const char *name =
          scols_cell_get_data(scols_column_get_header(scols_table_get_column(rows->table, i)));
      must(value != NULL && scols_line_set_data(value, 0, name) == 0);
      must(scols_line_set_data(value, 1, table_text(rows, line, i)) == 0);
    }
    if (rows->row_count - rows->chunk_rows + line > 0) {
      (void)fputc('\n', rows->options.stream);
    }
    failed = scols_print_table(turned);
    scols_unref_table(turned);
  }
  return failed;
}

/* The widest that texts may be so that all columns fit. */
static size_t widest_text(const struct rows *rows, bool drop_empty, size_t width) {
  size_t widest = 0;
  for (size_t i = 0; i < rows->column_count; i++) {
    widest = !rows->numeric[i] && rows->widths[i] > widest ? rows->widths[i] : widest;
  }
  for (; widest > WRAPPED_WIDTH_MIN; widest--) {
    size_t total = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
      if (drop_empty && !rows->filled[i]) {
        continue;
      }
      const bool shrinks = !rows->numeric[i] && rows->widths[i] > widest;
      total += (shrinks ? widest : rows->widths[i]) + (total > 0 ? SEPARATOR_WIDTH : 0);
    }
    if (total <= width) {
      break;
    }
  }
  return widest;
}

/* Bytes of the first part of the text that is at most that wide and ends with a word; a word that
 * is wider ends at a joint of a path or of a case's name, else it is cut. */
static size_t first_line(const char *text, size_t width) {
  size_t at = 0;
  size_t word_end = 0;
  size_t joint_end = 0;
  for (size_t columns = 0; text[at] != '\0'; at++) {
    columns += (text[at] & 0xc0) != 0x80;
    if (text[at] == ' ' && columns <= width + 1) {
      word_end = at;
    }
    if (columns > width) {
      return word_end > 0 ? word_end : joint_end > 0 ? joint_end : at;
    }
    if (text[at] == '/' || text[at] == '-') {
      joint_end = at + 1;
    }
  }
  return at;
}

/* Break the texts of a column into lines. */
static void break_texts(struct rows *rows, size_t column, size_t width) {
  for (size_t line = 0; line < rows->chunk_rows; line++) {
    const char *text = table_text(rows, line, column);
    strbuf_clear(&rows->scratch);
    while (*text != '\0') {
      const size_t length = first_line(text, width);
      strbuf_append_n(&rows->scratch, text, length);
      text += length;
      text += *text == ' ';
      strbuf_append(&rows->scratch, *text != '\0' ? "\n" : "");
    }
    must(scols_line_set_data(scols_table_get_line(rows->table, line), column, rows->scratch.text) ==
         0);
  }
  struct libscols_column *wrapped = scols_table_get_column(rows->table, column);
  must(scols_column_set_safechars(wrapped, "\n") == 0);
  must(scols_column_set_wrapfunc(wrapped, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) ==
       0);
}

static int print_upright(struct rows *rows, bool drop_empty) {
  const size_t widest =
      rows->options.width > 0 ? widest_text(rows, drop_empty, rows->options.width) : SIZE_MAX;
  for (size_t i = 0; i < rows->column_count; i++) {
    const bool wraps = !rows->numeric[i] && rows->widths[i] > widest;
    if (wraps) {
      break_texts(rows, i, widest);
    }
    int flags = rows->numeric[i] ? SCOLS_FL_RIGHT : wraps ? SCOLS_FL_WRAP : 0;
    if (drop_empty && !rows->filled[i]) {
      flags |= SCOLS_FL_HIDDEN;
    }
    must(scols_column_set_flags(scols_table_get_column(rows->table, i), flags) == 0);
  }
  return scols_print_table(rows->table);
}

static enum status table_print_chunk(struct rows *rows, struct error *err) {
  errno = 0;
  size_t width = rows->options.width > 0 ? rows->options.width : SIZE_MAX;
  bool drop_empty = rows->options.drop_empty || narrowest(rows, false) > width;
  bool turn = narrowest(rows, drop_empty) > width;
  int failed = turn ? print_turned(rows) : print_upright(rows, drop_empty);
  return rows_check_stream(rows, failed != 0 || ferror(rows->options.stream) != 0, err);
}

static enum status table_begin(struct rows *rows, struct error *err) {
  (void)err;
  table_start_chunk(rows);
  return STATUS_OK;
}

static enum status table_row(struct rows *rows, const struct cell *cells, struct error *err) {
  if (rows->chunk_rows == ROWS_TABLE_CHUNK) {
    enum status status = table_print_chunk(rows, err);
    if (status != STATUS_OK) {
      return status;
    }
    table_drop(rows);
    table_start_chunk(rows);
    strbuf_append_char(&rows->record, '\n');
    status = rows_write_record(rows, err);
    if (status != STATUS_OK) {
      return status;
    }
  }
  struct libscols_line *line = scols_table_new_line(rows->table, NULL);
  must(line != NULL);
  for (size_t i = 0; i < rows->column_count; i++) {
    strbuf_clear(&rows->scratch);
    text_cell(&rows->scratch, &cells[i], ESCAPE_TERMINAL);
    must(scols_line_set_data(line, i, rows->scratch.text) == 0);
    size_t width = width_of(rows->scratch.text);
    rows->widths[i] = width > rows->widths[i] ? width : rows->widths[i];
    if (cells[i].kind == CELL_TEXT || cells[i].kind == CELL_BLOB) {
      rows->numeric[i] = false;
    }
    if (cells[i].kind != CELL_NULL) {
      rows->filled[i] = true;
    }
  }
  rows->chunk_rows++;
  return STATUS_OK;
}

static enum status table_end(struct rows *rows, struct error *err) {
  if (rows->row_count > 0) {
    return table_print_chunk(rows, err);
  }
  if (rows->options.empty != NULL) {
    strbuf_printf(&rows->record, "%s\n", rows->options.empty);
    return rows_write_record(rows, err);
  }
  /* libsmartcols prints no heading for a table without lines. */
  for (size_t i = 0; i < rows->column_count; i++) {
    if (i > 0) {
      strbuf_append(&rows->record, "  ");
    }
    text_escape(&rows->record, rows->columns[i], strlen(rows->columns[i]), ESCAPE_TERMINAL);
  }
  strbuf_append_char(&rows->record, '\n');
  return rows_write_record(rows, err);
}

const struct writer TABLE_WRITER = {table_begin, table_row, table_end};
