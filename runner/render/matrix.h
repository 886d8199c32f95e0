/* matrix.h - numbers between places as people know them from nvbandwidth: a row per source, a
 * column per target, N/A where nothing was measured. Below it the least, the mean and the greatest
 * of what was measured; never a sum of cells, which were measured apart.
 *
 * Numbers stay below each other where some of a column have a mark.
 *
 * On a terminal a cell is coloured by how far it is from the best of the matrix: within 1 %, 3 %,
 * 10 %, 25 %, further. A matrix that is wider than the terminal is printed in parts. */
#ifndef HAUL_RUNNER_RENDER_MATRIX_H
#define HAUL_RUNNER_RENDER_MATRIX_H

#include "runner/table/output.h"

enum matrix_cell_kind {
  MATRIX_NONE,  /* N/A */
  MATRIX_VALUE, /* a number */
  MATRIX_AGAIN, /* a number that another cell has as well: not counted below */
  MATRIX_TEXT,  /* what went wrong instead of a number */
};

struct matrix_cell {
  enum matrix_cell_kind kind;
  double value;
  const char *text; /* MATRIX_TEXT: "failed" */
  const char *mark; /* of a footnote: "[1]"; "" or NULL = none */
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
};

enum { MATRIX_NUMBER_MAX = 32, MATRIX_WORDS_MAX = 64, MATRIX_SUMMARY_MAX = 512 };
/* Four significant digits without an exponent: "55.21", "1351", "0.5123". */
void matrix_number(double value, char text[MATRIX_NUMBER_MAX]);

/* What the numbers are, taken together. */
struct matrix_extent {
  size_t count;
  double least, greatest, sum;
};

struct matrix_extent matrix_extent(const struct matrix *matrix);
/* The number, what went wrong instead, or "N/A"; without the mark. */
void matrix_cell_words(const struct matrix_cell *cell, char text[MATRIX_WORDS_MAX]);
/* How far a number is from the best of the matrix: 0 (within 1 %) to TONE_HEATS - 1. */
unsigned matrix_heat(const struct matrix *matrix, const struct matrix_extent *extent,
                     const struct matrix_cell *cell);
/* The line below the matrix; "" where there is nothing to say. */
void matrix_summary(const struct matrix *matrix, const struct matrix_extent *extent,
                    char text[MATRIX_SUMMARY_MAX]);

enum status matrix_print(const struct matrix *matrix, const struct output *output,
                         struct error *err) CHECK_RESULT;

#endif
