/* sinks.h - sinks that pass rows on: several results as one, and the first rows of each group. */
#ifndef HAUL_RUNNER_TABLE_SINKS_H
#define HAUL_RUNNER_TABLE_SINKS_H

#include "runner/table/table.h"

/* Several results of the same columns as one: a batch of runs is one JSON array, one CSV file, one
 * Markdown table. */
struct concat_sink {
  struct row_sink sink; /* give this to the producers */
  const struct row_sink *below;
  bool concatenates; /* else each result stays on its own, as tables for people do */
  bool begun;        /* and not ended */
};

void concat_sink_init(struct concat_sink *concat, const struct row_sink *below, bool concatenates);
/* After the last producer. */
enum status concat_sink_end(struct concat_sink *concat, struct error *err) CHECK_RESULT;

/* Lets only the first rows of each group through, so that a page of a very large result stays one
 * that can be read. A group is the rows in a sequence that have the same text in one column; its
 * rows that have `word` in another column are counted apart from the others. */
struct limit_sink {
  struct row_sink sink;         /* give this to the query */
  const struct row_sink *below; /* borrowed */
  const char *group_column, *word_column, *word;
  size_t group_maximum, maximum; /* of a group, of all; each with and without the word */
  size_t left_out;
  size_t passed[2], group_passed[2]; /* without and with the word */
  int group_at, word_at;             /* columns; -1 = there is none */
  char *group;                       /* the text of the present one; NULL = none */
};

/* Texts are borrowed. */
void limit_sink_init(struct limit_sink *limit, const struct row_sink *below,
                     const char *group_column, const char *word_column, const char *word,
                     size_t group_maximum, size_t maximum);
void limit_sink_fini(struct limit_sink *limit);

#endif
