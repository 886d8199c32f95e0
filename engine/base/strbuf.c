#include "engine/base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of every buffer without a block: nothing is written where capacity is 0. */
static const char EMPTY_TEXT[1] = "";

void strbuf_init(struct strbuf *buffer, size_t maximum) {
  *buffer = (struct strbuf){.text = (char *)EMPTY_TEXT, .maximum = maximum};
}

void strbuf_fini(struct strbuf *buffer) {
  if (buffer->capacity > 0) {
    free(buffer->text);
  }
  strbuf_init(buffer, buffer->maximum);
}

void strbuf_clear(struct strbuf *buffer) {
  buffer->length = 0;
  buffer->truncated = false;
  if (buffer->capacity > 0) {
    buffer->text[0] = '\0';
  }
}

/* Makes room for `extra` more bytes, or for as many as the maximum allows; returns that number. */
static size_t reserve(struct strbuf *buffer, size_t extra) {
  size_t room = buffer->maximum - buffer->length;
  if (extra > room) {
    extra = room;
    buffer->truncated = true;
  }
  size_t needed = buffer->length + extra + 1;
  if (needed > buffer->capacity) {
    size_t capacity = buffer->capacity == 0 ? 64 : buffer->capacity;
    while (capacity < needed) {
      capacity *= 2;
    }
    char *text = realloc(buffer->capacity > 0 ? buffer->text : NULL, capacity);
    if (text == NULL) {
      buffer->truncated = true;
      return 0;
    }
    buffer->text = text;
    buffer->text[buffer->length] = '\0'; /* a first block holds anything */
    buffer->capacity = capacity;
  }
  return extra;
}

void strbuf_append_n(struct strbuf *buffer, const char *text, size_t length) {
  length = reserve(buffer, length);
  if (length == 0) {
    return;
  }
  memcpy(buffer->text + buffer->length, text, length);
  buffer->length += length;
  buffer->text[buffer->length] = '\0';
}

void strbuf_append(struct strbuf *buffer, const char *text) {
  strbuf_append_n(buffer, text, strlen(text));
}

void strbuf_append_char(struct strbuf *buffer, char c) {
  strbuf_append_n(buffer, &c, 1);
}

void strbuf_append_word(struct strbuf *buffer, const char *word) {
  strbuf_append(buffer, buffer->length > 0 ? ", " : "");
  strbuf_append(buffer, word);
}

void strbuf_printf(struct strbuf *buffer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length > 0) {
    char small[256];
    if ((size_t)length < sizeof small) {
      (void)vsnprintf(small, sizeof small, format, again);
      strbuf_append_n(buffer, small, (size_t)length);
    } else {
      char *large = malloc((size_t)length + 1);
      if (large == NULL) {
        buffer->truncated = true;
      } else {
        (void)vsnprintf(large, (size_t)length + 1, format, again);
        strbuf_append_n(buffer, large, (size_t)length);
        free(large);
      }
    }
  }
  va_end(again);
}
