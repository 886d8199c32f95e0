/* output.h - what people read of a result: headings, wrapped texts and tables, as text on a
 * stream or through a backend.
 *
 * Whoever lays out a result (runner/render) calls these, so that a page shows what a terminal
 * shows, laid out once. Texts are free of control characters (text_escape()). A failure to write is
 * told by output_check(); a reader that went away is no error. */
#ifndef HAUL_RUNNER_TABLE_OUTPUT_H
#define HAUL_RUNNER_TABLE_OUTPUT_H

#include "runner/table/result_set.h"

/* Takes everything instead of the stream. All members but the context are set; texts are borrowed
 * for the call and are not escaped for the backend. What fails to be written is told by the stream
 * of the output, which is the backend's. */
struct output_backend {
  void *context;
  /* What follows belongs to what has that name; NULL = to several. */
  void (*section)(void *context, const char *name);
  void (*heading)(void *context, const char *text);
  /* first: "[1] " of a footnote, "note: ", "" of plain text. */
  void (*paragraph)(void *context, const char *first, const char *text);
  void (*table)(void *context, const struct result_set *table);
  void (*summary)(void *context, const char *text); /* of the table before */
};

struct output {
  FILE *stream;
  unsigned width; /* columns of the terminal; 0 = as wide as needed */
  bool colour;
  const struct output_backend *backend; /* NULL = text to the stream */
};

#define COLOUR_BOLD   "\033[1m"
#define COLOUR_DIM    "\033[2m"
#define COLOUR_RED    "\033[31m"
#define COLOUR_GREEN  "\033[32m"
#define COLOUR_YELLOW "\033[33m"
#define COLOUR_OFF    "\033[0m"
/* The escape sequence of an enum tone; NULL = none. */
const char *output_colour(unsigned tone);

/* What follows belongs to what has that name; NULL = to several. Nothing is written as text. */
void output_section(const struct output *output, const char *name);
void output_heading(const struct output *output, const char *text);
/* A text broken at blanks to the width, later lines as far in as `first` is long. */
void output_wrapped(const struct output *output, const char *first, const char *text);
/* A blank line between the parts of a text. */
void output_gap(const struct output *output);
/* What is true of all rows of the table before; "" = nothing. */
void output_summary(const struct output *output, const char *text);
/* Columns without any text are left out. narrow: as of struct table_options; columns for which a
 * text has no room are cleared. NULL = shown as wide as it is. */
enum status output_table(const struct output *output, struct result_set *table, const char *narrow,
                         struct error *err) CHECK_RESULT;
enum status output_check(const struct output *output, struct error *err) CHECK_RESULT;

#endif
