/* value.h - the values of one key: from TOML to checked and typed values.
 *
 * Private to schema/scenario. Mistakes go to the reader's diagnostics; memory comes from its arena.
 */
#pragma once

#include "engine/base/arena.h"
#include "schema/scenario/diagnostics.h"
#include "schema/scenario/field.h"
#include "schema/scenario/selector.h"

struct reader {
  struct arena *arena;
  const struct language *language; /* of the file */
  const struct source *source;     /* being read */
  struct diagnostics *diagnostics;
  size_t range_value_count; /* of all ranges so far */
};

/* FIELD_GRID: a number of blocks as it is; flags for N per SM, and for one element per thread. */
#define VALUE_GRID_PER_SM (UINT64_C(1) << 32)
#define VALUE_GRID_FULL   (UINT64_C(2) << 32)

/* FIELD_CPU: the number of a node as it is; this flag and the index of a word. */
#define VALUE_CPU_WORD (UINT64_C(1) << 32)

union value {
  uint64_t
      integer; /* FIELD_COUNT, FIELD_INTEGER, FIELD_SIZE, FIELD_DURATION, FIELD_GRID, FIELD_CPU */
  double number;
  bool flag;
  unsigned word; /* index into the field's words: the enum's value */
  const char *text;
  struct selector selector;
};

/* More than one value: an axis. FIELD_TEXTS and FIELD_ZIP are read elsewhere and have none. */
struct values {
  const union value *items;
  size_t count; /* 0 = the value is wrong */
};

/* False after a diagnostic. */
bool values_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                 struct values *values);
/* A default or text of --set; false, without a diagnostic, if it is not valid. */
bool value_from_text(const struct field *field, const char *text, union value *value);
/* The place of the i-th value of `node`. */
struct toml_span value_span(const struct toml_node *node, size_t i);

/* Store the value in its member of the field's owner. */
void value_store(const struct field *field, const union value *value, void *owner);
/* Canonical text: "64KiB", "200us", "pinned". */
const char *value_text(struct arena *arena, const struct field *field, const union value *value);

/* Add the diagnostic "FIELD: WHAT" at the node, with the values that the field expects. */
void value_complain(struct reader *reader, const struct field *field, const struct toml_node *node,
                    const char *suggestion, const char *what);
/* Numbers from a range table { from, to, factor | step }; in range.c. */
bool range_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                struct values *values);
/* FIELD_GPUS and FIELD_NODES; in range.c. */
bool selector_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                   struct selector *selector);
/* One value, not an array or range; false after a diagnostic. */
bool value_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                union value *value);
