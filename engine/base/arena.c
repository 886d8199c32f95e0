#include "engine/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_SIZE = 1 << 16, ARRAY_LEAST = 16 /* elements */ };

struct arena_block {
  struct arena_block *previous;
  size_t used;
  size_t capacity;
  alignas(max_align_t) unsigned char data[];
};

void arena_fini(struct arena *arena) {
  struct arena_block *block = arena->last;
  while (block != NULL) {
    struct arena_block *previous = block->previous;
    free(block);
    block = previous;
  }
  arena->last = NULL;
}

static void out_of_memory(size_t size_bytes) {
  (void)fprintf(stderr, "haul: out of host memory (%zu bytes)\n", size_bytes);
  abort();
}

static struct arena_block *arena_add_block(struct arena *arena, size_t size_bytes) {
  size_t capacity = size_bytes > ARENA_BLOCK_SIZE ? size_bytes : ARENA_BLOCK_SIZE;
  struct arena_block *block = calloc(1, sizeof *block + capacity);
  if (block == NULL) {
    out_of_memory(size_bytes);
    return NULL;
  }
  block->capacity = capacity;
  block->previous = arena->last;
  arena->last = block;
  return block;
}

void *arena_alloc(struct arena *arena, size_t size_bytes) {
  size_t align = alignof(max_align_t);
  if (size_bytes > SIZE_MAX / 2) {
    out_of_memory(size_bytes);
  }
  size_t rounded = (size_bytes + align - 1) / align * align;
  struct arena_block *block = arena->last;
  if (block == NULL || block->capacity - block->used < rounded) {
    block = arena_add_block(arena, rounded);
  }
  void *memory = block->data + block->used;
  block->used += rounded;
  return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size_bytes) {
  if (size_bytes != 0 && count > SIZE_MAX / 2 / size_bytes) {
    out_of_memory(SIZE_MAX);
  }
  return arena_alloc(arena, count * size_bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *arena_strdup(struct arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

char *arena_vadd(struct arena *arena, const char *text, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const size_t first = strlen(text);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  const size_t size = first + (length > 0 ? (size_t)length : 0) + 1;
  char *whole = arena_alloc(arena, size);
  (void)snprintf(whole, size, "%s", text);
  (void)vsnprintf(whole + first, size - first, format, args);
  return whole;
}

char *arena_format(struct arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = arena_vadd(arena, "", format, args);
  va_end(args);
  return text;
}

char *arena_add(struct arena *arena, const char *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *whole = arena_vadd(arena, text, format, args);
  va_end(args);
  return whole;
}

const char *arena_around(struct arena *arena, const char *before, const char *text,
                         const char *after) {
  return text == NULL || text[0] == '\0' ? "" : arena_format(arena, "%s%s%s", before, text, after);
}

char *arena_join(struct arena *arena, const char *text, const char *between, const char *more) {
  return arena_format(arena, "%s%s%s", text, text[0] != '\0' && more[0] != '\0' ? between : "",
                      more);
}

char *arena_add_word(struct arena *arena, const char *list, const char *word) {
  return arena_join(arena, list != NULL ? list : "", ", ", word);
}

/* For how many elements a growing array needs room where there is none for one more; else 0. From
 * 16 on it has room for the next power of two. */
static size_t array_capacity_wanted(const void *items, size_t count) {
  const bool full = count >= ARRAY_LEAST && (count & (count - 1)) == 0;
  return items == NULL ? ARRAY_LEAST : full ? 2 * count : 0;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t size_bytes) {
  const size_t capacity = array_capacity_wanted(items, count);
  if (capacity == 0) {
    return items;
  }
  void *copy = arena_array(arena, capacity, size_bytes);
  if (count > 0) {
    memcpy(copy, items, count * size_bytes);
  }
  return copy;
}

void *memory_new(size_t count, size_t size_bytes) {
  void *memory = calloc(count > 0 ? count : 1, size_bytes);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

void *memory_grow(void *items, size_t count, size_t size_bytes) {
  const size_t capacity = array_capacity_wanted(items, count);
  void *grown = capacity > 0 ? reallocarray(items, capacity, size_bytes) : items;
  if (grown == NULL) {
    out_of_memory(capacity * size_bytes);
  }
  return grown;
}

char *memory_format(const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  if (length < 0) {
    out_of_memory(strlen(format));
  }
  return text;
}

void memory_free(void *variable) {
  void *memory;
  memcpy(&memory, variable, sizeof memory);
  free(memory);
}

const char *shell_word(struct arena *arena, const char *text) {
  static const char SAFE[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,%+@";
  static const char QUOTE[] = "'\\''"; /* ends the quotes, and begins them again */
  if (text[0] != '\0' && text[strspn(text, SAFE)] == '\0') {
    return arena_strdup(arena, text);
  }
  char *word = arena_alloc(arena, strlen(text) * strlen(QUOTE) + sizeof "''");
  char *end = word;
  *end++ = '\'';
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\'') {
      end = stpcpy(end, QUOTE);
    } else {
      *end++ = *c;
    }
  }
  *end = '\''; /* zeros follow */
  return word;
}
