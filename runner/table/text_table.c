/* text_table.c - a table for people, by libsmartcols. A table that cannot fit the terminal, even
 * with its texts wrapped, is expanded: one line per value, a blank line between the rows, and the
 * columns that no row has a value of named below. Where columns say in which order they can be done
 * without, they are left out instead. Lines above the table say once what all rows share, and lines
 * below it name the other columns that are left out. The last text of such a table stands on lines
 * of its own, below its row, where the table is shorter so or has no room for it. */
#include "runner/table/text.h"
#include "runner/table/text_layout.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

static void scols_must(bool done) {
  if (!done) {
    abort(); /* libsmartcols fails only for want of memory */
  }
}

/* table->state is a result_set: the rows since the last heading. */
static void text_drop(struct table *table) {
  if (table->state != NULL) {
    result_set_fini(table->state);
    free(table->state);
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

/* "first a, b=1 last" in lines above or below the table; the columns that all rows have the same
 * value of, with it, or the others. */
static void text_put_columns(struct table *table, const struct text_layout *layout, bool same,
                             const char *first, const char *last) {
  SCOPED(strbuf_fini) struct strbuf names = STRBUF(RECORD_MAX);
  SCOPED(strbuf_fini) struct strbuf wrapped = STRBUF(RECORD_MAX);
  for (size_t i = 0; i < layout->rows->column_count; i++) {
    if (layout->left_out[i] && layout->same[i] == same) {
      strbuf_append_word(&names, text_of_heading(table, i));
      strbuf_append(&names, same ? "=" : "");
      strbuf_append(&names, same ? text_of_cell(table, result_set_cell(layout->rows, 0, i)) : "");
    }
  }
  if (names.length > 0) {
    strbuf_append(&names, last);
    text_wrap(&wrapped, names.text, table->options.width, strlen(first), false);
    (void)fprintf(table->options.stream, "%s%s\n", first, wrapped.text);
  }
}

/* "name   value", at most as wide as the terminal. */
static void text_print_value(struct table *table, size_t column, const struct cell *cell,
                             size_t names_width) {
  enum { GAP = 2, VALUE_WIDTH_MIN = 12 };
  const size_t indent = names_width + GAP;
  const size_t width = table->options.width;
  const char *name = text_of_heading(table, column);
  SCOPED(strbuf_fini) struct strbuf line = STRBUF(RECORD_MAX);
  strbuf_printf(&line, "%s%*s", name, (int)(indent - text_width(name)), "");
  const char *value = text_of_cell(table, cell);
  const bool wraps = width >= indent + VALUE_WIDTH_MIN && indent + text_width(value) > width;
  if (wraps) {
    text_wrap(&line, value, width, indent, true);
  } else {
    strbuf_append(&line, value);
  }
  while (line.length > 0 && line.text[line.length - 1] == ' ') { /* of an empty value */
    line.length--;
  }
  (void)fprintf(table->options.stream, "%.*s\n", (int)line.length, line.text);
}

static void text_print_expanded(struct table *table, const struct text_layout *layout) {
  static const char EMPTY[] = "without a value: ";
  SCOPED(strbuf_fini) struct strbuf empty = STRBUF(RECORD_MAX);
  SCOPED(strbuf_fini) struct strbuf wrapped = STRBUF(RECORD_MAX);
  const struct result_set *rows = layout->rows;
  size_t names_width = 0;
  for (size_t i = 0; i < rows->column_count; i++) {
    const size_t width = rows->facts[i].filled ? text_width(text_of_heading(table, i)) : 0;
    names_width = width > names_width ? width : names_width;
    if (!rows->facts[i].filled && !table->options.drop_empty) {
      strbuf_append_word(&empty, text_of_heading(table, i));
    }
  }
  for (size_t row = 0; row < rows->row_count; row++) {
    if (table->row_count - rows->row_count + row > 0) {
      (void)fputc('\n', table->options.stream);
    }
    for (size_t i = 0; i < rows->column_count; i++) {
      if (rows->facts[i].filled) {
        text_print_value(table, i, result_set_cell(rows, row, i), names_width);
      }
    }
  }
  if (empty.length > 0) {
    text_wrap(&wrapped, empty.text, table->options.width, strlen(EMPTY), false);
    (void)fprintf(table->options.stream, "\n%s%s\n", EMPTY, wrapped.text);
  }
}

static void text_add_column(struct table *table, const struct text_layout *layout,
                            struct libscols_table *lines, size_t i) {
  const bool wraps = text_is_wrapped(layout, i);
  const int flags =
      (wraps ? SCOLS_FL_WRAP : 0) | (result_set_is_right(layout->rows, i) ? SCOLS_FL_RIGHT : 0);
  struct libscols_column *column =
      scols_table_new_column(lines, text_of_heading(table, i), 0, flags);
  scols_must(column != NULL);
  if (table->options.colour) {
    const char *colour = table->options.compact ? text_colour(TONE_DIM) : "bold";
    scols_must(scols_cell_set_color(scols_column_get_header(column), colour) == 0);
  }
  if (wraps) {
    scols_must(scols_column_set_safechars(column, "\n") == 0);
    scols_must(scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
                                         NULL) == 0);
  }
}

/* Returns the number of its lines. */
static size_t text_add_cell(struct table *table, const struct cell *cell, size_t width,
                            struct libscols_line *line, size_t column) {
  const char *text = text_of_cell(table, cell);
  strbuf_clear(&table->record);
  if (width > 0) {
    text_wrap(&table->record, text, width, 0, true);
    text = table->record.text;
  }
  scols_must(scols_line_set_data(line, column, text) == 0);
  const size_t height = 1 + SUM_OF(at, strlen(text), text[at] == '\n');
  strbuf_clear(&table->record);
  if (table->options.colour && cell->tone != TONE_NONE) {
    scols_must(scols_cell_set_color(scols_line_get_cell(line, column), text_colour(cell->tone)) ==
               0);
  }
  return height;
}

static struct libscols_table *text_lay_out(struct table *table, struct text_layout *layout) {
  struct libscols_table *lines = text_new_lines(table);
  layout->heights =
      arena_array(layout->rows->arena, layout->rows->row_count, sizeof *layout->heights);
  for (size_t i = 0; i < layout->rows->column_count; i++) {
    if (text_is_shown(layout, i)) {
      text_add_column(table, layout, lines, i);
    }
  }
  for (size_t row = 0; row < layout->rows->row_count; row++) {
    struct libscols_line *line = scols_table_new_line(lines, NULL);
    size_t column = 0;
    scols_must(line != NULL);
    for (size_t i = 0; i < layout->rows->column_count; i++) {
      if (text_is_shown(layout, i)) {
        const size_t height =
            text_add_cell(table, result_set_cell(layout->rows, row, i),
                          text_is_wrapped(layout, i) ? layout->widest : 0, line, column++);
        layout->heights[row] = height > layout->heights[row] ? height : layout->heights[row];
      }
    }
  }
  return lines;
}

/* Without the blanks that an empty heading or cell at the end leaves, and with what stands below
 * the rows. */
static void text_print_lines(struct table *table, const struct text_layout *layout,
                             struct libscols_table *lines) {
  SCOPED(memory_free) char *all = NULL;
  scols_must(scols_print_table_to_string(lines, &all) == 0 && all != NULL);
  size_t row = 0;
  size_t left = 1; /* lines of the heading, then of the row */
  for (const char *text = all; *text != '\0';) {
    const size_t length = strcspn(text, "\n");
    size_t shown = length;
    while (shown > 0 && text[shown - 1] == ' ') {
      shown--;
    }
    (void)fprintf(table->options.stream, "%.*s\n", (int)shown, text);
    text += length + (text[length] == '\n');
    if (--left == 0) {
      if (row > 0) {
        SCOPED(strbuf_fini) struct strbuf below = STRBUF(RECORD_MAX);
        text_put_below(table, layout, row - 1, table->options.width, &below);
        (void)fputs(below.text, table->options.stream);
      }
      left = row < layout->rows->row_count ? layout->heights[row] : SIZE_MAX;
      row++;
    }
  }
}

static enum status text_print(struct table *table, struct error *err) {
  const struct table_options *options = &table->options;
  struct text_layout layout;
  text_layout_find(table, table->state, &layout);
  errno = 0;
  if (layout.is_expanded) {
    text_print_expanded(table, &layout);
  } else {
    const bool many = layout.rows->row_count > 1;
    struct libscols_table *lines = text_lay_out(table, &layout);
    if (many) {
      text_put_columns(table, &layout, true, "in all rows ", "");
    }
    text_print_lines(table, &layout, lines);
    scols_unref_table(lines);
    if (layout.below > 0) {
      (void)fprintf(options->stream, "Indented lines: %s\n", text_of_heading(table, layout.below));
    }
    if (!many) {
      text_put_columns(table, &layout, true, "other columns: ", "");
    }
    text_put_columns(table, &layout, false, "no room for ",
                     ": use a wider terminal or --format csv");
  }
  return stream_check(options->stream, ferror(options->stream) != 0, &table->reader_gone, err);
}

static enum status text_begin(struct table *table, struct error *err) {
  struct result_set *rows = malloc(sizeof *rows);
  scols_must(rows != NULL);
  result_set_init(rows, SIZE_MAX);
  table->state = rows;
  return rows->sink.begin(rows, table->columns, table->column_count, err);
}

static enum status text_start_again(struct table *table, struct error *err) {
  RETURN_ON_ERROR(text_print(table, err));
  text_drop(table);
  strbuf_append_char(&table->record, '\n');
  RETURN_ON_ERROR(table_print_record(table, err));
  return text_begin(table, err);
}

static enum status text_row(struct table *table, const struct cell *cells, struct error *err) {
  const struct result_set *rows = table->state;
  if (rows->row_count == TABLE_CHUNK_ROWS) {
    RETURN_ON_ERROR(text_start_again(table, err));
    rows = table->state;
  }
  return sink_row(&rows->sink, cells, err);
}

static enum status text_end(struct table *table, struct error *err) {
  if (table->row_count > 0) {
    return text_print(table, err);
  }
  if (table->options.empty != NULL) {
    strbuf_printf(&table->record, "%s\n", table->options.empty);
    return table_print_record(table, err);
  }
  /* libsmartcols prints no heading for a table without lines. */
  SCOPED(strbuf_fini) struct strbuf headings = STRBUF(RECORD_MAX);
  for (size_t i = 0; i < table->column_count; i++) {
    strbuf_append(&headings, i > 0 ? "  " : "");
    strbuf_append(&headings, text_of_heading(table, i));
  }
  text_wrap(&table->record, headings.text, table->options.width, 0, false);
  strbuf_append_char(&table->record, '\n');
  return table_print_record(table, err);
}

const struct table_writer TEXT_WRITER = {text_begin, text_row, text_end, text_drop};
