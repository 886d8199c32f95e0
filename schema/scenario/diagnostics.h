/* diagnostics.h - how the reader of scenarios complains. For schema/scenario alone; others see the
 * list through scenario.h. */
#ifndef HAUL_SCHEMA_SCENARIO_DIAGNOSTICS_H
#define HAUL_SCHEMA_SCENARIO_DIAGNOSTICS_H

#include "schema/scenario/scenario.h"
#include "schema/toml/toml.h"

/* After that many complaints the rest is only counted. */
enum { DIAGNOSTICS_MAX = 200 };

/* A text that positions refer to. Sources are complained about in the order of `order`. */
struct source {
  const char *path; /* of an override: "--set KEY=VALUE" */
  const char *text;
  size_t length;
  unsigned order;
  bool has_lines; /* false: an override, or a file that could not be read: no line is shown */
};

/* Everything is copied. expected and suggestion may be NULL. The same complaint about the same
 * place is kept once. */
void diagnostics_add(struct diagnostics *diagnostics, const struct source *source,
                     struct toml_span span, const char *expected, const char *suggestion,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Put the complaints from `first` on in the order of sources, lines and columns. */
void diagnostics_sort(struct diagnostics *diagnostics, size_t first);

#endif
