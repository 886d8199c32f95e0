#include "schema/toml/mistake.h"

#include <stdio.h>
#include <string.h>

static const char *const all_quotes[] = {"\"\"\"", "'''", "\"", "'"};
enum { QUOTES_COUNT = sizeof all_quotes / sizeof *all_quotes };

struct scanner {
  const char *at;
  const char *end;
  unsigned line;
  unsigned column;
};

static void scanner_advance(struct scanner *scanner, size_t bytes) {
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

static bool scanner_is_at(const struct scanner *scanner, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(scanner->end - scanner->at) >= length && memcmp(scanner->at, text, length) == 0;
}

/* Past a string whose opening quotes are at the scanner: to its end, the end of its line (it is
 * broken then) or the end of the file. False when it is broken. */
static bool scanner_skip_string(struct scanner *scanner, const char *quotes) {
  const bool many_lines = strlen(quotes) == 3;
  const bool escapes = quotes[0] == '"';
  scanner_advance(scanner, strlen(quotes));
  while (scanner->at < scanner->end) {
    if (scanner_is_at(scanner, quotes)) {
      scanner_advance(scanner, strlen(quotes));
      for (int i = 0; many_lines && i < 2 && scanner->at < scanner->end; i++) {
        scanner_advance(scanner, *scanner->at == quotes[0] ? 1 : 0); /* """one "word"""" */
      }
      return true;
    }
    if (*scanner->at == '\n' && !many_lines) {
      return false;
    }
    scanner_advance(scanner, *scanner->at == '\\' && escapes ? 2 : 1);
  }
  return false;
}

static void scanner_skip_comment(struct scanner *scanner) {
  while (scanner->at < scanner->end && *scanner->at != '\n') {
    scanner_advance(scanner, 1);
  }
}

/* The quotes at the scanner; NULL = none. */
static const char *scanner_quotes(const struct scanner *scanner) {
  for (size_t i = 0; i < QUOTES_COUNT; i++) {
    if (scanner_is_at(scanner, all_quotes[i])) {
      return all_quotes[i];
    }
  }
  return NULL;
}

/* Past the next piece of text; returns its first character, or 0 for a string or comment. */
static char scanner_next(struct scanner *scanner) {
  const char *quotes = scanner_quotes(scanner);
  if (quotes != NULL) {
    (void)scanner_skip_string(scanner, quotes); /* the parser says where a string has no end */
    return 0;
  }
  const char c = *scanner->at;
  if (c == '#') {
    scanner_skip_comment(scanner);
    return 0;
  }
  scanner_advance(scanner, 1);
  return c;
}

static enum status toml_prescan_refuse(struct error *err, const char *path, unsigned line,
                                       unsigned column, const char *message) {
  (void)error_set(err, STATUS_INVALID, "%s", message);
  if (err != NULL) {
    err->position = (struct position){path, line, column};
  }
  return STATUS_INVALID;
}

static enum status toml_prescan_bytes(const char *text, size_t length, const char *path,
                                      struct error *err) {
  if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
    return toml_prescan_refuse(err, path, 1, 1,
                               "the file is UTF-16; TOML is UTF-8: save it as UTF-8");
  }
  const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
  if (nul != NULL) {
    struct scanner scanner = {text, nul, 1, 1};
    scanner_advance(&scanner, (size_t)(nul - text));
    return toml_prescan_refuse(err, path, scanner.line, scanner.column,
                               "a NUL byte: this is a binary file, not TOML");
  }
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    if ((c < 0x20 && strchr("\t\n\r", c) == NULL) || c == 0x7f) {
      struct scanner scanner = {text, text + length, 1, 1};
      scanner_advance(&scanner, i);
      return toml_prescan_refuse(
          err, path, scanner.line, scanner.column,
          "a control character: TOML is text; in quotes an escape such as \\u001b stands "
          "for one");
    }
  }
  return STATUS_OK;
}

/* The first text in quotes that has no end: on its line, or in the file where it has three quotes.
 * False: there is none. *span covers the opening quotes, *quotes says which. */
static bool toml_find_unclosed(const char *text, size_t length, struct toml_span *span,
                               const char **quotes) {
  struct scanner scanner = {text, text + length, 1, 1};
  if (scanner_is_at(&scanner, "\xef\xbb\xbf")) {
    scanner.at += 3;
  }
  while (scanner.at < scanner.end) {
    *quotes = scanner_quotes(&scanner);
    if (*quotes == NULL) {
      (void)scanner_next(&scanner);
      continue;
    }
    *span = (struct toml_span){scanner.line, scanner.column, (unsigned)strlen(*quotes)};
    if (!scanner_skip_string(&scanner, *quotes)) {
      return true;
    }
  }
  return false;
}

enum status toml_prescan(const char *text, size_t length, const char *path, struct error *err) {
  const enum status status = toml_prescan_bytes(text, length, path, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct scanner scanner = {text, text + length, 1, 1};
  if (scanner_is_at(&scanner, "\xef\xbb\xbf")) {
    scanner.at += 3; /* a byte order mark is no character of the first line */
  }
  unsigned parts = 1;
  while (scanner.at < scanner.end) {
    const unsigned line = scanner.line;
    const unsigned column = scanner.column;
    const char c = scanner_next(&scanner);
    if ((unsigned char)c >= 0x80) {
      return toml_prescan_refuse(
          err, path, line, column,
          "a character outside ASCII may stand in quoted text and comments only");
    }
    if (c == '.') {
      parts++;
    } else if (c != 0 && strchr("=,[]{}\n", c) != NULL) {
      parts = 1;
    }
    if (parts > TOML_KEY_PARTS_MAX) {
      return toml_prescan_refuse(err, path, line, column, "a key of more than 32 dotted parts");
    }
  }
  return STATUS_OK;
}

/* The first row of which the description holds both texts. */
static const struct {
  const char *construct; /* toml++'s name of what it was reading */
  const char *problem;
  const char *message;
} known[] = {
    {"", "utf-8", "a byte that is no UTF-8: save the file as UTF-8"},
    {"", "nested", "values nested deeper than 32: fewer brackets are needed"},
    {"", "64 bits", "the number does not fit into 64 bits"},
    {"", "unknown escape", "no such escape: a backslash is written \\\\, or the text in 'quotes'"},
    {"unicode", "", "an escape is written \\uXXXX or \\UXXXXXXXX, with hexadecimal digits"},
    {"string", "control character",
     "a control character in text: write it as an escape such as \\t or \\u001b"},
    {"value", "value type", "this is no value: text stands in quotes, as in name = \"quick\""},
    {"array", "end-of-file", "the array is not closed: a ] is missing"},
    {"array", "expected comma", "between the values of an array stands a comma, at its end a ]"},
    {"array", "", "this is no value of an array: [1, 2] or [\"64KiB\", \"1MiB\"]"},
    {"inline table", "dangling comma", "no comma may stand before a }: remove it"},
    {"inline table", "expected comma", "between the keys in braces stands a comma"},
    {"inline table", "closing", "a table in braces stands on one line and ends with a }"},
    {"inline table", "end-of-file", "the table in braces is not closed: a } is missing"},
    {"inline table", "", "a table in braces is written { gpu = 0, memory = \"device\" }"},
    {"table header", "redefine", "this table was begun before: write it once; [[...]] may repeat"},
    {"table header", "comment or whitespace", "nothing may follow a [header] on its line"},
    {"table header", "", "a header is written [measure] or [[transfer]], with all its brackets"},
    {"key", "redefine", "this key stands here a second time: write it once"},
    {"key-value pair", "expected value", "a value is missing after the ="},
    {"key-value pair", "expected '='", "a = is missing: a line is written key = value"},
    {"key-value pair", "comment or whitespace",
     "nothing may follow the value: one key = value a line; text needs quotes"},
    {"key", "", "a key is letters, digits, - and _, or text in quotes"},
    {"root table", "", "a line is key = value, a [header] or a # comment"},
    {"integer", "leading zero", "a number does not begin with 0"},
    {"integer", "",
     "this is no number: sizes and times stand in quotes, as in \"64KiB\", \"20ms\""},
    {"floating-point", "",
     "this is no number: sizes and times stand in quotes, as in \"1.5GiB\", \"0.5s\""},
    {"boolean", "", "this is no value: expected true or false, or text in quotes"},
    {"date", "", "this is no date; other text stands in quotes"},
    {"time", "", "this is no time; other text stands in quotes"},
};

/* "Error while parsing array: encountered end-of-file": what it was reading, and the rest. */
static const char *toml_split_description(const char *description, char *construct, size_t size) {
  static const char opening[] = "Error while parsing ";
  construct[0] = '\0';
  if (strncmp(description, opening, strlen(opening)) != 0) {
    return description;
  }
  const char *start = description + strlen(opening);
  const char *colon = strchr(start, ':');
  if (colon == NULL) {
    return description;
  }
  (void)snprintf(construct, size, "%.*s", (int)(colon - start), start);
  return colon + 1 + strspn(colon + 1, " ");
}

void toml_explain(const char *description, const char *text, size_t length, struct toml_span *span,
                  struct strbuf *message) {
  char construct[64];
  const char *problem = toml_split_description(description, construct, sizeof construct);
  struct toml_span opening;
  const char *quotes = NULL;
  if (strstr(construct, "string") != NULL && strstr(problem, "unknown escape") == NULL &&
      toml_find_unclosed(text, length, &opening, &quotes)) {
    *span = opening;
    strbuf_printf(message, "the text that begins here is not closed: %s is missing%s", quotes,
                  strlen(quotes) == 1 ? " at the end of the line" : "");
    return;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strstr(construct, known[i].construct) != NULL &&
        strstr(problem, known[i].problem) != NULL) {
      strbuf_append(message, known[i].message);
      return;
    }
  }
  strbuf_printf(message, "not valid TOML: %s", problem);
}
