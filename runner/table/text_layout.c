#include "runner/table/text_layout.h"

#include "engine/base/order.h"
#include "runner/table/text.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <xxhash.h>

enum {
  WRAPPED_WIDTH_MIN = 12,
  LISTED_WIDTH_MIN = 20,
  SEPARATOR_WIDTH = 2,
  NAMES_LINES = 2,
  LINES_PER_COLUMN = 10
};

const char *text_of_cell(struct table *table, const struct cell *cell) {
  strbuf_clear(&table->scratch);
  text_cell(&table->scratch, cell, ESCAPE_TERMINAL);
  return table->scratch.text;
}

const char *text_of_heading(struct table *table, size_t column) {
  const struct cell name = cell_text(table->columns[column].name);
  return text_of_cell(table, &name);
}

bool text_is_shown(const struct text_layout *layout, size_t column) {
  return !layout->left_out[column] && (column == 0 || column != layout->below) &&
         (!layout->drop_empty || layout->rows->facts[column].filled);
}

bool text_is_wrapped(const struct text_layout *layout, size_t column) {
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
  for (const char *at = list; at != NULL && *at != '\0';) {
    const size_t length = strcspn(at, ",;&");
    if (strlen(name) == length && strncmp(at, name, length) == 0) {
      return place;
    }
    if (at[length] == ';') {
      return 0;
    }
    place += at[length] != '&';
    at += length + (at[length] != '\0');
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

static bool text_has_value(const struct result_set *rows, size_t row, size_t column) {
  const struct cell *cell = result_set_cell(rows, row, column);
  return cell->kind == CELL_TEXT ? cell->as.text.length > 0 : cell->kind != CELL_NULL;
}

/* "+0.09", "-8.38 .. -5.57" */
static bool text_is_signed(const struct cell *cell) {
  const char *bytes = cell->as.text.bytes;
  return cell->kind == CELL_TEXT && cell->as.text.length > 1 &&
         (bytes[0] == '+' || bytes[0] == '-') && isdigit((unsigned char)bytes[1]) != 0;
}

/* Numbers that are not counted but measured, also where they are texts. */
static bool text_is_measured(const struct result_set *rows, size_t column) {
  return rows->facts[column].real ||
         (rows->facts[column].text &&
          (rows->columns[column].align == ALIGN_RIGHT ||
           !ANY_OF(row, rows->row_count,
                   text_has_value(rows, row, column) &&
                       !text_is_signed(result_set_cell(rows, row, column)))));
}

/* Whether the columns are one or go together. */
static bool text_go_together(const struct table *table, size_t column, size_t other) {
  const unsigned place = text_place(table, column);
  return column == other || (place > 0 && place == text_place(table, other));
}

static bool text_has_partner(const struct table *table, size_t column) {
  return ANY_OF(i, table->column_count, i != column && text_go_together(table, column, i));
}

/* What is measured, and not in the order in which columns go, is what people look for: it stays. */
static void text_find_same(const struct table *table, struct text_layout *layout, bool list) {
  const struct result_set *rows = layout->rows;
  bool *column = arena_array(rows->arena, rows->column_count, sizeof *column);
  layout->same = arena_array(rows->arena, rows->column_count, sizeof *layout->same);
  layout->measured = arena_array(rows->arena, rows->column_count, sizeof *layout->measured);
  for (size_t i = 0; list && i < rows->column_count; i++) {
    column[i] = true;
    layout->measured[i] = text_is_measured(rows, i);
    layout->same[i] = (text_place(table, i) > 0 || !layout->measured[i]) && !text_stays(table, i) &&
                      text_count_apart(rows, column) == 1;
    column[i] = false;
  }
  for (size_t i = 0; list && i < rows->column_count; i++) {
    layout->same[i] =
        !ANY_OF(k, rows->column_count, text_go_together(table, i, k) && !layout->same[k]);
  }
}

/* Whether a row has no other measured number that is shown, in a table that always shows some. */
static bool text_has_last_number(const struct table *table, const struct text_layout *layout,
                                 size_t column) {
  const struct result_set *rows = layout->rows;
  if (!ANY_OF(i, rows->column_count, layout->measured[i] && text_place(table, i) == 0)) {
    return false;
  }
  for (size_t row = 0; row < rows->row_count; row++) {
    if (text_has_value(rows, row, column) &&
        !ANY_OF(i, rows->column_count,
                i != column && text_is_shown(layout, i) && layout->measured[i] &&
                    text_has_value(rows, row, i))) {
      return true;
    }
  }
  return false;
}

/* Whether the table loses more than the values of the column: two columns to be compared with each
 * other, the only number of a row, or what tells rows apart that are alike in all that is shown but
 * measured numbers, which differ anyway. */
static bool text_is_needed(const struct table *table, const struct text_layout *layout,
                           size_t column) {
  const struct result_set *rows = layout->rows;
  if (text_has_partner(table, column)) {
    return true;
  }
  if (layout->measured[column]) {
    return text_has_last_number(table, layout, column);
  }
  bool *labels = arena_array(rows->arena, rows->column_count, sizeof *labels);
  for (size_t i = 0; i < rows->column_count; i++) {
    labels[i] = text_is_shown(layout, i) && !layout->measured[i];
  }
  const size_t all = text_count_apart(rows, labels);
  labels[column] = false;
  return text_count_apart(rows, labels) < all;
}

/* In the order in which columns go. */
enum text_rank {
  RANK_SAME,   /* what all rows share */
  RANK_SPARE,  /* in the order of table_options.narrow, and not needed */
  RANK_NEEDED, /* in that order */
  RANK_OTHER,  /* not in that order: from the last one, but for the first */
  RANK_STAYS
};

/* The column that goes next, and its rank; column_count: none. */
static size_t text_next_to_go(const struct table *table, const struct text_layout *layout,
                              enum text_rank *rank_of_next) {
  const size_t count = layout->rows->column_count;
  enum text_rank best = RANK_STAYS;
  size_t next = count;
  unsigned first = 0;
  for (size_t i = 0; i < count; i++) {
    const unsigned place = text_place(table, i);
    const unsigned order = place > 0 ? place : UINT_MAX - (unsigned)i;
    const bool later = best == RANK_SAME || (best == RANK_SPARE && order > first);
    const enum text_rank rank = !text_is_shown(layout, i) || text_stays(table, i) ? RANK_STAYS
                                : layout->same[i]                                 ? RANK_SAME
                                : place == 0 ? (i > 0 ? RANK_OTHER : RANK_STAYS)
                                : later || text_is_needed(table, layout, i)
                                    ? RANK_NEEDED /* later: need no look */
                                    : RANK_SPARE;
    if (rank < best || (rank == best && rank != RANK_STAYS && order < first)) {
      best = rank;
      next = i;
      first = order;
    }
  }
  *rank_of_next = best;
  return next;
}

/* With those that go with it. */
static void text_leave_out_column(const struct table *table, struct text_layout *layout,
                                  size_t column) {
  for (size_t i = 0; i < layout->rows->column_count; i++) {
    layout->left_out[i] = layout->left_out[i] || text_go_together(table, column, i);
  }
}

static size_t text_count_shown(const struct text_layout *layout) {
  const size_t count = SUM_OF(i, layout->rows->column_count, text_is_shown(layout, i));
  return count;
}

static void text_leave_out(const struct table *table, struct text_layout *layout, size_t width) {
  while (text_count_shown(layout) > 1 && text_table_width(layout, false) > width) {
    enum text_rank rank;
    const size_t next = text_next_to_go(table, layout, &rank);
    /* Texts are wrapped further rather than that a column goes that is needed. */
    const bool wraps = layout->keep_first || layout->widest > WRAPPED_WIDTH_MIN;
    if (rank == RANK_STAYS && !wraps) {
      return;
    }
    if (wraps && rank >= RANK_NEEDED) {
      layout->widest = layout->keep_first ? layout->widest : WRAPPED_WIDTH_MIN;
      layout->keep_first = false;
    } else {
      text_leave_out_column(table, layout, next);
    }
  }
}

/* Leaves out what all rows share, and the columns of the order that are not needed. */
static void text_leave_out_spare(const struct table *table, struct text_layout *layout) {
  enum text_rank rank;
  for (size_t next = text_next_to_go(table, layout, &rank);
       rank <= RANK_SPARE && text_count_shown(layout) > 1;
       next = text_next_to_go(table, layout, &rank)) {
    text_leave_out_column(table, layout, next);
  }
}

/* Leaves out columns and wraps texts until the list fits. */
static void text_fit_list(const struct table *table, struct text_layout *layout, size_t width,
                          size_t least) {
  const struct result_set *rows = layout->rows;
  layout->left_out = arena_array(rows->arena, rows->column_count, sizeof *layout->left_out);
  for (size_t i = 0; layout->drop_same && i < rows->column_count; i++) {
    layout->left_out[i] = layout->same[i] && text_place(table, i) > 0 && text_is_shown(layout, i);
  }
  if (layout->drop_spare) {
    text_leave_out_spare(table, layout);
  }
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

/* Of how many rows the text below this one is; 0 = the next row has it, too. */
static size_t text_count_above(const struct text_layout *layout, size_t row) {
  const struct result_set *rows = layout->rows;
  const uint64_t hash = text_hash_cell(result_set_cell(rows, row, layout->below), 0);
  size_t first = row;
  if (row + 1 < rows->row_count &&
      text_hash_cell(result_set_cell(rows, row + 1, layout->below), 0) == hash) {
    return 0;
  }
  while (first > 0 && text_hash_cell(result_set_cell(rows, first - 1, layout->below), 0) == hash) {
    first--;
  }
  return row - first + 1;
}

void text_put_below(struct table *table, const struct text_layout *layout, size_t row, size_t width,
                    struct strbuf *lines) {
  SCOPED(strbuf_fini) struct strbuf all = STRBUF(RECORD_MAX);
  const size_t above = layout->below > 0 ? text_count_above(layout, row) : 0;
  if (above > 0) {
    strbuf_append(&all, text_of_cell(table, result_set_cell(layout->rows, row, layout->below)));
  }
  if (all.length > 0) {
    if (above > 1) {
      strbuf_printf(&all, " (the %zu rows above)", above);
    }
    strbuf_printf(lines, "%*s", BELOW_INDENT, "");
    text_wrap(lines, all.text, width, BELOW_INDENT, false);
    strbuf_append_char(lines, '\n');
  }
}

static size_t text_count_cell_lines(struct table *table, const struct cell *cell, size_t width) {
  SCOPED(strbuf_fini) struct strbuf wrapped = STRBUF(RECORD_MAX);
  text_wrap(&wrapped, text_of_cell(table, cell), width, 0, true);
  return 1 + SUM_OF(at, wrapped.length, wrapped.text[at] == '\n');
}

static size_t text_count_lines(struct table *table, const struct text_layout *layout,
                               size_t width) {
  const struct result_set *rows = layout->rows;
  size_t all = 0;
  for (size_t row = 0; row < rows->row_count; row++) {
    SCOPED(strbuf_fini) struct strbuf below = STRBUF(RECORD_MAX);
    size_t most = 1;
    for (size_t i = 0; i < rows->column_count; i++) {
      if (text_is_shown(layout, i) && text_is_wrapped(layout, i)) {
        const size_t lines =
            text_count_cell_lines(table, result_set_cell(rows, row, i), layout->widest);
        most = lines > most ? lines : most;
      }
    }
    text_put_below(table, layout, row, width, &below);
    all += most + SUM_OF(at, below.length, below.text[at] == '\n');
  }
  return all;
}

/* The last column, if it is a text that is longer than texts are wrapped; 0 = it is none. To be
 * asked before columns are left out. */
static size_t text_find_below(const struct text_layout *layout) {
  size_t last = layout->rows->column_count;
  while (last > 1 && !text_is_shown(layout, last - 1)) {
    last--;
  }
  return last > 1 && text_is_wrapped(layout, last - 1) ? last - 1 : 0;
}

/* How many lines the way takes, as far as it counts: SIZE_MAX where nothing would say what that
 * column, if it is one, says of single rows. usual: columns that are shown if no way is taken. */
static size_t text_cost(struct table *table, const struct text_layout *layout, size_t width,
                        size_t below, size_t usual) {
  const size_t shown = text_count_shown(layout);
  if (shown == 0 || (below > 0 && layout->left_out[below] && !layout->same[below])) {
    return SIZE_MAX;
  }
  const size_t lines = text_count_lines(table, layout, width) + layout->drop_same;
  /* Values are worth a few broken names, and lines below name those that are left out. */
  const size_t worth = usual > shown ? (usual - shown) * lines / LINES_PER_COLUMN : 0;
  return !layout->drop_spare ? lines
                             : lines + (worth < lines / 4 ? worth : lines / 4) + NAMES_LINES;
}

/* In the way that takes the fewest lines. */
static void text_lay_out_list(struct table *table, struct text_layout *layout, size_t width,
                              size_t least) {
  static const struct {
    bool drop_same, below, drop_spare;
  } WAYS[] = {{.drop_same = true},
              {.below = true},
              {.drop_same = true, .below = true},
              {.drop_spare = true},
              {.below = true, .drop_spare = true}};
  const size_t below = width / 2 > LISTED_WIDTH_MIN ? text_find_below(layout) : 0;
  text_fit_list(table, layout, width, least);
  const size_t usual = text_count_shown(layout);
  size_t fewest = text_cost(table, layout, width, below, usual);
  for (size_t way = 0; way < COUNT_OF(WAYS) && fewest > layout->rows->row_count; way++) {
    struct text_layout other = *layout;
    other.drop_same = WAYS[way].drop_same && layout->rows->row_count > 1;
    other.drop_spare = WAYS[way].drop_spare;
    other.below = WAYS[way].below ? below : 0;
    text_fit_list(table, &other, width, least);
    const size_t cost = text_cost(table, &other, width, below, usual);
    if (cost < fewest) {
      fewest = cost;
      *layout = other;
    }
  }
  for (size_t i = 0; table->options.left_out != NULL && i < layout->rows->column_count; i++) {
    table->options.left_out[i] |= layout->left_out[i] && !layout->same[i];
  }
}

void text_layout_find(struct table *table, const struct result_set *rows,
                      struct text_layout *layout) {
  const struct table_options *options = &table->options;
  const size_t width = options->width > 0 ? options->width : SIZE_MAX;
  const bool list = options->narrow != NULL;
  const size_t least = !list                     ? WRAPPED_WIDTH_MIN
                       : options->listed_min > 0 ? options->listed_min
                                                 : LISTED_WIDTH_MIN;
  *layout = (struct text_layout){.rows = rows, .widest = least};
  text_find_widths(table, layout);
  text_find_same(table, layout, list);
  layout->drop_empty =
      options->drop_empty || options->compact || text_table_width(layout, false) > width;
  if (list) {
    text_lay_out_list(table, layout, width, least);
  } else {
    text_find_widest(layout, width, least);
    layout->is_expanded = text_table_width(layout, false) > width;
  }
}
