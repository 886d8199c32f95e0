/* explain.h - what the parser behind toml_parse() says of a mistake, as the rest of haul says it:
 * what is wrong in the file, and what to write instead. */
#ifndef HAUL_SCHEMA_TOML_EXPLAIN_H
#define HAUL_SCHEMA_TOML_EXPLAIN_H

#include "schema/toml/toml.h"

/* description: of toml++ 3.3, at *span in the text. Gives the message and, where the mistake begins
 * before the place at which the parser saw it, moves *span there. What is not known is passed on
 * as "not valid TOML: ...". */
void toml_explain(const char *description, const char *text, size_t length, struct toml_span *span,
                  struct strbuf *message);

#endif
