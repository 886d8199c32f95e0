/* result_table.c - blocks as tables: one row per case. */
#include "runner/render/matrix.h"
#include "runner/render/result_block.h"

#include <math.h>
#include <string.h>

enum case_column {
  COLUMN_BLOCK,
  COLUMN_PATH,
  COLUMN_SETTINGS,
  COLUMN_SIZE,
  COLUMN_GBPS,
  COLUMN_NS,
  COLUMN_NS_HOP,
  COLUMN_CYCLES_HOP,
  COLUMN_NS_OP,
  COLUMN_CYCLES_OP,
  COLUMN_OPS,
  COLUMN_SPREAD,
  COLUMN_PEAK,
  COLUMN_REMARK,
  column_count,
};

/* What is left out first where the terminal is too narrow. */
static const enum case_column spare[] = {COLUMN_SPREAD, COLUMN_PEAK, COLUMN_SIZE};

static const struct column columns[column_count] = {
    [COLUMN_BLOCK] = {"block", ALIGN_LEFT, false, false},
    [COLUMN_PATH] = {"path", ALIGN_LEFT, false, false},
    [COLUMN_SETTINGS] = {"settings", ALIGN_LEFT, false, false},
    [COLUMN_SIZE] = {"size", ALIGN_RIGHT, false, false},
    [COLUMN_GBPS] = {"GB/s", ALIGN_RIGHT, false, false},
    [COLUMN_NS] = {"ns", ALIGN_RIGHT, false, false},
    [COLUMN_NS_HOP] = {"ns/hop", ALIGN_RIGHT, false, false},
    [COLUMN_CYCLES_HOP] = {"cycles/hop", ALIGN_RIGHT, false, false},
    [COLUMN_NS_OP] = {"ns/op", ALIGN_RIGHT, false, false},
    [COLUMN_CYCLES_OP] = {"cycles/op", ALIGN_RIGHT, false, false},
    [COLUMN_OPS] = {"ops/clock/SM", ALIGN_RIGHT, false, false},
    [COLUMN_SPREAD] = {"+/- %", ALIGN_RIGHT, false, false},
    [COLUMN_PEAK] = {"% of peak", ALIGN_RIGHT, false, false},
    [COLUMN_REMARK] = {"remark", ALIGN_LEFT, false, false},
};

struct case_line {
  const struct run_row *row; /* NULL = a flow of the case above */
  const char *texts[column_count];
  enum tone tone;
  bool failed; /* only its number and its remark have the tone */
};

struct case_table {
  struct arena *arena;
  struct case_line *lines;
  size_t count, capacity;
  struct result_remarks remarks;
};

static struct case_line *case_table_add_line(struct case_table *table) {
  table->lines =
      arena_grow(table->arena, table->lines, table->count, &table->capacity, sizeof *table->lines);
  struct case_line *line = &table->lines[table->count++];
  for (size_t i = 0; i < column_count; i++) {
    line->texts[i] = "";
  }
  line->row = NULL;
  line->tone = TONE_NONE;
  line->failed = false;
  return line;
}

static const char *case_number(struct arena *arena, double value) {
  char text[MATRIX_NUMBER_MAX];
  if (isnan(value)) {
    return "";
  }
  matrix_number(value, text);
  return arena_strdup(arena, text);
}

/* The numbers that people ask of such a case. */
static void case_line_set_numbers(struct arena *arena, const struct run_row *row,
                                  struct case_line *line) {
  if (!isnan(row->gbps)) {
    line->texts[COLUMN_GBPS] = case_number(arena, row->gbps);
  } else if (!isnan(row->ns_per_hop)) {
    line->texts[COLUMN_NS_HOP] = case_number(arena, row->ns_per_hop);
    line->texts[COLUMN_CYCLES_HOP] = case_number(arena, row->cycles_per_hop);
  } else if (!isnan(row->ops_per_clock_sm)) {
    line->texts[COLUMN_OPS] = case_number(arena, row->ops_per_clock_sm);
  } else if (!isnan(row->ns_per_op)) {
    line->texts[COLUMN_NS_OP] = case_number(arena, row->ns_per_op);
    line->texts[COLUMN_CYCLES_OP] = case_number(arena, row->cycles_per_op);
  } else {
    line->texts[COLUMN_NS] = case_number(arena, row->median_ns);
  }
  line->texts[COLUMN_SPREAD] =
      isnan(result_spread(row)) ? "" : arena_format(arena, "%.2f", result_spread(row));
  line->texts[COLUMN_PEAK] =
      isnan(row->percent_of_peak) ? "" : arena_format(arena, "%.1f", row->percent_of_peak);
}

static void case_table_add(struct case_table *table, const struct run_row *row) {
  struct arena *arena = table->arena;
  struct case_line *line = case_table_add_line(table);
  line->row = row;
  result_remarks_add(&table->remarks, row);
  line->texts[COLUMN_BLOCK] = row->block;
  line->texts[COLUMN_PATH] =
      row->operation != NULL ? arena_format(arena, "%s %s", row->operation, row->path) : row->path;
  line->texts[COLUMN_SETTINGS] = result_axes(arena, row);
  line->texts[COLUMN_SIZE] = result_size(arena, row);
  if (strcmp(row->status, "ok") == 0) {
    case_line_set_numbers(arena, row, line);
  } else {
    line->tone = TONE_BAD;
    line->failed = true;
  }
}

/* Once all rows are there: "[1]", "failed [2]". */
static void case_table_set_remarks(struct case_table *table) {
  result_remarks_settle(&table->remarks);
  for (size_t i = 0; i < table->count; i++) {
    struct case_line *line = &table->lines[i];
    if (line->row != NULL) {
      const char *mark = result_remarks_mark(&table->remarks, line->row);
      const char *status = line->failed ? line->row->status : "";
      const char *space = status[0] != '\0' && mark[0] != '\0' ? " " : "";
      line->texts[COLUMN_REMARK] = arena_format(table->arena, "%s%s%s", status, space, mark);
    }
  }
}

/* The flows of a case, below it. They follow each other; `at` is where the search begins. */
static void case_table_add_flows(struct case_table *table, const struct run_rows *flows,
                                 const struct run_row *row, size_t *at) {
  for (size_t tried = 0; tried < flows->count; tried++, (*at)++) {
    const struct run_row *flow = &flows->items[*at % flows->count];
    if (strcmp(flow->name, row->name) == 0) {
      break;
    }
  }
  for (; flows->count > 0; (*at)++) {
    const struct run_row *flow = &flows->items[*at % flows->count];
    if (strcmp(flow->name, row->name) != 0 || *at >= 2 * flows->count) {
      return;
    }
    struct case_line *line = case_table_add_line(table);
    line->texts[COLUMN_PATH] = arena_format(
        table->arena, "  %s-%s", result_place(table->arena, flow->source, flow->source_memory),
        result_place(table->arena, flow->target, flow->target_memory));
    line->texts[COLUMN_GBPS] = case_number(table->arena, flow->gbps);
    line->tone = TONE_DIM;
    if (*at + 1 == flows->count) {
      (*at)++;
      return;
    }
  }
}

static size_t case_table_width(const struct case_table *table, enum case_column column) {
  size_t width = 0;
  for (size_t i = 0; i < table->count; i++) {
    const size_t own = strlen(table->lines[i].texts[column]);
    width = own > width ? own : width;
  }
  const size_t heading = strlen(columns[column].name);
  return width == 0 ? 0 : (heading > width ? heading : width) + 2;
}

static void case_table_clear(struct case_table *table, enum case_column column) {
  for (size_t i = 0; i < table->count; i++) {
    table->lines[i].texts[column] = "";
  }
}

static void case_table_fit(struct case_table *table, unsigned limit) {
  for (size_t s = 0; limit > 0 && s < sizeof spare / sizeof *spare; s++) {
    size_t width = 0;
    for (unsigned i = 0; i < column_count; i++) {
      width += case_table_width(table, (enum case_column)i);
    }
    if (width <= limit + 2) {
      return;
    }
    case_table_clear(table, spare[s]);
  }
}

/* The size that all rows have, which then needs no column. */
static const char *case_table_common_size(const struct case_table *table) {
  const char *size = NULL;
  for (size_t i = 0; i < table->count; i++) {
    const char *own = table->lines[i].texts[COLUMN_SIZE];
    if (own[0] != '\0' && size != NULL && strcmp(own, size) != 0) {
      return NULL;
    }
    size = own[0] != '\0' ? own : size;
  }
  return size;
}

static enum status case_table_print(const struct case_table *table, const struct output *output,
                                    struct error *err) {
  struct result_set set;
  result_set_init(&set, SIZE_MAX);
  for (size_t i = 0; i < column_count; i++) {
    (void)result_set_add_column(&set, &columns[i]);
  }
  for (size_t i = 0; i < table->count; i++) {
    const struct case_line *line = &table->lines[i];
    const size_t row = result_set_add_row(&set);
    for (unsigned c = 0; c < column_count; c++) {
      const bool toned = c == COLUMN_GBPS || c == COLUMN_REMARK || !line->failed;
      result_set_put(&set, row, c, cell_words(line->texts[c], toned ? line->tone : TONE_NONE));
    }
  }
  const enum status status = output_table(output, &set, err);
  result_set_fini(&set);
  return status;
}

/* "64MiB by ce: GB/s of all flows together, over one window" */
static const char *case_table_words(struct arena *arena, const struct run_row *row,
                                    const char *size, const char *axes) {
  const char *method = result_method(row);
  const bool several = row->flows > 1;
  const char *what = !isnan(row->gbps)
                         ? several ? "GB/s of all flows at once, over one window" : "GB/s"
                     : !isnan(row->ns_per_hop) ? "time of one load that waits for the one before"
                     : row->measure == NULL    ? ""
                     : strcmp(row->measure, "latency") == 0
                         ? "time of one operation that waits for the one before"
                         : "operations per clock on one SM, of independent chains";
  const char *load = row->under_load > 0 ? ", while load runs beside them" : "";
  const bool by = method[0] != '\0' && strstr(axes, "method=") == NULL;
  const char *head = arena_format(arena, "%s%s%s", size != NULL ? size : "",
                                  by ? (size != NULL ? " by " : "by ") : "", by ? method : "");
  return arena_format(arena, "%s%s%s%s", head, head[0] != '\0' && what[0] != '\0' ? ": " : "", what,
                      what[0] != '\0' ? load : "");
}

static void case_table_print_heading(struct result_page *page, const struct result_block *block,
                                     struct case_table *table) {
  const struct run_row *row = block->rows[0];
  for (size_t i = 0; i < block->count && !result_row_shown(row); i++) {
    row = block->rows[i];
  }
  const char *size = case_table_common_size(table);
  const char *axes = table->count > 0 ? table->lines[0].texts[COLUMN_SETTINGS] : "";
  const char *words = case_table_words(table->arena, row, size, axes);
  case_table_clear(table, COLUMN_BLOCK);
  if (size != NULL) {
    case_table_clear(table, COLUMN_SIZE);
  }
  output_heading(page->output, block->name);
  if (words[0] != '\0') {
    output_wrapped(page->output, "", words);
  }
}

/* Above blocks that share a table. */
static void case_table_print_shared_heading(struct result_page *page,
                                            const struct result_block *blocks, size_t block_count,
                                            struct case_table *table) {
  const char *size = case_table_common_size(table);
  bool several = true; /* every case has flows at once */
  for (size_t b = 0; b < block_count; b++) {
    for (size_t i = 0; i < blocks[b].count; i++) {
      several = several && (!result_row_shown(blocks[b].rows[i]) || blocks[b].rows[i]->flows > 1);
    }
  }
  const char *words = several ? "GB/s of all flows at once, over one window" : "";
  if (size != NULL) {
    words = arena_format(table->arena, "%s each%s%s", size, several ? ": " : "", words);
    case_table_clear(table, COLUMN_SIZE);
  }
  if (words[0] != '\0') {
    output_wrapped(page->output, "", words);
  }
}

enum status result_print_table(struct result_page *page, const struct result_block *blocks,
                               size_t block_count, struct error *err) {
  struct case_table table = {.arena = &page->arena};
  result_remarks_init(&table.remarks, table.arena);
  size_t at = 0;
  size_t shown_blocks = 0;
  for (size_t b = 0; b < block_count; b++) {
    shown_blocks += blocks[b].shown > 0;
    for (size_t i = 0; i < blocks[b].count; i++) {
      const struct run_row *row = blocks[b].rows[i];
      if (result_row_shown(row)) {
        case_table_add(&table, row);
        if (page->flows.count > 0 && row->flows > 1) {
          case_table_add_flows(&table, &page->flows, row, &at);
        }
      }
    }
  }
  if (page->printed) {
    output_gap(page->output);
  }
  page->printed = true;
  if (shown_blocks == 1) {
    case_table_print_heading(page, &blocks[0], &table);
  } else {
    case_table_print_shared_heading(page, blocks, block_count, &table);
  }
  case_table_set_remarks(&table);
  case_table_fit(&table, page->output->width);
  enum status status = case_table_print(&table, page->output, err);
  if (status == STATUS_OK) {
    result_remarks_print(&table.remarks, page->output);
    status = output_check(page->output, err);
  }
  return status;
}
