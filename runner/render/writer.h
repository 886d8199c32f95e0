/* writer.h - what the formats of rows.h have in common; only files of this folder include it. */
#ifndef HAUL_RUNNER_RENDER_WRITER_H
#define HAUL_RUNNER_RENDER_WRITER_H

#include "engine/base/strbuf.h"
#include "runner/render/rows.h"

struct libscols_table;

enum { RECORD_MAX = 256 << 20 }; /* bytes of one written record */

struct writer;

struct rows {
  struct rows_options options;
  const struct writer *writer;
  struct row_sink sink;
  char **columns; /* owned copies of the names */
  size_t column_count;
  uint64_t row_count; /* of this result */
  bool reader_gone;
  struct strbuf record;  /* the text of one record, reused */
  struct strbuf scratch; /* one value */
  /* table only */
  struct libscols_table *table; /* the rows of this chunk */
  size_t chunk_rows;
  bool *numeric;  /* a column: no value so far was other than a number */
  bool *filled;   /* a column: there was a value other than NULL */
  size_t *widths; /* a column: of its widest text so far */
};

/* One format. All members are set. */
struct writer {
  enum status (*begin)(struct rows *rows, struct error *err);
  enum status (*row)(struct rows *rows, const struct cell *cells, struct error *err);
  enum status (*end)(struct rows *rows, struct error *err);
};

extern const struct writer TABLE_WRITER, JSON_WRITER, JSONL_WRITER, CSV_WRITER, MD_WRITER;

/* Write rows->record and clear it. */
enum status rows_write_record(struct rows *rows, struct error *err);
/* Called after writing: EPIPE marks the reader as gone, any other failure is STATUS_IO. */
enum status rows_check_stream(struct rows *rows, bool failed, struct error *err);
/* Frees what the table format holds of a result. */
void table_drop(struct rows *rows);

#endif
