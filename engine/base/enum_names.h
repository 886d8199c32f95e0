/* enum_names.h - enumerations whose values have names in TOML, SQL and the documentation.
 *
 * One list yields the enum, its text and its parser:
 *
 *   #define COLOUR_LIST(X) X(COLOUR_RED, "red") X(COLOUR_BLUE, "blue")
 *   ENUM_NAMES_DECLARE(colour, COLOUR_LIST)          in the header
 *   ENUM_NAMES_DEFINE(colour, COLOUR_LIST)           in one .c file
 *
 * gives enum colour (closed by colour_name_count), colour_text() (static text, "?" for a value
 * outside the list), colour_parse() (exact match; false and *value untouched when unknown), and
 * colour_names (all texts in order, NULL-terminated). A row may hold more than the two, for tables
 * that are made from the same list.
 *
 * ENUM_NAMES_DEFINE_ALL before the one #include of a header that declares many defines them all:
 * see engine/case/names.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ENUM_NAMES_VALUE_(id, text, ...) id,
#define ENUM_NAMES_TEXT_(id, text, ...)  text,

#define ENUM_NAMES_DECLARE_(name, LIST)                                                            \
  enum name { LIST(ENUM_NAMES_VALUE_) name##_name_count };                                         \
  extern const char *const name##_names[];                                                         \
  const char *name##_text(enum name value);                                                        \
  bool name##_parse(const char *text, enum name *value);

#define ENUM_NAMES_DEFINE(name, LIST)                                                              \
  const char *const name##_names[] = {LIST(ENUM_NAMES_TEXT_) NULL};                                \
  const char *name##_text(enum name value) {                                                       \
    return (unsigned)value < (unsigned)name##_name_count ? name##_names[value] : "?";              \
  }                                                                                                \
  bool name##_parse(const char *text, enum name *value) {                                          \
    for (int i = 0; i < (int)name##_name_count; i++) {                                             \
      if (strcmp(text, name##_names[i]) == 0) {                                                    \
        *value = (enum name)i;                                                                     \
        return true;                                                                               \
      }                                                                                            \
    }                                                                                              \
    return false;                                                                                  \
  }

#ifdef ENUM_NAMES_DEFINE_ALL
#define ENUM_NAMES_DECLARE(name, LIST)                                                             \
  ENUM_NAMES_DECLARE_(name, LIST)                                                                  \
  ENUM_NAMES_DEFINE(name, LIST)
#else
#define ENUM_NAMES_DECLARE(name, LIST) ENUM_NAMES_DECLARE_(name, LIST)
#endif
