/* What the parser behind toml_parse() would take badly: it recurses once for every part of a dotted
 * key, toml++ 3.3 has undefined behaviour on some characters outside ASCII that stand outside text
 * (TOML allows none there), and it says little about files that are no text at all. */
#include "schema/toml/scan.h"

#include <string.h>

static const char *const all_quotes[] = {"\"\"\"", "'''", "\"", "'"};
enum { QUOTES_COUNT = sizeof all_quotes / sizeof *all_quotes };

struct scanner {
  const char *at;
  const char *end;
  unsigned line;
  unsigned column;
};

static void advance(struct scanner *scanner, size_t bytes) {
  for (size_t i = 0; i < bytes && scanner->at < scanner->end; i++) {
    const unsigned char c = (unsigned char)*scanner->at++;
    if (c == '\n') {
      scanner->line++;
      scanner->column = 1;
    } else if ((c & 0xc0) != 0x80) { /* not the continuation of a character */
      scanner->column++;
    }
  }
}

static bool at_text(const struct scanner *scanner, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(scanner->end - scanner->at) >= length && memcmp(scanner->at, text, length) == 0;
}

/* Past a string whose opening quotes are at the scanner: to its end, the end of its line (it is
 * broken then) or the end of the file. False when it is broken. */
static bool skip_string(struct scanner *scanner, const char *quotes) {
  const bool many_lines = strlen(quotes) == 3;
  const bool escapes = quotes[0] == '"';
  advance(scanner, strlen(quotes));
  while (scanner->at < scanner->end) {
    if (at_text(scanner, quotes)) {
      advance(scanner, strlen(quotes));
      for (int i = 0; many_lines && i < 2 && scanner->at < scanner->end; i++) {
        advance(scanner, *scanner->at == quotes[0] ? 1 : 0); /* """one "word"""" */
      }
      return true;
    }
    if (*scanner->at == '\n' && !many_lines) {
      return false;
    }
    advance(scanner, *scanner->at == '\\' && escapes ? 2 : 1);
  }
  return false;
}

static void skip_comment(struct scanner *scanner) {
  while (scanner->at < scanner->end && *scanner->at != '\n') {
    advance(scanner, 1);
  }
}

/* The quotes at the scanner; NULL = none. */
static const char *quotes_at(const struct scanner *scanner) {
  for (size_t i = 0; i < QUOTES_COUNT; i++) {
    if (at_text(scanner, all_quotes[i])) {
      return all_quotes[i];
    }
  }
  return NULL;
}

/* Past the next piece of text; returns its first character, or 0 for a string or comment. */
static char next_piece(struct scanner *scanner) {
  const char *quotes = quotes_at(scanner);
  if (quotes != NULL) {
    (void)skip_string(scanner, quotes); /* the parser says where a string has no end */
    return 0;
  }
  const char c = *scanner->at;
  if (c == '#') {
    skip_comment(scanner);
    return 0;
  }
  advance(scanner, 1);
  return c;
}

static enum status refuse(struct error *err, const char *path, unsigned line, unsigned column,
                          const char *message) {
  (void)error_set(err, STATUS_INVALID, "%s", message);
  if (err != NULL) {
    err->position = (struct position){path, line, column};
  }
  return STATUS_INVALID;
}

static enum status check_bytes(const char *text, size_t length, const char *path,
                               struct error *err) {
  if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
    return refuse(err, path, 1, 1, "the file is UTF-16; TOML is UTF-8: save it as UTF-8");
  }
  const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
  if (nul != NULL) {
    struct scanner scanner = {text, nul, 1, 1};
    advance(&scanner, (size_t)(nul - text));
    return refuse(err, path, scanner.line, scanner.column,
                  "a NUL byte: this is a binary file, not TOML");
  }
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    if ((c < 0x20 && strchr("\t\n\r", c) == NULL) || c == 0x7f) {
      struct scanner scanner = {text, text + length, 1, 1};
      advance(&scanner, i);
      return refuse(err, path, scanner.line, scanner.column,
                    "a control character: TOML is text; in quotes an escape such as \\u001b stands "
                    "for one");
    }
  }
  return STATUS_OK;
}

bool toml_find_unclosed(const char *text, size_t length, struct toml_span *span,
                        const char **quotes) {
  struct scanner scanner = {text, text + length, 1, 1};
  if (at_text(&scanner, "\xef\xbb\xbf")) {
    scanner.at += 3;
  }
  while (scanner.at < scanner.end) {
    *quotes = quotes_at(&scanner);
    if (*quotes == NULL) {
      (void)next_piece(&scanner);
      continue;
    }
    *span = (struct toml_span){scanner.line, scanner.column, (unsigned)strlen(*quotes)};
    if (!skip_string(&scanner, *quotes)) {
      return true;
    }
  }
  return false;
}

enum status toml_prescan(const char *text, size_t length, const char *path, struct error *err) {
  const enum status status = check_bytes(text, length, path, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct scanner scanner = {text, text + length, 1, 1};
  if (at_text(&scanner, "\xef\xbb\xbf")) {
    scanner.at += 3; /* a byte order mark is no character of the first line */
  }
  unsigned parts = 1;
  while (scanner.at < scanner.end) {
    const unsigned line = scanner.line;
    const unsigned column = scanner.column;
    const char c = next_piece(&scanner);
    if ((unsigned char)c >= 0x80) {
      return refuse(err, path, line, column,
                    "a character outside ASCII may stand in quoted text and comments only");
    }
    if (c == '.') {
      parts++;
    } else if (c != 0 && strchr("=,[]{}\n", c) != NULL) {
      parts = 1;
    }
    if (parts > TOML_KEY_PARTS_MAX) {
      return refuse(err, path, line, column, "a key of more than 32 dotted parts");
    }
  }
  return STATUS_OK;
}
