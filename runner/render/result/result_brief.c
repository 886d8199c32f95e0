/* result_brief.c - the short form of a result: one line for a block whose places agree. */
#include "engine/base/strings.h"
#include "runner/render/result/matrix.h"
#include "runner/render/result/result_block.h"

#include "engine/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a block; with more, a grid or a matrix says more. */
enum { BRIEF_ROWS_MAX = 4 };

static bool brief_equal(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

double result_figure(const struct run_row *row) {
  return !isnan(row->gbps)               ? row->gbps
         : !isnan(row->tflops)           ? row->tflops
         : !isnan(row->ns_per_hop)       ? row->ns_per_hop
         : !isnan(row->ops_per_clock_sm) ? row->ops_per_clock_sm
         : !isnan(row->ns_per_op)        ? row->ns_per_op
                                         : row->median_ns;
}

static bool brief_is_slowed(const struct run_row *row) {
  return ANY_OF(i, row->note_count, note_slows(row->notes[i].kind));
}

/* Nothing has to be said of that case in particular. */
static bool brief_is_plain(const struct run_row *row) {
  const bool falls_short = row->as_expected != NULL && strcmp(row->as_expected, "usual") != 0;
  return strcmp(row->status, "ok") == 0 && !isnan(result_figure(row)) && !brief_is_slowed(row) &&
         !(row->above_peak > 0) && !(row->partial > 0) && !falls_short;
}

/* They differ by their places alone. */
static bool brief_are_alike(const struct run_row *a, const struct run_row *b) {
  if (!brief_equal(a->size_bytes, b->size_bytes) || !brief_equal(a->peak_gbps, b->peak_gbps) ||
      !brief_equal(a->flows, b->flows) || !brief_equal(a->under_load, b->under_load) ||
      !strings_equal(a->kind, b->kind) || !strings_equal(a->method, b->method) ||
      !strings_equal(a->operation, b->operation) || !strings_equal(a->direction, b->direction) ||
      !strings_equal(a->measure, b->measure) || !strings_equal(a->same, b->same) ||
      !strings_equal(a->limited_by, b->limited_by) ||
      !strings_equal(a->source_memory, b->source_memory) ||
      !strings_equal(a->target_memory, b->target_memory) ||
      !strings_equal(a->expected, b->expected) || a->swept_count != b->swept_count) {
    return false;
  }
  return ALL_OF(i, a->swept_count,
                result_axis_is_place(a->swept[i].key) ||
                    strcmp(a->swept[i].value, b->swept[i].value) == 0);
}

ORDER_DEFINE(numbers_compare, unsigned long, ORDER(*x, *y))

/* "gpu0..3" of places whose numbers are neighbours, else "gpu0,2". NULL: a case has none. */
static const char *brief_places(struct arena *arena, struct run_row **rows, size_t count,
                                bool target) {
  unsigned long *numbers = arena_array(arena, count, sizeof *numbers);
  const char *text = "";
  for (size_t i = 0; i < count; i++) {
    const char *place = target ? rows[i]->target : rows[i]->source;
    const size_t stem = place != NULL ? strcspn(place, "0123456789") : 0;
    if (stem == 0 || (i > 0 && strncmp(place, text, stem) != 0)) {
      return NULL;
    }
    text = i == 0 ? arena_strndup(arena, place, stem) : text;
    numbers[i] = strtoul(place + stem, NULL, 10);
  }
  ORDER_SORT(numbers, count, numbers_compare);
  for (size_t i = 0, last = 0; i < count; i = last + 1) {
    last = i;
    while (last + 1 < count && numbers[last + 1] <= numbers[last] + 1) {
      last++;
    }
    text = arena_format(arena, "%s%s%lu", text, i > 0 ? "," : "", numbers[i]);
    if (numbers[last] > numbers[i]) {
      text = arena_format(arena, "%s..%lu", text, numbers[last]);
    }
  }
  return text;
}

/* Whether each case is within one place, as a copy within each GPU is. */
static bool brief_is_within(const struct result_block *block) {
  return ALL_OF(i, block->count, strings_equal(block->rows[i]->source, block->rows[i]->target));
}

/* "numa0:pinned-gpu0..3, 4 cases": as the path of a case, of a chase its GPU first; "within
 * gpu0..3, 4 cases". */
static const char *brief_path(struct arena *arena, const struct result_block *block) {
  const struct run_row *first = block->rows[0];
  const char *source = brief_places(arena, block->rows, block->count, false);
  const char *target = brief_places(arena, block->rows, block->count, true);
  if (source == NULL || target == NULL || first->flows > 1) {
    return arena_format(arena, "%s and %zu more", first->path, block->count - 1);
  }
  const char *path = result_place(arena, source, first->source_memory);
  const char *other = result_place(arena, target, first->target_memory);
  if (strchr(first->path, '-') == NULL) { /* "gpu0", "gpu0:global" */
    const char *space = strchr(first->path, ':');
    path = arena_format(arena, "%s%s", source, space != NULL ? space : "");
  } else if (brief_is_within(block)) {
    path = arena_format(arena, "within %s", path);
  } else if (strings_equal(first->kind, "chase")) {
    path = arena_format(arena, "%s-%s", other, path);
  } else {
    path = arena_format(arena, "%s-%s", path, other);
  }
  return arena_format(arena, "%s, %zu cases", path, block->count);
}

struct result_span result_span_of(const struct run_row *const *rows, size_t count) {
  struct result_span span = {rows[0], rows[0]};
  for (size_t i = 1; i < count; i++) {
    span.least = result_figure(rows[i]) < result_figure(span.least) ? rows[i] : span.least;
    span.greatest = result_figure(rows[i]) > result_figure(span.greatest) ? rows[i] : span.greatest;
  }
  return span;
}

bool result_span_is_alike(struct result_span span) {
  return result_figure(span.greatest) <=
         result_figure(span.least) * (1 + RESULT_ALIKE_PERCENT / 100);
}

const char *result_number_words(struct arena *arena, const struct run_row *row, double value,
                                double spread) {
  char text[MATRIX_NUMBER_MAX];
  matrix_number_within(value, spread, text);
  return arena_format(arena, "%s%s", result_is_unsettled(row) && text[0] != '~' ? "~" : "", text);
}

const char *result_figures(struct arena *arena, struct result_span span) {
  const double spread = fmax(result_spread(span.least), result_spread(span.greatest));
  const char *from = result_number_words(arena, span.least, result_figure(span.least), spread);
  const char *to = result_number_words(arena, span.greatest, result_figure(span.greatest), spread);
  const bool is_open = from[0] == '~' || to[0] == '~'; /* said once, before the range */
  from += from[0] == '~';
  to += to[0] == '~';
  const char *range = strcmp(from, to) == 0 ? from : arena_format(arena, "%s-%s", from, to);
  return arena_join(arena, is_open ? "~" : "", "", range);
}

/* Cases of a block that differ by their places alone. */
struct brief_group {
  struct run_row **rows;
  size_t count;
};

static struct result_span brief_span_of(const struct brief_group *group) {
  return result_span_of((const struct run_row *const *)group->rows, group->count);
}

/* Nothing has to be said of one in particular, and the rates are within RESULT_ALIKE_PERCENT. */
static bool brief_group_agrees(const struct brief_group *group) {
  return ALL_OF(i, group->count, brief_is_plain(group->rows[i])) &&
         result_span_is_alike(brief_span_of(group));
}

/* One row in place of them all. */
static struct run_row *brief_group_row(struct arena *arena, const struct brief_group *group) {
  struct run_row *all = arena_array(arena, 1, sizeof *all);
  *all = *group->rows[0];
  for (size_t i = 1; i < group->count; i++) {
    const struct run_row *row = group->rows[i];
    all->percent_of_peak = fmin(all->percent_of_peak, row->percent_of_peak);
    if (result_spread(row) > result_spread(all)) {
      all->low_ns = row->low_ns;
      all->high_ns = row->high_ns;
      all->median_ns = row->median_ns;
    }
  }
  const struct result_block shown = {.rows = group->rows, .count = group->count};
  all->path = brief_path(arena, &shown);
  all->figure = result_figures(arena, brief_span_of(group));
  all->alike = (const struct run_row *const *)group->rows;
  all->alike_count = group->count;
  return all;
}

/* A table of rows has the size and the memory in columns of their own, and places in the path. */
static void brief_drop_axes(struct arena *arena, struct run_row *row) {
  struct result_axis *swept = arena_array(arena, row->swept_count, sizeof *swept);
  size_t count = 0;
  for (size_t i = 0; i < row->swept_count; i++) {
    if (!result_axis_is_place(row->swept[i].key) && !result_axis_is_size(row->swept[i].key)) {
      swept[count++] = row->swept[i];
    }
  }
  row->swept = swept;
  row->swept_count = count;
}

void result_brief_block(struct arena *arena, struct result_block *block) {
  struct brief_group groups[BRIEF_ROWS_MAX] = {0};
  size_t count = 0;
  size_t shown = 0;
  for (size_t i = 0; i < block->count; i++) {
    struct run_row *row = block->rows[i];
    if (!result_row_shown(row)) {
      continue;
    }
    const size_t at = FIRST_OF(k, count, brief_are_alike(groups[k].rows[0], row));
    if (at == BRIEF_ROWS_MAX) {
      return;
    }
    count = at == count ? count + 1 : count;
    struct brief_group *group = &groups[at];
    *ARENA_ADD(arena, group->rows, group->count) = row;
    shown++;
  }
  if (shown < 2 || ANY_OF(i, count, groups[i].count > 1 && !brief_group_agrees(&groups[i]))) {
    return;
  }
  block->rows = NULL;
  block->count = 0;
  block->is_brief = true;
  for (size_t i = 0; i < count; i++) {
    struct run_row *row = groups[i].rows[0];
    if (groups[i].count > 1) {
      row = brief_group_row(arena, &groups[i]);
    }
    brief_drop_axes(arena, row);
    *ARENA_ADD(arena, block->rows, block->count) = row;
  }
  block->shown = block->count;
}
