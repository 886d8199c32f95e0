#include "runner/table/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_DIGITS = 5, ROUNDED_DIGITS = 9, ROUNDED_DECIMALS = 2 };

/* A rounded number in as few digits as it was rounded to. */
static bool text_put_rounded(double value, char text[NUMBER_TEXT_MAX]) {
  const double magnitude = fabs(value);
  if (!(magnitude >= 1e-5 && magnitude < 1e15)) {
    return false;
  }
  const int whole = magnitude < 1 ? 0 : (int)floor(log10(magnitude)) + 1;
  for (int decimals = 0;
       decimals == 0 ||
       whole + decimals <= (decimals <= ROUNDED_DECIMALS ? ROUNDED_DIGITS : SHORT_DIGITS);
       decimals++) {
    (void)snprintf(text, NUMBER_TEXT_MAX, "%.*f", decimals, value);
    if (strtod(text, NULL) == value) {
      return true;
    }
  }
  return false;
}

void text_real_short(double value, char text[NUMBER_TEXT_MAX]) {
  double magnitude = fabs(value);
  if (value == 0) {
    (void)snprintf(text, NUMBER_TEXT_MAX, "0");
  } else if (text_put_rounded(value, text)) {
    return;
  } else if (magnitude >= 99999.5 && magnitude < 1e15) {
    (void)snprintf(text, NUMBER_TEXT_MAX, "%.0f",
                   value); /* no exponent where a person can read the digits */
  } else {
    /* '#' keeps trailing zeros, so that all numbers of a column show the same precision. */
    (void)snprintf(text, NUMBER_TEXT_MAX, "%#.*g", SHORT_DIGITS, value);
    size_t length = strlen(text);
    if (text[length - 1] == '.') {
      text[length - 1] = '\0';
    }
  }
}

/* Decode one character: its length in bytes, or 0 where bytes hold no valid UTF-8 (overlong forms
 * and surrogates are not valid). */
static size_t decode(const unsigned char *bytes, size_t length, uint32_t *code) {
  static const struct {
    unsigned char mask, lead;
    uint32_t minimum;
  } FORMS[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  for (size_t n = 0; n < COUNT_OF(FORMS); n++) {
    if ((bytes[0] & FORMS[n].mask) != FORMS[n].lead) {
      continue;
    }
    if (n + 1 > length) {
      return 0;
    }
    uint32_t value = bytes[0] & (unsigned char)~FORMS[n].mask;
    for (size_t i = 1; i <= n; i++) {
      if ((bytes[i] & 0xc0) != 0x80) {
        return 0;
      }
      value = value << 6 | (bytes[i] & 0x3fU);
    }
    if (value < FORMS[n].minimum || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
      return 0;
    }
    *code = value;
    return n + 1;
  }
  return 0;
}

/* Characters that would move the cursor or reverse the direction of text on a terminal. */
static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c ||
         (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

static void text_put_markdown(struct strbuf *buffer, char c) {
  if (c == '<') {
    strbuf_append(buffer, "&lt;");
  } else if (c == '&') {
    strbuf_append(buffer, "&amp;");
  } else {
    if (strchr("\\|*`", c) != NULL) {
      strbuf_append_char(buffer, '\\');
    }
    strbuf_append_char(buffer, c);
  }
}

void text_escape(struct strbuf *buffer, const char *bytes, size_t length, enum escape_style style) {
  for (size_t i = 0; i < length;) {
    uint32_t code = 0;
    size_t size = decode((const unsigned char *)bytes + i, length - i, &code);
    if (size == 0) {
      strbuf_printf(buffer, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
      size = 1;
    } else if (is_control(code)) {
      strbuf_printf(buffer, "\\u%04" PRIx32, code);
    } else if (size == 1 && style == ESCAPE_MARKDOWN) {
      text_put_markdown(buffer, bytes[i]);
    } else {
      strbuf_append_n(buffer, bytes + i, size);
    }
    i += size;
  }
}

const char *text_colour(unsigned tone) {
  static const char *const COLOURS[] = {
      [TONE_NONE] = NULL,
      [TONE_DIM] = "\033[2m",
      [TONE_BAD] = "\033[31m",
      [TONE_WARN] = "\033[33m",
      [TONE_GOOD] = "\033[32m",
      [TONE_HEAT] = "\033[38;5;40m",
      [TONE_HEAT + 1] = "\033[38;5;148m",
      [TONE_HEAT + 2] = "\033[38;5;220m",
      [TONE_HEAT + 3] = "\033[38;5;208m",
      [TONE_HEAT + 4] = "\033[38;5;196m",
      [TONE_HEADING] = "\033[1m",
  };
  return COLOURS[tone];
}

const char *text_percent(struct arena *arena, double share, int digits) {
  const double percent = fabs(share) < 1e-6 ? 0 : 100 * share;
  return fabs(percent) < pow(10, digits) - 0.5 ? arena_format(arena, "%.*g %%", digits, percent)
                                               : arena_format(arena, "%.0f %%", percent);
}

double text_rounded(double value, int decimals) {
  return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

void text_put(struct strbuf *buffer, const char *text) {
  text_escape(buffer, text, strlen(text), ESCAPE_TERMINAL);
}

void text_repair(struct strbuf *buffer, const char *bytes, size_t length) {
  for (size_t i = 0; i < length;) {
    uint32_t code = 0;
    size_t size = decode((const unsigned char *)bytes + i, length - i, &code);
    if (size == 0) {
      strbuf_append(buffer, "\xef\xbf\xbd");
      size = 1;
    } else {
      strbuf_append_n(buffer, bytes + i, size);
    }
    i += size;
  }
}

void text_cell(struct strbuf *buffer, const struct cell *cell, enum escape_style style) {
  char number[NUMBER_TEXT_MAX];
  if (cell->kind == CELL_TEXT) {
    text_escape(buffer, cell->as.text.bytes, cell->as.text.length, style);
  } else if (cell->kind == CELL_REAL) {
    text_real_short(cell->as.real, number);
    strbuf_append(buffer, number);
  } else {
    text_cell_exact(buffer, cell);
  }
}

void text_cell_exact(struct strbuf *buffer, const struct cell *cell) {
  char number[NUMBER_TEXT_MAX];
  switch (cell->kind) {
  case CELL_NULL:
    break;
  case CELL_INTEGER:
    text_integer(cell->as.integer, number);
    strbuf_append(buffer, number);
    break;
  case CELL_REAL:
    text_real_exact(cell->as.real, number);
    strbuf_append(buffer, number);
    break;
  case CELL_TEXT:
    strbuf_append_n(buffer, cell->as.text.bytes, cell->as.text.length);
    break;
  case CELL_BLOB:
    for (size_t i = 0; i < cell->as.text.length; i++) {
      strbuf_printf(buffer, "%02x", (unsigned)(unsigned char)cell->as.text.bytes[i]);
    }
    break;
  }
}

char text_letter(size_t i) {
  return (char)(i < 26 ? 'a' + i : i < TEXT_LETTERS ? 'A' + i - 26 : '*');
}
