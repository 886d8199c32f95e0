/* document.h - what a verb has to say, part by part, and the backends that write it: a terminal,
 * Markdown, a page (runner/render/page), and for programs its tables as rows.
 *
 * A verb calls these functions once; the backend decides the looks. Texts
 * are plain: control characters and markup are escaped by the backend. A failure is kept, later
 * parts are dropped, and document_end() tells it; a reader that went away is no error. */
#pragma once

#include "runner/table/result_set.h"

struct document;

struct document_table {
  const char *narrow;  /* as of struct table_options; NULL = as wide as it is */
  unsigned listed_min; /* likewise */
  bool wraps;          /* without `narrow`: texts are wrapped at the width */
  const char *csv;     /* of a page: the name of a file with the rows, to save; NULL = none */
};

/* Texts are borrowed for the call. */
struct document_backend {
  /* What follows belongs to what has that name; NULL = to several. May be NULL, as may gap. */
  void (*section)(struct document *document, const char *name);
  void (*gap)(struct document *document);
  void (*heading)(struct document *document, const char *text);
  /* first: "[1] " of a footnote, "note: ", "" of plain text. */
  void (*paragraph)(struct document *document, unsigned tone, const char *first, const char *text);
  void (*key)(struct document *document, unsigned tone, const char *key, const char *text);
  void (*verbatim)(struct document *document, const char *lines);
  void (*table)(struct document *document, struct result_set *rows,
                const struct document_table *how);
  void (*summary)(struct document *document, const char *text); /* of the table before */
};
/* Those of OUTPUT_FORMAT_LIST; of the last none is called. */
extern const struct document_backend DOCUMENT_TERMINAL, DOCUMENT_MARKDOWN, DOCUMENT_ROWS;

struct document {
  struct table_options options;           /* where to, how wide, in colour */
  const struct document_backend *backend; /* NULL = for programs: rows alone */
  void *context;                          /* of the backend */
  struct arena arena;                     /* for texts until document_end() */
  struct error *err;
  enum status status;
  unsigned key_width; /* of the terminal; 0 = 8 columns */
  /* private */
  bool begun;            /* something was written */
  bool in_list;          /* of the backend: the last part was one of a list */
  bool *left_out;        /* columns of the last table without room; NULL = none */
  struct result_set set; /* the rows of a table, but for programs */
  struct table *table;   /* for programs */
  struct document_table how;
};

/* In the format that the options name. */
void document_begin(struct document *document, const struct table_options *options,
                    struct error *err);
/* Whether there is more to say than rows. */
bool document_is_for_people(const struct document *document);
/* What every text for people says of results of a fake driver. */
#define DOCUMENT_SIMULATED "SIMULATED: a fake driver answered"

enum status document_end(struct document *document) CHECK_RESULT;

void document_section(struct document *document, const char *name);
/* A blank line, but at the beginning. */
void document_gap(struct document *document);
void document_heading(struct document *document, const char *text);
/* The same after a gap. */
void document_part(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A paragraph; in an enum tone; behind "[1] ", "note: " or "Latency ", where later lines begin
 * below its text. */
void document_put(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void document_put_toned(struct document *document, unsigned tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void document_put_behind(struct document *document, const char *first, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A paragraph as it is; "" is none. */
void document_put_text(struct document *document, unsigned tone, const char *text);
/* A key and its value. */
void document_key(struct document *document, unsigned tone, const char *key, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* Lines that stay as they are: a chart, commands. Each ends with '\n'; free of control characters.
 */
void document_verbatim(struct document *document, const char *lines);
/* What is true of all rows of the table before; "" = nothing. */
void document_summary(struct document *document, const char *text);

/* A table: its columns, its rows, its end. how: NULL = as wide as it is. */
void document_table(struct document *document, const char *const *names, size_t count,
                    const struct document_table *how);
#define DOCUMENT_TABLE(document, names, ...)                                                       \
  document_table(document, names, COUNT_OF(names), &(struct document_table){__VA_ARGS__})
/* The same with the columns of a list (cell.h). */
#define DOCUMENT_COLUMNS(document, LIST, ...)                                                      \
  document_table(document, (const char *const[]){LIST(COLUMN_NAME)},                               \
                 COUNT_OF(((const char *const[]){LIST(COLUMN_NAME)})),                             \
                 &(struct document_table){__VA_ARGS__})
void document_row(struct document *document, const struct cell *cells);
#define DOCUMENT_ROW(document, ...) document_row(document, (const struct cell[]){__VA_ARGS__})
void document_table_end(struct document *document);
/* A whole one. */
void document_put_table(struct document *document, struct result_set *rows,
                        const struct document_table *how);
/* Whether that column of the last table had room. */
bool document_shows(const struct document *document, size_t column);
