/* diagnostics.h - adding diagnostics while a scenario is read. Private to schema/scenario; others
 * read the list through scenario.h. */
#pragma once

#include "schema/scenario/scenario.h"
#include "schema/toml/toml.h"

/* Further diagnostics are only counted. */
enum { DIAGNOSTICS_MAX = 200 };

/* A text to which positions refer. Diagnostics are sorted by `order` first. */
struct source {
  const char *path; /* of an override: "--set KEY=VALUE" */
  const char *text;
  size_t length;
  unsigned order;
  bool has_lines; /* false: an override, or a file that could not be read: no line is shown */
  bool recorded;  /* out of a database, which somebody else may have made: it opens no file */
};

/* Copies its arguments. expected and suggestion may be NULL. The same message about the same place
 * is added once. */
void diagnostics_add(struct diagnostics *diagnostics, const struct source *source,
                     struct toml_span span, const char *expected, const char *suggestion,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Sort the diagnostics from `first` on by source, line and column. */
void diagnostics_sort(struct diagnostics *diagnostics, size_t first);
