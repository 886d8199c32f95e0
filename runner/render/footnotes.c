#include "runner/render/footnotes.h"

#include <string.h>

static size_t find(const struct footnotes *notes, const char *text) {
  size_t i = 0;
  while (i < notes->count && strcmp(notes->texts[i], text) != 0) {
    i++;
  }
  return i;
}

void footnotes_add(struct footnotes *notes, const char *text) {
  if (text == NULL) {
    return;
  }
  const size_t i = find(notes, text);
  if (i == FOOTNOTES_MAX) {
    return;
  }
  if (i == notes->count) {
    notes->texts[i] = text;
    notes->uses[i] = 0;
    notes->count++;
  }
  notes->uses[i]++;
}

void footnotes_settle(struct footnotes *notes, size_t rows) {
  unsigned number = 0;
  for (size_t i = 0; i < notes->count; i++) {
    notes->numbers[i] = notes->uses[i] == rows ? 0 : ++number;
  }
}

unsigned footnotes_number(const struct footnotes *notes, const char *text) {
  const size_t i = text != NULL ? find(notes, text) : notes->count;
  return i < notes->count ? notes->numbers[i] : 0;
}

void footnotes_print(const struct footnotes *notes, const struct style *style) {
  for (size_t i = 0; i < notes->count; i++) {
    char mark[16] = "note: ";
    if (notes->numbers[i] > 0) {
      (void)snprintf(mark, sizeof mark, "[%u] ", notes->numbers[i]);
    }
    style_wrapped(style, mark, notes->texts[i]);
  }
}
