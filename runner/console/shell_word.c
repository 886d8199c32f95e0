#include "runner/console/shell_word.h"

#include "engine/base/strbuf.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 1 << 20 };

const char *shell_word(struct arena *arena, const char *text) {
  static const char SAFE[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,%+@";
  if (text[0] != '\0' && text[strspn(text, SAFE)] == '\0') {
    return arena_strdup(arena, text);
  }
  struct strbuf word;
  strbuf_init(&word, WORD_MAX);
  strbuf_append_char(&word, '\'');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\'') {
      strbuf_append(&word, "'\\''");
    } else {
      strbuf_append_char(&word, *c);
    }
  }
  strbuf_append_char(&word, '\'');
  const char *made = arena_strdup(arena, word.text);
  strbuf_fini(&word);
  return made;
}

const char *shell_word_end(const char *word) {
  bool quoted = false;
  while (*word != '\0' && (quoted || *word != ' ')) {
    if (*word == '\'') {
      quoted = !quoted;
    } else if (*word == '\\' && !quoted && word[1] != '\0') {
      word++;
    }
    word++;
  }
  return word;
}

const char *shell_word_text(struct arena *arena, const char *word) {
  char *text = arena_strdup(arena, word);
  char *out = text;
  bool quoted = false;
  for (const char *c = word; *c != '\0'; c++) {
    if (*c == '\'') {
      quoted = !quoted;
      continue;
    }
    if (*c == '\\' && !quoted && c[1] != '\0') {
      c++;
    }
    *out++ = *c;
  }
  *out = '\0';
  return text;
}
