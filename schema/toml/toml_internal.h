/* toml_internal.h - mistakes in TOML text, found before the parser sees it and explained after.
 *
 * toml++ recurses once for every part of a dotted key, has undefined behaviour (3.3) on some
 * characters outside ASCII that stand outside text, where TOML allows none, and says little about
 * files that are no text at all: toml_prescan() reports these. toml_explain() puts what toml++ says
 * about the rest as haul does: what is wrong in the file, and what to write instead. */
#pragma once

#include "schema/toml/toml.h"

/* What toml_parse() checks before it parses: NUL bytes, UTF-16, and the parts of dotted keys. */
enum status toml_prescan(const char *text, size_t length, const char *path,
                         struct error *err) CHECK_RESULT;

/* STATUS_INVALID with that message at that place. */
enum status toml_refuse(struct error *err, const char *path, unsigned line, unsigned column,
                        const char *message);

/* description: of toml++ 3.3, at *span in the text. Gives the message and, where the mistake begins
 * before the place at which the parser saw it, moves *span there. A description that is not known
 * is passed on as "not valid TOML: ...". */
void toml_explain(const char *description, const char *text, size_t length, struct toml_span *span,
                  struct strbuf *message);
