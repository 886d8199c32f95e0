#include "runner/table/sinks.h"

#include <stdlib.h>
#include <string.h>

/* ---- several results as one ---- */

static enum status concat_begin(void *context, const struct column *columns, size_t count,
                                struct error *err) {
  struct concat_sink *concat = context;
  if (concat->concatenates && concat->begun) {
    return STATUS_OK;
  }
  concat->begun = true;
  return concat->below->begin(concat->below->context, columns, count, err);
}

static enum status concat_row(void *context, const struct cell *cells, struct error *err) {
  const struct concat_sink *concat = context;
  return sink_row(concat->below, cells, err);
}

static enum status concat_end(void *context, struct error *err) {
  struct concat_sink *concat = context;
  if (concat->concatenates) {
    return STATUS_OK;
  }
  concat->begun = false;
  return sink_end(concat->below, err);
}

static bool concat_has_enough(void *context) {
  const struct concat_sink *concat = context;
  return sink_has_enough(concat->below);
}

void concat_sink_init(struct concat_sink *concat, const struct row_sink *below, bool concatenates) {
  *concat = (struct concat_sink){
      .sink = {concat, concat_begin, concat_row, concat_end, concat_has_enough},
      .below = below,
      .concatenates = concatenates,
  };
}

enum status concat_sink_end(struct concat_sink *concat, struct error *err) {
  if (!concat->begun || !concat->concatenates) {
    return STATUS_OK;
  }
  concat->begun = false;
  return sink_end(concat->below, err);
}

/* ---- the first rows of each group ---- */

static enum status limit_begin(void *context, const struct column *columns, size_t count,
                               struct error *err) {
  struct limit_sink *limit = context;
  limit->group_at = limit->word_at = -1;
  for (size_t i = 0; i < count; i++) {
    limit->group_at = strcmp(columns[i].name, limit->group_column) == 0 ? (int)i : limit->group_at;
    limit->word_at = strcmp(columns[i].name, limit->word_column) == 0 ? (int)i : limit->word_at;
  }
  return limit->below->begin(limit->below->context, columns, count, err);
}

static bool limit_cell_is(const struct cell *cell, const char *text) {
  return cell->kind == CELL_TEXT && cell->as.text.length == strlen(text) &&
         memcmp(cell->as.text.bytes, text, cell->as.text.length) == 0;
}

/* The next group begins where the text changes. */
static void limit_follow_group(struct limit_sink *limit, const struct cell *cell) {
  if (limit->group != NULL && limit_cell_is(cell, limit->group)) {
    return;
  }
  free(limit->group);
  limit->group =
      cell->kind == CELL_TEXT ? strndup(cell->as.text.bytes, cell->as.text.length) : strdup("");
  limit->group_passed[0] = limit->group_passed[1] = 0;
  if (limit->group == NULL) {
    abort();
  }
}

static enum status limit_row(void *context, const struct cell *cells, struct error *err) {
  struct limit_sink *limit = context;
  if (limit->group_at >= 0) {
    limit_follow_group(limit, &cells[limit->group_at]);
  }
  const size_t kind =
      limit->word_at >= 0 && limit_cell_is(&cells[limit->word_at], limit->word) ? 1 : 0;
  if (limit->passed[kind] == limit->maximum || limit->group_passed[kind] == limit->group_maximum) {
    limit->left_out++;
    return STATUS_OK;
  }
  limit->passed[kind]++;
  limit->group_passed[kind]++;
  return sink_row(limit->below, cells, err);
}

static enum status limit_end(void *context, struct error *err) {
  const struct limit_sink *limit = context;
  return sink_end(limit->below, err);
}

void limit_sink_init(struct limit_sink *limit, const struct row_sink *below,
                     const char *group_column, const char *word_column, const char *word,
                     size_t group_maximum, size_t maximum) {
  *limit = (struct limit_sink){.sink = {limit, limit_begin, limit_row, limit_end, NULL},
                               .below = below,
                               .group_column = group_column,
                               .word_column = word_column,
                               .word = word,
                               .group_maximum = group_maximum,
                               .maximum = maximum,
                               .group_at = -1,
                               .word_at = -1};
}

void limit_sink_fini(struct limit_sink *limit) {
  free(limit->group);
}
