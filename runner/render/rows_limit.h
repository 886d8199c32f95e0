/* rows_limit.h - a sink that lets only the first rows of each group through: so that a page of a
 * very large result stays one that can be read.
 *
 * A group is what has the same text in one column and, in another one, either does or does not say
 * a certain word. Groups come one after the other; where they do not, the later part of one counts
 * as a group of its own. */
#ifndef HAUL_RUNNER_RENDER_ROWS_LIMIT_H
#define HAUL_RUNNER_RENDER_ROWS_LIMIT_H

#include "runner/render/rows.h"

struct rows_limit_group {
  char *name;
  size_t passed[2]; /* without and with the word */
};

struct rows_limit {
  struct row_sink sink;         /* give this to the query */
  const struct row_sink *inner; /* borrowed */
  const char *group_column, *word_column, *word;
  size_t group_maximum,
      maximum; /* of each group, of all together; each without and with the word */
  size_t passed[2], left_out;
  int group_at, word_at; /* columns; -1 = there is none */
  struct rows_limit_group group;
};

/* Texts are borrowed. */
void rows_limit_init(struct rows_limit *limit, const struct row_sink *inner,
                     const char *group_column, const char *word_column, const char *word,
                     size_t group_maximum, size_t maximum);
void rows_limit_fini(struct rows_limit *limit);

#endif
