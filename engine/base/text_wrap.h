/* text_wrap.h - texts broken into lines of a terminal's width. A column is a character of valid
 * UTF-8. */
#pragma once

#include "engine/base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* In columns. */
size_t text_width(const char *text);
/* How many bytes of it are at most that wide. */
size_t text_fit(const char *text, size_t width);
/* Append the text broken at blanks into lines of that width (0 = no limit), those after the first
 * `indent` columns in, where the first one begins as well. A longer word is left whole, so that it
 * can be copied; cut: it is broken at a joint of a path or name, else anywhere. A number and its
 * unit stay in one line, and "haul" and its verb, or all of a command in parentheses.
 * Blanks stay, but where a line ends. */
void text_wrap(struct strbuf *buffer, const char *text, size_t width, size_t indent, bool cut);
