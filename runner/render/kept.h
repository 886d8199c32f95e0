/* kept.h - rows of a query that are kept as texts, to be looked at before they are shown.
 *
 * Give kept.sink to the query. Texts are as people read them (text_cell()), but for control
 * characters, which stay; they live as long as the rows. */
#ifndef HAUL_RUNNER_RENDER_KEPT_H
#define HAUL_RUNNER_RENDER_KEPT_H

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "runner/render/rows.h"

struct kept_column {
  const char *name;
  bool number; /* no value is a text */
  bool filled; /* some value is not NULL */
};

struct kept {
  struct row_sink sink; /* for one result */
  struct arena arena;
  size_t maximum; /* rows that are kept */
  struct kept_column *columns;
  size_t column_count;
  const char **texts; /* rows x columns; NULL = NULL */
  size_t count, capacity, left_out;
};

void kept_init(struct kept *kept, size_t maximum);
void kept_fini(struct kept *kept);
/* NULL where the database has NULL. */
const char *kept_at(const struct kept *kept, size_t row, size_t column);
/* By the column's name; NULL where there is no such row or column. */
const char *kept_text(const struct kept *kept, size_t row, const char *column);
/* The same as a whole number; 0 where it is none. */
long long kept_number(const struct kept *kept, size_t row, const char *column);

#endif
