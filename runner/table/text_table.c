/* text_table.c - a table for people, by libsmartcols. A table that cannot fit the terminal, even
 * with its texts wrapped, is expanded: one line per value, a blank line between the rows. */
#include "runner/table/output.h"
#include "runner/table/text.h"
#include "runner/table/writer.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPED_WIDTH_MIN = 12, SEPARATOR_WIDTH = 2 };

struct text_column {
  bool numeric; /* no value so far was other than a number */
  bool filled;  /* there was a value other than NULL */
  size_t width; /* of its widest text so far */
};

/* The rows since the last heading. */
struct text_chunk {
  struct libscols_table *lines;
  size_t row_count;
  struct text_column *columns;
};

static void scols_must(bool done) {
  if (!done) {
    abort(); /* libsmartcols fails only for want of memory */
  }
}

static void text_drop(struct table *table) {
  struct text_chunk *chunk = table->state;
  if (chunk != NULL) {
    scols_unref_table(chunk->lines);
    free(chunk->columns);
    free(chunk);
  }
  table->state = NULL;
}

static struct libscols_table *text_new_lines(const struct table *table) {
  const struct table_options *options = &table->options;
  struct libscols_table *lines = scols_new_table();
  scols_must(lines != NULL);
  scols_must(scols_table_set_stream(lines, options->stream) == 0);
  scols_must(scols_table_set_column_separator(lines, "  ") == 0);
  if (options->width > 0 && !options->compact) {
    scols_must(scols_table_set_termforce(lines, SCOLS_TERMFORCE_ALWAYS) == 0);
    scols_must(scols_table_set_termwidth(lines, options->width) == 0);
  } else {
    scols_must(scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER) == 0);
  }
  scols_must(scols_table_enable_minout(lines, options->compact) == 0);
  scols_must(scols_table_enable_colors(lines, options->colour) == 0);
  return lines;
}

static void text_start(struct table *table) {
  struct text_chunk *chunk = calloc(1, sizeof *chunk);
  scols_must(chunk != NULL);
  chunk->columns = calloc(table->column_count + 1, sizeof *chunk->columns);
  scols_must(chunk->columns != NULL);
  chunk->lines = text_new_lines(table);
  table->state = chunk;
  for (size_t i = 0; i < table->column_count; i++) {
    const char *name = table->columns[i].name;
    strbuf_clear(&table->scratch);
    text_append(&table->scratch, name);
    struct libscols_column *column =
        scols_table_new_column(chunk->lines, table->scratch.text, 0, 0);
    scols_must(column != NULL);
    if (table->options.colour) {
      const char *colour = table->options.compact ? COLOUR_DIM : "bold";
      scols_must(scols_cell_set_color(scols_column_get_header(column), colour) == 0);
    }
    chunk->columns[i] = (struct text_column){true, false, text_width(table->scratch.text)};
  }
}

static bool text_shrinks(const struct text_column *column, size_t widest) {
  return !column->numeric && column->width > widest;
}

/* The width when no text is wider than that: numbers are never cut, texts may be wrapped. */
static size_t text_table_width(const struct table *table, bool drop_empty, size_t widest) {
  const struct text_chunk *chunk = table->state;
  size_t total = 0;
  for (size_t i = 0; i < table->column_count; i++) {
    const struct text_column *column = &chunk->columns[i];
    if (!drop_empty || column->filled) {
      total += (text_shrinks(column, widest) ? widest : column->width) +
               (total > 0 ? SEPARATOR_WIDTH : 0);
    }
  }
  return total;
}

static const char *text_text(const struct text_chunk *chunk, size_t row, size_t column) {
  struct libscols_line *line = scols_table_get_line(chunk->lines, row);
  const char *text = scols_cell_get_data(scols_line_get_cell(line, column));
  return text != NULL ? text : "";
}

static int text_print_expanded(const struct table *table) {
  const struct text_chunk *chunk = table->state;
  int failed = 0;
  for (size_t row = 0; row < chunk->row_count && failed == 0; row++) {
    struct libscols_table *expanded = text_new_lines(table);
    scols_must(scols_table_enable_noheadings(expanded, 1) == 0);
    scols_must(scols_table_new_column(expanded, "column", 0, 0) != NULL);
    scols_must(scols_table_new_column(expanded, "value", 0, SCOLS_FL_WRAP) != NULL);
    for (size_t i = 0; i < table->column_count; i++) {
      if (table->options.drop_empty && !chunk->columns[i].filled) {
        continue;
      }
      struct libscols_line *line = scols_table_new_line(expanded, NULL);
      const char *name =
          scols_cell_get_data(scols_column_get_header(scols_table_get_column(chunk->lines, i)));
      scols_must(line != NULL && scols_line_set_data(line, 0, name) == 0);
      scols_must(scols_line_set_data(line, 1, text_text(chunk, row, i)) == 0);
    }
    if (table->row_count - chunk->row_count + row > 0) {
      (void)fputc('\n', table->options.stream);
    }
    failed = scols_print_table(expanded);
    scols_unref_table(expanded);
  }
  return failed;
}

/* The greatest width of texts with which all columns fit. */
static size_t text_widest_text(const struct table *table, bool drop_empty, size_t width) {
  const struct text_chunk *chunk = table->state;
  size_t widest = 0;
  for (size_t i = 0; i < table->column_count; i++) {
    widest = text_shrinks(&chunk->columns[i], widest) ? chunk->columns[i].width : widest;
  }
  while (widest > WRAPPED_WIDTH_MIN && text_table_width(table, drop_empty, widest) > width) {
    widest--;
  }
  return widest;
}

/* Break the texts of a column into lines. */
static void text_wrap_column(struct table *table, size_t column, size_t width) {
  const struct text_chunk *chunk = table->state;
  for (size_t row = 0; row < chunk->row_count; row++) {
    strbuf_clear(&table->scratch);
    text_wrap(&table->scratch, text_text(chunk, row, column), width, 0, true);
    scols_must(scols_line_set_data(scols_table_get_line(chunk->lines, row), column,
                                   table->scratch.text) == 0);
  }
  struct libscols_column *wrapped = scols_table_get_column(chunk->lines, column);
  scols_must(scols_column_set_safechars(wrapped, "\n") == 0);
  scols_must(scols_column_set_wrapfunc(wrapped, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
                                       NULL) == 0);
}

static bool text_is_right(const struct column *column, const struct text_column *text) {
  return column->align == ALIGN_RIGHT || (column->align == ALIGN_BY_VALUE && text->numeric);
}

static void text_lay_out(struct table *table, bool drop_empty) {
  const struct text_chunk *chunk = table->state;
  const struct table_options *options = &table->options;
  const size_t widest = options->width > 0 && !options->compact
                            ? text_widest_text(table, drop_empty, options->width)
                            : SIZE_MAX;
  for (size_t i = 0; i < table->column_count; i++) {
    const bool wraps = text_shrinks(&chunk->columns[i], widest);
    if (wraps) {
      text_wrap_column(table, i, widest);
    }
    int flags = wraps ? SCOLS_FL_WRAP : 0;
    if (text_is_right(&table->columns[i], &chunk->columns[i])) {
      flags |= SCOLS_FL_RIGHT;
    }
    if (drop_empty && !chunk->columns[i].filled) {
      flags |= SCOLS_FL_HIDDEN;
    }
    scols_must(scols_column_set_flags(scols_table_get_column(chunk->lines, i), flags) == 0);
  }
}

/* An empty heading at the end leaves blanks behind it. */
static int text_print_trimmed(const struct table *table) {
  const struct text_chunk *chunk = table->state;
  char *all = NULL;
  scols_must(scols_print_table_to_string(chunk->lines, &all) == 0 && all != NULL);
  for (const char *text = all; *text != '\0';) {
    const size_t length = strcspn(text, "\n");
    size_t shown = length;
    while (shown > 0 && text[shown - 1] == ' ') {
      shown--;
    }
    (void)fprintf(table->options.stream, "%.*s\n", (int)shown, text);
    text += length + (text[length] == '\n');
  }
  free(all);
  return 0;
}

static enum status text_print(struct table *table, struct error *err) {
  const struct table_options *options = &table->options;
  const struct text_chunk *chunk = table->state;
  const size_t width = options->width > 0 && !options->compact ? options->width : SIZE_MAX;
  const bool drop_empty = options->drop_empty || options->compact ||
                          text_table_width(table, false, WRAPPED_WIDTH_MIN) > width;
  int failed = 0;
  errno = 0;
  if (text_table_width(table, drop_empty, WRAPPED_WIDTH_MIN) > width) {
    failed = text_print_expanded(table);
  } else {
    text_lay_out(table, drop_empty);
    failed = options->compact ? text_print_trimmed(table) : scols_print_table(chunk->lines);
  }
  return stream_check(failed != 0 || ferror(options->stream) != 0, &table->reader_gone, err);
}

static enum status text_begin(struct table *table, struct error *err) {
  (void)err;
  text_start(table);
  return STATUS_OK;
}

static enum status text_start_again(struct table *table, struct error *err) {
  const enum status status = text_print(table, err);
  if (status != STATUS_OK) {
    return status;
  }
  text_drop(table);
  text_start(table);
  strbuf_append_char(&table->record, '\n');
  return table_write_record(table, err);
}

static enum status text_row(struct table *table, const struct cell *cells, struct error *err) {
  struct text_chunk *chunk = table->state;
  if (chunk->row_count == TABLE_CHUNK_ROWS) {
    const enum status status = text_start_again(table, err);
    if (status != STATUS_OK) {
      return status;
    }
    chunk = table->state;
  }
  struct libscols_line *line = scols_table_new_line(chunk->lines, NULL);
  scols_must(line != NULL);
  for (size_t i = 0; i < table->column_count; i++) {
    struct text_column *column = &chunk->columns[i];
    strbuf_clear(&table->scratch);
    text_cell(&table->scratch, &cells[i], ESCAPE_TERMINAL);
    scols_must(scols_line_set_data(line, i, table->scratch.text) == 0);
    if (table->options.colour && cells[i].tone != TONE_NONE) {
      scols_must(scols_cell_set_color(scols_line_get_cell(line, i), output_colour(cells[i].tone)) ==
                 0);
    }
    const size_t width = text_width(table->scratch.text);
    column->width = width > column->width ? width : column->width;
    column->numeric = column->numeric && cells[i].kind != CELL_TEXT && cells[i].kind != CELL_BLOB;
    column->filled = column->filled || cells[i].kind != CELL_NULL;
  }
  chunk->row_count++;
  return STATUS_OK;
}

static enum status text_end(struct table *table, struct error *err) {
  if (table->row_count > 0) {
    return text_print(table, err);
  }
  if (table->options.empty != NULL) {
    strbuf_printf(&table->record, "%s\n", table->options.empty);
    return table_write_record(table, err);
  }
  /* libsmartcols prints no heading for a table without lines. */
  for (size_t i = 0; i < table->column_count; i++) {
    const char *name = table->columns[i].name;
    strbuf_append(&table->record, i > 0 ? "  " : "");
    text_append(&table->record, name);
  }
  strbuf_append_char(&table->record, '\n');
  return table_write_record(table, err);
}

const struct table_writer TEXT_WRITER = {text_begin, text_row, text_end, text_drop};
