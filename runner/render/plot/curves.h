/* curves.h - rows of a query as curves (plot.h) instead of a table.
 *
 * A saved query says what its columns are (struct saved_plot). Of other queries it follows from
 * their names and values:
 *
 *   x          the first column of numbers
 *   curves     the columns of text before it name the curve that a row belongs to, and y is the
 *              first column of numbers after x that has a value; without such columns every column
 *              of numbers after x is a curve
 *   low, high  columns of these names, or Y_low and Y_high, are the error bars of the first y, or
 *              of Y
 *   peak       a column that is called peak or ends in _peak or begins with peak_ is drawn as a
 *              line
 *   plot       a column of that name: one plot for each of its values, in the order they come
 *   axis       a column of that name: what x is, where its own name does not say it
 *
 * Units follow from names: ..._bytes are sizes, gbps is GB/s, ..._ns is ns, ..._percent is %. Rows
 * without x or y are left out; where none is left a line says so. Fewer columns than that are
 * STATUS_USAGE, more rows or plots than below STATUS_UNSUPPORTED; a stream that cannot be written
 * is as in rows.h. */
#pragma once

#include "runner/record/saved.h"
#include "runner/render/plot/plot.h"
#include "runner/table/table.h"

enum { CURVES_ROWS_MAX = 100000, CURVES_PLOTS_MAX = 500 };

struct curves;

/* The stream is borrowed. empty: a line for a result without rows; NULL = none. Never fails but for
 * want of memory (then it aborts). */
struct curves *curves_new(FILE *stream, const struct plot_style *style, const char *empty);
/* As that saved query says, for the plots of one result after the other; borrowed. */
void curves_draw_as(struct curves *curves, const struct saved_query *saved);
/* Writes one picture in SVG, with the scale that shows most unless one is given. Without any point
 * it is STATUS_NOT_FOUND. */
void curves_as_picture(struct curves *curves);
/* Gives every plot to `drawer` instead, with what it has borrowed for the call, and the scale that
 * its query wants or that shows most. */
typedef void curves_drawer(void *context, const struct plot *plot, enum plot_scale scale);
struct curves *curves_new_drawn_by(curves_drawer *drawer, void *context);
/* Borrowed; for one result after the other. */
const struct row_sink *curves_sink(struct curves *curves);
/* Accepts NULL. */
void curves_free(struct curves *curves);
