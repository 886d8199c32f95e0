#include "runner/render/result/matrix.h"

#include "engine/base/strings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SEPARATOR = 2, MATRIX_WORDS_MAX = 64, MATRIX_SUMMARY_MAX = 512 };

/* What the numbers are, taken together. */
struct matrix_extent {
  size_t count;
  double least, greatest, sum;
  double least_percent, greatest_percent, percent; /* uncertainties: of these, and the largest */
  size_t cells;                                    /* with those that have the number of another */
  double cell_sum;
};

void matrix_number(double value, char text[MATRIX_NUMBER_MAX]) {
  const double magnitude = fabs(value);
  if (value == 0) {
    (void)snprintf(text, MATRIX_NUMBER_MAX, "0");
  } else if (magnitude >= 999.95 && magnitude < 1e15) {
    (void)snprintf(text, MATRIX_NUMBER_MAX, "%.0f", value);
  } else {
    (void)snprintf(text, MATRIX_NUMBER_MAX, "%#.4g", value);
  }
}

void matrix_number_within(double value, double percent, char text[MATRIX_NUMBER_MAX]) {
  const double first = floor(log10(fabs(value)));
  /* Of the last place: two digits stay, for 55 is not about 60 where the peak is 63. */
  const double digit = fmin(ceil(log10(fabs(value) * percent / 100 / 10)), first - 1);
  if (!(percent > 0) || !isfinite(digit) || digit <= first - 3) {
    matrix_number(value, text);
    return;
  }
  const double place = pow(10, digit);
  (void)snprintf(text, MATRIX_NUMBER_MAX, "%s%.*f", percent > MATRIX_ROUGH_PERCENT ? "~" : "",
                 digit < 0 ? (int)-digit : 0, round(value / place) * place);
}

void matrix_put(struct matrix_cell *place, struct matrix_cell cell) {
  assert(place->kind == MATRIX_NONE || place->kind == MATRIX_OPEN);
  *place = cell;
}

static const struct matrix_cell *matrix_cell_at(const struct matrix *matrix, size_t row,
                                                size_t column) {
  return &matrix->cells[row * matrix->column_count + column];
}

static const char *matrix_mark(const struct matrix_cell *cell) {
  return cell->mark != NULL ? cell->mark : "";
}

/* Four digits, for the line below has the largest uncertainty of all; less of what is rough. */
static void matrix_figure(double value, double percent, char text[MATRIX_NUMBER_MAX]) {
  if (percent > MATRIX_ROUGH_PERCENT) {
    matrix_number_within(value, percent, text);
  } else {
    matrix_number(value, text);
  }
}

/* The number, the status of a case without one, "N/A" or "-"; without the mark. */
static void matrix_cell_words(const struct matrix_cell *cell, char text[MATRIX_WORDS_MAX]) {
  if (cell->kind == MATRIX_VALUE || cell->kind == MATRIX_AGAIN) {
    char number[MATRIX_NUMBER_MAX];
    matrix_figure(cell->value, cell->percent, number);
    (void)snprintf(text, MATRIX_WORDS_MAX, "%s%s", cell->unsettled && number[0] != '~' ? "~" : "",
                   number);
  } else {
    (void)snprintf(text, MATRIX_WORDS_MAX, "%.40s",
                   cell->kind == MATRIX_TEXT   ? cell->text
                   : cell->kind == MATRIX_OPEN ? "-"
                                               : "N/A");
  }
}

static void matrix_extend(struct matrix_extent *extent, const struct matrix_cell *cell) {
  if (cell->kind == MATRIX_VALUE || cell->kind == MATRIX_AGAIN) {
    extent->cells++;
    extent->cell_sum += cell->value;
  }
  if (cell->kind == MATRIX_VALUE) {
    const bool first = extent->count == 0;
    if (first || cell->value < extent->least) {
      extent->least = cell->value;
      extent->least_percent = cell->percent;
    }
    if (first || cell->value > extent->greatest) {
      extent->greatest = cell->value;
      extent->greatest_percent = cell->percent;
    }
    extent->percent = fmax(extent->percent, cell->percent); /* not of NAN */
    extent->sum += cell->value;
    extent->count++;
  }
}

static struct matrix_extent matrix_extent(const struct matrix *matrix) {
  struct matrix_extent extent = {.count = 0};
  for (size_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
    matrix_extend(&extent, &matrix->cells[i]);
  }
  return extent;
}

/* What the cells of a row are compared with. */
static struct matrix_extent matrix_row_extent(const struct matrix *matrix,
                                              const struct matrix_extent *all, size_t row) {
  struct matrix_extent extent = {.count = 0};
  for (size_t column = 0; column < matrix->column_count; column++) {
    matrix_extend(&extent, matrix_cell_at(matrix, row, column));
  }
  return matrix->down_name != NULL ? extent : *all;
}

/* By the share of the best that is missing: a slow link is conspicuous, and noise is not. */
static unsigned matrix_tone(const struct matrix *matrix, const struct matrix_extent *extent,
                            const struct matrix_cell *cell) {
  static const double MISSING[TONE_HEATS - 1] = {0.01, 0.03, 0.10, 0.25};
  if (cell->kind != MATRIX_VALUE && cell->kind != MATRIX_AGAIN) {
    return cell->kind == MATRIX_TEXT ? TONE_BAD : TONE_DIM;
  }
  const double share =
      matrix->less_is_better ? extent->least / cell->value : cell->value / extent->greatest;
  unsigned heat = 0;
  while (heat < TONE_HEATS - 1 && !(1 - share <= MISSING[heat])) {
    heat++;
  }
  return TONE_HEAT + heat;
}

/* Marks stand in a column of their own, so that numbers stay below each other. */
static size_t matrix_column_width(const struct matrix *matrix, size_t column) {
  size_t width = strlen(matrix->columns[column]);
  size_t marks = 0;
  for (size_t row = 0; row < matrix->row_count; row++) {
    const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
    char text[MATRIX_WORDS_MAX];
    matrix_cell_words(cell, text);
    width = strlen(text) > width ? strlen(text) : width;
    marks = strlen(matrix_mark(cell)) > marks ? strlen(matrix_mark(cell)) : marks;
  }
  return width + SEPARATOR + (marks > 0 ? SEPARATOR + marks : 0);
}

/* The first column that does not fit beside those from `first` on; at least one fits. */
static size_t matrix_part_end(const struct matrix *matrix, unsigned limit, size_t first) {
  size_t width = matrix->down_name != NULL ? strlen(matrix->down_name) : 0;
  for (size_t row = 0; row < matrix->row_count; row++) {
    const size_t label = strlen(matrix->rows[row]);
    width = label > width ? label : width;
  }
  size_t end = first;
  while (end < matrix->column_count) {
    width += matrix_column_width(matrix, end);
    if (limit > 0 && width > limit && end > first) {
      break;
    }
    end++;
  }
  return end;
}

static void matrix_print_part(const struct matrix *matrix, const struct matrix_extent *extent,
                              struct document *document, size_t first, size_t end) {
  SCOPED(result_set_fini) struct result_set set;
  result_set_init(&set, SIZE_MAX);
  set.is_matrix = true;
  (void)result_set_add_column(
      &set, &(struct column){.name = matrix->down_name != NULL ? matrix->down_name : "",
                             .align = matrix->down_name != NULL ? ALIGN_RIGHT : ALIGN_LEFT,
                             .is_row_header = true});
  for (size_t column = first; column < end; column++) {
    (void)result_set_add_column(
        &set, &(struct column){.name = matrix->columns[column], .align = ALIGN_RIGHT});
    (void)result_set_add_column(&set,
                                &(struct column){.name = "", .align = ALIGN_LEFT, .is_mark = true});
  }
  for (size_t row = 0; row < matrix->row_count; row++) {
    const struct matrix_extent best = matrix_row_extent(matrix, extent, row);
    (void)result_set_add_row(&set);
    result_set_put(&set, row, 0, cell_words(matrix->rows[row], TONE_DIM));
    for (size_t column = first; column < end; column++) {
      const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
      const size_t at = 1 + 2 * (column - first);
      char text[MATRIX_WORDS_MAX];
      matrix_cell_words(cell, text);
      result_set_put(&set, row, at, cell_words(text, matrix_tone(matrix, &best, cell)));
      result_set_put(&set, row, at + 1, cell_words(matrix_mark(cell), TONE_DIM));
    }
  }
  document_put_table(document, &set, &(struct document_table){0});
}

static void matrix_summary(const struct matrix *matrix, const struct matrix_extent *extent,
                           char text[MATRIX_SUMMARY_MAX]) {
  char least[MATRIX_NUMBER_MAX];
  char mean[MATRIX_NUMBER_MAX];
  char greatest[MATRIX_NUMBER_MAX];
  if (extent->count < 2 || matrix->down_name != NULL) {
    (void)snprintf(text, MATRIX_SUMMARY_MAX, "%s", extent->count == 0 ? "" : matrix->remark);
    return;
  }
  matrix_figure(extent->least, extent->least_percent, least);
  matrix_figure(extent->sum / (double)extent->count, extent->percent, mean);
  matrix_figure(extent->greatest, extent->greatest_percent, greatest);
  (void)snprintf(text, MATRIX_SUMMARY_MAX, "min %s, mean %s, max %s %s%s%s", least, mean, greatest,
                 matrix->unit, matrix->remark[0] != '\0' ? "; " : "", matrix->remark);
}

/* As people filter it from the output of nvbandwidth: the value is the third word. */
static void matrix_print_sum(const struct matrix *matrix, const struct matrix_extent *extent,
                             struct document *document) {
  char text[MATRIX_SUMMARY_MAX];
  char sum[MATRIX_NUMBER_MAX];
  if (matrix->sum_of == NULL || extent->cells == 0) {
    return;
  }
  matrix_number(extent->cell_sum, sum);
  (void)snprintf(text, sizeof text,
                 "SUM %s %s %s: %zu %s, measured one after the other: not a total rate",
                 matrix->sum_of, sum, matrix->unit, extent->cells,
                 strings_plural(extent->cells, "cell", "cells"));
  document_summary(document, text);
}

void matrix_print(const struct matrix *matrix, struct document *document) {
  const struct matrix_extent extent = matrix_extent(matrix);
  char summary[MATRIX_SUMMARY_MAX];
  for (size_t first = 0; first < matrix->column_count;) {
    const size_t end = matrix_part_end(matrix, document->options.width, first);
    matrix_print_part(matrix, &extent, document, first, end);
    first = end;
  }
  matrix_summary(matrix, &extent, summary);
  document_summary(document, summary);
  matrix_print_sum(matrix, &extent, document);
}
