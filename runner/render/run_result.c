#include "runner/render/run_result.h"

#include "engine/base/units.h"
#include "runner/render/result_block.h"

#include <math.h>
#include <string.h>

/* ---- rows ---- */

static const struct result_field run_row_fields[] = {
#define TEXT(column, member)   {column, offsetof(struct run_row, member), false},
#define NUMBER(column, member) {column, offsetof(struct run_row, member), true},
    RUN_ROW_LIST(TEXT, NUMBER)};

static struct run_rows run_rows_of(const struct result_set *set) {
  if (set == NULL) {
    return (struct run_rows){NULL, 0};
  }
  return (struct run_rows){result_set_bind(set, run_row_fields,
                                           sizeof run_row_fields / sizeof *run_row_fields,
                                           sizeof(struct run_row)),
                           set->row_count};
}

/* ---- the texts of a row ---- */

void result_page_begin_block(struct result_page *page) {
  if (page->printed) {
    output_gap(page->output);
  }
  page->printed = true;
}

bool result_row_shown(const struct run_row *row) {
  return strcmp(row->status, "skipped") != 0;
}

const char *result_method(const struct run_row *row) {
  return row->method != NULL ? row->method : "";
}

const char *result_size(struct arena *arena, const struct run_row *row) {
  char text[UNITS_TEXT_MAX] = "";
  if (row->size_bytes >= 1) {
    units_format_size((uint64_t)row->size_bytes, text);
  }
  return arena_strdup(arena, text);
}

static bool result_axis_is_shown(const char *key, size_t length) {
  static const char *const keys[] = {"size", "footprint", "direction", "space", "from.",
                                     "to.",  "of.",       "operation", "op"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const size_t known = strlen(keys[i]);
    const bool is_group = keys[i][known - 1] == '.';
    if (length >= known && (is_group || length == known) && strncmp(key, keys[i], known) == 0) {
      return true;
    }
  }
  return false;
}

const char *result_axes(struct arena *arena, const struct run_row *row) {
  const char *kept = "";
  for (const char *at = row->axes != NULL ? row->axes : ""; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (!result_axis_is_shown(at, strcspn(at, "="))) {
      kept = arena_format(arena, "%s%s%.*s", kept, kept[0] != '\0' ? " " : "", (int)length, at);
    }
    at += length;
    at += strspn(at, " ");
  }
  return kept;
}

const char *result_place(struct arena *arena, const char *place, const char *memory) {
  if (place == NULL) {
    return "";
  }
  if (memory == NULL || strcmp(memory, "device") == 0) {
    return place;
  }
  return arena_format(arena, "%s:%s", place, memory);
}

double result_spread(const struct run_row *row) {
  return 100 * (row->high_ns - row->low_ns) / 2 / row->median_ns;
}

const char *result_percent(struct arena *arena, double percent) {
  return percent < 10 ? arena_format(arena, "%.2g", percent) : arena_format(arena, "%.0f", percent);
}

/* ---- blocks ---- */

/* Blocks in the order in which their first case is measured. */
struct blocks {
  struct result_block *items;
  size_t count, capacity;
};

static struct result_block *blocks_find(struct arena *arena, struct blocks *blocks,
                                        const char *name) {
  for (size_t i = blocks->count; i-- > 0;) { /* mostly the last one */
    if (strcmp(blocks->items[i].name, name) == 0) {
      return &blocks->items[i];
    }
  }
  blocks->items =
      arena_grow(arena, blocks->items, blocks->count, &blocks->capacity, sizeof *blocks->items);
  struct result_block *block = &blocks->items[blocks->count++];
  *block = (struct result_block){.name = name};
  return block;
}

static void blocks_gather(struct arena *arena, const struct run_rows *cases,
                          struct blocks *blocks) {
  for (size_t i = 0; i < cases->count; i++) {
    const struct run_row *row = &cases->items[i];
    struct result_block *block = blocks_find(arena, blocks, row->block);
    block->rows =
        arena_grow(arena, block->rows, block->count, &block->capacity, sizeof(struct run_row *));
    block->rows[block->count++] = row;
    block->shown += result_row_shown(row);
  }
}

enum status run_result_print(const struct result_set *cases, const struct result_set *flows,
                             const struct output *output, struct error *err) {
  struct arena arena = {0};
  struct blocks blocks = {0};
  const struct run_rows rows = run_rows_of(cases);
  blocks_gather(&arena, &rows, &blocks);
  struct result_page page = {.output = output, .flows = run_rows_of(flows)};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < blocks.count;) {
    const struct result_block *block = &blocks.items[i];
    size_t next = i + 1;
    if (block->shown == 0) {
      i = next;
      continue;
    }
    if (result_is_matrix(&page, block)) {
      output_section(output, block->name);
      status = result_print_matrices(&page, block, err);
    } else {
      while (block->shown == 1 && next < blocks.count && blocks.items[next].shown <= 1 &&
             !result_is_matrix(&page, &blocks.items[next])) {
        next++;
      }
      output_section(output, next - i == 1 ? block->name : NULL);
      status = result_print_table(&page, block, next - i, err);
    }
    i = next;
  }
  if (status == STATUS_OK && !page.printed) {
    output_wrapped(output, "", "nothing was measured");
    status = output_check(output, err);
  }
  arena_fini(&page.arena);
  arena_fini(&arena);
  return status;
}
