#include "runner/console/shell_word.h"

#include "engine/base/strbuf.h"

#include <string.h>

enum { WORD_MAX = 1 << 20 };

const char *shell_word(struct arena *arena, const char *text) {
  static const char SAFE[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,%+@";
  if (text[0] != '\0' && text[strspn(text, SAFE)] == '\0') {
    return arena_strdup(arena, text);
  }
  SCOPED(strbuf_fini) struct strbuf word = STRBUF(WORD_MAX);
  strbuf_append_char(&word, '\'');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\'') {
      strbuf_append(&word, "'\\''");
    } else {
      strbuf_append_char(&word, *c);
    }
  }
  strbuf_append_char(&word, '\'');
  return arena_strdup(arena, word.text);
}
