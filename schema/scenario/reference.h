/* reference.h - what the table of keys says about itself: JSON Schema, documentation, completion.
 *
 * `haul schema scenario` prints reference_write_schema(); the committed copies are
 * schema/scenario.schema.json and the end of schema/scenario/README.md (a test compares them).
 * Nothing here keeps memory. */
#pragma once

#include "engine/base/error.h"

#include <stdio.h>

/* JSON Schema, draft 4, for editors; a TOML file names it with a first line "#:schema PATH". */
enum status reference_write_schema(FILE *stream, struct error *err) CHECK_RESULT;
/* The reference in Markdown: what README.md has below REFERENCE_MARK. */
#define REFERENCE_MARK "tables of keys in schema/scenario. -->\n"
enum status reference_write_markdown(FILE *stream, struct error *err) CHECK_RESULT;

/* A key as --set takes it, for completion. */
struct reference_key {
  const char *key;          /* "measure.max_time", "transfer.from.memory"; valid during the call */
  const char *const *words; /* the values it can have, NULL-terminated; NULL = not a word */
  const char *help;
};
void reference_keys(void (*visit)(void *context, const struct reference_key *key), void *context);
