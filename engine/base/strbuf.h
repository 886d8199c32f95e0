/* strbuf.h - text that grows, up to a stated maximum.
 *
 * The maximum is mandatory: what a file or a terminal can make us hold is bounded on purpose. A
 * buffer that would pass it keeps what it has and is marked `truncated`. text is always
 * NUL-terminated and never NULL after strbuf_init(). */
#pragma once

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
  char *text; /* owned */
  size_t length;
  size_t capacity;
  size_t maximum; /* in bytes, without the final NUL */
  bool truncated;
};

/* One that begins empty: SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX); */
#define STRBUF(limit)                                                                              \
  { .text = (char *)"", .maximum = (limit) }
void strbuf_init(struct strbuf *buffer, size_t maximum);
void strbuf_fini(struct strbuf *buffer);
void strbuf_clear(struct strbuf *buffer);
void strbuf_append(struct strbuf *buffer, const char *text);
void strbuf_append_n(struct strbuf *buffer, const char *text, size_t length);
void strbuf_append_char(struct strbuf *buffer, char c);
/* A list of words: ", " before it, unless it is the first. */
void strbuf_append_word(struct strbuf *buffer, const char *word);
void strbuf_printf(struct strbuf *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
