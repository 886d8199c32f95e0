/* markup.h - assertions about pages: that elements nest and that nothing is unescaped. */
#pragma once

#include "tests/cmocka.h"

enum { MARKUP_DEPTH_MAX = 64, MARKUP_NAME_MAX = 32 };

static inline void assert_entity(const char *at) {
  static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    if (strncmp(at, known[i], strlen(known[i])) == 0) {
      return;
    }
  }
  fail_msg("a bare & before: %.40s", at);
}

/* Every element is closed in order; attributes are quoted; "&" is only in entities. */
static inline void assert_markup(const char *text) {
  char open[MARKUP_DEPTH_MAX][MARKUP_NAME_MAX];
  size_t depth = 0;
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '&') {
      assert_entity(at);
    }
    if (*at != '<') {
      continue;
    }
    char name[MARKUP_NAME_MAX] = "";
    const bool closes = at[1] == '/';
    if (sscanf(at + 1 + closes, "%31[a-z0-9]", name) != 1) {
      fail_msg("no element: %.40s", at);
    }
    bool quoted = false;
    for (at++; *at != '\0' && (quoted || *at != '>'); at++) {
      quoted = *at == '"' ? !quoted : quoted;
      assert_false(quoted && *at == '<');
    }
    if (*at == '\0') {
      fail_msg("<%s is not ended", name);
    }
    if (closes) {
      if (depth == 0 || strcmp(open[depth - 1], name) != 0) {
        fail_msg("</%s> closes %s", name, depth > 0 ? open[depth - 1] : "nothing");
      }
      depth--;
    } else if (at[-1] != '/') {
      assert_true(depth < MARKUP_DEPTH_MAX);
      (void)snprintf(open[depth++], MARKUP_NAME_MAX, "%s", name);
    }
  }
  if (depth > 0) {
    fail_msg("<%s> is not closed", open[depth - 1]);
  }
}

static inline void assert_lacks(const char *text, const char *part) {
  if (strstr(text, part) != NULL) {
    fail_msg("\"%s\" in:\n%s", part, text);
  }
}
