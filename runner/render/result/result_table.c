/* result_table.c - blocks as tables: one row per case. */
#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/render/result/matrix.h"
#include "runner/render/result/result_block.h"

#include <math.h>
#include <string.h>

/* X(enum case_column, heading, alignment) */
#define CASE_COLUMN_LIST(X)                                                                        \
  X(COLUMN_BLOCK, "block", ALIGN_LEFT)                                                             \
  X(COLUMN_PATH, "path", ALIGN_LEFT)                                                               \
  X(COLUMN_SETTINGS, "settings", ALIGN_LEFT)                                                       \
  X(COLUMN_SIZE, "size", ALIGN_RIGHT)                                                              \
  X(COLUMN_GBPS, "GB/s", ALIGN_RIGHT)                                                              \
  X(COLUMN_NS, "ns", ALIGN_RIGHT)                                                                  \
  X(COLUMN_TFLOPS, "TFLOP/s", ALIGN_RIGHT)                                                         \
  X(COLUMN_NS_HOP, "ns/hop", ALIGN_RIGHT)                                                          \
  X(COLUMN_CYCLES_HOP, "cycles/hop", ALIGN_RIGHT)                                                  \
  X(COLUMN_NS_OP, "ns/op", ALIGN_RIGHT)                                                            \
  X(COLUMN_CYCLES_OP, "cycles/op", ALIGN_RIGHT)                                                    \
  X(COLUMN_OPS, "ops/clock/SM", ALIGN_RIGHT)                                                       \
  X(COLUMN_SPREAD, "+/- %", ALIGN_RIGHT)                                                           \
  X(COLUMN_PEAK, "% of peak", ALIGN_RIGHT)                                                         \
  X(COLUMN_EXPECTED, "expected", ALIGN_RIGHT)                                                      \
  X(COLUMN_REMARK, "note", ALIGN_LEFT)

enum case_column {
#define CASE_COLUMN_ID(id, heading, align) id,
  CASE_COLUMN_LIST(CASE_COLUMN_ID) column_count
};

static const struct column columns[] = {
#define CASE_COLUMN(id, heading, text_align) {.name = (heading), .align = (text_align)},
    CASE_COLUMN_LIST(CASE_COLUMN)};

/* What is left out first where the terminal is too narrow. */
static const char CASE_TABLE_NARROW[] = "expected,+/- %,% of peak,cycles/hop,cycles/op";

/* A terminal that has room for names of blocks; of a path that is not wrapped. */
enum { WIDTH_OF_BLOCKS = 100, PATH_WIDTH = 36 };

struct case_table {
  struct arena *arena;
  struct result_set set;
  const struct run_row **rows; /* of the set; NULL = a flow of the case above */
};

static void case_table_put(struct case_table *table, size_t row, enum case_column column,
                           const char *text) {
  const unsigned tone = result_set_cell(&table->set, row, column)->tone;
  result_set_put(&table->set, row, column, cell_words(text, tone));
}

/* Only the number and the remark of a case that failed have a tone. */
static size_t case_table_add_row(struct case_table *table, const struct run_row *row,
                                 enum tone tone) {
  const size_t at = result_set_add_row(&table->set);
  table->rows = arena_grow(table->arena, table->rows, at, sizeof *table->rows);
  table->rows[at] = row;
  for (size_t c = 0; c < column_count; c++) {
    const bool toned = tone != TONE_BAD || c == COLUMN_GBPS || c == COLUMN_REMARK;
    result_set_put(&table->set, at, c, cell_words("", toned ? tone : TONE_NONE));
  }
  return at;
}

/* Nothing where it is not known. */
static void case_table_put_number(struct case_table *table, size_t row, enum case_column column,
                                  double value) {
  char text[MATRIX_NUMBER_MAX];
  if (!isnan(value)) {
    matrix_number(value, text);
    case_table_put(table, row, column, text);
  }
}

/* The figure of the case, with the digits that its uncertainty allows. */
static void case_table_put_figure(struct case_table *table, size_t at, const struct run_row *row,
                                  enum case_column column, double value) {
  case_table_put(table, at, column,
                 row->figure != NULL
                     ? row->figure
                     : result_number_words(table->arena, row, value, result_spread(row)));
}

/* The numbers that people ask of such a case. */
static void case_table_put_numbers(struct case_table *table, size_t at, const struct run_row *row) {
  if (!isnan(row->gbps)) {
    case_table_put_figure(table, at, row, COLUMN_GBPS, row->gbps);
    case_table_put_number(table, at, COLUMN_TFLOPS, row->tflops);
  } else if (!isnan(row->tflops)) {
    case_table_put_figure(table, at, row, COLUMN_TFLOPS, row->tflops);
  } else if (!isnan(row->ns_per_hop)) {
    case_table_put_figure(table, at, row, COLUMN_NS_HOP, row->ns_per_hop);
    case_table_put_number(table, at, COLUMN_CYCLES_HOP, row->cycles_per_hop);
  } else if (!isnan(row->ops_per_clock_sm)) {
    case_table_put_figure(table, at, row, COLUMN_OPS, row->ops_per_clock_sm);
  } else if (!isnan(row->ns_per_op)) {
    case_table_put_figure(table, at, row, COLUMN_NS_OP, row->ns_per_op);
    case_table_put_number(table, at, COLUMN_CYCLES_OP, row->cycles_per_op);
  } else {
    case_table_put_figure(table, at, row, COLUMN_NS, row->median_ns);
  }
  case_table_put(table, at, COLUMN_SPREAD, result_uncertainty(table->arena, row));
  if (!isnan(row->percent_of_peak)) {
    case_table_put(table, at, COLUMN_PEAK,
                   arena_format(table->arena, "%.1f", row->percent_of_peak));
  }
  if (row->expected != NULL) {
    const bool is_short = row->as_expected != NULL && strcmp(row->as_expected, "short") == 0;
    result_set_put(&table->set, at, COLUMN_EXPECTED,
                   cell_words(row->expected, is_short ? TONE_BAD : TONE_NONE));
  }
}

static void case_table_add(struct case_table *table, const struct run_row *row) {
  struct arena *arena = table->arena;
  const bool ok = strcmp(row->status, "ok") == 0;
  const size_t at = case_table_add_row(table, row, ok ? TONE_NONE : TONE_BAD);
  case_table_put(table, at, COLUMN_BLOCK, row->block);
  case_table_put(table, at, COLUMN_PATH,
                 row->operation != NULL ? arena_format(arena, "%s %s", row->operation, row->path)
                                        : row->path);
  case_table_put(table, at, COLUMN_SETTINGS, result_axes(arena, row));
  case_table_put(table, at, COLUMN_SIZE, result_size(arena, row));
  if (ok) {
    case_table_put_numbers(table, at, row);
  }
}

/* ---- labels ---- */

/* Whether path, settings and size are those of another row of its block too. */
static bool case_table_is_ambiguous(const struct case_table *table) {
  static const enum case_column LABELS[] = {COLUMN_BLOCK, COLUMN_PATH, COLUMN_SETTINGS,
                                            COLUMN_SIZE};
  const char **labels = arena_array(table->arena, table->set.row_count, sizeof *labels);
  size_t count = 0;
  for (size_t i = 0; i < table->set.row_count; i++) {
    const char *label = "";
    for (size_t c = 0; c < COUNT_OF(LABELS); c++) {
      const char *text = result_set_text_at(&table->set, i, LABELS[c]);
      label = arena_format(table->arena, "%s|%s", label, text != NULL ? text : "");
    }
    if (table->rows[i] != NULL) {
      labels[count++] = label;
    }
  }
  ORDER_SORT(labels, count, strings_compare);
  return ANY_OF(i, count, i > 0 && strcmp(labels[i - 1], labels[i]) == 0);
}

/* Every axis but the size, where those that paths leave out tell rows apart. */
static void case_table_tell_apart(struct case_table *table) {
  if (!case_table_is_ambiguous(table)) {
    return;
  }
  for (size_t i = 0; i < table->set.row_count; i++) {
    const struct run_row *row = table->rows[i];
    const char *text = "";
    for (size_t k = 0; row != NULL && k < row->swept_count; k++) {
      if (!result_axis_is_size(row->swept[k].key)) {
        text = result_add_axis(table->arena, text, &row->swept[k]);
      }
    }
    case_table_put(table, i, COLUMN_SETTINGS, text);
  }
}

/* Once all rows are there: "a", "failed b". */
static void case_table_put_remarks(struct case_table *table, const struct result_remarks *remarks) {
  for (size_t i = 0; i < table->set.row_count; i++) {
    const struct run_row *row = table->rows[i];
    if (row != NULL) {
      const char *mark = result_remarks_mark(remarks, row);
      const char *status = strcmp(row->status, "ok") != 0 ? row->status : "";
      const char *space = status[0] != '\0' && mark[0] != '\0' ? " " : "";
      case_table_put(table, i, COLUMN_REMARK,
                     arena_format(table->arena, "%s%s%s", status, space, mark));
    }
  }
}

/* The flows of a case, below it. They follow each other; `at` is where the search begins. */
static void case_table_add_flows(struct case_table *table, const struct run_rows *flows,
                                 const struct run_row *row, size_t *at) {
  bool found = false;
  for (size_t tried = 0; tried < flows->count; tried++, (*at)++) {
    const struct run_row *flow = &flows->items[*at % flows->count];
    if (strcmp(flow->name, row->same_as != NULL ? row->same_as : row->name) == 0) {
      const size_t line = case_table_add_row(table, NULL, TONE_DIM);
      const char *source = result_place(table->arena, flow->source, flow->source_memory);
      const char *target = result_place(table->arena, flow->target, flow->target_memory);
      case_table_put(
          table, line, COLUMN_PATH,
          arena_format(table->arena, "  %s-%s%s", source, target,
                       flow->role != NULL && strcmp(flow->role, "load") == 0 ? " (load)" : ""));
      case_table_put_number(table, line, COLUMN_GBPS, flow->gbps);
      found = true;
    } else if (found) {
      return;
    }
  }
}

/* The size that all rows have, which then needs no column. */
static const char *case_table_common_size(const struct case_table *table) {
  const char *size = NULL;
  for (size_t i = 0; i < table->set.row_count; i++) {
    const char *own = result_set_text_at(&table->set, i, COLUMN_SIZE);
    if (own != NULL && size != NULL && strcmp(own, size) != 0) {
      return NULL;
    }
    size = own != NULL ? own : size;
  }
  return size;
}

/* "64MiB by ce: GB/s of all flows together, over one window" */
static const char *case_table_words(struct arena *arena, const struct run_row *row,
                                    const char *size) {
  const char *method = result_method(row);
  const bool several = row->flows > 1;
  const char *what = strcmp(row->kind, "compute") == 0 ? "rate of the kernel"
                     : !isnan(row->gbps)               ? several ? result_flows_words(row) : "GB/s"
                     : !isnan(row->ns_per_hop)         ? "ns per hop: one load of a pointer chase"
                     : row->measure == NULL            ? ""
                     : strcmp(row->measure, "latency") == 0
                         ? "time of one operation that waits for the one before"
                         : "operations per clock on one SM, of independent chains";
  const char *load = row->under_load > 0 ? ", while load runs beside them" : "";
  const bool by = method[0] != '\0' && result_axis(row, "method") == NULL;
  const char *head = arena_join(arena, size != NULL ? size : "", " ",
                                arena_around(arena, "by ", by ? method : "", ""));
  return arena_join(arena, head, ": ",
                    arena_format(arena, "%s%s", result_figure_words(arena, row, what),
                                 what[0] != '\0' ? load : ""));
}

static void case_table_print_heading(struct result_page *page, const struct result_block *block,
                                     struct case_table *table) {
  const struct run_row *row = block->rows[0];
  for (size_t i = 0; i < block->count && !result_row_shown(row); i++) {
    row = block->rows[i];
  }
  const char *words = case_table_words(table->arena, row, case_table_common_size(table));
  result_set_clear_column(&table->set, COLUMN_BLOCK);
  document_heading(page->document, block->name);
  document_put_text(page->document, TONE_NONE, words);
}

/* Above blocks that share a table. */
static void case_table_print_shared_heading(struct result_page *page,
                                            const struct case_table *table) {
  const char *size = case_table_common_size(table);
  const bool several =
      ALL_OF(i, table->set.row_count, table->rows[i] == NULL || table->rows[i]->flows > 1);
  const char *words = result_figure_words(table->arena, table->rows[0],
                                          several ? result_flows_words(table->rows[0]) : "");
  if (size != NULL) {
    words = arena_join(table->arena, arena_around(table->arena, "Size: ", size, ""), "; ", words);
  }
  document_put_text(page->document, TONE_NONE, words);
}

/* "% of peak: of the theoretical rate of PCIe (63.02 GB/s), NVLink (478.1 GB/s, 956.2 GB/s)"; ""
 * where that column is not shown. */
static const char *case_table_peaks(const struct case_table *table) {
  enum { PEAKS_MAX = 16 };
  const struct run_row *peaks[PEAKS_MAX]; /* a row for each */
  size_t count = 0;
  const char *text = "";
  for (size_t i = 0; table->set.facts[COLUMN_PEAK].filled && i < table->set.row_count; i++) {
    const struct run_row *row = table->rows[i];
    if (row == NULL || isnan(row->percent_of_peak) || result_limit(row) == LIMIT_UNKNOWN) {
      continue;
    }
    const char *words = result_peak_words(table->arena, row);
    const bool known = ANY_OF(k, count,
                              result_limit(peaks[k]) == result_limit(row) &&
                                  strcmp(result_peak_words(table->arena, peaks[k]), words) == 0);
    if (!known && count < PEAKS_MAX) {
      peaks[count++] = row;
    }
  }
  for (size_t limit = 0; limit < limit_name_count; limit++) {
    const char *rates = "";
    for (size_t i = 0; i < count; i++) {
      if (result_limit(peaks[i]) == limit) {
        rates = arena_add_word(table->arena, rates, result_peak_words(table->arena, peaks[i]));
      }
    }
    if (rates[0] != '\0') {
      text = arena_add_word(
          table->arena, text,
          arena_format(table->arena, "%s (%s)", result_limit_words((enum limit)limit), rates));
    }
  }
  return arena_around(table->arena, "% of peak: of the theoretical rate of ", text, "");
}

/* Whether path and size name each row of several blocks, so that a narrow terminal can do without
 * their names. */
static bool case_table_is_told_by_path(const struct case_table *table) {
  for (size_t i = 0; i < table->set.row_count; i++) {
    const struct run_row *row = table->rows[i];
    if (row == NULL || row->alike_count == 0) {
      return false;
    }
    for (size_t k = 0; k < i; k++) {
      if (strcmp(row->path, table->rows[k]->path) == 0 &&
          !(row->size_bytes < table->rows[k]->size_bytes ||
            row->size_bytes > table->rows[k]->size_bytes)) {
        return false;
      }
    }
  }
  return true;
}

void result_print_table(struct result_page *page, const struct result_block *blocks,
                        size_t block_count) {
  struct case_table table = {.arena = &page->arena};
  size_t at = 0;
  size_t shown_blocks = 0;
  result_set_init(&table.set, SIZE_MAX);
  for (size_t i = 0; i < column_count; i++) {
    (void)result_set_add_column(&table.set, &columns[i]);
  }
  for (size_t b = 0; b < block_count; b++) {
    shown_blocks += blocks[b].shown > 0;
    for (size_t i = 0; i < blocks[b].count; i++) {
      const struct run_row *row = blocks[b].rows[i];
      if (result_row_shown(row)) {
        case_table_add(&table, row);
        if (row->flows > 1 || row->under_load > 0) {
          case_table_add_flows(&table, &page->flows, row, &at);
        }
      }
    }
  }
  case_table_tell_apart(&table);
  document_gap(page->document);
  if (shown_blocks == 1) {
    case_table_print_heading(page, &blocks[0], &table);
  } else {
    case_table_print_shared_heading(page, &table);
  }
  if (case_table_common_size(&table) != NULL) {
    result_set_clear_column(&table.set, COLUMN_SIZE);
  }
  case_table_put_remarks(&table, page->remarks);
  const unsigned width = page->document->options.width;
  struct document_table how = {.narrow = CASE_TABLE_NARROW};
  if (shown_blocks > 1 && width > 0 && width < WIDTH_OF_BLOCKS &&
      case_table_is_told_by_path(&table)) {
    result_set_clear_column(&table.set, COLUMN_BLOCK);
    how.listed_min = PATH_WIDTH;
  }
  document_put_table(page->document, &table.set, &how);
  if (document_shows(page->document, COLUMN_PEAK)) {
    document_summary(page->document, case_table_peaks(&table));
  }
  result_set_fini(&table.set);
}
