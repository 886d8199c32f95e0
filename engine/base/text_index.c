#include "engine/base/text_index.h"

#include "engine/base/order.h"

#include <string.h>
#include <xxhash.h>

enum { SLOTS_FIRST = 64 };

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *text_index_slot(const struct text_index *index, const char *text) {
  size_t at = (size_t)XXH3_64bits(text, strlen(text)) & (index->slot_count - 1);
  while (index->slots[at] != 0 && strcmp(index->texts[index->slots[at] - 1], text) != 0) {
    at = (at + 1) & (index->slot_count - 1);
  }
  return &index->slots[at];
}

static void text_index_fill(struct text_index *index, size_t slot_count) {
  if (slot_count > index->slot_count) {
    index->slots = arena_array(index->arena, slot_count, sizeof *index->slots);
    index->slot_count = slot_count;
  } else if (slot_count > 0) {
    memset(index->slots, 0, slot_count * sizeof *index->slots);
  }
  for (size_t i = 0; i < index->count; i++) {
    *text_index_slot(index, index->texts[i]) = (uint32_t)i + 1;
  }
}

bool text_index_add(struct text_index *index, const char *text, size_t *number) {
  if (2 * index->count >= index->slot_count) {
    text_index_fill(index, index->slot_count > 0 ? 4 * index->slot_count : SLOTS_FIRST);
  }
  uint32_t *slot = text_index_slot(index, text);
  const bool is_new = *slot == 0;
  if (is_new) {
    *ARENA_ADD(index->arena, index->texts, index->count) = text;
    *slot = (uint32_t)index->count;
  }
  if (number != NULL) {
    *number = *slot - 1;
  }
  return is_new;
}

size_t text_index_number(struct text_index *index, const char *text) {
  size_t number = 0;
  (void)text_index_add(index, text, &number);
  return number;
}

struct text_numbered {
  const char *text;
  size_t number;
};

ORDER_DEFINE(text_compare_numbered, struct text_numbered, strcmp(x->text, y->text))

void text_index_sort(struct text_index *index, uint32_t *numbers, size_t count) {
  struct text_numbered *sorted = arena_array(index->arena, index->count, sizeof *sorted);
  uint32_t *ranks = arena_array(index->arena, index->count, sizeof *ranks);
  for (size_t i = 0; i < index->count; i++) {
    sorted[i] = (struct text_numbered){index->texts[i], i};
  }
  ORDER_SORT(sorted, index->count, text_compare_numbered);
  for (size_t i = 0; i < index->count; i++) {
    ranks[sorted[i].number] = (uint32_t)i;
    index->texts[i] = sorted[i].text;
  }
  text_index_fill(index, index->slot_count);
  for (size_t i = 0; i < count; i++) {
    numbers[i] = ranks[numbers[i]];
  }
}
