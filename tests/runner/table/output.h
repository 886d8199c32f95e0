/* output.h - what a table prints, as a text. */
#pragma once

#include "runner/table/table.h"
#include "tests/cmocka.h"

struct output {
  char *text;
  size_t size;
  FILE *stream;
  struct table *table;
};

static inline void start(struct output *output, struct table_options options) {
  *output = (struct output){0};
  output->stream = open_memstream(&output->text, &output->size);
  options.stream = output->stream;
  output->table = table_new(&options);
}

static inline void begin(struct output *output, const char *const *columns, size_t count) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_begin(sink, columns, count, &err), &err);
}

static inline void add(struct output *output, const struct cell *cells) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_row(sink, cells, &err), &err);
  assert_false(sink_has_enough(sink));
}

/* The text, which the caller frees. */
static inline char *finish(struct output *output) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_end(sink, &err), &err);
  table_free(output->table);
  assert_int_equal(fclose(output->stream), 0);
  return output->text;
}

static inline void assert_text(char *text, const char *expected) {
  if (strcmp(text, expected) != 0) {
    fail_msg("got:\n%s\nexpected:\n%s", text, expected);
  }
  free(text);
}

static inline void lines_within(const char *text, size_t width) {
  for (const char *line = text; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    size_t characters = 0;
    for (size_t i = 0; i < length; i++) {
      characters += (line[i] & 0xc0) != 0x80;
    }
    if (characters > width) {
      fail_msg("%.*s is wider than %zu", (int)length, line, width);
    }
    line += length + (line[length] == '\n');
  }
}
