/* rows.h - rows of named columns, written as a table, JSON, JSON lines, CSV or Markdown.
 *
 * A producer (runner/record/query.h, a verb) calls the sink: begin once with the column names, row
 * for every row, end once. rows_new() makes a sink that writes to a stream:
 *
 *   table  aligned, for people; numbers right, reals in five digits or as
 *          SQL rounded them. To fit options.width, columns
 *          without a value are left out, then texts are wrapped, then each row is turned to one
 *          line a value
 *   md     a Markdown table, numbers as in table
 *   csv    RFC 4180, a heading line, LF written as CRLF record ends
 *   json   one array of objects, written as the rows come
 *   jsonl  one object a line
 *
 * csv, json and jsonl carry every number in full (the shortest text that reads back the same) and
 * NULL as an empty field or null. md, csv, json and jsonl keep no rows; a table keeps at most
 * ROWS_TABLE_CHUNK and then starts again with a new heading. Control characters are escaped in
 * table and md (as "\u001b"), by the format's own rule in the others.
 *
 * The process must ignore SIGPIPE. A reader that went away (EPIPE) is no error: what follows is
 * dropped, and rows_reader_gone() lets a long producer stop. Any other failure to write is
 * STATUS_IO. Locale: text is UTF-8; the caller calls setlocale(LC_CTYPE, "") and leaves LC_NUMERIC
 * alone. */
#ifndef HAUL_RUNNER_RENDER_ROWS_H
#define HAUL_RUNNER_RENDER_ROWS_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ROW_FORMAT_LIST(X)                                                                         \
  X(ROW_TABLE, "table")                                                                            \
  X(ROW_JSON, "json")                                                                              \
  X(ROW_JSONL, "jsonl")                                                                            \
  X(ROW_CSV, "csv")                                                                                \
  X(ROW_MD, "md")
ENUM_NAMES_DECLARE(row_format, ROW_FORMAT_LIST)

enum { ROWS_TABLE_CHUNK = 20000 };

enum cell_kind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

/* One value; text and blobs are borrowed for the duration of the call. */
struct cell {
  enum cell_kind kind;
  union {
    int64_t integer;
    double real;
    struct {
      const char *bytes; /* UTF-8 for CELL_TEXT; need not be NUL-terminated; may not be NULL */
      size_t length;
    } text; /* CELL_TEXT and CELL_BLOB; a blob is written as hexadecimal digits */
  } as;
};

struct cell cell_null(void);
struct cell cell_integer(int64_t value);
struct cell cell_real(double value);
/* NULL makes a null cell. */
struct cell cell_text(const char *text);

/* Where rows go. A callback that fails ends the producer with that status. */
struct row_sink {
  void *context;
  enum status (*begin)(void *context, const char *const *columns, size_t count, struct error *err);
  enum status (*row)(void *context, const struct cell *cells, struct error *err);
  /* Not called when the producer failed on the way. */
  enum status (*end)(void *context, struct error *err);
  /* True: more rows are of no use. May be NULL. */
  bool (*enough)(void *context);
};

struct rows_options {
  enum row_format format;
  FILE *stream;      /* borrowed; flushed at the end, not closed */
  unsigned width;    /* table: columns of the terminal; 0 = as wide as needed */
  bool colour;       /* table: headings stand out */
  bool drop_empty;   /* table: columns without a value are left out however wide it is */
  const char *empty; /* table, md: a line instead of a table without rows; NULL = the heading */
};

struct rows;

/* Never fails but for want of memory (then it aborts). */
struct rows *rows_new(const struct rows_options *options);
/* Borrowed; the sink may be used for several results, one after the other. */
const struct row_sink *rows_sink(struct rows *rows);
bool rows_reader_gone(const struct rows *rows);
/* Accepts NULL. Rows of a result that was not ended are dropped. */
void rows_free(struct rows *rows);

#endif
