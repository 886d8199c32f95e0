/* table.h - the one model of a result table, and its formats.
 *
 * A producer (runner/record/query.h, a verb, a result_set) gives a sink columns once, then rows of
 * typed cells, then the end. table_new() makes a sink that writes to a stream in one of the formats
 * of OUTPUT_FORMAT_LIST; result_set.h keeps rows. A new format is one file with one struct
 * table_writer (table_internal.h) and one row of that list.
 *
 *   table  aligned, for people; numbers right, reals in five digits or as SQL rounded them. To fit
 *          options.width, columns without a value are left out, then texts are wrapped, then each
 *          row is expanded to one line per value
 *   md     a Markdown table, numbers as in table
 *   csv    RFC 4180, a heading line, LF written as CRLF record ends; on a terminal alone, control
 *          characters are escaped as in a table
 *   csv-safe  the same, for spreadsheets: a text that begins with = + - @ has an apostrophe
 *          before it
 *   json   one array of objects, written as the rows come
 *   jsonl  one object per line
 *
 * csv, json and jsonl carry every number in full (the shortest text that reads back the same) and
 * NULL as an empty field or null. md, csv, json and jsonl keep no rows; a table keeps at most
 * TABLE_CHUNK_ROWS and then starts again with a new heading. Control characters are escaped in
 * table and md (as "\u001b"), by the format's own rule in the others.
 *
 * The process must ignore SIGPIPE. A reader that went away (EPIPE) is no error: later rows are
 * dropped, and table_reader_gone() lets a long producer stop. Any other failure to write is
 * STATUS_IO. Locale: text is UTF-8; the caller calls setlocale(LC_CTYPE, "") and leaves LC_NUMERIC
 * alone. */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/base/error.h"
#include "engine/base/strbuf.h"
#include "runner/table/cell.h"

#include <stdio.h>

/* What a verb that has more to say than rows prints in a format. */
enum output_layout {
  LAYOUT_PAGE,   /* for people: tables with texts around them */
  LAYOUT_DIGEST, /* for people to paste: the table that they would see, alone */
  LAYOUT_OBJECT, /* for programs: one value that holds everything */
  LAYOUT_ROWS,   /* for programs: one row per case, fact or run, in full */
};

/* X(enum output_format, name, enum output_layout, struct table_writer, struct document_backend):
 * the last is what writes a document (runner/document), DOCUMENT_ROWS its rows alone. */
#define OUTPUT_FORMAT_LIST(X)                                                                      \
  X(OUTPUT_TABLE, "table", LAYOUT_PAGE, TEXT_WRITER, DOCUMENT_TERMINAL)                            \
  X(OUTPUT_JSON, "json", LAYOUT_OBJECT, JSON_WRITER, DOCUMENT_ROWS)                                \
  X(OUTPUT_JSONL, "jsonl", LAYOUT_ROWS, JSONL_WRITER, DOCUMENT_ROWS)                               \
  X(OUTPUT_CSV, "csv", LAYOUT_ROWS, CSV_WRITER, DOCUMENT_ROWS)                                     \
  X(OUTPUT_MD, "md", LAYOUT_DIGEST, MARKDOWN_WRITER, DOCUMENT_MARKDOWN)                            \
  X(OUTPUT_CSV_SAFE, "csv-safe", LAYOUT_ROWS, CSV_WRITER, DOCUMENT_ROWS)
ENUM_NAMES_DECLARE(output_format, OUTPUT_FORMAT_LIST)
enum output_layout output_layout_of(enum output_format format);
static inline bool output_is_for_people(enum output_format format) {
  const enum output_layout layout = output_layout_of(format);
  return layout == LAYOUT_PAGE || layout == LAYOUT_DIGEST;
}

/* The names in one string, for help texts: " table json jsonl csv md csv-safe". */
#define OUTPUT_FORMAT_NAME_(id, name, ...) " " name
#define OUTPUT_FORMAT_NAMES                OUTPUT_FORMAT_LIST(OUTPUT_FORMAT_NAME_)

/* ---- sinks ---- */

/* For sinks that read rows: by name (NULL ends them) the number of its column; SIZE_MAX = there is
 * none. */
void columns_number(const struct column *columns, size_t count, const char *const *names,
                    size_t *numbers);

/* Where rows go. A callback that fails ends the producer with that status. */
struct row_sink {
  void *context;
  enum status (*begin)(void *context, const struct column *columns, size_t count,
                       struct error *err);
  enum status (*row)(void *context, const struct cell *cells, struct error *err);
  /* Not called when the producer failed on the way. May be NULL. */
  enum status (*end)(void *context, struct error *err);
  /* True: more rows are of no use. May be NULL. */
  bool (*enough)(void *context);
};

/* Columns that have no more than a name. */
enum status sink_begin(const struct row_sink *sink, const char *const *names, size_t count,
                       struct error *err);
enum status sink_row(const struct row_sink *sink, const struct cell *cells, struct error *err);
/* The same from a list of columns (cell.h), and from cells. */
#define SINK_COLUMNS(sink, LIST, err)                                                              \
  sink_begin((sink), (const char *const[]){LIST(COLUMN_NAME)},                                     \
             COUNT_OF(((const char *const[]){LIST(COLUMN_NAME)})), (err))
#define SINK_ROW(sink, err, ...) sink_row((sink), (const struct cell[]){__VA_ARGS__}, (err))
enum status sink_end(const struct row_sink *sink, struct error *err);
bool sink_has_enough(const struct row_sink *sink);

/* ---- writing ---- */

enum { TABLE_CHUNK_ROWS = 20000 };

struct table_options {
  enum output_format format;
  FILE *stream;    /* borrowed; flushed at the end, not closed */
  unsigned width;  /* table: columns of the terminal; 0 = as wide as needed */
  bool colour;     /* table: headings stand out, and cells have the colours of their tones */
  bool drop_empty; /* table: columns without a value are left out however wide it is */
  bool compact;    /* table: dim headings, columns no wider than their texts */
  /* table: columns that a narrow terminal is not shown, "the,first,to,go"; those with "&" between
   * go together; after a semicolon those that are always shown. Before a column goes that has the
   * only number of a row, or tells rows apart, texts are wrapped further */
  const char *narrow;
  unsigned listed_min; /* table with narrow: texts are not wrapped narrower; 0 = 20 columns */
  bool *left_out;      /* table with narrow: set for each column without room; NULL = not asked */
  const char *schema;  /* json: "list" makes an object that says "haul.list/1"; NULL = an array */
  const char *empty;   /* table, md: a line instead of a table without rows; NULL = the heading */
};

struct table;

/* Never fails but for want of memory (then it aborts). */
struct table *table_new(const struct table_options *options);
/* Borrowed; the sink may be used for several results, one after the other. */
const struct row_sink *table_sink(struct table *table);
/* Sets the options of these names, borrowed. */
void table_narrow(struct table *table, const char *narrow, unsigned listed_min);
/* From now on the results, all of the same columns, are one: a batch of runs is one JSON array, one
 * CSV file, one Markdown table. It ends with table_end_all(). */
void table_concatenate(struct table *table);
enum status table_end_all(struct table *table, struct error *err) CHECK_RESULT;
/* Of the last result. */
uint64_t table_row_count(const struct table *table);
bool table_reader_gone(const struct table *table);
/* Accepts NULL. Rows of a result that was not ended are dropped. */
void table_free(struct table *table);

/* ---- failures to write ---- */

/* A pipe or socket of which nobody reads the other end. */
bool stream_reader_is_gone(FILE *stream);
/* After writing to a stream: failed, unless the reader went away, is STATUS_IO, with errno where it
 * is not 0. *reader_gone may be NULL. */
enum status stream_check(FILE *stream, bool failed, bool *reader_gone, struct error *err);
/* Write a whole text and flush. */
enum status stream_print(FILE *stream, const struct strbuf *text, bool *reader_gone,
                         struct error *err);
