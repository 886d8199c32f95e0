/* matrix.h - numbers between places as people know them from nvbandwidth: a row per source, a
 * column per target, N/A where nothing can be measured, - where nothing was. Below it the least,
 * the mean and the greatest of what was measured. A sum of cells, which were measured apart, is
 * given on request alone, as nvbandwidth gives it: of every cell, also of those that have the
 * number of another one.
 *
 * Numbers stay below each other where some of a column have a mark.
 *
 * A grid has the values of an axis as rows.
 *
 * The tone of a cell is how far it is from the best of the matrix: within 1 %, 3 %, 10 %, 25 %,
 * further. A matrix that is wider than the terminal is printed in parts. */
#pragma once

#include "runner/document/document.h"

enum matrix_cell_kind {
  MATRIX_NONE,  /* N/A */
  MATRIX_OPEN,  /* -: it was left out, or the run did not come to it */
  MATRIX_VALUE, /* a number */
  MATRIX_AGAIN, /* a number that another cell has as well: not counted below */
  MATRIX_TEXT,  /* the status of a case without a number */
};

struct matrix_cell {
  enum matrix_cell_kind kind;
  double value;
  double percent;   /* its uncertainty is +/- so many; NAN or 0: not known */
  bool unsettled;   /* its measurements do not agree: "~" before the number */
  const char *text; /* MATRIX_TEXT: "failed" */
  const char *mark; /* of a note: "a"; "" or NULL = none */
};

struct matrix {
  const char *const *rows; /* labels */
  size_t row_count;
  const char *const *columns;
  size_t column_count;
  const struct matrix_cell *cells; /* row by row */
  const char *unit;                /* of the numbers, for the line below: "GB/s" */
  bool less_is_better;
  const char *remark; /* goes on that line; "" = none */
  const char *sum_of; /* "SUM name value" below that, and this name; NULL = no sum */
  /* Of a grid, whose rows are the values of an axis: its name; NULL = a matrix of places. The tone
   * of its cells is by the best of their row, and the line below has the remark alone. */
  const char *down_name;
};

/* Gives its value to a cell that has none yet: two results never have one place (asserted). */
void matrix_put(struct matrix_cell *place, struct matrix_cell cell);

/* An uncertainty that is marked. */
#define MATRIX_ROUGH_PERCENT 30.0

enum { MATRIX_NUMBER_MAX = 32 };
/* Four significant digits without an exponent: "55.21", "1351", "0.5123". */
void matrix_number(double value, char text[MATRIX_NUMBER_MAX]);
/* The same without the digits that an uncertainty of +/- so many per cent leaves open, but for two:
 * "55.2"; beyond MATRIX_ROUGH_PERCENT with a mark: "~55". NAN: not known. */
void matrix_number_within(double value, double percent, char text[MATRIX_NUMBER_MAX]);

void matrix_print(const struct matrix *matrix, struct document *document);
