/* text_map.h - texts to numbers: whether a name or a key was there before. Texts are borrowed. */
#ifndef HAUL_RUNNER_PLAN_TEXT_MAP_H
#define HAUL_RUNNER_PLAN_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_map_slot {
  const char *text; /* NULL = free */
  uint64_t hash;
  size_t value;
};

struct text_map {
  struct text_map_slot *slots; /* owned */
  size_t slot_count;           /* a power of two */
  size_t count;
};

/* A zeroed struct is an empty map. */
void text_map_fini(struct text_map *map);
/* True: the text was not there and has that value now. False: *value is what it had. */
bool text_map_add(struct text_map *map, const char *text, size_t *value);

#endif
