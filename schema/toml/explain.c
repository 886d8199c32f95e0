#include "schema/toml/explain.h"

#include "schema/toml/scan.h"

#include <stdio.h>
#include <string.h>

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
static const char *split(const char *description, char *construct, size_t size) {
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
  const char *problem = split(description, construct, sizeof construct);
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
