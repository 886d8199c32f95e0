/* Complaints as a compiler prints them. A column is a character of the file; on the screen a tab is
 * up to eight columns, a wide character two, and what would move the cursor or hide text is
 * escaped, so that the caret stands where the mistake is. */
#include "schema/scenario/scenario.h"

#include "engine/base/strbuf.h"

#include <limits.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>

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
 * that is none. */
static size_t decode(const char *text, long *code) {
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

/* Characters that turn the direction of text, or cannot be seen. */
static bool is_hidden(long code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* Append one character as it can be shown; returns its columns on the screen. */
static unsigned append_character(struct strbuf *out, const char *text, size_t bytes, long code,
                                 unsigned column) {
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
  } else if (is_hidden(code)) {
    strbuf_printf(out, "\\u%04lx", (unsigned long)code);
  } else {
    strbuf_append_n(out, text, bytes);
    const int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    return width < 0 ? 1 : (unsigned)width;
  }
  return (unsigned)(out->length - before);
}

static void append_escaped(struct strbuf *out, const char *text) {
  unsigned column = 0;
  while (*text != '\0') {
    long code = 0;
    const size_t bytes = decode(text, &code);
    column += append_character(out, text, bytes, code, column);
    text += bytes;
  }
}

/* The source line and the line of carets under it. */
struct picture {
  struct strbuf line;
  struct strbuf carets;
};

/* Columns on the screen in front of a character of the line. */
static unsigned columns_before(const char *line, unsigned column) {
  struct strbuf scratch;
  strbuf_init(&scratch, LINE_MAX_BYTES);
  unsigned columns = 0;
  for (unsigned at = 1; at < column && *line != '\0'; at++) {
    long code = 0;
    const size_t bytes = decode(line, &code);
    strbuf_clear(&scratch);
    columns += append_character(&scratch, line, bytes, code, columns);
    line += bytes;
  }
  strbuf_fini(&scratch);
  return columns;
}

/* Of a long line only a window around the mistake is shown. */
static void draw(struct picture *picture, const char *line, unsigned column, unsigned width) {
  const unsigned before = columns_before(line, column);
  const unsigned skip = before > WINDOW_COLUMNS * 2 / 3 ? before - WINDOW_COLUMNS / 2 : 0;
  unsigned at = 1;      /* character of the line */
  unsigned skipped = 0; /* columns */
  unsigned shown = 0;
  for (; skipped < skip && *line != '\0'; at++) {
    const unsigned columns = columns_before(line, 2);
    long code = 0;
    skipped += columns;
    line += decode(line, &code);
  }
  if (skipped > 0) {
    strbuf_append(&picture->line, "...");
    strbuf_append(&picture->carets, "   ");
    shown = 3;
  }
  for (; *line != '\0' && shown < WINDOW_COLUMNS; at++) {
    long code = 0;
    const size_t bytes = decode(line, &code);
    const unsigned columns = append_character(&picture->line, line, bytes, code, shown);
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

static void print_line(FILE *stream, const struct diagnostic *diagnostic,
                       const struct colours *colours) {
  const struct position *at = &diagnostic->error.position;
  struct picture picture;
  strbuf_init(&picture.line, LINE_MAX_BYTES);
  strbuf_init(&picture.carets, LINE_MAX_BYTES);
  draw(&picture, diagnostic->source_line, at->column, diagnostic->caret_width);
  (void)fprintf(stream, "%6u | %s\n", at->line, picture.line.text);
  (void)fprintf(stream, "       | %s%s%s\n", colours->caret, picture.carets.text, colours->off);
  strbuf_fini(&picture.line);
  strbuf_fini(&picture.carets);
}

static void print_escaped(FILE *stream, const char *text) {
  struct strbuf escaped;
  strbuf_init(&escaped, LINE_MAX_BYTES);
  append_escaped(&escaped, text);
  (void)fputs(escaped.text, stream);
  strbuf_fini(&escaped);
}

static void print_help(FILE *stream, const char *opening, const char *text, const char *closing,
                       const struct colours *colours) {
  (void)fprintf(stream, "       %s=%s %s", colours->help, colours->off, opening);
  print_escaped(stream, text);
  (void)fprintf(stream, "%s\n", closing);
}

static void print_one(FILE *stream, const struct diagnostic *diagnostic,
                      const struct colours *colours) {
  const struct position *at = &diagnostic->error.position;
  (void)fputs(colours->place, stream);
  print_escaped(stream, at->file == NULL ? "scenario" : at->file);
  if (at->line > 0) {
    (void)fprintf(stream, ":%u:%u", at->line, at->column);
  }
  (void)fprintf(stream, ":%s %serror:%s ", colours->off, colours->error, colours->off);
  print_escaped(stream, diagnostic->error.message);
  (void)fputc('\n', stream);
  if (diagnostic->source_line != NULL && diagnostic->source_line[0] != '\0' && at->column > 0 &&
      at->column < INT_MAX) {
    print_line(stream, diagnostic, colours);
  }
  if (diagnostic->suggestion != NULL) {
    print_help(stream, "did you mean \"", diagnostic->suggestion, "\"?", colours);
  }
  if (diagnostic->expected != NULL) {
    print_help(stream, "expected ", diagnostic->expected, "", colours);
  }
}

void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream, bool colour) {
  /* wcwidth() knows the width of characters only in a UTF-8 locale, whatever the user's is. */
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  const locale_t before = utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
  for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
    print_one(stream, diagnostics_at(diagnostics, i), colour ? &coloured : &plain);
  }
  if (utf8 != (locale_t)0) {
    (void)uselocale(before);
    freelocale(utf8);
  }
}
