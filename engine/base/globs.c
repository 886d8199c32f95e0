#include "engine/base/globs.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* Where the glob ends that begins here. */
static size_t globs_length(const char *text) {
  size_t length = strcspn(text, ",");
  while (text[length] == ',' && isdigit((unsigned char)text[length + 1])) {
    length += 1 + strcspn(text + length + 1, ",");
  }
  return length;
}

/* The next glob, not terminated; NULL = there is none. */
static const char *globs_take(const char **rest, size_t *length) {
  const char *at = *rest + strspn(*rest, ", \t\n");
  *length = globs_length(at);
  *rest = at + *length;
  return *length > 0 ? at : NULL;
}

const char *globs_next(const char **rest, struct arena *arena) {
  size_t length = 0;
  const char *glob = globs_take(rest, &length);
  return glob != NULL ? arena_strndup(arena, glob, length) : NULL;
}

bool globs_match(const char *globs, const char *text) {
  struct arena arena = {0};
  bool found = false;
  char glob[256];
  size_t length = 0;
  for (const char *at; !found && (at = globs_take(&globs, &length)) != NULL;) {
    const char *copy = glob;
    if (length < sizeof glob) {
      memcpy(glob, at, length);
      glob[length] = '\0';
    } else {
      copy = arena_strndup(&arena, at, length);
    }
    found = fnmatch(copy, text, 0) == 0;
  }
  arena_fini(&arena);
  return found;
}

const char *globs_add(const char *globs, const char *more, struct arena *arena) {
  if (globs == NULL) {
    return arena_strdup(arena, more);
  }
  return arena_format(arena, "%s,%s%s", globs, isdigit((unsigned char)more[0]) ? " " : "", more);
}

const char *globs_json(const char *globs, struct arena *arena) {
  if (globs == NULL) {
    return NULL;
  }
  char *json = arena_alloc(arena, 6 * strlen(globs) + 3); /* each byte as \u00XX at most */
  char *out = json;
  size_t length = 0;
  *out++ = '[';
  for (const char *at; (at = globs_take(&globs, &length)) != NULL;) {
    out = stpcpy(out, out > json + 1 ? ",\"" : "\"");
    for (size_t i = 0; i < length; i++) {
      const unsigned char c = (unsigned char)at[i];
      if (c < ' ') {
        static const char digits[] = "0123456789abcdef";
        out = stpcpy(out, "\\u00");
        *out++ = digits[c >> 4];
        *out++ = digits[c & 15];
        continue;
      }
      if (c == '"' || c == '\\') {
        *out++ = '\\';
      }
      *out++ = (char)c;
    }
    *out++ = '"';
  }
  *out++ = ']';
  *out = '\0';
  return json;
}
