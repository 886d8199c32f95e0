#include "runner/document/document.h"

#include "runner/table/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { WORDS_MAX = 1 << 20, KEY_INDENT = 4, KEY_WIDTH = 8 };

#define DECLARE_BACKEND(id, name, layout, writer, backend)                                         \
  extern const struct document_backend backend;
OUTPUT_FORMAT_LIST(DECLARE_BACKEND)
const struct document_backend DOCUMENT_ROWS = {NULL};

static const struct document_backend *const BACKENDS[] = {
#define BACKEND_OF(id, name, layout, writer, backend) [id] = &(backend),
    OUTPUT_FORMAT_LIST(BACKEND_OF)};

/* ---- the parts ---- */

void document_begin(struct document *document, const struct table_options *options,
                    struct error *err) {
  *document = (struct document){.options = *options, .err = err};
  const struct document_backend *backend = BACKENDS[options->format];
  document->backend = backend != &DOCUMENT_ROWS ? backend : NULL;
}

bool document_is_for_people(const struct document *document) {
  return document->backend != NULL;
}

enum status document_end(struct document *document) {
  FILE *stream = document->options.stream;
  errno = 0;
  if (document->status == STATUS_OK) {
    const bool failed = fflush(stream) != 0 || ferror(stream) != 0;
    document->status = stream_check(stream, failed, NULL, document->err);
  }
  arena_fini(&document->arena);
  return document->status;
}

static bool document_writes(struct document *document) {
  const bool writes = document->backend != NULL && document->status == STATUS_OK;
  document->begun = document->begun || writes;
  return writes;
}

void document_section(struct document *document, const char *name) {
  if (document->backend != NULL && document->backend->section != NULL) {
    document->backend->section(document, name);
  }
}

void document_gap(struct document *document) {
  if (document->begun && document_writes(document) && document->backend->gap != NULL) {
    document->backend->gap(document);
  }
}

void document_heading(struct document *document, const char *text) {
  if (document_writes(document)) {
    document->backend->heading(document, text);
  }
}

/* `what` is a statement that uses `text`, in the document's arena. */
#define DOCUMENT_FORMATTED(document, format, what)                                                 \
  va_list arguments;                                                                               \
  va_start(arguments, format);                                                                     \
  const char *text = arena_vadd(&(document)->arena, "", format, arguments);                        \
  va_end(arguments);                                                                               \
  if (document_writes(document)) {                                                                 \
    (document)->backend->what;                                                                     \
  }

void document_part(struct document *document, const char *format, ...) {
  document_gap(document);
  DOCUMENT_FORMATTED(document, format, heading(document, text))
}

void document_put(struct document *document, const char *format, ...) {
  DOCUMENT_FORMATTED(document, format, paragraph(document, TONE_NONE, "", text))
}

void document_put_toned(struct document *document, unsigned tone, const char *format, ...) {
  DOCUMENT_FORMATTED(document, format, paragraph(document, tone, "", text))
}

void document_put_text(struct document *document, unsigned tone, const char *text) {
  if (text[0] != '\0') {
    document_put_toned(document, tone, "%s", text);
  }
}

void document_put_behind(struct document *document, const char *first, const char *format, ...) {
  DOCUMENT_FORMATTED(document, format, paragraph(document, TONE_NONE, first, text))
}

void document_key(struct document *document, unsigned tone, const char *key, const char *format,
                  ...) {
  DOCUMENT_FORMATTED(document, format, key(document, tone, key, text))
}

void document_verbatim(struct document *document, const char *lines) {
  if (document_writes(document)) {
    document->backend->verbatim(document, lines);
  }
}

void document_summary(struct document *document, const char *text) {
  if (text[0] != '\0' && document_writes(document)) {
    document->backend->summary(document, text);
  }
}

/* ---- tables ---- */

void document_table(struct document *document, const char *const *names, size_t count,
                    const struct document_table *how) {
  const struct row_sink *sink = &document->set.sink;
  document->how = how != NULL ? *how : (struct document_table){0};
  if (document->backend == NULL) {
    document->table = table_new(&document->options);
    sink = table_sink(document->table);
  } else {
    result_set_init(&document->set, SIZE_MAX);
  }
  document->status = THEN(document->status, sink_begin(sink, names, count, document->err));
  if (document->backend != NULL && document->set.column_count > 0) {
    document->set.columns[0].is_row_header = true;
  }
}

void document_row(struct document *document, const struct cell *cells) {
  const struct row_sink *sink =
      document->table != NULL ? table_sink(document->table) : &document->set.sink;
  document->status = THEN(document->status, sink_row(sink, cells, document->err));
}

void document_table_end(struct document *document) {
  if (document->table != NULL) {
    document->status = THEN(document->status, sink_end(table_sink(document->table), document->err));
    table_free(document->table);
    document->table = NULL;
  } else {
    document_put_table(document, &document->set, &document->how);
    result_set_fini(&document->set);
  }
}

void document_put_table(struct document *document, struct result_set *rows,
                        const struct document_table *how) {
  document->left_out = NULL;
  if (document_writes(document)) {
    document->backend->table(document, rows, how);
  }
}

bool document_shows(const struct document *document, size_t column) {
  return document->left_out == NULL || !document->left_out[column];
}

/* ---- a terminal ---- */

static void terminal_lines(struct document *document, unsigned tone, const char *first,
                           const char *text, size_t indent) {
  const char *colour = document->options.colour ? text_colour(tone) : NULL;
  SCOPED(strbuf_fini) struct strbuf escaped = STRBUF(WORDS_MAX);
  SCOPED(strbuf_fini) struct strbuf lines = STRBUF(WORDS_MAX);
  text_put(&escaped, text);
  text_wrap(&lines, escaped.text, document->options.width, indent, false);
  (void)fprintf(document->options.stream, "%s%s%s%s\n", first, colour != NULL ? colour : "",
                lines.text, colour != NULL ? TEXT_COLOUR_OFF : "");
}

static void terminal_gap(struct document *document) {
  (void)fputc('\n', document->options.stream);
}

static void terminal_heading(struct document *document, const char *text) {
  terminal_lines(document, TONE_HEADING, "", text, 0);
}

static void terminal_paragraph(struct document *document, unsigned tone, const char *first,
                               const char *text) {
  terminal_lines(document, tone, first, text, text_width(first));
}

static void terminal_key(struct document *document, unsigned tone, const char *key,
                         const char *text) {
  const unsigned width = document->key_width > 0 ? document->key_width : KEY_WIDTH;
  const char *first = arena_format(&document->arena, "%*s%-*s  ", KEY_INDENT, "", (int)width, key);
  terminal_lines(document, tone, first, text, strlen(first));
}

static void terminal_verbatim(struct document *document, const char *lines) {
  (void)fputs(lines, document->options.stream);
}

static void terminal_table(struct document *document, struct result_set *rows,
                           const struct document_table *how) {
  document->left_out =
      arena_array(&document->arena, rows->column_count, sizeof *document->left_out);
  struct table *table = table_new(&(struct table_options){
      .stream = document->options.stream,
      .width = how->narrow != NULL || how->wraps ? document->options.width : 0,
      .colour = document->options.colour,
      .compact = true,
      .narrow = how->narrow,
      .listed_min = how->listed_min,
      .left_out = document->left_out});
  document->status = result_set_send(rows, table_sink(table), document->err);
  table_free(table);
}

static void terminal_summary(struct document *document, const char *text) {
  terminal_paragraph(document, TONE_NONE, "", text);
}

const struct document_backend DOCUMENT_TERMINAL = {
    NULL,         terminal_gap,      terminal_heading, terminal_paragraph,
    terminal_key, terminal_verbatim, terminal_table,   terminal_summary};
