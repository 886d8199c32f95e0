/* paper.h - where people's output goes when it is no terminal's text: the functions that lay
 * results out (run_result.h, matrix.h, sheet.h) call these instead of writing to style.stream. So a
 * page shows what a terminal shows, laid out once.
 *
 * All members but the context are set. Texts are borrowed for the call, are free of control
 * characters, and are not escaped for the paper. What fails to be written is told by the stream of
 * the style, which is the paper's (style_check()). */
#ifndef HAUL_RUNNER_RENDER_PAPER_H
#define HAUL_RUNNER_RENDER_PAPER_H

#include "runner/render/matrix.h"

struct paper {
  void *context;
  /* What follows belongs to what has that name; NULL = to several. */
  void (*section)(void *context, const char *name);
  void (*heading)(void *context, const char *text);
  /* first: "[1] " of a footnote, "note: ", "" of plain text. */
  void (*paragraph)(void *context, const char *first, const char *text);
  void (*sheet)(void *context, const struct sheet *sheet);
  void (*matrix)(void *context, const struct matrix *matrix);
};

#endif
