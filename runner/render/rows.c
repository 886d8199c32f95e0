#include "runner/render/rows.h"

#include "runner/render/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(row_format, ROW_FORMAT_LIST)

struct cell cell_null(void) {
  return (struct cell){.kind = CELL_NULL};
}

struct cell cell_integer(int64_t value) {
  return (struct cell){.kind = CELL_INTEGER, .as.integer = value};
}

struct cell cell_real(double value) {
  return (struct cell){.kind = CELL_REAL, .as.real = value};
}

struct cell cell_text(const char *text) {
  if (text == NULL) {
    return cell_null();
  }
  return (struct cell){.kind = CELL_TEXT, .as.text = {text, strlen(text)}};
}

static void *allocate(size_t count, size_t size_bytes) {
  void *memory = calloc(count > 0 ? count : 1, size_bytes);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

static const struct writer *writer_of(enum row_format format) {
  switch (format) {
  case ROW_TABLE:
    return &TABLE_WRITER;
  case ROW_JSON:
    return &JSON_WRITER;
  case ROW_JSONL:
    return &JSONL_WRITER;
  case ROW_CSV:
    return &CSV_WRITER;
  case ROW_MD:
    return &MD_WRITER;
  case row_format_name_count:
    break;
  }
  abort();
}

static void drop_result(struct rows *rows) {
  table_drop(rows);
  for (size_t i = 0; i < rows->column_count; i++) {
    free(rows->columns[i]);
  }
  free(rows->columns);
  free(rows->numeric);
  free(rows->filled);
  free(rows->widths);
  rows->columns = NULL;
  rows->numeric = NULL;
  rows->filled = NULL;
  rows->widths = NULL;
  rows->column_count = 0;
  rows->row_count = 0;
  strbuf_clear(&rows->record);
}

enum status rows_check_stream(struct rows *rows, bool failed, struct error *err) {
  if (!failed) {
    return STATUS_OK;
  }
  if (errno == EPIPE) {
    rows->reader_gone = true;
    return STATUS_OK;
  }
  return error_set_errno(err, errno, "cannot write the result");
}

enum status rows_write_record(struct rows *rows, struct error *err) {
  if (rows->record.truncated) {
    return error_set(err, STATUS_UNSUPPORTED, "a row is longer than %d MiB", RECORD_MAX >> 20);
  }
  errno = 0;
  bool failed = !rows->reader_gone && fwrite(rows->record.text, 1, rows->record.length,
                                             rows->options.stream) < rows->record.length;
  strbuf_clear(&rows->record);
  return rows_check_stream(rows, failed, err);
}

static enum status begin(void *context, const char *const *columns, size_t count,
                         struct error *err) {
  struct rows *rows = context;
  drop_result(rows);
  rows->columns = allocate(count, sizeof *rows->columns);
  rows->numeric = allocate(count, sizeof *rows->numeric);
  rows->filled = allocate(count, sizeof *rows->filled);
  rows->widths = allocate(count, sizeof *rows->widths);
  rows->column_count = count;
  for (size_t i = 0; i < count; i++) {
    rows->columns[i] = strdup(columns[i]);
    if (rows->columns[i] == NULL) {
      abort();
    }
  }
  return rows->writer->begin(rows, err);
}

static enum status row(void *context, const struct cell *cells, struct error *err) {
  struct rows *rows = context;
  if (rows->reader_gone) {
    return STATUS_OK;
  }
  enum status status = rows->writer->row(rows, cells, err);
  rows->row_count++;
  return status;
}

static enum status end(void *context, struct error *err) {
  struct rows *rows = context;
  enum status status = rows->reader_gone ? STATUS_OK : rows->writer->end(rows, err);
  if (status == STATUS_OK && !rows->reader_gone) {
    errno = 0;
    status = rows_check_stream(rows, fflush(rows->options.stream) != 0, err);
  }
  drop_result(rows);
  return status;
}

static bool enough(void *context) {
  const struct rows *rows = context;
  return rows->reader_gone;
}

struct rows *rows_new(const struct rows_options *options) {
  struct rows *rows = allocate(1, sizeof *rows);
  rows->options = *options;
  rows->writer = writer_of(options->format);
  rows->sink = (struct row_sink){rows, begin, row, end, enough};
  strbuf_init(&rows->record, RECORD_MAX);
  strbuf_init(&rows->scratch, RECORD_MAX);
  return rows;
}

const struct row_sink *rows_sink(struct rows *rows) {
  return &rows->sink;
}

bool rows_reader_gone(const struct rows *rows) {
  return rows->reader_gone;
}

void rows_free(struct rows *rows) {
  if (rows == NULL) {
    return;
  }
  drop_result(rows);
  strbuf_fini(&rows->record);
  strbuf_fini(&rows->scratch);
  free(rows);
}
