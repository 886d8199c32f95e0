#include "runner/plan/text_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void text_map_fini(struct text_map *map) {
  free(map->slots);
  *map = (struct text_map){0};
}

/* The slot that holds the text, or the free one where it belongs. */
static struct text_map_slot *find(const struct text_map *map, const char *text, uint64_t hash) {
  for (size_t i = (size_t)hash & (map->slot_count - 1);; i = (i + 1) & (map->slot_count - 1)) {
    struct text_map_slot *slot = &map->slots[i];
    if (slot->text == NULL || (slot->hash == hash && strcmp(slot->text, text) == 0)) {
      return slot;
    }
  }
}

static void grow(struct text_map *map) {
  struct text_map larger = {.slot_count = map->slot_count == 0 ? 256 : map->slot_count * 2,
                            .count = map->count};
  larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
  if (larger.slots == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  for (size_t i = 0; i < map->slot_count; i++) {
    if (map->slots[i].text != NULL) {
      *find(&larger, map->slots[i].text, map->slots[i].hash) = map->slots[i];
    }
  }
  free(map->slots);
  *map = larger;
}

bool text_map_add(struct text_map *map, const char *text, size_t *value) {
  if (map->count * 2 >= map->slot_count) {
    grow(map);
  }
  const uint64_t hash = XXH3_64bits(text, strlen(text));
  struct text_map_slot *slot = find(map, text, hash);
  if (slot->text != NULL) {
    *value = slot->value;
    return false;
  }
  *slot = (struct text_map_slot){text, hash, *value};
  map->count++;
  return true;
}
