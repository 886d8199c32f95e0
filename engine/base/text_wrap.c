#include "engine/base/text_wrap.h"

#include "engine/base/macros.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t text_width_n(const char *text, size_t length) {
  return SUM_OF(i, length, (text[i] & 0xc0) != 0x80); /* no continuation bytes of UTF-8 */
}

size_t text_width(const char *text) {
  return text_width_n(text, strlen(text));
}

size_t text_fit(const char *text, size_t width) {
  size_t at = 0;
  for (size_t columns = 0; text[at] != '\0'; at++) {
    columns += (text[at] & 0xc0) != 0x80;
    if (columns > width) {
      break;
    }
  }
  return at;
}

/* Bytes of the first part of a word that is not wider than that. */
static size_t text_cut(const char *word, size_t width) {
  size_t at = 0;
  size_t joint_end = 0; /* of a path or a name */
  size_t part_end = 0;  /* within it */
  for (size_t columns = 0; word[at] != '\0'; at++) {
    columns += (word[at] & 0xc0) != 0x80;
    if (columns > width) {
      return joint_end > 0 ? joint_end : part_end > 0 ? part_end : at;
    }
    joint_end = word[at] == '/' || word[at] == '-' ? at + 1 : joint_end;
    part_end = word[at] == '=' || word[at] == '_' ? at + 1 : part_end;
  }
  return at;
}

/* Whether the word behind a number is a unit, punctuation behind it apart. */
static bool text_is_unit(const char *word, size_t length) {
  static const char UNITS[] = " % B KiB MiB GiB TiB kB MB GB TB MB/s GB/s TB/s ns us ms s min h "
                              "MHz GHz MT/s W J ns/hop cycles ";
  char wanted[16];
  while (length > 0 && strchr(",;:.)", word[length - 1]) != NULL) {
    length--;
  }
  if (length == 0 || length + 3 > sizeof wanted) {
    return false;
  }
  (void)snprintf(wanted, sizeof wanted, " %.*s ", (int)length, word);
  return strstr(UNITS, wanted) != NULL;
}

/* Bytes of the first word. A number and its unit are one, so is a command in parentheses, else
 * "haul" and its verb, where they fit into a line of that width. */
static size_t text_word_length(const char *text, size_t width) {
  const size_t length = strcspn(text, " ");
  const char *begin = text + strspn(text, "(+-<>=~");
  if (length == 0 || text[length] == '\0') {
    return length;
  }
  const char *next = text + length + 1;
  const size_t both = length + 1 + strcspn(next, " ");
  const bool is_number = isdigit((unsigned char)begin[0]) != 0 &&
                         isdigit((unsigned char)text[length - 1]) != 0 &&
                         text_is_unit(next, strcspn(next, " "));
  const bool is_command = strncmp(begin, "haul ", strlen("haul ")) == 0;
  const size_t closing = strcspn(text, ")");
  if (is_command && text[0] == '(' && text[closing] == ')') { /* "(haul query --saved skipped)," */
    const size_t all = closing + strcspn(text + closing, " ");
    if (text_width_n(text, all) <= width) {
      return all;
    }
  }
  return (is_number || is_command) && text_width_n(text, both) <= width ? both : length;
}

void text_wrap(struct strbuf *buffer, const char *text, size_t width, size_t indent, bool cut) {
  const size_t limit = width > 0 ? width : SIZE_MAX;
  size_t column = indent;
  size_t blanks = 0; /* before the word */
  while (*text != '\0') {
    size_t length = text_word_length(text, limit - indent);
    if (blanks > 0 && column + blanks + text_width_n(text, length) > limit) {
      strbuf_printf(buffer, "\n%*s", (int)indent, "");
      column = indent;
    } else {
      strbuf_printf(buffer, "%*s", (int)blanks, "");
      column += blanks;
    }
    while (cut && indent + text_width_n(text, length) > limit) {
      const size_t part = text_cut(text, limit - indent);
      strbuf_append_n(buffer, text, part);
      strbuf_printf(buffer, "\n%*s", (int)indent, "");
      text += part;
      length -= part;
    }
    strbuf_append_n(buffer, text, length);
    column += text_width_n(text, length);
    text += length;
    blanks = strspn(text, " ");
    text += blanks;
  }
}
