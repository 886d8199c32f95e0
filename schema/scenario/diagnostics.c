#include "schema/scenario/diagnostics.h"

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "engine/base/text_wrap.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct complaint {
  struct diagnostic diagnostic;
  unsigned source_order;
  size_t ordinal; /* makes the sort stable */
};

struct diagnostics {
  struct arena arena;
  struct complaint *items;
  size_t count;
  size_t dropped;
  size_t mistakes;
};

struct diagnostics *diagnostics_new(void) {
  return memory_new(1, sizeof(struct diagnostics));
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

size_t diagnostics_mistakes(const struct diagnostics *diagnostics) {
  return diagnostics->mistakes;
}

const struct diagnostic *diagnostics_at(const struct diagnostics *diagnostics, size_t i) {
  return &diagnostics->items[i].diagnostic;
}

void diagnostics_name_places(struct diagnostics *diagnostics, const char *const *places,
                             size_t count) {
  for (size_t i = 0; i < diagnostics->count; i++) {
    struct diagnostic *item = &diagnostics->items[i].diagnostic;
    const unsigned line = item->error.position.line;
    if (line > 0 && line < count && places[line] != NULL) {
      item->error.position = (struct position){places[line], 0, 0};
      item->source_line = NULL;
    }
  }
}

/* Diagnostics of one line share a copy of it: a line may be megabytes long. */
static const char *diagnostics_keep_line(struct diagnostics *diagnostics,
                                         const struct source *source, unsigned line) {
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

static bool diagnostics_has(const struct diagnostics *diagnostics,
                            const struct diagnostic *wanted) {
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

/* The last diagnostic says how many did not fit. */
static void diagnostics_count_dropped(struct diagnostics *diagnostics) {
  struct complaint *last = &diagnostics->items[diagnostics->count - 1];
  diagnostics->dropped++;
  last->diagnostic.source_line = NULL;
  last->diagnostic.expected = NULL;
  last->diagnostic.suggestion = NULL;
  (void)error_set(&last->diagnostic.error, STATUS_INVALID,
                  "too many errors: %zu more are not shown", diagnostics->dropped + 1);
}

static const char *diagnostics_keep_text(struct diagnostics *diagnostics, const char *text) {
  return text == NULL ? NULL : arena_strdup(&diagnostics->arena, text);
}

void diagnostics_add(struct diagnostics *diagnostics, const struct source *source,
                     struct toml_span span, const char *expected, const char *suggestion,
                     const char *format, ...) {
  struct complaint complaint = {.source_order = source->order, .ordinal = diagnostics->count};
  diagnostics->mistakes++;
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
  if (diagnostics_has(diagnostics, made)) {
    return;
  }
  if (diagnostics->count == DIAGNOSTICS_MAX) {
    diagnostics_count_dropped(diagnostics);
    return;
  }
  made->source_line = made->error.position.line == 0
                          ? NULL
                          : diagnostics_keep_line(diagnostics, source, made->error.position.line);
  made->error.position.file = diagnostics_keep_text(diagnostics, source->path);
  made->expected = diagnostics_keep_text(diagnostics, expected);
  made->suggestion = diagnostics_keep_text(diagnostics, suggestion);
  *ARENA_ADD(&diagnostics->arena, diagnostics->items, diagnostics->count) = complaint;
}

static int diagnostics_compare_numbers(unsigned long long a, unsigned long long b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

static int diagnostics_by_place(const void *left, const void *right) {
  const struct complaint *a = left;
  const struct complaint *b = right;
  const struct position *x = &a->diagnostic.error.position;
  const struct position *y = &b->diagnostic.error.position;
  int order = diagnostics_compare_numbers(a->source_order, b->source_order);
  order = order != 0 ? order : diagnostics_compare_numbers(x->line, y->line);
  order = order != 0 ? order : diagnostics_compare_numbers(x->column, y->column);
  return order != 0 ? order : diagnostics_compare_numbers(a->ordinal, b->ordinal);
}

void diagnostics_sort(struct diagnostics *diagnostics, size_t first) {
  /* The note about what is not shown stays last. */
  const size_t end = diagnostics->count - (diagnostics->dropped > 0 ? 1 : 0);
  if (end > first) {
    qsort(diagnostics->items + first, end - first, sizeof *diagnostics->items,
          diagnostics_by_place);
  }
}

/* Printing. A column is a character of the file; on the screen a tab is up to eight columns and a
 * wide character two. What would move the cursor or hide text is escaped. */

enum { TAB_STOP = 8, WINDOW_COLUMNS = 120, LINE_MAX_BYTES = 8192 };

struct colours {
  const char *place;
  const char *error;
  const char *caret;
  const char *help;
  const char *off;
};

static const struct colours plain = {"", "", "", "", ""};
static const struct colours coloured = {"\033[1m", "\033[1;31m", "\033[1;32m", "\033[1;36m",
                                        "\033[0m"};

/* The next character of valid UTF-8 in *code; returns its bytes, or 1 with *code = -1 for a byte
 * that is not part of a valid character. */
static size_t diagnostics_decode_utf8(const char *text, long *code) {
  const unsigned char *p = (const unsigned char *)text;
  const size_t length = p[0] < 0x80 ? 1 : (p[0] & 0xe0) == 0xc0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 4;
  static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  static const long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  long value = p[0] & lead_bits[length];
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) {
      *code = -1;
      return 1;
    }
    value = value << 6 | (p[i] & 0x3f);
  }
  if (value < smallest[length] || value > 0x10ffff || p[0] >= 0xf8 || (p[0] & 0xc0) == 0x80) {
    *code = -1;
    return 1;
  }
  *code = value;
  return length;
}

/* Characters that change the direction of text or are invisible. */
static bool diagnostics_is_hidden(long code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* Append one character as it can be shown; returns its columns on the screen. */
static unsigned diagnostics_append_character(struct strbuf *out, const char *text, size_t bytes,
                                             long code, unsigned column) {
  if (code == '\t') {
    const unsigned width = TAB_STOP - column % TAB_STOP;
    strbuf_printf(out, "%*s", (int)width, "");
    return width;
  }
  const size_t before = out->length;
  if (code < 0) {
    strbuf_printf(out, "\\x%02x", (unsigned char)*text);
  } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
    strbuf_printf(out, "\\x%02lx", (unsigned long)code);
  } else if (diagnostics_is_hidden(code)) {
    strbuf_printf(out, "\\u%04lx", (unsigned long)code);
  } else {
    strbuf_append_n(out, text, bytes);
    const int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    return width < 0 ? 1 : (unsigned)width;
  }
  return (unsigned)(out->length - before);
}

static void diagnostics_append_escaped(struct strbuf *out, const char *text) {
  unsigned column = 0;
  while (*text != '\0') {
    long code = 0;
    const size_t bytes = diagnostics_decode_utf8(text, &code);
    column += diagnostics_append_character(out, text, bytes, code, column);
    text += bytes;
  }
}

/* The source line and the line of carets under it. */
struct picture {
  struct strbuf line;
  struct strbuf carets;
};

/* Columns on the screen in front of a character of the line. */
static unsigned diagnostics_columns_before(const char *line, unsigned column) {
  SCOPED(strbuf_fini) struct strbuf scratch = STRBUF(LINE_MAX_BYTES);
  unsigned columns = 0;
  for (unsigned at = 1; at < column && *line != '\0'; at++) {
    long code = 0;
    const size_t bytes = diagnostics_decode_utf8(line, &code);
    strbuf_clear(&scratch);
    columns += diagnostics_append_character(&scratch, line, bytes, code, columns);
    line += bytes;
  }
  return columns;
}

/* Draws only a window around the mistake if the line is long. */
static void diagnostics_draw(struct picture *picture, const char *line, unsigned column,
                             unsigned width) {
  const unsigned before = diagnostics_columns_before(line, column);
  const unsigned skip = before > WINDOW_COLUMNS * 2 / 3 ? before - WINDOW_COLUMNS / 2 : 0;
  unsigned at = 1;      /* character of the line */
  unsigned skipped = 0; /* columns */
  unsigned shown = 0;
  for (; skipped < skip && *line != '\0'; at++) {
    const unsigned columns = diagnostics_columns_before(line, 2);
    long code = 0;
    skipped += columns;
    line += diagnostics_decode_utf8(line, &code);
  }
  if (skipped > 0) {
    strbuf_append(&picture->line, "...");
    strbuf_append(&picture->carets, "   ");
    shown = 3;
  }
  for (; *line != '\0' && shown < WINDOW_COLUMNS; at++) {
    long code = 0;
    const size_t bytes = diagnostics_decode_utf8(line, &code);
    const unsigned columns = diagnostics_append_character(&picture->line, line, bytes, code, shown);
    for (unsigned i = 0; i < columns && at < column + width; i++) {
      char mark = '^';
      if (at < column) {
        mark = ' ';
      } else if (at > column || i > 0) {
        mark = '~';
      }
      strbuf_append_char(&picture->carets, mark);
    }
    shown += columns;
    line += bytes;
  }
  if (*line != '\0') {
    strbuf_append(&picture->line, "...");
  }
  if (at <= column) { /* the mistake is the end of the line */
    strbuf_append_char(&picture->carets, '^');
  }
}

static void diagnostics_print_line(FILE *stream, const struct diagnostic *diagnostic,
                                   const struct colours *colours) {
  const struct position *at = &diagnostic->error.position;
  struct picture picture;
  strbuf_init(&picture.line, LINE_MAX_BYTES);
  strbuf_init(&picture.carets, LINE_MAX_BYTES);
  diagnostics_draw(&picture, diagnostic->source_line, at->column, diagnostic->caret_width);
  (void)fprintf(stream, "%6u | %s\n", at->line, picture.line.text);
  (void)fprintf(stream, "       | %s%s%s\n", colours->caret, picture.carets.text, colours->off);
  strbuf_fini(&picture.line);
  strbuf_fini(&picture.carets);
}

/* Behind `indent` columns, to which further lines are indented. */
static void diagnostics_print_escaped(FILE *stream, const char *text, unsigned width,
                                      size_t indent) {
  SCOPED(strbuf_fini) struct strbuf escaped = STRBUF(LINE_MAX_BYTES);
  SCOPED(strbuf_fini) struct strbuf lines = STRBUF((size_t)2 * LINE_MAX_BYTES);
  diagnostics_append_escaped(&escaped, text);
  if (width / 2 > indent) { /* else the place is a long path */
    text_wrap(&lines, escaped.text, width, indent, false);
  }
  (void)fprintf(stream, "%s\n", lines.length > 0 ? lines.text : escaped.text);
}

static void diagnostics_print_help(FILE *stream, const char *text, unsigned width,
                                   const struct colours *colours) {
  static const char MARK[] = "       = ";
  (void)fprintf(stream, "%s%s%s", colours->help, MARK, colours->off);
  diagnostics_print_escaped(stream, text, width, strlen(MARK));
}

static void diagnostics_print_one(FILE *stream, const struct diagnostic *diagnostic, unsigned width,
                                  const struct colours *colours) {
  static const char ERROR[] = "error:";
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf place = STRBUF(LINE_MAX_BYTES);
  const struct position *at = &diagnostic->error.position;
  diagnostics_append_escaped(&place, at->file == NULL ? "scenario" : at->file);
  if (at->line > 0) {
    strbuf_printf(&place, ":%u:%u", at->line, at->column);
  }
  strbuf_append_char(&place, ':');
  (void)fprintf(stream, "%s%s%s %s%s%s ", colours->place, place.text, colours->off, colours->error,
                ERROR, colours->off);
  diagnostics_print_escaped(stream, diagnostic->error.message, width,
                            text_width(place.text) + strlen(ERROR) + 2);
  if (diagnostic->source_line != NULL && diagnostic->source_line[0] != '\0' && at->column > 0 &&
      at->column < INT_MAX) {
    diagnostics_print_line(stream, diagnostic, colours);
  }
  if (diagnostic->suggestion != NULL) {
    diagnostics_print_help(stream,
                           arena_format(&arena, "did you mean \"%s\"?", diagnostic->suggestion),
                           width, colours);
  }
  if (diagnostic->expected != NULL) {
    diagnostics_print_help(stream, arena_format(&arena, "expected %s", diagnostic->expected), width,
                           colours);
  }
}

void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream, unsigned width,
                       bool colour) {
  /* wcwidth() knows the width of characters only in a UTF-8 locale, whatever the user's is. */
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  const locale_t before = utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
  for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
    diagnostics_print_one(stream, diagnostics_at(diagnostics, i), width,
                          colour ? &coloured : &plain);
  }
  if (utf8 != (locale_t)0) {
    (void)uselocale(before);
    freelocale(utf8);
  }
}
