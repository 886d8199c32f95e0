/* text_table.c - a table for people, by libsmartcols. A table that cannot fit the terminal, even
 * with its texts wrapped, is expanded: one line per value, a blank line between the rows. Where
 * columns say in which order they can be done without, they are left out instead, and lines below
 * name them: first those that have one value in all rows, which is said once. The last text of such
 * a table stands on lines of its own, below its row, where the table is shorter so. */
#include "runner/table/result_set.h"
#include "runner/table/table_internal.h"
#include "runner/table/text.h"

#include "engine/base/order.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WRAPPED_WIDTH_MIN = 12, LISTED_WIDTH_MIN = 20, SEPARATOR_WIDTH = 2, BELOW_INDENT = 4 };

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

/* In table->scratch. */
static const char *text_of_cell(struct table *table, const struct cell *cell) {
  strbuf_clear(&table->scratch);
  text_cell(&table->scratch, cell, ESCAPE_TERMINAL);
  return table->scratch.text;
}

static const char *text_of_heading(struct table *table, size_t column) {
  const struct cell name = cell_text(table->columns[column].name);
  return text_of_cell(table, &name);
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

/* How the rows are laid out. */
struct text_layout {
  const struct result_set *rows;
  size_t *widths;  /* of the widest text of a column */
  bool drop_empty; /* columns without a value are left out */
  bool *left_out;  /* columns for which there is no room */
  bool *same;      /* columns that have one value in all rows */
  bool keep_first; /* the first column, which says what a row is, is not wrapped */
  size_t widest;   /* no text may be wider; numbers are never cut */
  size_t below;    /* the column whose texts stand below their rows; 0 = none */
  size_t *heights; /* lines of each row above that */
};

static bool text_has_values(const struct text_layout *layout, size_t column) {
  return !layout->left_out[column] && (!layout->drop_empty || layout->rows->facts[column].filled);
}

/* In a column of the table. */
static bool text_is_shown(const struct text_layout *layout, size_t column) {
  return text_has_values(layout, column) && (column == 0 || column != layout->below);
}

static bool text_is_wrapped(const struct text_layout *layout, size_t column) {
  return layout->rows->facts[column].text && layout->widths[column] > layout->widest &&
         (column > 0 || !layout->keep_first);
}

/* Of the columns that are shown, but for those that all rows share, if so. */
static size_t text_table_width(const struct text_layout *layout, bool but_same) {
  size_t total = 0;
  for (size_t i = 0; i < layout->rows->column_count; i++) {
    if (text_is_shown(layout, i) && !(but_same && layout->same[i])) {
      total += (text_is_wrapped(layout, i) ? layout->widest : layout->widths[i]) +
               (total > 0 ? SEPARATOR_WIDTH : 0);
    }
  }
  return total;
}

static void text_find_widths(struct table *table, struct text_layout *layout) {
  const struct result_set *rows = layout->rows;
  layout->widths = arena_array(rows->arena, rows->column_count, sizeof *layout->widths);
  layout->left_out = arena_array(rows->arena, rows->column_count, sizeof *layout->left_out);
  for (size_t i = 0; i < rows->column_count; i++) {
    layout->widths[i] = text_width(text_of_heading(table, i));
    for (size_t row = 0; row < rows->row_count; row++) {
      const size_t width = text_width(text_of_cell(table, result_set_cell(rows, row, i)));
      layout->widths[i] = width > layout->widths[i] ? width : layout->widths[i];
    }
  }
}

/* The greatest width of texts with which all columns fit. */
static void text_find_widest(struct text_layout *layout, size_t width, size_t least) {
  layout->widest = 0;
  for (size_t i = 0; i < layout->rows->column_count; i++) {
    layout->widest = text_is_wrapped(layout, i) ? layout->widths[i] : layout->widest;
  }
  while (layout->widest > least && text_table_width(layout, false) > width) {
    layout->widest--;
  }
}

/* The place of the column in a list of names, from 1; 0: it has none. */
static unsigned text_place_in(const struct table *table, size_t column, const char *list) {
  const char *name = table->columns[column].name;
  unsigned place = 1;
  for (const char *at = list; at != NULL && *at != '\0'; place++) {
    const size_t length = strcspn(at, ",;");
    if (strlen(name) == length && strncmp(at, name, length) == 0) {
      return place;
    }
    if (at[length] == ';') {
      return 0;
    }
    at += length + (at[length] == ',');
  }
  return 0;
}

/* The place of the column in the order in which they go. */
static unsigned text_place(const struct table *table, size_t column) {
  return text_place_in(table, column, table->options.narrow);
}

static bool text_stays(const struct table *table, size_t column) {
  const char *narrow = table->options.narrow;
  const char *end = narrow != NULL ? strchr(narrow, ';') : NULL;
  return end != NULL && text_place_in(table, column, end + 1) > 0;
}

static uint64_t text_hash_cell(const struct cell *cell, uint64_t seed) {
  const bool text = cell->kind == CELL_TEXT || cell->kind == CELL_BLOB;
  const uint64_t mixed = XXH3_64bits_withSeed(&cell->kind, sizeof cell->kind, seed);
  return cell->kind == CELL_NULL ? mixed
         : text ? XXH3_64bits_withSeed(cell->as.text.bytes, cell->as.text.length, mixed)
                : XXH3_64bits_withSeed(&cell->as, sizeof cell->as.integer, mixed);
}

ORDER_DEFINE(text_compare_hashes, uint64_t, ORDER(*x, *y))

/* How many rows the columns of that set tell apart. */
static size_t text_count_apart(const struct result_set *rows, const bool *columns) {
  SCOPED(memory_free) uint64_t *hashes = memory_new(rows->row_count + 1, sizeof *hashes);
  for (size_t row = 0; row < rows->row_count; row++) {
    for (size_t i = 0; i < rows->column_count; i++) {
      hashes[row] =
          columns[i] ? text_hash_cell(result_set_cell(rows, row, i), hashes[row]) : hashes[row];
    }
  }
  ORDER_SORT(hashes, rows->row_count, text_compare_hashes);
  return SUM_OF(row, rows->row_count, row == 0 || hashes[row] != hashes[row - 1]);
}

/* Numbers that are not counted but measured, also where they are texts. */
static bool text_is_measured(const struct result_set *rows, size_t column) {
  return rows->facts[column].real ||
         (rows->facts[column].text && rows->columns[column].align == ALIGN_RIGHT);
}

/* What is measured, and not in the order in which columns go, is what people look for: it stays. */
static void text_find_same(const struct table *table, struct text_layout *layout, bool list) {
  const struct result_set *rows = layout->rows;
  bool *column = arena_array(rows->arena, rows->column_count, sizeof *column);
  layout->same = arena_array(rows->arena, rows->column_count, sizeof *layout->same);
  for (size_t i = 0; list && i < rows->column_count; i++) {
    column[i] = true;
    layout->same[i] = (text_place(table, i) > 0 || !text_is_measured(rows, i)) &&
                      !text_stays(table, i) && text_count_apart(rows, column) == 1;
    column[i] = false;
  }
}

/* Whether rows would be alike without the column in all that is shown but measured numbers, which
 * differ anyway. */
static bool text_tells_apart(const struct text_layout *layout, size_t column) {
  const struct result_set *rows = layout->rows;
  if (text_is_measured(rows, column)) {
    return false;
  }
  bool *labels = arena_array(rows->arena, rows->column_count, sizeof *labels);
  for (size_t i = 0; i < rows->column_count; i++) {
    labels[i] = text_is_shown(layout, i) && !text_is_measured(rows, i);
  }
  const size_t all = text_count_apart(rows, labels);
  labels[column] = false;
  return text_count_apart(rows, labels) < all;
}

/* The column that goes next: what all rows share, then by their order those without which rows are
 * as different as with them, then the others of that order; then from the last one, but for the
 * first. column_count: none. */
static size_t text_next_to_go(const struct table *table, const struct text_layout *layout) {
  const size_t count = layout->rows->column_count;
  enum { SAME, SPARE, NAMED, OTHER, STAYS } best = STAYS;
  size_t next = count;
  unsigned first = 0;
  for (size_t i = 0; i < count; i++) {
    const unsigned place = text_place(table, i);
    const unsigned order = place > 0 ? place : UINT_MAX - (unsigned)i;
    const bool later = best == SAME || (best == SPARE && order > first); /* rows need no look */
    const unsigned rank = !text_is_shown(layout, i) || text_stays(table, i) ? STAYS
                          : layout->same[i]                                 ? SAME
                          : place == 0                           ? (i > 0 ? OTHER : STAYS)
                          : later || text_tells_apart(layout, i) ? NAMED
                                                                 : SPARE;
    if (rank < best || (rank == best && rank != STAYS && order < first)) {
      best = rank;
      next = i;
      first = order;
    }
  }
  return next;
}

static size_t text_count_shown(const struct text_layout *layout) {
  const size_t count = SUM_OF(i, layout->rows->column_count, text_is_shown(layout, i));
  return count;
}

static void text_leave_out(const struct table *table, struct text_layout *layout, size_t width) {
  for (size_t shown = text_count_shown(layout);
       shown > 1 && text_table_width(layout, false) > width; shown--) {
    const size_t next = text_next_to_go(table, layout);
    const bool none = next == layout->rows->column_count;
    /* Texts are wrapped further rather than that a column goes that has no place in the order. */
    const bool wraps = layout->keep_first || layout->widest > WRAPPED_WIDTH_MIN;
    if (none && !wraps) {
      return;
    }
    if (none || (wraps && text_place(table, next) == 0 && !layout->same[next])) {
      layout->widest = layout->keep_first ? layout->widest : WRAPPED_WIDTH_MIN;
      layout->keep_first = false;
      shown++;
      continue;
    }
    layout->left_out[next] = true;
  }
}

/* Leaves out columns and wraps texts until the list fits. */
static void text_fit_list(const struct table *table, struct text_layout *layout, size_t width,
                          size_t least) {
  const struct result_set *rows = layout->rows;
  layout->left_out = arena_array(rows->arena, rows->column_count, sizeof *layout->left_out);
  const size_t room = layout->below > 0 ? width : width / 2;
  layout->keep_first = rows->column_count > 0 && layout->widths[0] <= room;
  layout->widest = SIZE_MAX; /* what all rows share goes rather than that a text is wrapped */
  if (text_table_width(layout, true) <= width) {
    text_leave_out(table, layout, width);
  }
  layout->widest = least;
  text_leave_out(table, layout, width);
  text_find_widest(layout, width, layout->widest);
}

static size_t text_lines(size_t length, size_t width) {
  return length == 0 ? 0 : (length + width - 1) / width;
}

/* About how many lines the rows take. */
static size_t text_count_lines(struct table *table, const struct text_layout *layout,
                               size_t width) {
  const struct result_set *rows = layout->rows;
  size_t all = 0;
  for (size_t row = 0; row < rows->row_count; row++) {
    size_t most = 1;
    for (size_t i = 0; i < rows->column_count; i++) {
      const bool is_below = i > 0 && i == layout->below;
      if (is_below || (text_is_shown(layout, i) && text_is_wrapped(layout, i))) {
        const size_t length = text_width(text_of_cell(table, result_set_cell(rows, row, i)));
        const size_t lines = text_lines(length, is_below ? width - BELOW_INDENT : layout->widest);
        all += is_below ? lines : 0;
        most = !is_below && lines > most ? lines : most;
      }
    }
    all += most;
  }
  return all;
}

/* The last column, if it is a text that does not fit beside the others; 0 = it is none. */
static size_t text_find_below(const struct text_layout *layout) {
  size_t last = layout->rows->column_count;
  while (last > 1 && !text_is_shown(layout, last - 1)) {
    last--;
  }
  return last > 1 && text_is_wrapped(layout, last - 1) ? last - 1 : 0;
}

static void text_lay_out_list(struct table *table, struct text_layout *layout, size_t width,
                              size_t least) {
  text_fit_list(table, layout, width, least);
  struct text_layout other = *layout;
  other.below = text_find_below(layout);
  if (other.below > 0 && width > 2 * LISTED_WIDTH_MIN) {
    text_fit_list(table, &other, width, least);
    if (text_count_lines(table, &other, width) < text_count_lines(table, layout, width)) {
      *layout = other;
    }
  }
  for (size_t i = 0; table->options.left_out != NULL && i < layout->rows->column_count; i++) {
    table->options.left_out[i] |= layout->left_out[i] && !layout->same[i];
  }
}

/* "first a, b=1 last" in lines below the table; the columns that all rows have the same value of,
 * with it, or the others. */
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

static int text_print_expanded(struct table *table, const struct text_layout *layout) {
  const struct result_set *rows = layout->rows;
  int failed = 0;
  for (size_t row = 0; row < rows->row_count && failed == 0; row++) {
    struct libscols_table *expanded = text_new_lines(table);
    scols_must(scols_table_enable_noheadings(expanded, 1) == 0);
    scols_must(scols_table_new_column(expanded, "column", 0, 0) != NULL);
    scols_must(scols_table_new_column(expanded, "value", 0, SCOLS_FL_WRAP) != NULL);
    for (size_t i = 0; i < rows->column_count; i++) {
      if (table->options.drop_empty && !rows->facts[i].filled) {
        continue;
      }
      struct libscols_line *line = scols_table_new_line(expanded, NULL);
      scols_must(line != NULL && scols_line_set_data(line, 0, text_of_heading(table, i)) == 0);
      scols_must(scols_line_set_data(line, 1, text_of_cell(table, result_set_cell(rows, row, i))) ==
                 0);
    }
    if (table->row_count - rows->row_count + row > 0) {
      (void)fputc('\n', table->options.stream);
    }
    failed = scols_print_table(expanded);
    scols_unref_table(expanded);
  }
  return failed;
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

static void text_print_below(struct table *table, const struct text_layout *layout, size_t row) {
  SCOPED(strbuf_fini) struct strbuf wrapped = STRBUF(RECORD_MAX);
  const char *text = layout->below == 0
                         ? ""
                         : text_of_cell(table, result_set_cell(layout->rows, row, layout->below));
  if (text[0] != '\0') {
    text_wrap(&wrapped, text, table->options.width, BELOW_INDENT, false);
    (void)fprintf(table->options.stream, "%*s%s\n", BELOW_INDENT, "", wrapped.text);
  }
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
        text_print_below(table, layout, row - 1);
      }
      left = row < layout->rows->row_count ? layout->heights[row] : SIZE_MAX;
      row++;
    }
  }
}

static enum status text_print(struct table *table, struct error *err) {
  const struct table_options *options = &table->options;
  const size_t width = options->width > 0 ? options->width : SIZE_MAX;
  const bool list = options->narrow != NULL;
  const size_t least = !list                     ? WRAPPED_WIDTH_MIN
                       : options->listed_min > 0 ? options->listed_min
                                                 : LISTED_WIDTH_MIN;
  struct text_layout layout = {.rows = table->state, .widest = least};
  int failed = 0;
  text_find_widths(table, &layout);
  text_find_same(table, &layout, list);
  layout.drop_empty =
      options->drop_empty || options->compact || text_table_width(&layout, false) > width;
  errno = 0;
  if (list) {
    text_lay_out_list(table, &layout, width, least);
  } else {
    text_find_widest(&layout, width, least);
  }
  if (!list && text_table_width(&layout, false) > width) {
    failed = text_print_expanded(table, &layout);
  } else {
    struct libscols_table *lines = text_lay_out(table, &layout);
    text_print_lines(table, &layout, lines);
    scols_unref_table(lines);
    if (layout.below > 0) {
      (void)fprintf(options->stream, "indented: %s\n", text_of_heading(table, layout.below));
    }
    text_put_columns(table, &layout, true,
                     layout.rows->row_count == 1 ? "other columns: " : "in all rows ", "");
    text_put_columns(table, &layout, false, "no room for ",
                     ": a wider terminal or --format csv shows them");
  }
  return stream_check(options->stream, failed != 0 || ferror(options->stream) != 0,
                      &table->reader_gone, err);
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
  for (size_t i = 0; i < table->column_count; i++) {
    strbuf_append(&table->record, i > 0 ? "  " : "");
    strbuf_append(&table->record, text_of_heading(table, i));
  }
  strbuf_append_char(&table->record, '\n');
  return table_print_record(table, err);
}

const struct table_writer TEXT_WRITER = {text_begin, text_row, text_end, text_drop};
