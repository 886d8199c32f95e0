#include "runner/table/table.h"

#include "engine/base/arena.h"
#include "runner/table/table_internal.h"
#include "runner/table/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ENUM_NAMES_DEFINE(output_format, OUTPUT_FORMAT_LIST)

#define DECLARE_WRITER(id, name, layout, writer, backend) extern const struct table_writer writer;
OUTPUT_FORMAT_LIST(DECLARE_WRITER)

static const struct {
  enum output_layout layout;
  const struct table_writer *writer;
} formats[] = {
#define FORMAT_ROW(id, name, layout, writer, backend) {layout, &(writer)},
    OUTPUT_FORMAT_LIST(FORMAT_ROW)};

enum output_layout output_layout_of(enum output_format format) {
  return formats[format].layout;
}

/* ---- sinks ---- */

void columns_number(const struct column *columns, size_t count, const char *const *names,
                    size_t *numbers) {
  for (size_t n = 0; names[n] != NULL; n++) {
    numbers[n] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
      numbers[n] = strcmp(columns[i].name, names[n]) == 0 ? i : numbers[n];
    }
  }
}

enum status sink_begin(const struct row_sink *sink, const char *const *names, size_t count,
                       struct error *err) {
  SCOPED(memory_free) struct column *columns = memory_new(count + 1, sizeof *columns);
  for (size_t i = 0; i < count; i++) {
    columns[i].name = names[i];
  }
  return sink->begin(sink->context, columns, count, err);
}

enum status sink_row(const struct row_sink *sink, const struct cell *cells, struct error *err) {
  return sink->row(sink->context, cells, err);
}

enum status sink_end(const struct row_sink *sink, struct error *err) {
  return sink->end != NULL ? sink->end(sink->context, err) : STATUS_OK;
}

bool sink_has_enough(const struct row_sink *sink) {
  return sink->enough != NULL && sink->enough(sink->context);
}

/* ---- failures to write ---- */

bool stream_reader_is_gone(FILE *stream) {
  struct pollfd looked = {.fd = fileno(stream)};
  return looked.fd >= 0 && poll(&looked, 1, 0) > 0 && (looked.revents & (POLLERR | POLLHUP)) != 0;
}

enum status stream_check(FILE *stream, bool failed, bool *reader_gone, struct error *err) {
  const int cause = errno;
  if (!failed) {
    return STATUS_OK;
  }
  if (cause == EPIPE || stream_reader_is_gone(stream)) {
    if (reader_gone != NULL) {
      *reader_gone = true;
    }
    return STATUS_OK;
  }
  return cause != 0 ? error_set_errno(err, cause, "cannot write the result")
                    : error_set(err, STATUS_IO, "cannot write the result");
}

enum status stream_print(FILE *stream, const struct strbuf *text, bool *reader_gone,
                         struct error *err) {
  errno = 0;
  const bool failed =
      fwrite(text->text, 1, text->length, stream) < text->length || fflush(stream) != 0;
  return stream_check(stream, failed, reader_gone, err);
}

/* ---- tables ---- */

/* Lines stay lines. */
static void table_escape_record(struct table *table) {
  struct strbuf *shown = &table->scratch;
  strbuf_clear(shown);
  const char *text = table->record.text;
  const char *const end = text + table->record.length;
  while (text < end) {
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    const char *stop = line_end != NULL ? line_end : end;
    const bool carriage = line_end != NULL && stop > text && stop[-1] == '\r';
    text_escape(shown, text, (size_t)(stop - text) - carriage, ESCAPE_TERMINAL);
    strbuf_append(shown, carriage ? "\r\n" : line_end != NULL ? "\n" : "");
    text = stop + (line_end != NULL);
  }
  strbuf_clear(&table->record);
  strbuf_append_n(&table->record, shown->text, shown->length);
}

enum status table_print_record(struct table *table, struct error *err) {
  if (table->escapes) {
    table_escape_record(table);
  }
  if (table->record.truncated) {
    return error_set(err, STATUS_UNSUPPORTED, "a row is longer than %d MiB", RECORD_MAX >> 20);
  }
  errno = 0;
  const bool failed = !table->reader_gone && fwrite(table->record.text, 1, table->record.length,
                                                    table->options.stream) < table->record.length;
  strbuf_clear(&table->record);
  return stream_check(table->options.stream, failed, &table->reader_gone, err);
}

static void table_drop_result(struct table *table) {
  if (table->writer->drop != NULL) {
    table->writer->drop(table);
  }
  for (size_t i = 0; i < table->column_count; i++) {
    free((char *)table->columns[i].name);
  }
  free(table->columns);
  table->columns = NULL;
  table->column_count = 0;
  strbuf_clear(&table->record);
}

static enum status table_begin(void *context, const struct column *columns, size_t count,
                               struct error *err) {
  struct table *table = context;
  if (table->concatenates && table->columns != NULL) {
    return STATUS_OK;
  }
  table_drop_result(table);
  table->columns = memory_new(count + 1, sizeof *table->columns);
  table->column_count = count;
  table->row_count = 0;
  for (size_t i = 0; i < count; i++) {
    table->columns[i] = columns[i];
    table->columns[i].name = strdup(columns[i].name);
    if (table->columns[i].name == NULL) {
      abort();
    }
  }
  return table->writer->begin != NULL ? table->writer->begin(table, err) : STATUS_OK;
}

static enum status table_row(void *context, const struct cell *cells, struct error *err) {
  struct table *table = context;
  if (table->reader_gone) {
    return STATUS_OK;
  }
  const enum status status = table->writer->row(table, cells, err);
  table->row_count++;
  return status;
}

static enum status table_end(void *context, struct error *err) {
  struct table *table = context;
  enum status status = STATUS_OK;
  if (table->concatenates) {
    return STATUS_OK;
  }
  if (!table->reader_gone && table->writer->end != NULL) {
    status = table->writer->end(table, err);
  }
  if (status == STATUS_OK && !table->reader_gone) {
    errno = 0;
    status = stream_check(table->options.stream, fflush(table->options.stream) != 0,
                          &table->reader_gone, err);
  }
  table_drop_result(table);
  return status;
}

static bool table_has_enough(void *context) {
  return table_reader_gone(context);
}

struct table *table_new(const struct table_options *options) {
  struct table *table = memory_new(1, sizeof *table);
  table->options = *options;
  table->writer = formats[options->format].writer;
  const bool csv = options->format == OUTPUT_CSV || options->format == OUTPUT_CSV_SAFE;
  table->escapes = csv && options->stream != NULL && isatty(fileno(options->stream)) == 1;
  table->sink = (struct row_sink){table, table_begin, table_row, table_end, table_has_enough};
  strbuf_init(&table->record, RECORD_MAX);
  strbuf_init(&table->scratch, RECORD_MAX);
  return table;
}

const struct row_sink *table_sink(struct table *table) {
  return &table->sink;
}

void table_narrow(struct table *table, const char *narrow, unsigned listed_min) {
  table->options.narrow = narrow;
  table->options.listed_min = listed_min;
}

void table_concatenate(struct table *table) {
  table->concatenates = true;
}

enum status table_end_all(struct table *table, struct error *err) {
  table->concatenates = false;
  return table->columns != NULL ? table_end(table, err) : STATUS_OK;
}

uint64_t table_row_count(const struct table *table) {
  return table->row_count;
}

bool table_reader_gone(const struct table *table) {
  return table->reader_gone;
}

void table_free(struct table *table) {
  if (table == NULL) {
    return;
  }
  table_drop_result(table);
  strbuf_fini(&table->record);
  strbuf_fini(&table->scratch);
  free(table);
}
