#include "runner/render/sheet.h"

#include "runner/render/paper.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

struct sheet {
  const struct style *style;
  struct libscols_table *table;
  size_t column_count, row_count;
  bool *filled;
};

static void must(bool done) {
  if (!done) {
    abort(); /* libsmartcols fails only for want of memory */
  }
}

struct sheet *sheet_new(const struct style *style) {
  struct sheet *sheet = calloc(1, sizeof *sheet);
  must(sheet != NULL);
  sheet->style = style;
  sheet->table = scols_new_table();
  must(sheet->table != NULL);
  must(scols_table_set_stream(sheet->table, style->stream) == 0);
  must(scols_table_set_column_separator(sheet->table, "  ") == 0);
  must(scols_table_set_termforce(sheet->table, SCOLS_TERMFORCE_NEVER) == 0);
  must(scols_table_enable_minout(sheet->table, 1) == 0); /* no blanks at the end of lines */
  must(scols_table_enable_colors(sheet->table, style->colour) == 0);
  return sheet;
}

void sheet_free(struct sheet *sheet) {
  if (sheet != NULL) {
    scols_unref_table(sheet->table);
    free(sheet->filled);
    free(sheet);
  }
}

size_t sheet_add_column(struct sheet *sheet, const char *heading, bool right) {
  struct libscols_column *column =
      scols_table_new_column(sheet->table, heading, 0, right ? SCOLS_FL_RIGHT : 0);
  must(column != NULL);
  if (sheet->style->colour) {
    must(scols_cell_set_color(scols_column_get_header(column), STYLE_DIM) == 0);
  }
  sheet->filled = reallocarray(sheet->filled, sheet->column_count + 1, sizeof *sheet->filled);
  must(sheet->filled != NULL);
  sheet->filled[sheet->column_count] = false;
  return sheet->column_count++;
}

size_t sheet_add_row(struct sheet *sheet) {
  must(scols_table_new_line(sheet->table, NULL) != NULL);
  return sheet->row_count++;
}

void sheet_set(struct sheet *sheet, size_t row, size_t column, const char *text,
               const char *colour) {
  struct libscols_line *line = scols_table_get_line(sheet->table, row);
  must(line != NULL && scols_line_set_data(line, column, text) == 0);
  sheet->filled[column] = sheet->filled[column] || text[0] != '\0';
  if (sheet->style->colour && colour != NULL) {
    must(scols_cell_set_color(scols_line_get_cell(line, column), colour) == 0);
  }
}

/* An empty heading at the end leaves blanks behind it. */
static void print_lines(const char *text, FILE *stream) {
  while (*text != '\0') {
    const size_t length = strcspn(text, "\n");
    size_t shown = length;
    while (shown > 0 && text[shown - 1] == ' ') {
      shown--;
    }
    (void)fprintf(stream, "%.*s\n", (int)shown, text);
    text += length + (text[length] == '\n');
  }
}

size_t sheet_column_count(const struct sheet *sheet) {
  return sheet->column_count;
}

size_t sheet_row_count(const struct sheet *sheet) {
  return sheet->row_count;
}

const char *sheet_heading(const struct sheet *sheet, size_t column) {
  const char *text = scols_column_get_name(scols_table_get_column(sheet->table, column));
  return text != NULL ? text : "";
}

bool sheet_is_right(const struct sheet *sheet, size_t column) {
  return (scols_column_get_flags(scols_table_get_column(sheet->table, column)) & SCOLS_FL_RIGHT) !=
         0;
}

bool sheet_is_filled(const struct sheet *sheet, size_t column) {
  return sheet->filled[column];
}

static struct libscols_cell *cell_at(const struct sheet *sheet, size_t row, size_t column) {
  return scols_line_get_cell(scols_table_get_line(sheet->table, row), column);
}

const char *sheet_text(const struct sheet *sheet, size_t row, size_t column) {
  const char *text = scols_cell_get_data(cell_at(sheet, row, column));
  return text != NULL ? text : "";
}

const char *sheet_colour(const struct sheet *sheet, size_t row, size_t column) {
  return scols_cell_get_color(cell_at(sheet, row, column));
}

enum status sheet_print(struct sheet *sheet, struct error *err) {
  const struct paper *paper = sheet->style->paper;
  if (paper != NULL) {
    paper->sheet(paper->context, sheet);
    return style_check(sheet->style, err);
  }
  for (size_t i = 0; i < sheet->column_count; i++) {
    struct libscols_column *column = scols_table_get_column(sheet->table, i);
    if (!sheet->filled[i]) {
      must(scols_column_set_flags(column, scols_column_get_flags(column) | SCOLS_FL_HIDDEN) == 0);
    }
  }
  char *text = NULL;
  must(scols_print_table_to_string(sheet->table, &text) == 0 && text != NULL);
  errno = 0;
  print_lines(text, sheet->style->stream);
  free(text);
  return style_check(sheet->style, err);
}

void style_section(const struct style *style, const char *name) {
  if (style->paper != NULL) {
    style->paper->section(style->paper->context, name);
  }
}

void style_line(const struct style *style, const char *colour, const char *text) {
  const struct paper *paper = style->paper;
  if (paper != NULL && colour != NULL && strcmp(colour, STYLE_BOLD) == 0) {
    paper->heading(paper->context, text);
    return;
  }
  if (paper != NULL) {
    style_wrapped(style, "", text);
    return;
  }
  const bool coloured = style->colour && colour != NULL;
  (void)fprintf(style->stream, "%s%s%s\n", coloured ? colour : "", text, coloured ? STYLE_OFF : "");
}

void style_wrapped(const struct style *style, const char *first, const char *text) {
  if (style->paper != NULL) {
    if (first[0] != '\0' || text[0] != '\0') {
      style->paper->paragraph(style->paper->context, first, text);
    }
    return;
  }
  const size_t indent = strlen(first);
  size_t column = indent;
  (void)fputs(first, style->stream);
  for (bool start = true; *text != '\0'; start = false) {
    const size_t length = strcspn(text, " ");
    if (!start && style->width > 0 && column + 1 + length > style->width) {
      (void)fprintf(style->stream, "\n%*s", (int)indent, "");
      column = indent;
    } else if (!start) {
      (void)fputc(' ', style->stream);
      column++;
    }
    (void)fwrite(text, 1, length, style->stream);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  (void)fputc('\n', style->stream);
}

enum status style_check(const struct style *style, struct error *err) {
  if (!ferror(style->stream) || errno == EPIPE || errno == 0) {
    return STATUS_OK;
  }
  return error_set_errno(err, errno, "cannot write the result");
}
