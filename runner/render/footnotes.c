#include "runner/render/footnotes.h"

#include <string.h>

unsigned footnotes_add(struct footnotes *notes, const char *text) {
  size_t i = 0;
  if (text == NULL) {
    return 0;
  }
  while (i < notes->count && strcmp(notes->texts[i], text) != 0) {
    i++;
  }
  if (i == FOOTNOTES_MAX) {
    return 0;
  }
  if (i == notes->count) {
    notes->texts[i] = text;
    notes->uses[i] = 0;
    notes->count++;
  }
  notes->uses[i]++;
  return (unsigned)i + 1;
}

bool footnotes_common(const struct footnotes *notes, size_t rows) {
  return notes->count == 1 && notes->uses[0] == rows;
}

void footnotes_print(const struct footnotes *notes, size_t rows, const struct style *style) {
  for (size_t i = 0; i < notes->count; i++) {
    char mark[16] = "note: ";
    if (!footnotes_common(notes, rows)) {
      (void)snprintf(mark, sizeof mark, "[%u] ", (unsigned)i + 1);
    }
    style_wrapped(style, mark, notes->texts[i]);
  }
}
