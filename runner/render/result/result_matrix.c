/* result_matrix.c - blocks of places, as matrices and grids. */
#include "runner/render/result/matrix.h"
#include "runner/render/result/result_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) {
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* ---- labels ---- */

struct labels {
  const char **items;
  size_t count;
};

static int labels_compare(const void *left, const void *right) {
  return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

/* In order, each once. */
static void labels_settle(struct labels *labels) {
  size_t kept = 0;
  if (labels->count > 0) {
    qsort(labels->items, labels->count, sizeof *labels->items, labels_compare);
  }
  for (size_t i = 0; i < labels->count; i++) {
    if (i == 0 || strcmp(labels->items[i], labels->items[kept - 1]) != 0) {
      labels->items[kept++] = labels->items[i];
    }
  }
  labels->count = kept;
}

static size_t labels_index(const struct labels *labels, const char *text) {
  size_t i = 0;
  while (strcmp(labels->items[i], text) != 0) {
    i++;
  }
  return i;
}

/* A matrix in the making. */
struct drawing {
  struct arena *arena;
  const struct result_facet *facet;
  bool is_grid;
  struct labels rows, columns;
  struct matrix_cell *cells;
  const struct result_remarks *remarks;
};

static int cells_compare_order(const void *left, const void *right) {
  const struct result_cell *a = left;
  const struct result_cell *b = right;
  return a->order != b->order ? (a->order > b->order) - (a->order < b->order)
                              : strcmp(a->down, b->down);
}

/* The rows of a grid are in the order of their numbers. */
static void drawing_find_grid_rows(struct drawing *drawing) {
  const struct result_facet *facet = drawing->facet;
  struct result_cell *cells = arena_array(drawing->arena, facet->count, sizeof *cells);
  memcpy(cells, facet->cells, facet->count * sizeof *cells);
  qsort(cells, facet->count, sizeof *cells, cells_compare_order);
  for (size_t i = 0; i < facet->count; i++) {
    if (i == 0 || strcmp(cells[i].down, cells[i - 1].down) != 0) {
      drawing->rows.items[drawing->rows.count++] = cells[i].down;
    }
  }
}

static void drawing_find_labels(struct drawing *drawing) {
  const struct result_facet *facet = drawing->facet;
  const size_t most = facet->count * 2;
  drawing->rows.items = arena_array(drawing->arena, most, sizeof(const char *));
  drawing->columns.items = arena_array(drawing->arena, most, sizeof(const char *));
  for (size_t i = 0; i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    drawing->columns.items[drawing->columns.count++] = cell->across;
    if (facet->mirrored) {
      drawing->columns.items[drawing->columns.count++] = cell->down;
      drawing->rows.items[drawing->rows.count++] = cell->across;
    }
    if (!drawing->is_grid) {
      drawing->rows.items[drawing->rows.count++] = cell->down;
    }
  }
  labels_settle(&drawing->columns);
  if (drawing->is_grid) {
    drawing_find_grid_rows(drawing);
  } else {
    labels_settle(&drawing->rows);
  }
}

/* ---- cells ---- */

/* What people ask of such a case. */
static double row_number(const struct run_row *row) {
  return same_text(row->kind, "chase") ? row->ns_per_hop
         : !isnan(row->gbps)           ? row->gbps
                                       : row->median_ns;
}

static struct matrix_cell drawing_cell_of(const struct drawing *drawing,
                                          const struct run_row *row) {
  const double value = row_number(row);
  const bool measured = strcmp(row->status, "ok") == 0 && !isnan(value);
  return (struct matrix_cell){.kind = measured ? MATRIX_VALUE : MATRIX_TEXT,
                              .value = measured ? value : 0,
                              .text = measured ? NULL : row->status,
                              .mark = result_remarks_mark(drawing->remarks, row)};
}

static struct matrix_cell *drawing_place(const struct drawing *drawing, const char *down,
                                         const char *across) {
  return &drawing->cells[labels_index(&drawing->rows, down) * drawing->columns.count +
                         labels_index(&drawing->columns, across)];
}

/* Where a run is not whole, what has no row was left out or not reached; but nothing goes from a
 * place to itself in a matrix. */
static void drawing_open(const struct drawing *drawing) {
  const size_t columns = drawing->columns.count;
  const bool partial = drawing->facet->cells[0].row->partial > 0; /* false of NAN */
  for (size_t i = 0; partial && i < drawing->rows.count * columns; i++) {
    if (drawing->is_grid ||
        strcmp(drawing->rows.items[i / columns], drawing->columns.items[i % columns]) != 0) {
      drawing->cells[i].kind = MATRIX_OPEN;
    }
  }
}

static bool drawing_has_open(const struct drawing *drawing) {
  const size_t count = drawing->rows.count * drawing->columns.count;
  size_t i = 0;
  while (i < count && drawing->cells[i].kind != MATRIX_OPEN) {
    i++;
  }
  return i < count;
}

/* A case that goes both ways stands on both sides of the diagonal. */
static void drawing_fill(struct drawing *drawing) {
  const struct result_facet *facet = drawing->facet;
  drawing->cells = arena_array(drawing->arena, drawing->rows.count * drawing->columns.count,
                               sizeof *drawing->cells);
  drawing_open(drawing);
  for (size_t i = 0; i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    struct matrix_cell *place = drawing_place(drawing, cell->down, cell->across);
    if (result_row_shown(cell->row)) {
      matrix_put(place, drawing_cell_of(drawing, cell->row));
    } else if (place->kind == MATRIX_OPEN) {
      place->kind = MATRIX_NONE;
    }
  }
  for (size_t i = 0; facet->mirrored && i < facet->count; i++) {
    const struct result_cell *cell = &facet->cells[i];
    struct matrix_cell *mirror = drawing_place(drawing, cell->across, cell->down);
    if (mirror->kind == MATRIX_NONE || mirror->kind == MATRIX_OPEN) {
      *mirror = *drawing_place(drawing, cell->down, cell->across);
      mirror->kind = mirror->kind == MATRIX_VALUE ? MATRIX_AGAIN : mirror->kind;
    }
  }
}

/* ---- texts around the numbers ---- */

/* The extremes of what is known of some rows; NAN = nothing. */
struct range {
  double least, greatest;
};

static void range_add(struct range *range, double value) {
  range->least = fmin(range->least, value);
  range->greatest = fmax(range->greatest, value);
}

/* "1639 to 1802"; once where both read the same */
static const char *range_text(struct arena *arena, struct range range) {
  char from[MATRIX_NUMBER_MAX];
  char to[MATRIX_NUMBER_MAX];
  matrix_number(range.least, from);
  matrix_number(range.greatest, to);
  return strcmp(from, to) == 0 ? arena_strdup(arena, from)
                               : arena_format(arena, "%s to %s", from, to);
}

/* "82.4 to 83.1 % of peak (nvlink raw, 478.3 GB/s; usable 450.0); 95 % interval within 0.02 %" */
static const char *matrix_remark(struct arena *arena, const struct result_facet *facet) {
  struct range peak = {NAN, NAN};
  struct range cycles = {NAN, NAN};
  double spread = 0;
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
    spread = fmax(spread, result_spread(row));
    one_peak = one_peak && row->peak_gbps == first->peak_gbps &&
               same_text(row->limited_by, first->limited_by);
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
      matrix_number(first->peak_gbps, rate);
      text =
          arena_format(arena, "%s (%s, %s GB/s", text, result_peak_name(first->limited_by), rate);
      matrix_number(first->expected_limit, rate);
      text =
          arena_format(arena, "%s%s%s)", text, one_limit ? "; usable " : "", one_limit ? rate : "");
    }
  }
  if (cycles.greatest > 0) {
    text = arena_format(arena, "%s cycles per access", range_text(arena, cycles));
  }
  if (spread > 0) {
    text = arena_format(arena, "%s%s%s within %s %%", text, text[0] != '\0' ? "; " : "",
                        first->processes > 1 ? "processes" : "95 % interval",
                        result_percent(arena, spread));
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

static const char *text_join(struct arena *arena, const char *text, const char *between,
                             const char *more) {
  return arena_format(arena, "%s%s%s", text, text[0] != '\0' && more[0] != '\0' ? between : "",
                      more);
}

static void block_print_title(struct result_page *page, const struct result_block *block,
                              const struct result_layout *layout, const struct common *common) {
  struct arena *arena = &page->arena;
  const struct result_facet *first = &layout->facets[0];
  const char *by = common->method[0] != '\0' ? arena_format(arena, "by %s", common->method) : "";
  const char *words = "";
  if (common->setting) {
    words = text_join(arena, text_join(arena, first->setting, " ", by), ": ",
                      common->words ? first->words : "");
  } else {
    words = text_join(arena, common->words ? first->words : "", " ", by);
  }
  document_gap(page->document);
  document_heading(page->document, block->name);
  if (words[0] != '\0') {
    document_put(page->document, "", words);
  }
}

static void facet_print_heading(struct result_page *page, const struct result_facet *facet,
                                const struct common *common) {
  const char *text = text_join(&page->arena, common->setting ? "" : facet->setting, ": ",
                               common->words ? "" : facet->words);
  if (text[0] != '\0') {
    document_heading(page->document, text);
  }
}

static void facet_print(struct result_page *page, const struct result_layout *layout,
                        const struct result_facet *facet, bool *open) {
  const bool is_grid = layout->shape == RESULT_GRIDS;
  struct drawing drawing = {
      .arena = &page->arena, .facet = facet, .is_grid = is_grid, .remarks = page->remarks};
  drawing_find_labels(&drawing);
  drawing_fill(&drawing);
  *open = *open || drawing_has_open(&drawing);
  const struct matrix matrix = {
      .rows = drawing.rows.items,
      .row_count = drawing.rows.count,
      .columns = drawing.columns.items,
      .column_count = drawing.columns.count,
      .cells = drawing.cells,
      .unit = facet->rate ? "GB/s" : "ns",
      .less_is_better = !facet->rate,
      .remark = matrix_remark(&page->arena, facet),
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
    document_put(page->document, "", "- = not measured");
  }
}
