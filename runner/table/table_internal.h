/* table_internal.h - what the formats of table.h have in common; only files that write one include
 * it. */
#pragma once

#include "runner/table/table.h"

enum { RECORD_MAX = 256 << 20 }; /* bytes of one written record */

struct table {
  struct table_options options;
  const struct table_writer *writer;
  struct row_sink sink;
  struct column *columns; /* with names of their own */
  size_t column_count;
  uint64_t row_count; /* of this result */
  bool reader_gone;
  bool escapes;          /* a format that is written as it is goes to a terminal */
  bool concatenates;     /* see table_concatenate() */
  struct strbuf record;  /* the text of one record, reused */
  struct strbuf scratch; /* one value */
  void *state;           /* of the writer, for one result; NULL = none */
};

/* One format. Members may be NULL: then nothing is done there. */
struct table_writer {
  enum status (*begin)(struct table *table, struct error *err);
  enum status (*row)(struct table *table, const struct cell *cells, struct error *err);
  enum status (*end)(struct table *table, struct error *err);
  /* Free table->state. */
  void (*drop)(struct table *table);
};

/* Write table->record and clear it. */
enum status table_print_record(struct table *table, struct error *err);
