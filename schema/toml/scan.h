/* scan.h - TOML text looked at without parsing it: what stands in quotes and what does not. */
#ifndef HAUL_SCHEMA_TOML_SCAN_H
#define HAUL_SCHEMA_TOML_SCAN_H

#include "schema/toml/toml.h"

/* The first text in quotes that has no end: on its line, or in the file where it has three quotes.
 * False: there is none. *span covers the opening quotes, *quotes says which. */
bool toml_find_unclosed(const char *text, size_t length, struct toml_span *span,
                        const char **quotes);

#endif
