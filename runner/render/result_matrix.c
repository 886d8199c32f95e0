/* result_matrix.c - blocks of pairs of places, as matrices. */
#include "runner/render/matrix.h"
#include "runner/render/result_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) {
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool row_is_chase(const struct run_row *row) {
  return same_text(row->kind, "chase");
}

static bool row_is_both(const struct run_row *row) {
  return same_text(row->direction, "both");
}

/* From one place to another: one flow, both ways between two, or loads. */
static bool row_is_pair(const struct run_row *row) {
  const bool one = row->flows == 1 || (row->flows == 2 && row_is_both(row));
  return row->source != NULL && row->target != NULL && (one || row_is_chase(row));
}

/* ---- settings and labels ---- */

/* What a block has in common decides where the kind of memory is written. */
struct plan_of_block {
  bool memories_vary; /* then each kind is a setting of its own: a matrix compares links */
  bool local;         /* all within one place */
  bool both;
  bool mirrored;   /* a case that goes both ways stands on both sides of the diagonal */
  bool transposed; /* many sources and one target: from column to row, so that it is one line */
  const char *settings[RUN_RESULT_MATRICES_MAX + 1];
  size_t setting_count;
};

static const struct run_row *block_first_shown(const struct result_block *block) {
  for (size_t i = 0; i < block->count; i++) {
    if (result_row_shown(block->rows[i])) {
      return block->rows[i];
    }
  }
  return block->rows[0];
}

/* Device memory of a GPU is not named: "pinned", "pageable to huge", "managed". */
static const char *setting_memory(struct arena *arena, const struct run_row *row) {
  const bool source = row->source_memory != NULL && strcmp(row->source_memory, "device") != 0;
  const bool target = row->target_memory != NULL && strcmp(row->target_memory, "device") != 0;
  if (source && target && strcmp(row->source_memory, row->target_memory) != 0) {
    return arena_format(arena, "%s to %s", row->source_memory, row->target_memory);
  }
  return source ? row->source_memory : target ? row->target_memory : "device";
}

static const char *setting_text(struct arena *arena, const struct plan_of_block *plan,
                                const struct run_row *row) {
  const char *axes = result_axes(arena, row);
  const char *size = result_size(arena, row);
  const char *text =
      arena_format(arena, "%s%s%s", size, size[0] != '\0' && axes[0] != '\0' ? " " : "", axes);
  if (plan->memories_vary) {
    text = arena_format(arena, "%s, %s memory", text, setting_memory(arena, row));
  }
  return text;
}

/* Whether a place is a source in one pair and a target in another, as GPUs are among each other; a
 * host and its GPUs are not. */
static bool block_is_mirrored(const struct result_block *block) {
  for (size_t i = 0; i < block->count; i++) {
    for (size_t k = 0; k < block->count; k++) {
      if (same_text(block->rows[i]->source, block->rows[k]->target)) {
        return true;
      }
    }
  }
  return false;
}

/* Settings in the order of their first case, one too many at most. */
static void block_plan(struct arena *arena, const struct result_block *block,
                       struct plan_of_block *plan) {
  const struct run_row *first = block_first_shown(block);
  bool sources_vary = false;
  bool targets_vary = false;
  bool one_source = true;
  bool one_target = true;
  *plan = (struct plan_of_block){.local = true, .both = row_is_both(first)};
  for (size_t i = 0; i < block->count; i++) {
    const struct run_row *row = block->rows[i];
    if (row_is_pair(row)) {
      sources_vary = sources_vary || !same_text(row->source_memory, first->source_memory);
      targets_vary = targets_vary || (row->target_memory != NULL &&
                                      !same_text(row->target_memory, first->target_memory));
      plan->local = plan->local && same_text(row->source, row->target);
      one_source = one_source && same_text(row->source, first->source);
      one_target = one_target && same_text(row->target, first->target);
    }
  }
  plan->memories_vary = sources_vary || targets_vary;
  plan->mirrored = plan->both && !plan->local && block_is_mirrored(block);
  plan->transposed = !plan->local && one_target && !one_source;
  for (size_t i = 0; i < block->count && plan->setting_count <= RUN_RESULT_MATRICES_MAX; i++) {
    const struct run_row *row = block->rows[i];
    const char *setting = setting_text(arena, plan, row);
    bool known = !row_is_pair(row) || !result_row_shown(row); /* nothing to show but N/A */
    for (size_t k = 0; k < plan->setting_count; k++) {
      known = known || strcmp(plan->settings[k], setting) == 0;
    }
    if (!known) {
      plan->settings[plan->setting_count++] = setting;
    }
  }
}

bool result_is_matrix(struct result_page *page, const struct result_block *block) {
  struct plan_of_block plan;
  for (size_t i = 0; i < block->count; i++) {
    if (result_row_shown(block->rows[i]) && !row_is_pair(block->rows[i])) {
      return false;
    }
  }
  if (block->shown < 2) {
    return false;
  }
  block_plan(&page->arena, block, &plan);
  return plan.setting_count > 0 && plan.setting_count <= RUN_RESULT_MATRICES_MAX &&
         block->shown > plan.setting_count; /* one pair is a sweep: a table */
}

/* ---- one matrix ---- */

struct labels {
  const char **items;
  size_t count, capacity;
};

static void labels_add(struct arena *arena, struct labels *labels, const char *text) {
  for (size_t i = 0; i < labels->count; i++) {
    if (strcmp(labels->items[i], text) == 0) {
      return;
    }
  }
  labels->items =
      arena_grow(arena, labels->items, labels->count, &labels->capacity, sizeof(const char *));
  labels->items[labels->count++] = text;
}

static int labels_compare(const void *left, const void *right) {
  return strverscmp(*(const char *const *)left, *(const char *const *)right);
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
  const struct plan_of_block *plan;
  struct labels rows, columns;
  struct matrix_cell *cells;
  const struct result_remarks *remarks;
};

/* The label of the row or of the column that a pair stands in. */
static const char *matrix_label(const struct drawing *drawing, const struct run_row *row,
                                bool of_column) {
  const struct plan_of_block *plan = drawing->plan;
  const bool of_source = of_column == plan->transposed;
  const char *place = of_source ? row->source : row->target;
  if (plan->local && !of_column) {
    return "";
  }
  return plan->memories_vary ? place
                             : result_place(drawing->arena, place,
                                            of_source ? row->source_memory : row->target_memory);
}

static void matrix_find_labels(struct drawing *drawing, const struct run_row *const *rows,
                               size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *row = matrix_label(drawing, rows[i], false);
    const char *column = matrix_label(drawing, rows[i], true);
    labels_add(drawing->arena, &drawing->rows, row);
    labels_add(drawing->arena, &drawing->columns, column);
    if (drawing->plan->mirrored) {
      labels_add(drawing->arena, &drawing->rows, column);
      labels_add(drawing->arena, &drawing->columns, row);
    }
  }
  if (count > 0) {
    qsort(drawing->rows.items, drawing->rows.count, sizeof(const char *), labels_compare);
    qsort(drawing->columns.items, drawing->columns.count, sizeof(const char *), labels_compare);
  }
}

static struct matrix_cell matrix_cell_of(struct drawing *drawing, const struct run_row *row) {
  const double value = row_is_chase(row) ? row->ns_per_hop : row->gbps;
  struct matrix_cell cell = {.kind = MATRIX_NONE};
  if (!result_row_shown(row)) {
    return cell;
  }
  cell.mark = result_remarks_mark(drawing->remarks, row);
  if (strcmp(row->status, "ok") != 0 || isnan(value)) {
    cell.kind = MATRIX_TEXT;
    cell.text = row->status;
  } else {
    cell.kind = MATRIX_VALUE;
    cell.value = value;
  }
  return cell;
}

/* The cell of a pair, or the one on the other side of the diagonal. */
static struct matrix_cell *matrix_find_cell(const struct drawing *drawing,
                                            const struct run_row *row, bool mirrored) {
  return &drawing->cells[labels_index(&drawing->rows, matrix_label(drawing, row, mirrored)) *
                             drawing->columns.count +
                         labels_index(&drawing->columns, matrix_label(drawing, row, !mirrored))];
}

static void matrix_fill(struct drawing *drawing, const struct run_row *const *rows, size_t count) {
  drawing->cells = arena_array(drawing->arena, drawing->rows.count * drawing->columns.count,
                               sizeof *drawing->cells);
  for (size_t i = 0; i < count; i++) {
    *matrix_find_cell(drawing, rows[i], false) = matrix_cell_of(drawing, rows[i]);
  }
  for (size_t i = 0; drawing->plan->mirrored && i < count; i++) {
    struct matrix_cell *cell = matrix_find_cell(drawing, rows[i], true);
    if (cell->kind == MATRIX_NONE) {
      *cell = *matrix_find_cell(drawing, rows[i], false);
      cell->kind = cell->kind == MATRIX_VALUE ? MATRIX_AGAIN : cell->kind;
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

/* "82.4 to 83.1 % of peak (nvlink, 478.3 GB/s); 95 % interval within 0.02 %" */
static const char *matrix_remark(struct arena *arena, const struct run_row *const *rows,
                                 size_t count) {
  struct range peak = {NAN, NAN};
  struct range cycles = {NAN, NAN};
  double spread = 0;
  const struct run_row *first = NULL;
  bool one_peak = true;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(rows[i]->status, "ok") != 0) {
      continue;
    }
    first = first == NULL ? rows[i] : first;
    range_add(&peak, rows[i]->percent_of_peak);
    range_add(&cycles, rows[i]->cycles_per_hop);
    spread = fmax(spread, result_spread(rows[i]));
    one_peak = one_peak && rows[i]->peak_gbps == first->peak_gbps &&
               same_text(rows[i]->limited_by, first->limited_by);
  }
  if (first == NULL) {
    return "";
  }
  const char *text = "";
  if (peak.greatest > 0) {
    text = peak.greatest - peak.least < 0.05
               ? arena_format(arena, "%.1f %% of peak", peak.greatest)
               : arena_format(arena, "%.1f to %.1f %% of peak", peak.least, peak.greatest);
    if (one_peak) {
      char rate[MATRIX_NUMBER_MAX];
      matrix_number(first->peak_gbps, rate);
      text = arena_format(arena, "%s (%s, %s GB/s)", text, first->limited_by, rate);
    }
  }
  if (cycles.greatest > 0) {
    text = arena_format(arena, "%s cycles per load", range_text(arena, cycles));
  }
  if (spread > 0) {
    text = arena_format(arena, "%s%s%s within %s %%", text, text[0] != '\0' ? "; " : "",
                        first->processes > 1 ? "processes" : "95 % interval",
                        result_percent(arena, spread));
  }
  return text;
}

/* What a cell is, in words. */
static const char *matrix_words(struct arena *arena, const struct plan_of_block *plan,
                                const struct run_row *row) {
  if (row_is_chase(row)) {
    return plan->transposed ? "ns per load: from memory of the column, by a thread of the row"
                            : "ns per load: from memory of the row, by a thread of the column";
  }
  const char *load = row->under_load > 0 ? ", while load runs beside it" : "";
  if (plan->local) {
    const char *place = strncmp(row->source, "gpu", 3) == 0 ? "GPU" : "NUMA node";
    return arena_format(arena, "GB/s copied within each %s%s", place, load);
  }
  if (plan->both) {
    return arena_format(arena, "GB/s of both ways at once, between row and column%s", load);
  }
  return arena_format(arena, "GB/s from %s%s", plan->transposed ? "column to row" : "row to column",
                      load);
}

static void block_print_title(struct result_page *page, const struct result_block *block,
                              const struct plan_of_block *plan) {
  struct arena *arena = &page->arena;
  const struct run_row *first = block_first_shown(block);
  const char *setting = plan->setting_count > 0 ? plan->settings[0] : "";
  const char *method = strstr(setting, "method=") == NULL ? result_method(first) : "";
  const char *words = matrix_words(arena, plan, first);
  const char *by = method[0] != '\0' ? arena_format(arena, " by %s", method) : "";
  result_page_begin_block(page);
  output_heading(page->output, block->name);
  if (plan->setting_count == 1) {
    words = arena_format(arena, "%s%s: %s", setting, by, words);
  } else {
    words = arena_format(arena, "%s%s", words, by);
  }
  output_wrapped(page->output, "", words);
}

static size_t setting_rows(struct arena *arena, const struct result_block *block,
                           const struct plan_of_block *plan, size_t setting,
                           const struct run_row **rows) {
  size_t count = 0;
  for (size_t i = 0; i < block->count; i++) {
    const struct run_row *row = block->rows[i];
    if (row_is_pair(row) && strcmp(setting_text(arena, plan, row), plan->settings[setting]) == 0) {
      rows[count++] = row;
    }
  }
  return count;
}

static enum status setting_print(struct result_page *page, const struct plan_of_block *plan,
                                 const struct run_row *const *rows, size_t count,
                                 const struct result_remarks *remarks, struct error *err) {
  struct drawing drawing = {.arena = &page->arena, .plan = plan, .remarks = remarks};
  matrix_find_labels(&drawing, rows, count);
  matrix_fill(&drawing, rows, count);
  const struct matrix matrix = {.rows = drawing.rows.items,
                                .row_count = drawing.rows.count,
                                .columns = drawing.columns.items,
                                .column_count = drawing.columns.count,
                                .cells = drawing.cells,
                                .unit = row_is_chase(rows[0]) ? "ns" : "GB/s",
                                .less_is_better = row_is_chase(rows[0]),
                                .remark = matrix_remark(&page->arena, rows, count)};
  return matrix_print(&matrix, page->output, err);
}

enum status result_print_matrices(struct result_page *page, const struct result_block *block,
                                  struct error *err) {
  struct arena *arena = &page->arena;
  struct plan_of_block plan;
  struct result_remarks remarks = {.arena = arena};
  block_plan(arena, block, &plan);
  for (size_t i = 0; i < block->count; i++) {
    if (result_row_shown(block->rows[i])) {
      result_remarks_add(&remarks, block->rows[i]);
    }
  }
  result_remarks_settle(&remarks);
  const struct run_row **rows = arena_array(arena, block->count, sizeof *rows);
  enum status status = STATUS_OK;
  block_print_title(page, block, &plan);
  for (size_t s = 0; status == STATUS_OK && s < plan.setting_count; s++) {
    const size_t count = setting_rows(arena, block, &plan, s, rows);
    if (plan.setting_count > 1) {
      output_heading(page->output, plan.settings[s]);
    }
    status = setting_print(page, &plan, rows, count, &remarks, err);
  }
  if (status == STATUS_OK) {
    result_remarks_print(&remarks, page->output);
  }
  return status;
}
