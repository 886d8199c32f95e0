/* toml.h - TOML 1.0 text as a read-only tree with source positions.
 *
 * toml_parse() turns text into nodes owned by one document and freed by toml_free(). The text is
 * copied where it is needed; `path` is borrowed, for errors only. Children of a table are in the
 * order of the file. Lines and columns count from 1; a column is a character (code point), so that
 * a tab and a wide character are one column each.
 *
 * Refused, each with one error that has a position, are: anything that is not TOML 1.0, text
 * that is not UTF-8, NUL bytes (written as \u0000 as well, so that `text` is always a C string),
 * keys of more than TOML_KEY_PARTS_MAX dotted parts and values nested deeper than TOML_NESTING_MAX.
 * A leading UTF-8 byte order mark is skipped. The caller bounds the length of what it reads. */
#pragma once

#include "engine/base/error.h"
#include "engine/base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

enum { TOML_KEY_PARTS_MAX = 32, TOML_NESTING_MAX = 32 };

/* The texts are for messages: "expected text, found an integer". */
#define TOML_KIND_LIST(X)                                                                          \
  X(TOML_TABLE, "a table")                                                                         \
  X(TOML_ARRAY, "an array")                                                                        \
  X(TOML_TEXT, "text")                                                                             \
  X(TOML_INTEGER, "an integer")                                                                    \
  X(TOML_NUMBER, "a number with a fraction")                                                       \
  X(TOML_BOOLEAN, "true or false")                                                                 \
  X(TOML_TIME, "a date or time")
ENUM_NAMES_DECLARE(toml_kind, TOML_KIND_LIST)

/* A place in the text. width: characters on its first line, at least 1. */
struct toml_span {
  unsigned line;
  unsigned column;
  unsigned width;
};

struct toml_node {
  enum toml_kind kind;
  const char *key;           /* NULL for the root and for the elements of an array */
  struct toml_span key_span; /* for tables made by [headers]: the key in the first such header */
  struct toml_span span;     /* of the value; a [header] stands for its table */
  const struct toml_node *children; /* of tables and arrays */
  size_t child_count;
  union {
    const char *text; /* TOML_TEXT; TOML_TIME as RFC 3339 writes it */
    int64_t integer;
    double number;
    bool boolean;
  };
};

struct toml_document;

/* STATUS_INVALID with the position of the first mistake. */
enum status toml_parse(const char *text, size_t length, const char *path,
                       struct toml_document **document, struct error *err) CHECK_RESULT;
void toml_free(struct toml_document *document);
/* Always a table. */
const struct toml_node *toml_root(const struct toml_document *document);

/* The child of a table by its key, or NULL (also if `table` is NULL or not a table). */
const struct toml_node *toml_get(const struct toml_node *table, const char *key);

/* Appends the value as TOML on one line (tables inline), such that it parses to an equal node. */
void toml_write_value(struct strbuf *buffer, const struct toml_node *node);
/* Appends a basic string with its quotes, escaped as TOML wants. */
void toml_write_text(struct strbuf *buffer, const char *text);
/* Appends a key: bare where TOML allows it, else quoted. */
void toml_write_key(struct strbuf *buffer, const char *key);
