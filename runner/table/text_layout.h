/* text_layout.h - how a table for people fits its width: which texts are wrapped, which columns are
 * left out, and what stands below its row. For text_table.c alone, which prints it. */
#pragma once

#include "runner/table/result_set.h"
#include "runner/table/table_internal.h"

enum { BELOW_INDENT = 4 };

/* Arrays are in rows->arena. */
struct text_layout {
  const struct result_set *rows;
  size_t *widths;   /* of the widest text of a column */
  bool drop_empty;  /* columns without a value are left out */
  bool *left_out;   /* columns for which there is no room */
  bool *same;       /* columns that have one value in all rows */
  bool *measured;   /* columns of numbers that are not counted but measured, also as texts */
  bool keep_first;  /* the first column, which says what a row is, is not wrapped */
  size_t widest;    /* no text may be wider; numbers are never cut */
  size_t below;     /* the column whose texts stand below their rows; 0 = none */
  bool is_expanded; /* each value has a line of its own */
  bool drop_same;   /* columns of one value are left out before any text is wrapped */
  bool drop_spare;  /* so are those that the table can do without */
  size_t *heights;  /* lines of each row above that; of text_table.c */
};

/* rows is borrowed. */
void text_layout_find(struct table *table, const struct result_set *rows,
                      struct text_layout *layout);
/* Whether the column is one of the table, and has texts that are broken at layout->widest. */
bool text_is_shown(const struct text_layout *layout, size_t column);
bool text_is_wrapped(const struct text_layout *layout, size_t column);
/* The lines below that row, if it is the last of rows with the same text there: it stands once, and
 * says of how many. Nothing where layout->below is 0 or the text empty. */
void text_put_below(struct table *table, const struct text_layout *layout, size_t row, size_t width,
                    struct strbuf *lines);
/* As a terminal shows them; in table->scratch. */
const char *text_of_cell(struct table *table, const struct cell *cell);
const char *text_of_heading(struct table *table, size_t column);
