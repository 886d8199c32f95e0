/* sheet.h - a small table of ready texts for people: headings, columns to the left or to the right,
 * colours; printed by libsmartcols. Texts are copied and must be free of control characters
 * (text.h). A sheet keeps all its rows; for results of any length see rows.h. */
#ifndef HAUL_RUNNER_RENDER_SHEET_H
#define HAUL_RUNNER_RENDER_SHEET_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct paper;

/* How people's output is written. */
struct style {
  FILE *stream;
  unsigned width; /* columns of the terminal; 0 = as wide as needed */
  bool colour;
  const struct paper *paper; /* takes everything instead (paper.h); NULL = as text to the stream */
};

#define STYLE_BOLD "\033[1m"
#define STYLE_DIM  "\033[2m"
#define STYLE_RED  "\033[31m"
#define STYLE_OFF  "\033[0m"

struct sheet;

/* Never fails but for want of memory (then it aborts). */
struct sheet *sheet_new(const struct style *style);
/* Accepts NULL. */
void sheet_free(struct sheet *sheet);
/* The number of the new column or row. Columns come before rows. */
size_t sheet_add_column(struct sheet *sheet, const char *heading, bool right);
size_t sheet_add_row(struct sheet *sheet);
/* colour: an escape sequence, NULL = none; seen only where the style has colour. */
void sheet_set(struct sheet *sheet, size_t row, size_t column, const char *text,
               const char *colour);
/* Columns without any text are left out. STATUS_IO; a reader that went away is no error. */
enum status sheet_print(struct sheet *sheet, struct error *err) CHECK_RESULT;

/* What a sheet holds, for a paper. Texts are borrowed; a cell without one has "". */
size_t sheet_column_count(const struct sheet *sheet);
size_t sheet_row_count(const struct sheet *sheet);
const char *sheet_heading(const struct sheet *sheet, size_t column);
bool sheet_is_right(const struct sheet *sheet, size_t column);
/* Some row has a text in that column. */
bool sheet_is_filled(const struct sheet *sheet, size_t column);
const char *sheet_text(const struct sheet *sheet, size_t row, size_t column);
/* NULL = none, which is so of every cell where the style has no colour. */
const char *sheet_colour(const struct sheet *sheet, size_t row, size_t column);

/* What follows belongs to what has that name; NULL = to several. Nothing is written as text. */
void style_section(const struct style *style, const char *name);
/* A line of text, in that colour (NULL = none). */
void style_line(const struct style *style, const char *colour, const char *text);
/* Text broken at spaces to the width, later lines as far in as `first` is long. */
void style_wrapped(const struct style *style, const char *first, const char *text);
/* STATUS_IO when writing to the stream failed; a reader that went away is no error. */
enum status style_check(const struct style *style, struct error *err) CHECK_RESULT;

#endif
