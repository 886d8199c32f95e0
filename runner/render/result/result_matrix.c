/* result_matrix.c - blocks of places, as matrices and grids. */
#include "runner/render/result/matrix.h"
#include "runner/render/result/result_block.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"

#include <math.h>
#include <string.h>

/* ---- labels ---- */

ORDER_DEFINE(labels_compare, char *const, strverscmp(*x, *y))

/* In order, each once. */
static void labels_sort(struct label_list *labels) {
  size_t kept = 0;
  ORDER_SORT(labels->items, labels->count, labels_compare);
  for (size_t i = 0; i < labels->count; i++) {
    if (i == 0 || strcmp(labels->items[i], labels->items[kept - 1]) != 0) {
      labels->items[kept++] = labels->items[i];
    }
  }
  labels->count = kept;
}

static size_t labels_index(const struct label_list *labels, const char *text) {
  return FIRST_OF(i, labels->count, strcmp(labels->items[i], text) == 0);
}

ORDER_DEFINE(cells_compare_order, struct result_cell,
             ORDER(x->order, y->order) ?: strcmp(x->down, y->down))

/* The rows of a grid are in the order of their numbers. */
static void labels_find_grid_rows(struct arena *arena, const struct result_facet *facet,
                                  struct label_list *down) {
  struct result_cell *cells = arena_array(arena, facet->count, sizeof *cells);
  memcpy(cells, facet->cells, facet->count * sizeof *cells);
  ORDER_SORT(cells, facet->count, cells_compare_order);
  for (size_t i = 0; i < facet->count; i++) {
    if (i == 0 || strcmp(cells[i].down, cells[i - 1].down) != 0) {
      down->items[down->count++] = cells[i].down;
    }
  }
}

void result_facet_labels(struct arena *arena, const struct result_facet *facet, bool is_grid,
                         struct label_list *down, struct label_list *across) {
  const size_t most = facet->count * 2;
  *down = (struct label_list){arena_array(arena, most, sizeof(const char *)), 0};
  *across = (struct label_list){arena_array(arena, most, sizeof(const char *)), 0};
  for (size_t i = 0; i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    across->items[across->count++] = cell->across;
    if (facet->mirrored) {
      across->items[across->count++] = cell->down;
      down->items[down->count++] = cell->across;
    }
    if (!is_grid) {
      down->items[down->count++] = cell->down;
    }
  }
  labels_sort(across);
  if (is_grid) {
    labels_find_grid_rows(arena, facet, down);
  } else {
    labels_sort(down);
  }
}

/* A matrix in the making. */
struct matrix_maker {
  struct arena *arena;
  const struct result_facet *facet;
  bool is_grid;
  struct label_list rows, columns;
  struct matrix_cell *cells;
  const struct result_remarks *remarks;
};

/* ---- cells ---- */

/* What people ask of such a case. */
static double row_number(const struct run_row *row) {
  return strings_equal(row->kind, "chase")    ? row->ns_per_hop
         : strings_equal(row->kind, "signal") ? row->ns_per_op
         : !isnan(row->gbps)                  ? row->gbps
         : !isnan(row->tflops)                ? row->tflops
                                              : row->median_ns;
}

static struct matrix_cell result_matrix_cell_of(const struct matrix_maker *maker,
                                                const struct run_row *row) {
  const double value = row_number(row);
  const bool measured = strcmp(row->status, "ok") == 0 && !isnan(value);
  return (struct matrix_cell){.kind = measured ? MATRIX_VALUE : MATRIX_TEXT,
                              .value = measured ? value : 0,
                              .percent = measured ? result_spread(row) : 0,
                              .unsettled = measured && result_is_unsettled(row),
                              .text = measured ? NULL : row->status,
                              .mark = result_remarks_mark(maker->remarks, row)};
}

static struct matrix_cell *result_matrix_place(const struct matrix_maker *maker, const char *down,
                                               const char *across) {
  return &maker->cells[labels_index(&maker->rows, down) * maker->columns.count +
                       labels_index(&maker->columns, across)];
}

/* Where a run is not whole, what has no row was left out or not reached; but nothing goes from a
 * place to itself in a matrix. */
static void result_matrix_open(const struct matrix_maker *maker) {
  const size_t columns = maker->columns.count;
  const bool partial = maker->facet->cells[0].row->partial > 0; /* false of NAN */
  for (size_t i = 0; partial && i < maker->rows.count * columns; i++) {
    if (maker->is_grid ||
        strcmp(maker->rows.items[i / columns], maker->columns.items[i % columns]) != 0) {
      maker->cells[i].kind = MATRIX_OPEN;
    }
  }
}

/* A case that goes both ways stands on both sides of the diagonal. */
static void result_matrix_fill(struct matrix_maker *maker) {
  const struct result_facet *facet = maker->facet;
  maker->cells =
      arena_array(maker->arena, maker->rows.count * maker->columns.count, sizeof *maker->cells);
  result_matrix_open(maker);
  for (size_t i = 0; i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    struct matrix_cell *place = result_matrix_place(maker, cell->down, cell->across);
    if (result_row_shown(cell->row)) {
      matrix_put(place, result_matrix_cell_of(maker, cell->row));
    } else if (place->kind == MATRIX_OPEN) {
      place->kind = MATRIX_NONE;
    }
  }
  for (size_t i = 0; facet->mirrored && i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    struct matrix_cell *mirror = result_matrix_place(maker, cell->across, cell->down);
    if (mirror->kind == MATRIX_NONE || mirror->kind == MATRIX_OPEN) {
      *mirror = *result_matrix_place(maker, cell->down, cell->across);
      mirror->kind = mirror->kind == MATRIX_VALUE ? MATRIX_AGAIN : mirror->kind;
    }
  }
}

/* ---- texts around the numbers ---- */

/* The extremes of what is known of some rows; NAN = nothing. */
struct value_span {
  double least, greatest;
};

static void range_add(struct value_span *range, double value) {
  range->least = fmin(range->least, value);
  range->greatest = fmax(range->greatest, value);
}

/* "1639 to 1802"; once where both read the same */
static const char *range_text(struct arena *arena, struct value_span range) {
  char from[MATRIX_NUMBER_MAX];
  char to[MATRIX_NUMBER_MAX];
  matrix_number(range.least, from);
  matrix_number(range.greatest, to);
  return strcmp(from, to) == 0 ? arena_strdup(arena, from)
                               : arena_format(arena, "%s to %s", from, to);
}

/* "82.4 to 83.1 % of peak (NVLink 478.3 GB/s; usable 450.0); largest +/- 0.02 %" */
static const char *result_matrix_remark(struct arena *arena, const struct result_facet *facet) {
  struct value_span peak = {NAN, NAN};
  struct value_span cycles = {NAN, NAN};
  const struct run_row *widest = NULL;
  const struct run_row *first = NULL;
  bool one_peak = true;
  bool one_limit = true;
  for (size_t i = 0; i < facet->count; i++) {
    const struct run_row *row = facet->cells[i].row;
    if (strcmp(row->status, "ok") != 0) {
      continue;
    }
    first = first == NULL ? row : first;
    range_add(&peak, row->percent_of_peak);
    range_add(&cycles, row->cycles_per_hop);
    widest = result_wider(widest, row);
    one_peak = one_peak &&
               (row->peak_gbps == first->peak_gbps || row->peak_tflops == first->peak_tflops) &&
               first->limited_by != NULL && strings_equal(row->limited_by, first->limited_by);
    one_limit = one_limit && row->expected_limit == first->expected_limit; /* false of NAN */
  }
  if (first == NULL) {
    return "";
  }
  const char *text = "";
  if (peak.greatest > 0) {
    const char *least = arena_format(arena, "%.1f", peak.least);
    const char *greatest = arena_format(arena, "%.1f", peak.greatest);
    text = strcmp(least, greatest) == 0
               ? arena_format(arena, "%s %% of peak", greatest)
               : arena_format(arena, "%s to %s %% of peak", least, greatest);
    if (one_peak) {
      char rate[MATRIX_NUMBER_MAX];
      text = arena_format(arena, "%s (%s %s", text, result_limit_words(result_limit(first)),
                          result_peak_words(arena, first));
      matrix_number(first->expected_limit, rate);
      text =
          arena_format(arena, "%s%s%s)", text, one_limit ? "; usable " : "", one_limit ? rate : "");
    }
  }
  if (cycles.greatest > 0) {
    text = arena_format(arena, "%s cycles per hop", range_text(arena, cycles));
  }
  if (result_spread(widest) > 0) {
    text = arena_format(arena, "%s%slargest %s", text, text[0] != '\0' ? "; " : "",
                        result_within(arena, widest));
  }
  return text;
}

/* ---- the block ---- */

/* What is the same for all facets is said once, above them. */
struct common {
  bool setting, words;
  const char *method; /* "" = none, or an axis */
};

static struct common layout_common(const struct result_layout *layout) {
  const struct run_row *first = layout->facets[0].cells[0].row;
  struct common common = {true, true, result_method(first)};
  for (size_t f = 0; f < layout->facet_count; f++) {
    const struct result_facet *facet = &layout->facets[f];
    common.setting = common.setting && strcmp(facet->setting, layout->facets[0].setting) == 0;
    common.words = common.words && strcmp(facet->words, layout->facets[0].words) == 0;
    if (strcmp(result_method(facet->cells[0].row), common.method) != 0 ||
        result_axis(facet->cells[0].row, "method") != NULL) {
      common.method = "";
    }
  }
  return common;
}

static void block_print_title(struct result_page *page, const struct result_block *block,
                              const struct result_layout *layout, const struct common *common) {
  struct arena *arena = &page->arena;
  const struct result_facet *first = &layout->facets[0];
  const char *by = common->method[0] != '\0' ? arena_format(arena, "by %s", common->method) : "";
  const char *words = "";
  if (common->setting) {
    words = arena_join(arena, arena_join(arena, first->setting, " ", by), ": ",
                       common->words ? first->words : "");
  } else {
    words = arena_join(arena, common->words ? first->words : "", " ", by);
  }
  document_gap(page->document);
  document_heading(page->document, block->name);
  document_put_text(page->document, TONE_NONE, words);
}

static void facet_print_heading(struct result_page *page, const struct result_facet *facet,
                                const struct common *common) {
  const char *text = arena_join(&page->arena, common->setting ? "" : facet->setting, ": ",
                                common->words ? "" : facet->words);
  if (text[0] != '\0') {
    document_heading(page->document, text);
  }
}

static void facet_print(struct result_page *page, const struct result_layout *layout,
                        const struct result_facet *facet, bool *open) {
  const bool is_grid = layout->shape == RESULT_GRIDS;
  struct matrix_maker maker = {
      .arena = &page->arena, .facet = facet, .is_grid = is_grid, .remarks = page->remarks};
  result_facet_labels(&page->arena, facet, is_grid, &maker.rows, &maker.columns);
  result_matrix_fill(&maker);
  *open = *open ||
          ANY_OF(i, maker.rows.count * maker.columns.count, maker.cells[i].kind == MATRIX_OPEN);
  const struct matrix matrix = {
      .rows = maker.rows.items,
      .row_count = maker.rows.count,
      .columns = maker.columns.items,
      .column_count = maker.columns.count,
      .cells = maker.cells,
      .unit = !facet->rate                         ? "ns"
              : isnan(facet->cells[0].row->tflops) ? "GB/s"
                                                   : "TFLOP/s",
      .less_is_better = !facet->rate,
      .remark = result_matrix_remark(&page->arena, facet),
      .sum_of = page->sums && facet->rate && !is_grid ? facet->cells[0].row->block : NULL,
      .down_name = is_grid ? layout->down_name : NULL};
  matrix_print(&matrix, page->document);
}

void result_print_matrices(struct result_page *page, const struct result_block *block,
                           const struct result_layout *layout) {
  const struct common common = layout_common(layout);
  bool open = false;
  block_print_title(page, block, layout, &common);
  for (size_t f = 0; f < layout->facet_count; f++) {
    facet_print_heading(page, &layout->facets[f], &common);
    facet_print(page, layout, &layout->facets[f], &open);
  }
  if (open) {
    document_put(page->document, "- = not measured");
  }
}
