/* text.h - single values as text: for people, and in full; escaping. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "engine/base/text_wrap.h"
#include "runner/table/cell.h"
#include "runner/table/number.h"

enum escape_style {
  ESCAPE_TERMINAL, /* control characters, direction marks and invalid bytes as \u001b */
  ESCAPE_MARKDOWN, /* that, and Markdown's and HTML's own characters */
};

/* For people: a number as SQL's round() leaves it, of at most two decimals or five digits,
 * unchanged (55.35, 4190, 0.087); all else in five significant digits (55.204, 4190.3,
 * 123457, 1.2346e-09). */
void text_real_short(double value, char text[NUMBER_TEXT_MAX]);
/* "0.31 %", "3.2 %", "140 %": a share (0.032) per cent, with so many significant digits, and with
 * all digits before the point. */
const char *text_percent(struct arena *arena, double share, int digits);
/* The number for "%.*f" with so many decimals: 0 where that would print "-0.0". */
double text_rounded(double value, int decimals);
/* Escaped for a terminal. */
void text_put(struct strbuf *buffer, const char *text);
void text_escape(struct strbuf *buffer, const char *bytes, size_t length, enum escape_style style);
/* Valid UTF-8: invalid bytes become U+FFFD. */
void text_repair(struct strbuf *buffer, const char *bytes, size_t length);
/* A cell for people (table, md); nothing for NULL. */
void text_cell(struct strbuf *buffer, const struct cell *cell, enum escape_style style);
/* A cell in full: numbers by text_real_exact(), a blob as hexadecimal digits, a text as it is. */
void text_cell_exact(struct strbuf *buffer, const struct cell *cell);
/* Escape sequences of a terminal: of an enum tone (NULL = none), and back to none. */
const char *text_colour(unsigned tone);
#define TEXT_COLOUR_OFF "\033[0m"
/* "a" to "z", then "A" to "Z", beyond TEXT_LETTERS "*": by which things are marked. */
enum { TEXT_LETTERS = 52 };
char text_letter(size_t i);
