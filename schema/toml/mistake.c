#include "schema/toml/toml_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const all_quotes[] = {"\"\"\"", "'''", "\"", "'"};
enum { QUOTES_COUNT = COUNT_OF(all_quotes) };

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

/* A byte order mark does not count as a column. */
static struct scanner scanner_start(const char *text, size_t length) {
  struct scanner scanner = {text, text + length, 1, 1};
  scanner.at += scanner_is_at(&scanner, "\xef\xbb\xbf") ? 3 : 0;
  return scanner;
}

/* Skips the string whose opening quotes are at the scanner. False if it is not closed on its line
 * or, with three quotes, in the file. */
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

/* The quotes at the scanner, or NULL. */
static const char *scanner_quotes(const struct scanner *scanner) {
  for (size_t i = 0; i < QUOTES_COUNT; i++) {
    if (scanner_is_at(scanner, all_quotes[i])) {
      return all_quotes[i];
    }
  }
  return NULL;
}

/* Skips a string, a comment or one character; returns the character, or 0 for the others. */
static char scanner_next(struct scanner *scanner) {
  const char *quotes = scanner_quotes(scanner);
  if (quotes != NULL) {
    (void)scanner_skip_string(scanner, quotes); /* the parser reports a string without an end */
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

enum status toml_refuse(struct error *err, const char *path, unsigned line, unsigned column,
                        const char *message) {
  (void)error_set(err, STATUS_INVALID, "%s", message);
  if (err != NULL) {
    err->position = (struct position){path, line, column};
  }
  return STATUS_INVALID;
}

static enum status toml_prescan_bytes(const char *text, size_t length, const char *path,
                                      struct error *err) {
  if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
    return toml_refuse(err, path, 1, 1, "the file is UTF-16: save it as UTF-8");
  }
  const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
  if (nul != NULL) {
    struct scanner scanner = {text, nul, 1, 1};
    scanner_advance(&scanner, (size_t)(nul - text));
    return toml_refuse(err, path, scanner.line, scanner.column,
                       "NUL byte: this is a binary file, not TOML");
  }
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    if ((c < 0x20 && strchr("\t\n\r", c) == NULL) || c == 0x7f) {
      struct scanner scanner = {text, text + length, 1, 1};
      scanner_advance(&scanner, i);
      return toml_refuse(
          err, path, scanner.line, scanner.column,
          "control character: in quotes, write it as an escape sequence such as \\u001b");
    }
  }
  return STATUS_OK;
}

/* The first text in quotes that has no end: on its line, or in the file where it has three quotes.
 * False: there is none. *span covers the opening quotes, *quotes says which. */
static bool toml_find_unclosed(const char *text, size_t length, struct toml_span *span,
                               const char **quotes) {
  struct scanner scanner = scanner_start(text, length);
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
  RETURN_ON_ERROR(toml_prescan_bytes(text, length, path, err));
  struct scanner scanner = scanner_start(text, length);
  unsigned parts = 1;
  while (scanner.at < scanner.end) {
    const unsigned line = scanner.line;
    const unsigned column = scanner.column;
    const char c = scanner_next(&scanner);
    if ((unsigned char)c >= 0x80) {
      return toml_refuse(err, path, line, column,
                         "characters outside ASCII are allowed in quoted text and comments only");
    }
    if (c == '.') {
      parts++;
    } else if (c != 0 && strchr("=,[]{}\n", c) != NULL) {
      parts = 1;
    }
    if (parts > TOML_KEY_PARTS_MAX) {
      return toml_refuse(err, path, line, column, "a key of more than 32 dotted parts");
    }
  }
  return STATUS_OK;
}

/* The first row that applies is used: both texts occur in the description. */
static const struct {
  const char *construct; /* toml++'s name of what it was reading */
  const char *problem;
  const char *message;
} known[] = {
    {"", "utf-8", "invalid UTF-8: save the file as UTF-8"},
    {"", "nested", "values are nested more than 32 levels deep"},
    {"", "64 bits", "the number does not fit into 64 bits"},
    {"", "unknown escape",
     "unknown escape sequence: write a backslash as \\\\, or use 'single quotes'"},
    {"unicode", "",
     "invalid escape sequence: expected \\uXXXX or \\UXXXXXXXX with hexadecimal digits"},
    {"string", "control character",
     "control character in text: write it as an escape sequence such as \\t or \\u001b"},
    {"value", "value type", "invalid value: text needs quotes, as in name = \"quick\""},
    {"array", "end-of-file", "unclosed array: missing ]"},
    {"array", "expected comma", "expected a comma or ] after a value of an array"},
    {"array", "",
     "invalid value in an array: expected, for example, [1, 2] or [\"64KiB\", \"1MiB\"]"},
    {"inline table", "dangling comma", "trailing comma before }: remove it"},
    {"inline table", "expected comma", "expected a comma between the keys of an inline table"},
    {"inline table", "closing", "an inline table must be on one line and end with }"},
    {"inline table", "end-of-file", "unclosed inline table: missing }"},
    {"inline table", "",
     "invalid inline table: expected, for example, { gpu = 0, memory = \"device\" }"},
    {"table header", "redefine",
     "duplicate table: define it once, or write each of its headers as [[...]]"},
    {"table header", "comment or whitespace", "unexpected text after a [header]"},
    {"table header", "", "invalid header: expected, for example, [measure] or [[transfer]]"},
    {"key", "redefine", "duplicate key: define it once"},
    {"key-value pair", "expected value", "missing value after ="},
    {"key-value pair", "expected '='", "missing =: expected key = value"},
    {"key-value pair", "comment or whitespace",
     "unexpected text after the value: write one key = value per line; text needs quotes"},
    {"key", "", "invalid key: expected letters, digits, - and _, or text in quotes"},
    {"root table", "", "expected key = value, a [header] or a # comment"},
    {"integer", "leading zero", "a number must not begin with 0"},
    {"integer", "", "invalid number: sizes and durations need quotes, as in \"64KiB\", \"20ms\""},
    {"floating-point", "",
     "invalid number: sizes and durations need quotes, as in \"1.5GiB\", \"0.5s\""},
    {"boolean", "", "invalid value: expected true, false or text in quotes"},
    {"date", "", "invalid date: other text needs quotes"},
    {"time", "", "invalid time: other text needs quotes"},
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

/* The last key and value before a mistake. */
struct toml_pair {
  const char *key, *value, *end; /* the value begins there; end: of the text */
  int key_length;
};

static bool toml_find_pair(const char *text, size_t length, const struct toml_span *span,
                           struct toml_pair *pair) {
  const char *line = text;
  const char *const end = text + length;
  for (unsigned i = 1; i < span->line && line != NULL; i++) {
    line = memchr(line, '\n', (size_t)(end - line));
    line = line != NULL ? line + 1 : NULL;
  }
  const char *equals = NULL;
  for (const char *at = line; at != NULL && at < end && *at != '\n' && at < line + span->column;
       at++) {
    equals = *at == '=' ? at : equals;
  }
  if (equals == NULL) {
    return false;
  }
  const char *key_end = equals;
  while (key_end > line && key_end[-1] == ' ') {
    key_end--;
  }
  *pair = (struct toml_pair){.key = key_end, .value = equals + 1, .end = end};
  while (pair->key > line && strchr(" \t{,", pair->key[-1]) == NULL) {
    pair->key--;
  }
  while (pair->value < end && *pair->value == ' ') {
    pair->value++;
  }
  pair->key_length = (int)(key_end - pair->key);
  return pair->key_length > 0;
}

/* "gpu = 0, 1" and "{ gpu = 0, 1 }": a list of numbers. */
static bool toml_explain_list(const struct toml_pair *pair, struct strbuf *message) {
  const char *last = pair->value; /* past the last digit of the list */
  for (const char *at = pair->value;
       at < pair->end && *at != '\0' && strchr("0123456789, ", *at) != NULL; at++) {
    last = *at >= '0' && *at <= '9' ? at + 1 : last;
  }
  const bool several = memchr(pair->value, ',', (size_t)(last - pair->value)) != NULL;
  if (several) {
    strbuf_printf(message, "several values need brackets: %.*s = [%.*s]", pair->key_length,
                  pair->key, (int)(last - pair->value), pair->value);
  }
  return several;
}

/* "name = flush-test": a word without quotes. */
static bool toml_explain_word(const struct toml_pair *pair, struct strbuf *message) {
  const char *last = pair->value;
  while (last < pair->end && *last != '\0' && strchr(" \t\r\n,#]}\"'=", *last) == NULL) {
    last++;
  }
  if (last > pair->value) {
    strbuf_printf(message, "expected true, false or text in quotes: %.*s = \"%.*s\"",
                  pair->key_length, pair->key, (int)(last - pair->value), pair->value);
  }
  return last > pair->value;
}

/* The line of the same table above the mistake that defines the key; 0 = none that begins so. */
static unsigned toml_find_first(const struct toml_pair *pair, const char *text, unsigned before) {
  unsigned first = 0;
  const char *line = text;
  for (unsigned number = 1; number < before; number++) {
    const char *at = line + strspn(line, " \t");
    const char *behind = at + pair->key_length;
    if (at[0] == '[') {
      first = 0;
    } else if (strncmp(at, pair->key, (size_t)pair->key_length) == 0 &&
               behind[strspn(behind, " \t")] == '=') {
      first = number;
    }
    line = strchr(line, '\n') + 1;
  }
  return first;
}

static bool toml_explain_duplicate(const struct toml_pair *pair, const char *text, unsigned line,
                                   struct strbuf *message) {
  const unsigned first = toml_find_first(pair, text, line);
  strbuf_printf(message, "duplicate key \"%.*s\": define it once", pair->key_length, pair->key);
  if (first > 0) {
    strbuf_printf(message, " (line %u has it, too)", first);
  }
  return true;
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
    strbuf_printf(message, "unclosed text: missing %s%s", quotes,
                  strlen(quotes) == 1 ? " at the end of the line" : "");
    return;
  }
  struct toml_pair pair;
  if (toml_find_pair(text, length, span, &pair) &&
      ((strcmp(construct, "key-value pair") == 0 && toml_explain_list(&pair, message)) ||
       (strcmp(construct, "boolean") == 0 && toml_explain_word(&pair, message)) ||
       (strstr(construct, "key") != NULL && strstr(problem, "redefine") != NULL &&
        toml_explain_duplicate(&pair, text, span->line, message)))) {
    return;
  }
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    if (strstr(construct, known[i].construct) != NULL &&
        strstr(problem, known[i].problem) != NULL) {
      strbuf_append(message, known[i].message);
      return;
    }
  }
  strbuf_printf(message, "not valid TOML: %s", problem);
}
