#include "runner/table/output.h"

#include "runner/table/text.h"

#include <errno.h>
#include <string.h>

enum { WRAPPED_MAX = 1 << 20 };

const char *output_colour(unsigned tone) {
  static const char *const colours[] = {
      [TONE_NONE] = NULL,
      [TONE_DIM] = COLOUR_DIM,
      [TONE_BAD] = COLOUR_RED,
      [TONE_WARN] = COLOUR_YELLOW,
      [TONE_GOOD] = COLOUR_GREEN,
      [TONE_HEAT] = "\033[38;5;40m",
      [TONE_HEAT + 1] = "\033[38;5;148m",
      [TONE_HEAT + 2] = "\033[38;5;220m",
      [TONE_HEAT + 3] = "\033[38;5;208m",
      [TONE_HEAT + 4] = "\033[38;5;196m",
  };
  return colours[tone];
}

void output_section(const struct output *output, const char *name) {
  if (output->backend != NULL) {
    output->backend->section(output->backend->context, name);
  }
}

void output_heading(const struct output *output, const char *text) {
  if (output->backend != NULL) {
    output->backend->heading(output->backend->context, text);
    return;
  }
  (void)fprintf(output->stream, output->colour ? COLOUR_BOLD "%s" COLOUR_OFF "\n" : "%s\n", text);
}

void output_wrapped(const struct output *output, const char *first, const char *text) {
  if (output->backend != NULL) {
    if (first[0] != '\0' || text[0] != '\0') {
      output->backend->paragraph(output->backend->context, first, text);
    }
    return;
  }
  struct strbuf lines;
  strbuf_init(&lines, WRAPPED_MAX);
  strbuf_append(&lines, first);
  text_wrap(&lines, text, output->width, strlen(first), false);
  (void)fprintf(output->stream, "%s\n", lines.text);
  strbuf_fini(&lines);
}

void output_gap(const struct output *output) {
  if (output->backend == NULL) {
    (void)fputc('\n', output->stream);
  }
}

void output_summary(const struct output *output, const char *text) {
  if (text[0] == '\0') {
    return;
  }
  if (output->backend != NULL) {
    output->backend->summary(output->backend->context, text);
  } else {
    output_wrapped(output, "", text);
  }
}

enum status output_table(const struct output *output, struct result_set *table, const char *narrow,
                         struct error *err) {
  if (output->backend != NULL) {
    output->backend->table(output->backend->context, table);
    return output_check(output, err);
  }
  bool *left_out = arena_array(table->arena, table->column_count, sizeof *left_out);
  struct table *text =
      table_new(&(struct table_options){.format = OUTPUT_TABLE,
                                        .stream = output->stream,
                                        .width = narrow != NULL ? output->width : 0,
                                        .colour = output->colour,
                                        .compact = true,
                                        .narrow = narrow,
                                        .left_out = left_out});
  const enum status status = result_set_send(table, table_sink(text), err);
  table_free(text);
  for (size_t i = 0; i < table->column_count; i++) {
    if (left_out[i]) {
      result_set_clear_column(table, i);
    }
  }
  return status;
}

enum status output_check(const struct output *output, struct error *err) {
  return stream_check(output->stream, ferror(output->stream) != 0, NULL, err);
}
