#include "runner/render/rows_limit.h"

#include <stdlib.h>
#include <string.h>

static enum status begin(void *context, const char *const *columns, size_t count,
                         struct error *err) {
  struct rows_limit *limit = context;
  limit->group_at = limit->word_at = -1;
  for (size_t i = 0; i < count; i++) {
    limit->group_at = strcmp(columns[i], limit->group_column) == 0 ? (int)i : limit->group_at;
    limit->word_at = strcmp(columns[i], limit->word_column) == 0 ? (int)i : limit->word_at;
  }
  return limit->inner->begin(limit->inner->context, columns, count, err);
}

static bool says(const struct cell *cell, const char *text) {
  return cell->kind == CELL_TEXT && cell->as.text.length == strlen(text) &&
         memcmp(cell->as.text.bytes, text, cell->as.text.length) == 0;
}

/* The next group begins where the text changes. */
static void follow(struct rows_limit *limit, const struct cell *cell) {
  if (limit->group.name != NULL && says(cell, limit->group.name)) {
    return;
  }
  free(limit->group.name);
  limit->group = (struct rows_limit_group){
      .name = cell->kind == CELL_TEXT ? strndup(cell->as.text.bytes, cell->as.text.length)
                                      : strdup("")};
  if (limit->group.name == NULL) {
    abort();
  }
}

static enum status row(void *context, const struct cell *cells, struct error *err) {
  struct rows_limit *limit = context;
  if (limit->group_at >= 0) {
    follow(limit, &cells[limit->group_at]);
  }
  const size_t kind = limit->word_at >= 0 && says(&cells[limit->word_at], limit->word) ? 1 : 0;
  if (limit->passed[kind] == limit->maximum || limit->group.passed[kind] == limit->group_maximum) {
    limit->left_out++;
    return STATUS_OK;
  }
  limit->passed[kind]++;
  limit->group.passed[kind]++;
  return limit->inner->row(limit->inner->context, cells, err);
}

static enum status end(void *context, struct error *err) {
  struct rows_limit *limit = context;
  return limit->inner->end(limit->inner->context, err);
}

void rows_limit_init(struct rows_limit *limit, const struct row_sink *inner,
                     const char *group_column, const char *word_column, const char *word,
                     size_t group_maximum, size_t maximum) {
  *limit = (struct rows_limit){.sink = {limit, begin, row, end, NULL},
                               .inner = inner,
                               .group_column = group_column,
                               .word_column = word_column,
                               .word = word,
                               .group_maximum = group_maximum,
                               .maximum = maximum,
                               .group_at = -1,
                               .word_at = -1};
}

void rows_limit_fini(struct rows_limit *limit) {
  free(limit->group.name);
}
