/* footnotes.h - remarks that many rows share, each said once below them. */
#ifndef HAUL_RUNNER_RENDER_FOOTNOTES_H
#define HAUL_RUNNER_RENDER_FOOTNOTES_H

#include "runner/render/sheet.h"

enum { FOOTNOTES_MAX = 99 };

/* Zeroed: none. Texts are borrowed. */
struct footnotes {
  const char *texts[FOOTNOTES_MAX];
  size_t uses[FOOTNOTES_MAX];
  size_t count;
};

/* The number of the text, from 1; 0 for NULL and where there are too many. */
unsigned footnotes_add(struct footnotes *notes, const char *text);
/* True when a single text belongs to every one of `rows` rows: it needs no mark. */
bool footnotes_common(const struct footnotes *notes, size_t rows);
void footnotes_print(const struct footnotes *notes, size_t rows, const struct style *style);

#endif
