#include "runner/table/cell.h"

#include <math.h>
#include <string.h>

struct cell cell_null(void) {
  return (struct cell){.kind = CELL_NULL};
}

struct cell cell_integer(int64_t value) {
  return (struct cell){.kind = CELL_INTEGER, .as.integer = value};
}

struct cell cell_real(double value) {
  return (struct cell){.kind = CELL_REAL, .as.real = value};
}

struct cell cell_finite(double value) {
  return isfinite(value) ? cell_real(value) : cell_null();
}

struct cell cell_known(bool known, int64_t value) {
  return known ? cell_integer(value) : cell_null();
}

struct cell cell_text(const char *text) {
  if (text == NULL) {
    return cell_null();
  }
  return (struct cell){.kind = CELL_TEXT, .as.text = {text, strlen(text)}};
}

struct cell cell_words(const char *text, unsigned tone) {
  struct cell cell = text == NULL || text[0] == '\0' ? cell_null() : cell_text(text);
  cell.tone = tone;
  return cell;
}
