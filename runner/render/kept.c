#include "runner/render/kept.h"

#include "runner/render/text.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static enum status begin(void *context, const char *const *columns, size_t count,
                         struct error *err) {
  (void)err;
  struct kept *kept = context;
  kept->columns = arena_array(&kept->arena, count, sizeof *kept->columns);
  kept->column_count = count;
  for (size_t i = 0; i < count; i++) {
    kept->columns[i] = (struct kept_column){arena_strdup(&kept->arena, columns[i]), true, false};
  }
  return STATUS_OK;
}

static const char *text_of(struct kept *kept, const struct cell *cell) {
  struct strbuf text;
  if (cell->kind == CELL_NULL) {
    return NULL;
  }
  if (cell->kind == CELL_TEXT) {
    return arena_strndup(&kept->arena, cell->as.text.bytes, cell->as.text.length);
  }
  strbuf_init(&text, TEXT_MAX);
  text_cell(&text, cell, ESCAPE_TERMINAL);
  const char *copy = arena_strdup(&kept->arena, text.text);
  strbuf_fini(&text);
  return copy;
}

static enum status row(void *context, const struct cell *cells, struct error *err) {
  (void)err;
  struct kept *kept = context;
  if (kept->count == kept->maximum) {
    kept->left_out++;
    return STATUS_OK;
  }
  for (size_t i = 0; i < kept->column_count; i++) {
    struct kept_column *column = &kept->columns[i];
    const size_t at = kept->count * kept->column_count + i;
    kept->texts = arena_grow(&kept->arena, kept->texts, at, &kept->capacity, sizeof *kept->texts);
    kept->texts[at] = text_of(kept, &cells[i]);
    column->filled = column->filled || cells[i].kind != CELL_NULL;
    column->number = column->number && cells[i].kind != CELL_TEXT && cells[i].kind != CELL_BLOB;
  }
  kept->count++;
  return STATUS_OK;
}

static enum status end(void *context, struct error *err) {
  (void)context, (void)err;
  return STATUS_OK;
}

void kept_init(struct kept *kept, size_t maximum) {
  *kept = (struct kept){.sink = {kept, begin, row, end, NULL}, .maximum = maximum};
}

void kept_fini(struct kept *kept) {
  arena_fini(&kept->arena);
}

const char *kept_at(const struct kept *kept, size_t row_number, size_t column) {
  return kept->texts[row_number * kept->column_count + column];
}

const char *kept_text(const struct kept *kept, size_t row_number, const char *column) {
  for (size_t i = 0; i < kept->column_count && row_number < kept->count; i++) {
    if (strcmp(kept->columns[i].name, column) == 0) {
      return kept_at(kept, row_number, i);
    }
  }
  return NULL;
}

long long kept_number(const struct kept *kept, size_t row_number, const char *column) {
  const char *text = kept_text(kept, row_number, column);
  return text != NULL ? strtoll(text, NULL, 10) : 0;
}
