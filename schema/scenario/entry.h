/* entry.h - the keys of one table of the file, flattened: "from.memory" with its values.
 *
 * Keys from includes, from the file and from --set end up in one list; that order is the order of
 * the axes and of the resolved text. For schema/scenario, and for files of other languages that
 * are read the same way (schema/expect). */
#pragma once

#include "schema/scenario/value.h"

struct entry {
  const struct field *field;
  const struct source *source;
  const struct toml_node *node;
  struct toml_span key_span;
  struct values values; /* count 0: reported as wrong, or FIELD_TEXTS and FIELD_ZIP */
};

enum { ENTRIES_MEANT_MAX = 8 };
struct entries {
  struct entry *items;
  size_t count;
  const char *meant[ENTRIES_MEANT_MAX]; /* what misspelt keys were taken for */
  size_t meant_count;
};

/* NULL = the key is absent. */
const struct entry *entries_find(const struct entries *entries, const char *name);
/* Whether a misspelt key may be that one, so that it need not be called missing as well. */
bool entries_mean(const struct entries *entries, const char *name);
/* Read a table: one entry per key, a diagnostic for each mistake. Tables that are sections of their
 * own (language_below) are left to the caller. */
void entries_read(struct reader *reader, enum section section, const struct toml_node *table,
                  struct entries *entries);
/* Read one node as the key `path` (for --set): a value, or a table of values below it. */
void entries_read_key(struct reader *reader, enum section section, const char *path,
                      const struct toml_node *node, struct entries *entries);
/* The table or tables of a section below `parent`; NULL where there is none, or after a diagnostic
 * about wrong brackets. */
const struct toml_node *entries_section(struct reader *reader, const struct toml_node *parent,
                                        enum section section);
/* Add a diagnostic for each missing required key of the section. */
void entries_require(struct reader *reader, const struct source *source, enum section section,
                     const struct entries *entries, struct toml_span span);
/* Put every entry of `over` into `entries`: over the entry of the same key, or at the end. */
void entries_merge(struct reader *reader, struct entries *entries, const struct entries *over);
