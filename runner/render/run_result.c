#include "runner/render/run_result.h"

#include "runner/render/result_block.h"

#include <string.h>

/* Blocks in the order in which their first case is measured. */
struct blocks {
  struct result_block *items;
  size_t count, capacity;
};

static struct result_block *block_called(struct arena *arena, struct blocks *blocks,
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

static void gather(struct arena *arena, const struct run_rows *cases, struct blocks *blocks) {
  for (size_t i = 0; i < cases->count; i++) {
    const struct run_row *row = &cases->items[i];
    struct result_block *block = block_called(arena, blocks, row->block);
    block->rows =
        arena_grow(arena, block->rows, block->count, &block->capacity, sizeof(struct run_row *));
    block->rows[block->count++] = row;
    block->shown += result_row_shown(row);
  }
}

enum status run_result_print(const struct run_rows *cases, const struct run_rows *flows,
                             const struct style *style, struct error *err) {
  struct arena arena = {0};
  struct blocks blocks = {0};
  gather(&arena, cases, &blocks);
  struct result_page page = {.style = style, .flows = flows};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < blocks.count;) {
    const struct result_block *block = &blocks.items[i];
    size_t next = i + 1;
    if (block->shown == 0) {
      i = next;
      continue;
    }
    if (result_is_matrix(&page, block)) {
      style_section(style, block->name);
      status = result_print_matrices(&page, block, err);
    } else {
      while (block->shown == 1 && next < blocks.count && blocks.items[next].shown <= 1 &&
             !result_is_matrix(&page, &blocks.items[next])) {
        next++;
      }
      style_section(style, next - i == 1 ? block->name : NULL);
      status = result_print_table(&page, block, next - i, err);
    }
    i = next;
  }
  if (status == STATUS_OK && !page.printed) {
    style_line(style, NULL, "nothing was measured");
    status = style_check(style, err);
  }
  arena_fini(&page.arena);
  arena_fini(&arena);
  return status;
}
