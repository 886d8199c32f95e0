/* footnotes.h - remarks that many rows share, each said once below them.
 *
 * Add the texts of every row, settle, then ask for their numbers. A text that belongs to every row
 * is said without a number. */
#ifndef HAUL_RUNNER_RENDER_FOOTNOTES_H
#define HAUL_RUNNER_RENDER_FOOTNOTES_H

#include "runner/render/sheet.h"

enum { FOOTNOTES_MAX = 99 };

/* Zeroed: none. Texts are borrowed. */
struct footnotes {
  const char *texts[FOOTNOTES_MAX]; /* those past the last are dropped */
  size_t uses[FOOTNOTES_MAX];
  unsigned numbers[FOOTNOTES_MAX]; /* from 1; 0 = belongs to every row */
  size_t count;
};

/* One row has that text; NULL = nothing. A row has a text once at most. */
void footnotes_add(struct footnotes *notes, const char *text);
/* After the last of `rows` rows. */
void footnotes_settle(struct footnotes *notes, size_t rows);
/* 0 where the row needs no mark. */
unsigned footnotes_number(const struct footnotes *notes, const char *text);
void footnotes_print(const struct footnotes *notes, const struct style *style);

#endif
