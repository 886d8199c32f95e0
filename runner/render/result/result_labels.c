/* result_labels.c - what a reader sees of a matrix or grid beside its numbers: their unit and
 * direction in words, the setting, the labels of rows and columns. */
#include "runner/render/result/result_layout.h"

#include "engine/base/strings.h"

#include <math.h>
#include <string.h>

/* ---- settings ---- */

const char *layout_setting(const struct layout_maker *maker, const struct run_row *row,
                           bool in_full) {
  struct arena *arena = maker->arena;
  const bool sized = maker->swept == NULL || !result_axis_is_size(maker->swept);
  const bool size_follows = maker->swept != NULL &&
                            (layout_is_along(maker, "size") || layout_is_along(maker, "footprint"));
  const char *text = sized && !size_follows ? result_size(arena, row) : "";
  for (size_t i = 0; i < row->swept_count; i++) {
    const char *key = row->swept[i].key;
    const bool implied = strcmp(key, "direction") == 0 || strcmp(key, "space") == 0;
    if (layout_is_setting(maker, key) && !result_axis_is_size(key) && (in_full || !implied)) {
      text = result_add_axis(arena, text, &row->swept[i]);
    }
  }
  if (maker->memories_vary) {
    const char *memory = arena_format(arena, "%s memory", layout_memory(arena, row));
    text = text[0] != '\0' ? arena_format(arena, "%s, %s", text, memory) : memory;
  }
  return text;
}

/* ---- cells and words ---- */

static const char *layout_end(const struct layout_maker *maker, const struct run_row *row,
                              bool source) {
  const char *place = source ? row->source : row->target;
  return maker->memories_vary
             ? place
             : result_place(maker->arena, place, source ? row->source_memory : row->target_memory);
}

/* The end that all cells have in common; NULL = they differ. */
static const char *facet_common_end(const struct layout_maker *maker,
                                    const struct result_facet *facet, bool source) {
  const char *first = layout_end(maker, facet->cells[0].row, source);
  const bool same =
      ALL_OF(i, facet->count, strcmp(layout_end(maker, facet->cells[i].row, source), first) == 0);
  return same ? first : NULL;
}

static const char *facet_load_words(const struct result_facet *facet) {
  return facet->cells[0].row->under_load > 0 ? ", while load runs beside it" : "";
}

static const char *facet_local_words(struct arena *arena, const struct result_facet *facet) {
  return arena_format(arena, "GB/s copied within each %s%s",
                      layout_is_gpu(facet->cells[0].row->source) ? "GPU" : "NUMA node",
                      facet_load_words(facet));
}

static const char *matrix_words(struct arena *arena, const struct result_facet *facet,
                                enum row_class class, bool from_row) {
  const char *load = facet_load_words(facet);
  if (class == CLASS_CHASE) {
    return arena_format(arena, "ns per hop: %s = memory, %s = %s that reads",
                        from_row ? "row" : "column", from_row ? "column" : "row",
                        layout_is_gpu(facet->cells[0].row->target) ? "GPU" : "NUMA node");
  }
  if (class == CLASS_LOCAL) {
    return facet_local_words(arena, facet);
  }
  if (class == CLASS_BOTH) {
    return arena_format(arena, "both ways, total GB/s between row and column%s", load);
  }
  return arena_format(arena, "GB/s from %s%s", from_row ? "row to column" : "column to row", load);
}

/* Whether a place is a source in one pair and a target in another, as GPUs are among each other; a
 * host and its GPUs are not. */
static bool facet_is_mirrored(const struct result_facet *facet, enum row_class class) {
  const struct result_cell *cells = facet->cells;
  return class == CLASS_BOTH &&
         ANY_OF(i, facet->count,
                ANY_OF(k, facet->count, strcmp(cells[i].row->source, cells[k].row->target) == 0));
}

void layout_label_matrix(const struct layout_maker *maker, struct result_facet *facet) {
  const struct run_row *first = facet->cells[0].row;
  const enum row_class class = layout_class(maker, first);
  const bool usual = layout_source_is_down(first, class);
  facet->mirrored = facet_is_mirrored(facet, class);
  /* One column becomes one row. */
  const bool turned = !facet->mirrored && facet_common_end(maker, facet, !usual) != NULL &&
                      facet_common_end(maker, facet, usual) == NULL;
  const bool source_down = usual != turned;
  for (size_t i = 0; i < facet->count; i++) {
    struct result_cell *cell = &facet->cells[i];
    cell->down = class == CLASS_LOCAL ? "" : layout_end(maker, cell->row, source_down);
    cell->across = layout_end(maker, cell->row, class == CLASS_LOCAL || !source_down);
  }
  facet->words = result_figure_words(maker->arena, first,
                                     matrix_words(maker->arena, facet, class, source_down));
  facet->setting = layout_setting(maker, first, false);
}

const char *result_flows_words(const struct run_row *row) {
  return row != NULL && row->flows == 2 && strings_equal(row->direction, "both")
             ? "GB/s of both ways (--) together, over one window"
             : "GB/s of all flows, over one window";
}

static const char *grid_words(const struct layout_maker *maker, const struct result_facet *facet,
                              enum row_class class, const char *source, const char *target) {
  struct arena *arena = maker->arena;
  const char *load = facet_load_words(facet);
  const struct run_row *first = facet->cells[0].row;
  const char *varies = source != NULL ? first->target : first->source;
  const char *each = varies != NULL && layout_is_gpu(varies) ? "each GPU" : "each NUMA node";
  const char *from = source != NULL ? source : target != NULL ? each : NULL;
  const char *to = source != NULL ? each : target;
  switch (class) {
  case CLASS_NONE:
  case CLASS_ALONE:
    return facet->rate && isnan(facet->cells[0].row->gbps) && !isnan(facet->cells[0].row->tflops)
               ? "TFLOP/s at each place"
           : facet->rate                                   ? "GB/s at each place"
           : layout_is_kind(facet->cells[0].row, "signal") ? "ns per operation at each place"
           : layout_is_kind(facet->cells[0].row, "chase")  ? "ns per hop at each place"
                                                           : "ns per call at each place";
  case CLASS_LOCAL:
    return facet_local_words(arena, facet);
  case CLASS_AT_ONCE:
    return arena_format(arena, "%s%s", result_flows_words(first), load);
  case CLASS_CHASE:
    return from == NULL ? "ns per hop: memory of the first place, read by the second"
                        : arena_format(arena, "ns per hop: memory of %s, read by %s", from, to);
  case CLASS_BOTH:
    return from == NULL
               ? arena_format(arena, "both ways, total GB/s of each pair%s", load)
               : arena_format(arena, "both ways, total GB/s between %s and %s%s", from, to, load);
  case CLASS_ONE_WAY:
  case CLASS_TO_HOST:
    break;
  }
  return from == NULL ? arena_format(arena, "GB/s of each pair%s", load)
                      : arena_format(arena, "GB/s from %s to %s%s", from, to, load);
}

/* "64KiB", "4 size=1MiB" */
static const char *grid_row_label(const struct layout_maker *maker, const struct run_row *row) {
  const char *size = result_size(maker->arena, row);
  const char *text =
      result_axis_is_size(maker->swept) && size[0] != '\0' ? size : result_axis(row, maker->swept);
  for (size_t i = 0; i < maker->along_count; i++) {
    const char *value = result_axis(row, maker->along[i]);
    text = arena_join(maker->arena, text, " ",
                      arena_format(maker->arena, "%s=%s", maker->along[i], value));
  }
  return text;
}

void layout_label_grid(const struct layout_maker *maker, struct result_facet *facet) {
  const struct run_row *first = facet->cells[0].row;
  const enum row_class class = layout_class(maker, first);
  const bool pairs = layout_class_is_pair(class);
  const bool local = class == CLASS_LOCAL;
  const char *source = pairs && !local ? facet_common_end(maker, facet, true) : NULL;
  const char *target = pairs && !local ? facet_common_end(maker, facet, false) : NULL;
  for (size_t i = 0; i < facet->count; i++) {
    struct result_cell *cell = &facet->cells[i];
    const char *value = result_axis(cell->row, maker->swept);
    cell->down = grid_row_label(maker, cell->row);
    cell->order = layout_number(value);
    cell->across = local || (source == NULL && target != NULL) ? layout_end(maker, cell->row, true)
                   : source != NULL                            ? layout_end(maker, cell->row, false)
                                                               : cell->row->path;
  }
  facet->words =
      result_figure_words(maker->arena, first, grid_words(maker, facet, class, source, target));
  facet->setting = layout_setting(maker, first, false);
}
