/* result_layout.c - how a block is laid out: which cases are one matrix or grid, and where. */
#include "runner/render/result/result_layout.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/render/result/run_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRIDS_MAX = 12 };

bool layout_is_gpu(const char *place) {
  return strncmp(place, "gpu", 3) == 0;
}

/* ---- classes ---- */

bool layout_is_kind(const struct run_row *row, const char *kind) {
  return strings_equal(row->kind, kind);
}

enum row_class layout_class(const struct layout_maker *maker, const struct run_row *row) {
  if (row->measure != NULL || row->path == NULL) {
    return CLASS_NONE; /* two numbers each */
  }
  if (row->source == NULL || row->target == NULL) {
    return result_row_shown(row) ? CLASS_ALONE : CLASS_NONE;
  }
  const bool same = strcmp(row->source, row->target) == 0;
  if (layout_is_kind(row, "chase")) {
    return same ? CLASS_ALONE : CLASS_CHASE;
  }
  if (!layout_is_kind(row, "transfer")) {
    return CLASS_ALONE;
  }
  if (row->flows == 2 && strings_equal(row->direction, "both")) {
    return CLASS_BOTH;
  }
  if (row->flows != 1) {
    return CLASS_AT_ONCE;
  }
  if (same && maker->all_local) {
    return CLASS_LOCAL;
  }
  return layout_is_gpu(row->source) && !layout_is_gpu(row->target) ? CLASS_TO_HOST : CLASS_ONE_WAY;
}

bool layout_class_is_pair(enum row_class class) {
  return class != CLASS_NONE && class != CLASS_AT_ONCE && class != CLASS_ALONE;
}

/* Between a node and a GPU. */
static bool layout_is_mixed(const struct run_row *row) {
  return layout_is_gpu(row->source) != layout_is_gpu(row->target);
}

bool layout_source_is_down(const struct run_row *row, enum row_class class) {
  return class != CLASS_TO_HOST &&
         !(class == CLASS_BOTH && layout_is_mixed(row) && layout_is_gpu(row->source));
}

/* ---- settings ---- */

const char *layout_memory(struct arena *arena, const struct run_row *row) {
  const bool source = row->source_memory != NULL && strcmp(row->source_memory, "device") != 0;
  const bool target = row->target_memory != NULL && strcmp(row->target_memory, "device") != 0;
  if (source && target && strcmp(row->source_memory, row->target_memory) != 0) {
    return arena_format(arena, "%s to %s", row->source_memory, row->target_memory);
  }
  return source ? row->source_memory : target ? row->target_memory : "device";
}

bool layout_is_along(const struct layout_maker *maker, const char *key) {
  return ANY_OF(i, maker->along_count, strcmp(maker->along[i], key) == 0);
}

bool layout_is_setting(const struct layout_maker *maker, const char *key) {
  return !strings_equal(key, maker->swept) && !layout_is_along(maker, key) &&
         (maker->places_vary || !result_axis_is_place(key));
}

/* Everything that tells the facet of a case from others. */
static const char *layout_key(const struct layout_maker *maker, const struct run_row *row) {
  struct arena *arena = maker->arena;
  const enum row_class class = layout_class(maker, row);
  const bool by_end = maker->swept != NULL && layout_class_is_pair(class) && layout_is_mixed(row);
  const char *end = !by_end                             ? ""
                    : class == CLASS_CHASE              ? row->source
                    : layout_source_is_down(row, class) ? row->source
                                                        : row->target;
  const char *key = arena_format(arena, "%d|%s|%s|%s|%s", (int)class, result_method(row),
                                 row->operation != NULL ? row->operation : "", end,
                                 maker->memories_vary ? layout_memory(arena, row) : "");
  for (size_t i = 0; i < row->swept_count; i++) {
    if (layout_is_setting(maker, row->swept[i].key)) {
      key = arena_format(arena, "%s|%s=%s", key, row->swept[i].key, row->swept[i].value);
    }
  }
  return key;
}

/* ---- the swept axis ---- */

double layout_number(const char *text) {
  uint64_t whole = 0;
  char *end = NULL;
  if (text == NULL) {
    return NAN;
  }
  if (units_parse_size(text, &whole) || units_parse_duration(text, &whole)) {
    return (double)whole;
  }
  const double number = strtod(text, &end);
  return end != text && end[0] == '\0' ? number : NAN;
}

/* How many values the axis has among the cases that are shown. *numbers: all of them are. */
static size_t layout_count_values(const struct layout_maker *maker, const char *key,
                                  bool *numbers) {
  const struct result_block *block = maker->block;
  const char **values = arena_array(maker->arena, block->shown, sizeof *values);
  size_t count = 0;
  *numbers = true;
  for (size_t i = 0; i < block->count; i++) {
    if (result_row_shown(block->rows[i])) {
      const char *value = result_axis(block->rows[i], key);
      *numbers = *numbers && !isnan(layout_number(value));
      values[count++] = value != NULL ? value : "";
    }
  }
  ORDER_SORT(values, count, strings_compare);
  return SUM_OF(i, count, i == 0 || strcmp(values[i - 1], values[i]) != 0);
}

/* Whether every value of the swept axis has one value of the other. */
static bool layout_follows(const struct layout_maker *maker, const char *key) {
  const struct result_block *block = maker->block;
  const char **pairs = arena_array(maker->arena, block->shown, sizeof *pairs);
  size_t count = 0;
  for (size_t i = 0; i < block->count; i++) {
    const char *value = result_axis(block->rows[i], key);
    if (result_row_shown(block->rows[i])) {
      pairs[count++] =
          arena_format(maker->arena, "%s %s", result_axis(block->rows[i], maker->swept),
                       value != NULL ? value : "");
    }
  }
  ORDER_SORT(pairs, count, strings_compare);
  for (size_t i = 1; i < count; i++) {
    const size_t length = strcspn(pairs[i], " ");
    if (strncmp(pairs[i - 1], pairs[i], length + 1) == 0 && strcmp(pairs[i - 1], pairs[i]) != 0) {
      return false;
    }
  }
  return true;
}

static const struct run_row *layout_first_shown(const struct result_block *block) {
  size_t i = 0;
  while (i + 1 < block->count && !result_row_shown(block->rows[i])) {
    i++;
  }
  return block->rows[i];
}

/* The axis of numbers with most values, sizes before others; NULL = there is none. */
static const char *layout_find_swept(const struct layout_maker *maker) {
  const struct run_row *first = layout_first_shown(maker->block);
  const char *swept = NULL;
  size_t most = 1;
  for (size_t i = 0; i < first->swept_count; i++) {
    const char *key = first->swept[i].key;
    bool numbers = false;
    const size_t values = result_axis_is_place(key) ? 0 : layout_count_values(maker, key, &numbers);
    if (numbers && (values > most || (values == most && values > 1 && result_axis_is_size(key)))) {
      swept = key;
      most = values;
    }
  }
  return swept;
}

static void layout_find_along(struct layout_maker *maker) {
  const struct run_row *first = layout_first_shown(maker->block);
  maker->along_count = 0;
  for (size_t i = 0; maker->swept != NULL && i < first->swept_count; i++) {
    const char *key = first->swept[i].key;
    bool numbers = false;
    if (!strings_equal(key, maker->swept) && !result_axis_is_place(key) &&
        layout_count_values(maker, key, &numbers) > 1 && layout_follows(maker, key)) {
      *ARENA_ADD(maker->arena, maker->along, maker->along_count) = key;
    }
  }
}

/* ---- facets ---- */

struct layout_slot {
  const char *key;
  const struct run_row *row;
  size_t ordinal;
};

ORDER_DEFINE(layout_compare_slots, struct layout_slot,
             strcmp(x->key, y->key) ?: ORDER(x->ordinal, y->ordinal))

/* Rows are in the order of the block: so are their first cells. */
ORDER_DEFINE(layout_compare_facets, struct result_facet, ORDER(x->cells[0].row, y->cells[0].row))

/* Of what failed, as its kind has it. */
static bool layout_is_rate(const struct result_facet *facet) {
  for (size_t i = 0; i < facet->count; i++) {
    const struct run_row *row = facet->cells[i].row;
    if (strcmp(row->status, "ok") == 0) {
      return (!isnan(row->gbps) || !isnan(row->tflops)) && !layout_is_kind(row, "chase");
    }
  }
  return layout_is_kind(facet->cells[0].row, "transfer") ||
         layout_is_kind(facet->cells[0].row, "stream") ||
         layout_is_kind(facet->cells[0].row, "compute");
}

static void layout_add_facet(struct layout_maker *maker, struct result_layout *layout,
                             const struct layout_slot *slots, size_t count) {
  const size_t shown = SUM_OF(i, count, result_row_shown(slots[i].row));
  if (shown == 0) {
    return; /* nothing to show but N/A */
  }
  struct result_facet *facet = ARENA_ADD(maker->arena, layout->facets, layout->facet_count);
  *facet = (struct result_facet){.count = count};
  facet->cells = arena_array(maker->arena, count, sizeof *facet->cells);
  for (size_t i = 0; i < count; i++) {
    facet->cells[i].row = slots[i].row;
  }
  facet->rate = layout_is_rate(facet);
}

/* Facets in the order of their first case. */
static void layout_find_facets(struct layout_maker *maker, struct result_layout *layout) {
  const struct result_block *block = maker->block;
  struct layout_slot *slots = arena_array(maker->arena, block->count, sizeof *slots);
  size_t count = 0;
  for (size_t i = 0; i < block->count; i++) {
    if (layout_class(maker, block->rows[i]) != CLASS_NONE) {
      slots[count] = (struct layout_slot){layout_key(maker, block->rows[i]), block->rows[i], i};
      count++;
    }
  }
  ORDER_SORT(slots, count, layout_compare_slots);
  for (size_t i = 0, next = 0; i < count; i = next) {
    while (next < count && strcmp(slots[next].key, slots[i].key) == 0) {
      next++;
    }
    layout_add_facet(maker, layout, &slots[i], next - i);
  }
  ORDER_SORT(layout->facets, layout->facet_count, layout_compare_facets);
}

/* ---- whether a layout will do ---- */

ORDER_DEFINE(layout_compare_cells, struct result_cell,
             strcmp(x->down, y->down) ?: strcmp(x->across, y->across))

ORDER_DEFINE(layout_compare_across, struct result_cell,
             strcmp(x->across, y->across) ?: strcmp(x->down, y->down))

/* The cells that are shown. */
static size_t facet_list_shown(const struct layout_maker *maker, const struct result_facet *facet,
                               struct result_cell **shown) {
  size_t count = 0;
  *shown = arena_array(maker->arena, facet->count, sizeof **shown);
  for (size_t i = 0; i < facet->count; i++) {
    if (result_row_shown(facet->cells[i].row)) {
      (*shown)[count++] = facet->cells[i];
    }
  }
  return count;
}

/* Whether two results have one place. */
static bool facet_collides(const struct layout_maker *maker, const struct result_facet *facet) {
  struct result_cell *shown = NULL;
  const size_t count = facet_list_shown(maker, facet, &shown);
  ORDER_SORT(shown, count, layout_compare_cells);
  return ANY_OF(i, count, i > 0 && layout_compare_cells(&shown[i - 1], &shown[i]) == 0);
}

/* Facets that read the same say all that tells them apart. */
static void layout_tell_apart(const struct layout_maker *maker, struct result_layout *layout) {
  const char **full = arena_array(maker->arena, layout->facet_count, sizeof *full);
  for (size_t i = 0; i < layout->facet_count; i++) {
    const struct result_facet *facet = &layout->facets[i];
    for (size_t k = 0; k < layout->facet_count; k++) {
      const struct result_facet *other = &layout->facets[k];
      if (i != k && strcmp(facet->setting, other->setting) == 0 &&
          strcmp(facet->words, other->words) == 0) {
        full[i] = layout_setting(maker, facet->cells[0].row, true);
      }
    }
  }
  for (size_t i = 0; i < layout->facet_count; i++) {
    layout->facets[i].setting = full[i] != NULL ? full[i] : layout->facets[i].setting;
  }
}

/* False: too many facets, or two results in one place. */
static bool layout_try(struct layout_maker *maker, size_t most, struct result_layout *layout) {
  for (int places_vary = 0; places_vary < 2; places_vary++) {
    bool collides = false;
    maker->places_vary = places_vary > 0;
    *layout = (struct result_layout){.shape = RESULT_TABLE, .down_name = ""};
    layout_find_facets(maker, layout);
    if (layout->facet_count == 0 || layout->facet_count > most) {
      return false;
    }
    for (size_t i = 0; i < layout->facet_count; i++) {
      if (maker->swept != NULL) {
        layout_label_grid(maker, &layout->facets[i]);
      } else {
        layout_label_matrix(maker, &layout->facets[i]);
      }
      collides = collides || facet_collides(maker, &layout->facets[i]);
    }
    if (!collides) {
      layout_tell_apart(maker, layout);
      return true;
    }
  }
  return false;
}

/* How far the shown cells of a facet reach. */
static bool facet_varies(const struct result_facet *facet, bool across) {
  const struct result_cell *cells = facet->cells;
  return ANY_OF(i, facet->count,
                strcmp(across ? cells[i].across : cells[i].down,
                       across ? cells[0].across : cells[0].down) != 0);
}

/* Whether no column, or no row, has two numbers: as from every GPU's nearest node. */
static bool facet_is_line(const struct layout_maker *maker, const struct result_facet *facet) {
  struct result_cell *shown = NULL;
  const size_t count = facet_list_shown(maker, facet, &shown);
  ORDER_SORT(shown, count, layout_compare_across);
  const bool columns_are_single =
      ALL_OF(i, count, i == 0 || strcmp(shown[i - 1].across, shown[i].across) != 0);
  ORDER_SORT(shown, count, layout_compare_cells);
  return columns_are_single ||
         ALL_OF(i, count, i == 0 || strcmp(shown[i - 1].down, shown[i].down) != 0);
}

static bool layout_is_lines(const struct layout_maker *maker, const struct result_layout *layout) {
  return ALL_OF(i, layout->facet_count,
                !layout->facets[i].mirrored && facet_is_line(maker, &layout->facets[i]));
}

static bool layout_has_grid(const struct result_layout *layout) {
  return ANY_OF(i, layout->facet_count,
                facet_varies(&layout->facets[i], true) && facet_varies(&layout->facets[i], false));
}

/* ---- the whole ---- */

/* Nothing goes from one place to another, one way. */
static bool layout_is_local(const struct run_row *row) {
  return row->source == NULL || row->flows != 1 || strings_equal(row->source, row->target);
}

/* False: some case has no place in matrices and grids. *pairs: all have one in a matrix. */
static bool layout_look(struct layout_maker *maker, bool flows_shown, bool *pairs) {
  const struct result_block *block = maker->block;
  const struct run_row *first = layout_first_shown(block);
  const char *memory = layout_memory(maker->arena, first);
  *pairs = true;
  maker->all_local = ALL_OF(i, block->count, layout_is_local(block->rows[i]));
  for (size_t i = 0; i < block->count; i++) {
    const struct run_row *row = block->rows[i];
    const enum row_class class = layout_class(maker, row);
    if (result_row_shown(row)) {
      if (class == CLASS_NONE || (flows_shown && class == CLASS_AT_ONCE)) {
        return false;
      }
      *pairs = *pairs && layout_class_is_pair(class);
    }
    maker->memories_vary =
        maker->memories_vary ||
        (layout_class_is_pair(class) && strcmp(layout_memory(maker->arena, row), memory) != 0);
  }
  return true;
}

void result_layout_find(struct arena *arena, const struct result_block *block, bool flows_shown,
                        struct result_layout *layout) {
  struct layout_maker maker = {.arena = arena, .block = block};
  struct result_layout matrices;
  struct result_layout grids;
  bool pairs = false;
  *layout = (struct result_layout){.shape = RESULT_TABLE, .down_name = ""};
  if (block->shown < 2 || !layout_look(&maker, flows_shown, &pairs)) {
    return;
  }
  const bool has_matrices = pairs && layout_try(&maker, RUN_RESULT_MATRICES_MAX, &matrices) &&
                            block->shown > matrices.facet_count; /* one pair: a table */
  maker.swept = layout_find_swept(&maker);
  layout_find_along(&maker);
  if (maker.swept != NULL && !(has_matrices && !layout_is_lines(&maker, &matrices)) &&
      layout_try(&maker, GRIDS_MAX, &grids) && layout_has_grid(&grids)) {
    *layout = grids;
    layout->shape = RESULT_GRIDS;
    layout->down_name = maker.swept;
  } else if (has_matrices) {
    *layout = matrices;
    layout->shape = RESULT_MATRICES;
  }
}
