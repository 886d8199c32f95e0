/* text_index.h - numbers texts from 0 on, equal ones alike, so that arrays can be indexed by names.
 * A zeroed struct with its arena is an empty index; texts are borrowed. */
#pragma once

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct text_index {
  struct arena *arena; /* of the members below */
  const char **texts;  /* by number */
  size_t count;
  /* private: open addressing; 1 + a number, 0 = free */
  uint32_t *slots;
  size_t slot_count;
};

/* The number of the text: that of an equal one, else the next, which it has from now on. */
size_t text_index_number(struct text_index *index, const char *text);
/* The same; true: the text is new. number may be NULL. */
bool text_index_add(struct text_index *index, const char *text, size_t *number);
/* Numbers the texts in alphabetical order; numbers that were taken before, so many, become the new
 * ones. */
void text_index_sort(struct text_index *index, uint32_t *numbers, size_t count);
