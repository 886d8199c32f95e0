#include "schema/scenario/diagnostics.h"

#include "engine/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct complaint {
  struct diagnostic diagnostic;
  unsigned source_order;
  size_t ordinal; /* makes the sort stable */
};

struct diagnostics {
  struct arena arena;
  struct complaint *items;
  size_t count;
  size_t capacity;
  size_t dropped;
};

struct diagnostics *diagnostics_new(void) {
  struct diagnostics *diagnostics = calloc(1, sizeof *diagnostics);
  if (diagnostics == NULL) {
    abort(); /* as the arena does */
  }
  return diagnostics;
}

void diagnostics_free(struct diagnostics *diagnostics) {
  if (diagnostics != NULL) {
    arena_fini(&diagnostics->arena);
    free(diagnostics);
  }
}

size_t diagnostics_count(const struct diagnostics *diagnostics) {
  return diagnostics->count;
}

const struct diagnostic *diagnostics_at(const struct diagnostics *diagnostics, size_t i) {
  return &diagnostics->items[i].diagnostic;
}

/* A line may be megabytes long and have many complaints: they share one copy. */
static const char *keep_line(struct diagnostics *diagnostics, const struct source *source,
                             unsigned line) {
  for (size_t i = diagnostics->count; i > 0; i--) {
    const struct complaint *earlier = &diagnostics->items[i - 1];
    if (earlier->source_order == source->order && earlier->diagnostic.error.position.line == line &&
        strcmp(earlier->diagnostic.error.position.file, source->path) == 0) {
      return earlier->diagnostic.source_line;
    }
  }
  const char *at = source->text;
  const char *end = source->text + source->length;
  for (unsigned i = 1; i < line && at < end; i++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    at = newline == NULL ? end : newline + 1;
  }
  const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
  size_t length = (size_t)((newline == NULL ? end : newline) - at);
  if (length > 0 && at[length - 1] == '\r') {
    length--;
  }
  if (line == 1 && length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
    at += 3;
    length -= 3;
  }
  return arena_strndup(&diagnostics->arena, at, length);
}

static bool is_known(const struct diagnostics *diagnostics, const struct diagnostic *wanted) {
  const struct position *at = &wanted->error.position;
  for (size_t i = 0; i < diagnostics->count; i++) {
    const struct diagnostic *other = &diagnostics->items[i].diagnostic;
    if (other->error.position.line == at->line && other->error.position.column == at->column &&
        strcmp(other->error.position.file, at->file) == 0 &&
        strcmp(other->error.message, wanted->error.message) == 0) {
      return true;
    }
  }
  return false;
}

/* The last complaint stands for all that did not fit. */
static void count_dropped(struct diagnostics *diagnostics) {
  struct complaint *last = &diagnostics->items[diagnostics->count - 1];
  diagnostics->dropped++;
  last->diagnostic.source_line = NULL;
  last->diagnostic.expected = NULL;
  last->diagnostic.suggestion = NULL;
  (void)error_set(&last->diagnostic.error, STATUS_INVALID,
                  "too many mistakes: %zu more are not shown", diagnostics->dropped + 1);
}

static const char *keep_text(struct diagnostics *diagnostics, const char *text) {
  return text == NULL ? NULL : arena_strdup(&diagnostics->arena, text);
}

void complain(struct diagnostics *diagnostics, const struct source *source, struct toml_span span,
              const char *expected, const char *suggestion, const char *format, ...) {
  struct complaint complaint = {.source_order = source->order, .ordinal = diagnostics->count};
  struct diagnostic *made = &complaint.diagnostic;
  va_list args;
  va_start(args, format);
  (void)error_vset(&made->error, STATUS_INVALID, 0, format, args);
  va_end(args);
  made->error.position = (struct position){source->path, span.line, span.column};
  if (!source->has_lines) {
    made->error.position.line = 0;
    made->error.position.column = 0;
  }
  made->caret_width = span.width == 0 ? 1 : span.width;
  if (is_known(diagnostics, made)) {
    return;
  }
  if (diagnostics->count == DIAGNOSTICS_MAX) {
    count_dropped(diagnostics);
    return;
  }
  made->source_line = made->error.position.line == 0
                          ? NULL
                          : keep_line(diagnostics, source, made->error.position.line);
  made->error.position.file = keep_text(diagnostics, source->path);
  made->expected = keep_text(diagnostics, expected);
  made->suggestion = keep_text(diagnostics, suggestion);
  diagnostics->items = arena_grow(&diagnostics->arena, diagnostics->items, diagnostics->count,
                                  &diagnostics->capacity, sizeof *diagnostics->items);
  diagnostics->items[diagnostics->count++] = complaint;
}

static int compare(unsigned long long a, unsigned long long b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

static int by_place(const void *left, const void *right) {
  const struct complaint *a = left;
  const struct complaint *b = right;
  const struct position *x = &a->diagnostic.error.position;
  const struct position *y = &b->diagnostic.error.position;
  int order = compare(a->source_order, b->source_order);
  order = order != 0 ? order : compare(x->line, y->line);
  order = order != 0 ? order : compare(x->column, y->column);
  return order != 0 ? order : compare(a->ordinal, b->ordinal);
}

void diagnostics_sort(struct diagnostics *diagnostics, size_t first) {
  /* The note about what is not shown stays last. */
  const size_t end = diagnostics->count - (diagnostics->dropped > 0 ? 1 : 0);
  if (end > first) {
    qsort(diagnostics->items + first, end - first, sizeof *diagnostics->items, by_place);
  }
}
