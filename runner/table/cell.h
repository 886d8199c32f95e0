/* cell.h - one value of a table, and what a column is. Texts are borrowed for the duration of the
 * call. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

/* What a cell says beside its value: a colour on a terminal, a class on a page. */
enum { TONE_HEATS = 5 };
enum tone {
  TONE_NONE,
  TONE_DIM,  /* less important than its neighbours */
  TONE_BAD,  /* what went wrong */
  TONE_WARN, /* what is not certain */
  TONE_GOOD, /* what became better */
  TONE_HEAT, /* and the following: how far a number is from the best, 0 to TONE_HEATS - 1 */
  TONE_HEADING = TONE_HEAT + TONE_HEATS
};

/* One value; text and blobs are borrowed for the duration of the call. */
struct cell {
  enum cell_kind kind;
  unsigned tone; /* enum tone */
  union {
    int64_t integer;
    double real;
    struct {
      const char *bytes; /* UTF-8 for CELL_TEXT; need not be NUL-terminated; may not be NULL */
      size_t length;
    } text; /* CELL_TEXT and CELL_BLOB; a blob is written as hexadecimal digits */
  } as;
};

static inline struct cell cell_null(void) {
  return (struct cell){.kind = CELL_NULL};
}
static inline struct cell cell_integer(int64_t value) {
  return (struct cell){.kind = CELL_INTEGER, .as.integer = value};
}
static inline struct cell cell_real(double value) {
  return (struct cell){.kind = CELL_REAL, .as.real = value};
}
/* NULL where the value is not finite. */
static inline struct cell cell_finite(double value) {
  return isfinite(value) ? cell_real(value) : cell_null();
}
/* NULL unless it is known. */
static inline struct cell cell_known(bool known, int64_t value) {
  return known ? cell_integer(value) : cell_null();
}
/* NULL makes a null cell. */
static inline struct cell cell_text(const char *text) {
  return text != NULL ? (struct cell){.kind = CELL_TEXT, .as.text = {text, strlen(text)}}
                      : cell_null();
}
/* The same; "" makes a null cell as well. */
static inline struct cell cell_words(const char *text, unsigned tone) {
  struct cell cell = text == NULL || text[0] == '\0' ? cell_null() : cell_text(text);
  cell.tone = tone;
  return cell;
}

enum column_align { ALIGN_BY_VALUE /* numbers right */, ALIGN_LEFT, ALIGN_RIGHT };

struct column {
  const char *name; /* what people and programs read above it; may be empty */
  enum column_align align;
  bool is_row_header; /* its cells name their rows: for pages */
  bool is_mark;       /* its cells mark those of the column before: "[1]" */
  bool is_json;       /* its texts are JSON arrays or objects, which JSON has as such */
};

/* For a list of columns, X(name, type, ...): a column is one row of the list. The cell of a row is
 * cell_TYPE(...), or of type `cell` any expression that is one. */
#define COLUMN_NAME(name, type, ...) name,
#define COLUMN_CELL(name, type, ...) cell_##type(__VA_ARGS__),
#define cell_cell(cell)              cell
