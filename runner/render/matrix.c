#include "runner/render/matrix.h"

#include "runner/render/paper.h"

#include <math.h>
#include <string.h>

enum { SEPARATOR = 2 };

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

static const struct matrix_cell *cell_at(const struct matrix *matrix, size_t row, size_t column) {
  return &matrix->cells[row * matrix->column_count + column];
}

static const char *mark_of(const struct matrix_cell *cell) {
  return cell->mark != NULL ? cell->mark : "";
}

/* The widest mark of a column; 0 = it has none. Marks stand in a column of their own, so that
 * numbers stay below each other. */
static size_t marks_width(const struct matrix *matrix, size_t column) {
  size_t width = 0;
  for (size_t row = 0; row < matrix->row_count; row++) {
    const size_t own = strlen(mark_of(cell_at(matrix, row, column)));
    width = own > width ? own : width;
  }
  return width;
}

void matrix_cell_words(const struct matrix_cell *cell, char text[MATRIX_WORDS_MAX]) {
  char number[MATRIX_NUMBER_MAX];
  const char *words = "N/A";
  if (cell->kind == MATRIX_VALUE || cell->kind == MATRIX_AGAIN) {
    matrix_number(cell->value, number);
    words = number;
  } else if (cell->kind == MATRIX_TEXT) {
    words = cell->text;
  }
  (void)snprintf(text, MATRIX_WORDS_MAX, "%.40s", words);
}

struct matrix_extent matrix_extent(const struct matrix *matrix) {
  struct matrix_extent extent = {.count = 0};
  for (size_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
    const struct matrix_cell *cell = &matrix->cells[i];
    if (cell->kind != MATRIX_VALUE) {
      continue;
    }
    extent.least = extent.count == 0 || cell->value < extent.least ? cell->value : extent.least;
    extent.greatest =
        extent.count == 0 || cell->value > extent.greatest ? cell->value : extent.greatest;
    extent.sum += cell->value;
    extent.count++;
  }
  return extent;
}

unsigned matrix_heat(const struct matrix *matrix, const struct matrix_extent *extent,
                     const struct matrix_cell *cell) {
  static const double MISSING[MATRIX_HEATS - 1] = {0.01, 0.03, 0.10, 0.25};
  const double share =
      matrix->less_is_better ? extent->least / cell->value : cell->value / extent->greatest;
  unsigned heat = 0;
  while (heat < MATRIX_HEATS - 1 && !(1 - share <= MISSING[heat])) {
    heat++;
  }
  return heat;
}

/* From green to red by the share of the best that is missing: a link that is slow stands out, and
 * noise does not. */
static const char *colour_of(const struct matrix *matrix, const struct matrix_extent *extent,
                             const struct matrix_cell *cell) {
  static const char *const COLOURS[MATRIX_HEATS] = {
      "\033[38;5;40m", "\033[38;5;148m", "\033[38;5;220m", "\033[38;5;208m", "\033[38;5;196m"};
  if (cell->kind == MATRIX_NONE) {
    return STYLE_DIM;
  }
  if (cell->kind == MATRIX_TEXT) {
    return STYLE_RED;
  }
  return COLOURS[matrix_heat(matrix, extent, cell)];
}

static size_t column_width(const struct matrix *matrix, size_t column) {
  const size_t marks = marks_width(matrix, column);
  size_t width = strlen(matrix->columns[column]);
  for (size_t row = 0; row < matrix->row_count; row++) {
    char text[MATRIX_WORDS_MAX];
    matrix_cell_words(cell_at(matrix, row, column), text);
    width = strlen(text) > width ? strlen(text) : width;
  }
  return width + SEPARATOR + (marks > 0 ? SEPARATOR + marks : 0);
}

/* The first column that does not fit beside those from `first` on; at least one fits. */
static size_t end_of_part(const struct matrix *matrix, unsigned limit, size_t first) {
  size_t width = 0;
  for (size_t row = 0; row < matrix->row_count; row++) {
    const size_t label = strlen(matrix->rows[row]);
    width = label > width ? label : width;
  }
  size_t end = first;
  while (end < matrix->column_count) {
    width += column_width(matrix, end);
    if (limit > 0 && width > limit && end > first) {
      break;
    }
    end++;
  }
  return end;
}

static enum status print_part(const struct matrix *matrix, const struct matrix_extent *extent,
                              const struct style *style, size_t first, size_t end,
                              struct error *err) {
  struct sheet *sheet = sheet_new(style);
  (void)sheet_add_column(sheet, "", false);
  for (size_t column = first; column < end; column++) {
    (void)sheet_add_column(sheet, matrix->columns[column], true);
    (void)sheet_add_column(sheet, "", false); /* of the marks */
  }
  for (size_t row = 0; row < matrix->row_count; row++) {
    (void)sheet_add_row(sheet);
    sheet_set(sheet, row, 0, matrix->rows[row], STYLE_DIM);
    for (size_t column = first; column < end; column++) {
      const struct matrix_cell *cell = cell_at(matrix, row, column);
      const size_t at = 1 + 2 * (column - first);
      char text[MATRIX_WORDS_MAX];
      matrix_cell_words(cell, text);
      sheet_set(sheet, row, at, text, colour_of(matrix, extent, cell));
      sheet_set(sheet, row, at + 1, mark_of(cell), STYLE_DIM);
    }
  }
  enum status status = sheet_print(sheet, err);
  sheet_free(sheet);
  return status;
}

void matrix_summary(const struct matrix *matrix, const struct matrix_extent *extent,
                    char text[MATRIX_SUMMARY_MAX]) {
  char least[MATRIX_NUMBER_MAX];
  char mean[MATRIX_NUMBER_MAX];
  char greatest[MATRIX_NUMBER_MAX];
  if (extent->count < 2) {
    (void)snprintf(text, MATRIX_SUMMARY_MAX, "%s", extent->count == 0 ? "" : matrix->remark);
    return;
  }
  matrix_number(extent->least, least);
  matrix_number(extent->sum / (double)extent->count, mean);
  matrix_number(extent->greatest, greatest);
  (void)snprintf(text, MATRIX_SUMMARY_MAX, "min %s, mean %s, max %s %s%s%s", least, mean, greatest,
                 matrix->unit, matrix->remark[0] != '\0' ? "; " : "", matrix->remark);
}

enum status matrix_print(const struct matrix *matrix, const struct style *style,
                         struct error *err) {
  const struct matrix_extent extent = matrix_extent(matrix);
  const struct paper *paper = style->paper;
  char summary[MATRIX_SUMMARY_MAX];
  enum status status = STATUS_OK;
  if (paper != NULL) {
    paper->matrix(paper->context, matrix);
    return style_check(style, err);
  }
  for (size_t first = 0; status == STATUS_OK && first < matrix->column_count;) {
    const size_t end = end_of_part(matrix, style->width, first);
    status = print_part(matrix, &extent, style, first, end, err);
    first = end;
  }
  matrix_summary(matrix, &extent, summary);
  if (status == STATUS_OK && summary[0] != '\0') {
    style_wrapped(style, "", summary);
    status = style_check(style, err);
  }
  return status;
}
