/* arena.h - memory that lives as long as one scenario, plan or report.
 *
 * Everything taken from an arena is freed at once by arena_fini(). Memory comes zeroed and aligned
 * for any type. When host memory runs out, the process ends with a message on stderr (abort): on
 * Linux no caller can recover from that. Not thread-safe. */
#pragma once

#include "engine/base/macros.h"

#include <stdarg.h>
#include <stddef.h>

struct arena_block;
struct arena {
  struct arena_block *last; /* NULL = empty: a zeroed struct arena is ready for use */
};

void arena_fini(struct arena *arena);
/* size may be 0. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
/* count * size_bytes with overflow check. */
void *arena_array(struct arena *arena, size_t count, size_t size_bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text, with more behind it. */
char *arena_add(struct arena *arena, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
char *arena_vadd(struct arena *arena, const char *text, const char *format, va_list args);
/* The text between the two others; "" if it is NULL or "". */
const char *arena_around(struct arena *arena, const char *before, const char *text,
                         const char *after);
/* Both texts with `between` between them; one of them alone if the other is "". */
char *arena_join(struct arena *arena, const char *text, const char *between, const char *more);
/* A list of words, ", " between: `list` and that one; `list` may be NULL or "", an empty one. */
char *arena_add_word(struct arena *arena, const char *list, const char *word);
/* The text as one word of a command line: as it is, or in single quotes where a shell would make
 * something else of it. */
const char *shell_word(struct arena *arena, const char *text);

/* A growing array inside an arena: items, or a larger copy, with room for one more behind those
 * that count. Start with NULL. Add only with ARENA_ADD: an array from elsewhere has no room.
 *   items = arena_grow(&arena, items, count, sizeof *items);
 *   items[count++] = item; */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t size_bytes);
/* The next element of such an array, which counts from now on:
 *   *ARENA_ADD(&arena, items, count) = item; */
#define ARENA_ADD(arena, items, count)                                                             \
  ((items) = arena_grow((arena), (items), (count), sizeof *(items)), (count)++, &(items)[(count)-1])

/* Memory of its own, zeroed, for free(). Like that of an arena it is always there. */
void *memory_new(size_t count, size_t size_bytes);
/* arena_grow() and ARENA_ADD() of an array with memory of its own, which is not zeroed. */
void *memory_grow(void *items, size_t count, size_t size_bytes);
#define MEMORY_ADD(items, count)                                                                   \
  ((items) = memory_grow((items), (count), sizeof *(items)), (count)++, &(items)[(count)-1])
/* As asprintf(), for free(); it is always there, too. */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* free() of what the variable at that address points to, for SCOPED(). */
void memory_free(void *variable);
