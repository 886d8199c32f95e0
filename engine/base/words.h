/* words.h - enumerations whose values have names in TOML, SQL and the documentation.
 *
 * One list yields the enum, its text and its parser:
 *
 *   #define COLOUR_LIST(X) X(COLOUR_RED, "red") X(COLOUR_BLUE, "blue")
 *   WORDS_DECLARE(colour, COLOUR_LIST)          in the header
 *   WORDS_DEFINE(colour, COLOUR_LIST)           in one .c file
 *
 * gives enum colour (closed by colour_word_count), colour_text() (static text, "?" for a value
 * outside the list), colour_parse() (exact match; false and *value untouched when unknown), and
 * colour_words (all texts in order, NULL-terminated). */
#ifndef HAUL_ENGINE_BASE_WORDS_H
#define HAUL_ENGINE_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define WORDS_ENUMERATOR_(id, text) id,
#define WORDS_TEXT_(id, text)       text,

#define WORDS_DECLARE(name, LIST)                                                                  \
  enum name { LIST(WORDS_ENUMERATOR_) name##_word_count };                                         \
  extern const char *const name##_words[];                                                         \
  const char *name##_text(enum name value);                                                        \
  bool name##_parse(const char *text, enum name *value);

#define WORDS_DEFINE(name, LIST)                                                                   \
  const char *const name##_words[] = {LIST(WORDS_TEXT_) NULL};                                     \
  const char *name##_text(enum name value) {                                                       \
    return (unsigned)value < (unsigned)name##_word_count ? name##_words[value] : "?";              \
  }                                                                                                \
  bool name##_parse(const char *text, enum name *value) {                                          \
    for (int i = 0; i < (int)name##_word_count; i++) {                                             \
      if (strcmp(text, name##_words[i]) == 0) {                                                    \
        *value = (enum name)i;                                                                     \
        return true;                                                                               \
      }                                                                                            \
    }                                                                                              \
    return false;                                                                                  \
  }

#endif
